// See host.hpp.
#include "engine/simulator/host.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/maths/sampling.hpp"
#include "engine/simulator/pool.hpp"

namespace ge {
namespace {

/// The legal range of an action: low and high of each of its words, and whether they are floats.
struct Legal {
  const std::vector<double>& ranges;
  bool is_float;
};

[[noreturn]] void refuse(const Legal& legal, const std::string& who, int64_t word, double value) {
  std::string where = who;
  if (legal.ranges.size() > 2) where += ", component " + std::to_string(word);
  const double low = legal.ranges[size_t(2 * word)], high = legal.ranges[size_t(2 * word + 1)];
  const std::string what = legal.is_float ? "a number from " + spelled(low) + " to " + spelled(high)
                                          : "one of " + spelled(low) + " to " + spelled(high);
  throw Error(Fault::value, "actions: " + where + ": " + spelled(value) + " is not " + what);
}

// Checks blocks of elements without a branch and, if To is another type, converts them to `to`;
// only a block with a bad element is searched. who(row) names an agent.
template <class To, class From, class Who>
void judge(const Legal& legal, const From* values, int64_t count, To* to, const Who& who) {
  constexpr bool converts = !std::is_same_v<From, To>;
  // A type wide enough for the bounds: 999 does not fit a uint8_t. A double is checked as the float
  // that the rules will see, as on a GPU: a value that rounds to a bound is within it.
  using Whole = std::conditional_t<sizeof(From) == 1, int32_t, From>;
  using Wide = std::conditional_t<std::is_floating_point_v<From>, float, Whole>;
  const std::vector<double>& ranges = legal.ranges;
  const int64_t words = int64_t(ranges.size()) / 2;
  // Written so that NaN is bad.
  const auto bad = [&](int64_t i) {
    const int64_t k = i % words;
    const Wide value = Wide(values[i]);
    return !(value >= Wide(ranges[size_t(2 * k)]) && value <= Wide(ranges[size_t(2 * k + 1)]));
  };
  constexpr int64_t kBlock = 1024;
  for (int64_t first = 0; first < count; first += kBlock) {
    const int64_t last = first + kBlock < count ? first + kBlock : count;
    // Gathered with | and not by leaving the loop, which would not vectorise.
    uint32_t any = 0;
    if (words == 1) {
      const Wide low = Wide(ranges[0]), high = Wide(ranges[1]);
      for (int64_t i = first; i < last; ++i) {
        const Wide value = Wide(values[i]);
        any |= (value >= low) & (value <= high) ? 0u : 1u;
        if constexpr (converts) to[i] = To(value);
      }
    } else {
      for (int64_t i = first; i < last; ++i) {
        any |= bad(i) ? 1u : 0u;
        if constexpr (converts) to[i] = To(values[i]);
      }
    }
    for (int64_t i = first; any != 0 && i < last; ++i)
      if (bad(i)) refuse(legal, who(i / words), i % words, double(values[i]));
  }
}

/// Calls f(role, at, agents, first) for each run of agents of a role whose actions are contiguous
/// in the caller's array; `at` is the first one's element and `first` its number within the role.
template <class F>
void for_each_run(const Simulator& simulator, const F& f) {
  const int64_t worlds = simulator.worlds();
  const int64_t most = int64_t(simulator.action_ranges().size()) / 2;
  int64_t at = 0;
  for (const RoleShape& role : simulator.roles()) {
    if (role.count == 0) continue;
    if (simulator.config().roles == RoleForm::split || simulator.roles().size() == 1) {
      f(role, at, worlds * role.count, 0);
      at += worlds * role.count * role.words();
      continue;
    }
    // Actions that are shorter than the longest have a gap behind each.
    const int64_t runs = role.words() == most ? 1 : role.count, agents = role.count / runs;
    for (int64_t world = 0; world < worlds; ++world)
      for (int64_t run = 0; run < runs; ++run)
        f(role, (world * simulator.agents() + role.first + run * agents) * most, agents,
          world * role.count + run * agents);
  }
}

/// Whether the actions of all roles are one category each of one space, restricted by a mask.
bool share_a_space(const Simulator& simulator) {
  const std::vector<RoleShape>& roles = simulator.roles();
  return simulator.config().roles == RoleForm::padded &&
         std::all_of(roles.begin(), roles.end(),
                     [](const RoleShape& role) { return role.words() == 1 && !role.is_float; });
}

/// Checks each role's actions against its own range, or against the range that all roles share.
template <class To, class From>
void judge_all(const Simulator& simulator, const From* values, To* to) {
  const bool has_one = simulator.roles().size() == 1;
  const bool shared = !has_one && share_a_space(simulator);
  for_each_run(simulator, [&](const RoleShape& role, int64_t at, int64_t agents, int64_t first) {
    const Legal legal{shared ? simulator.action_ranges() : role.ranges, role.is_float};
    const auto who = [&](int64_t row) {
      const int64_t agent = first + row;
      return "world " + std::to_string(agent / role.count) + ", " +
             (has_one ? "agent " : role.name + "_") + std::to_string(agent % role.count);
    };
    const int64_t count = agents * role.words();
    if constexpr (std::is_same_v<From, int32_t>)
      if (role.is_float) {  // by their bits
        const auto* const floats = reinterpret_cast<const float*>(values + at);
        return judge<float>(legal, floats, count, static_cast<float*>(nullptr), who);
      }
    judge(legal, values + at, count, to == nullptr ? to : to + at, who);
  });
}

/// The number closest to 0 that a word of an action may be, as the caller's array has it.
template <class From>
From safe_word(const RoleShape& role, int word) {
  const double low = role.ranges[size_t(2 * word)], high = role.ranges[size_t(2 * word + 1)];
  const double safe = std::clamp(0.0, low, high);
  if constexpr (std::is_same_v<From, int32_t>)
    if (role.is_float) return __builtin_bit_cast(int32_t, float(safe));
  return From(safe);
}
/// Copies the actions of worlds that step, and puts safe ones in the place of the others', which
/// may be anything.
template <class From>
void copy_stepped(const Simulator& simulator, const uint8_t* stepped, const From* from, From* to) {
  for_each_run(simulator, [&](const RoleShape& role, int64_t at, int64_t agents, int64_t first) {
    const int words = role.words();
    if (role.count * words == 1) {  // one word per world: vectors
      const From safe = safe_word<From>(role, 0);
      for (int64_t i = 0; i < agents; ++i)
        to[at + i] = stepped[first + i] != 0 ? from[at + i] : safe;
      return;
    }
    for (int64_t row = 0; row < agents; ++row) {
      const bool is_stepped = stepped[(first + row) / role.count] != 0;
      for (int k = 0; k < words; ++k) {
        const int64_t i = at + row * words + k;
        to[i] = is_stepped ? from[i] : safe_word<From>(role, k);
      }
    }
  });
}

}  // namespace

Actions stepped_actions(const Simulator& simulator, const Actions& actions,
                        std::vector<char>& room) {
  check_action_type(simulator, actions);
  room.resize(size_t(simulator.action_count() * bytes_of(actions.type)));
  const auto take = [&]<class From>(Type_<From>) {
    copy_stepped(simulator, actions.worlds, static_cast<const From*>(actions.data),
                 reinterpret_cast<From*>(room.data()));
  };
  switch (actions.type) {
    case Type::int64:
      take(Type_<int64_t>{});
      break;
    case Type::int32:
      take(Type_<int32_t>{});
      break;
    case Type::uint8:
      take(Type_<uint8_t>{});
      break;
    case Type::float32:
      take(Type_<float>{});
      break;
    default:
      take(Type_<double>{});
  }
  return {room.data(), actions.type, actions.worlds};
}

void check_action_type(const Simulator& simulator, const Actions& actions) {
  const bool floats = actions.type == Type::float32 || actions.type == Type::float64;
  const bool ints =
      actions.type == Type::int64 || actions.type == Type::int32 || actions.type == Type::uint8;
  if (simulator.action_is_float() ? !floats : !ints)
    throw Error(Fault::type,
                std::string("actions must be ") +
                    (simulator.action_is_float() ? "float32 or float64" : "int64, int32 or uint8") +
                    ", got " + name_of(actions.type));
  if (simulator.actions_are_mixed() && actions.type != Type::int32)
    throw Error(Fault::type, std::string("actions of roles, some of floats, must be int32, got ") +
                                 name_of(actions.type));
  if (actions.data == nullptr) throw Error(Fault::value, "actions: there are none");
}

const void* own_actions(const Simulator& simulator, const Actions& actions,
                        std::vector<char>& room) {
  check_action_type(simulator, actions);
  const int64_t count = simulator.action_count();
  const auto take = [&]<class From, class To>(Type_<From>, Type_<To>) -> const void* {
    constexpr bool own = std::is_same_v<From, To>;
    // Kept by the simulator from step to step: only the first step allocates.
    if (!own) room.resize(size_t(count) * sizeof(To));
    judge_all(simulator, static_cast<const From*>(actions.data),
              reinterpret_cast<To*>(room.data()));
    return own ? actions.data : static_cast<const void*>(room.data());
  };
  switch (actions.type) {
    case Type::int64:
      return take(Type_<int64_t>{}, Type_<int32_t>{});
    case Type::int32:
      return take(Type_<int32_t>{}, Type_<int32_t>{});
    case Type::uint8:
      return take(Type_<uint8_t>{}, Type_<int32_t>{});
    case Type::float32:
      return take(Type_<float>{}, Type_<float>{});
    default:
      return take(Type_<double>{}, Type_<float>{});
  }
}

// ---- a simulator's bytes

HostBase::~HostBase() {
  std::free(base_);
}

void HostBase::allocate_records() {
  const int64_t bytes = shape_.all_bytes(worlds());
  // A cache line, so that blocks begin on one and vector loads are aligned.
  base_ = static_cast<char*>(std::aligned_alloc(64, size_t(bytes)));
  if (base_ == nullptr)
    throw Error(Fault::memory, "the system gave no " + std::to_string(bytes) + " bytes");
  // Bytes that no column covers stay zero, and the pages are there before the first step is timed.
  std::memset(base_, 0, size_t(bytes));
}
int64_t HostBase::held_bytes() const {
  return shape_.all_bytes(worlds()) + int64_t(actions_.size() + safe_.size());
}

const void* HostBase::actions_of_step(const Actions& actions) {
  need_reset("step");
  const bool of_all = actions.worlds == nullptr;
  return own_actions(*this, of_all ? actions : stepped_actions(*this, actions, safe_), actions_);
}
void HostBase::clear_transient(const Bound& out) const {
  for (int o = 0; o < kOutputCount; ++o)
    if (has_trait(Output(o), kByAStep) && out.at[o] != nullptr)
      std::memset(out.at[o], 0, size_t(facts_->outputs_[o].bytes));
}

RecordBlocks HostBase::blocks(int64_t begin) const {
  return {facts_->segments_, {shape_, base_, base_ + shape_.aside_of(worlds())}, begin};
}
void HostBase::read_records(int64_t first, int64_t count, void* to) {
  check_range(first, count);
  unpack_records(blocks(), first, count, static_cast<char*>(to));
}
void HostBase::write_records(int64_t first, int64_t count, const void* from) {
  check_range(first, count);
  pack_records(blocks(), first, count, static_cast<const char*>(from));
  // A load stands for the first reset.
  begun_ = true;
}
void HostBase::read_own(int64_t first, int64_t count, char* to) {
  unpack_records(blocks(varied_.begin()), first, count, to);
}
void HostBase::write_own(int64_t first, int64_t count, const char* from) {
  pack_records(blocks(varied_.begin()), first, count, from);
}
void HostBase::copy_worlds(std::span<const int64_t> from, std::span<const int64_t> to,
                           bool reseed) {
  check_copy(from, to, worlds());
  std::vector<char> record(size_t(shape_.record_bytes));
  for (size_t i = 0; i < from.size(); ++i) {
    // The world's seed and number, which reseed keeps from the destination: its draws then differ
    // from the source's.
    Identity kept;
    read_records(to[i], 1, record.data());
    std::memcpy(&kept, record.data() + identity_, sizeof kept);
    read_records(from[i], 1, record.data());
    if (reseed) std::memcpy(record.data() + identity_, &kept, sizeof kept);
    write_records(to[i], 1, record.data());
  }
}

std::string HostBase::text(int64_t world, int viewer) const {
  need_reset("text");
  check_world(world);
  if (viewer < -1 || viewer >= agents())
    throw Error(Fault::value, "viewer must be from -1 to " + std::to_string(agents() - 1) +
                                  ", got " + std::to_string(viewer));
  const FloatMode standard;
  return text_of(world, viewer);
}
bool HostBase::scene(int64_t world, Scene& into, int viewer) const {
  need_reset("render");
  check_world(world);
  const FloatMode standard;
  return scene_of(world, into, viewer);
}
void HostBase::check_looks(int viewer) const {
  if (viewer >= agents())
    throw Error(Fault::value, "view: this world has " + std::to_string(agents()) +
                                  " agents to look with, got 'agent:" + std::to_string(viewer) +
                                  "'");
}

void HostBase::sample_actions(const Sampling& sampling, int32_t* to, void*) {
  Sampling own = sampling;
  own.number = draws_++;
  sample_on_host(own, to, facts_->config_.threads);
}
int64_t HostBase::illegal_actions() const {
  return int64_t(counters_.illegal_actions);
}
FaultReport HostBase::faults() {
  const FaultReport report = this->report(counters_);
  // Reported once: the next report counts from here.
  counters_ = Counters{};
  return report;
}

void* HostBase::allocate(int64_t bytes) {
  return std::aligned_alloc(64, size_t(round_up(bytes < 1 ? 1 : bytes, 64)));
}
void HostBase::release(void* memory) {
  std::free(memory);
}
void HostBase::copy_to_host(void* to, const void* from, int64_t bytes) {
  std::memcpy(to, from, size_t(bytes));
}
void HostBase::copy_from_host(void* to, const void* from, int64_t bytes) {
  std::memcpy(to, from, size_t(bytes));
}

void sample_on_host(const Sampling& sampling, int32_t* to, int threads) {
  constexpr int64_t kRows = 4096;  // of a part: some tens of microseconds
  static_assert(kRows % kSampledTogether == 0);
  const int available = available_threads();
  const int64_t parts = (sampling.rows + kRows - 1) / kRows;
  parallel_for(
      parts, threads > 0 && threads < available ? threads : available, [&](int64_t part, int) {
        const int64_t first = part * kRows;
        const int64_t last = std::min(first + kRows, sampling.rows);
        for (int64_t row = first; row < last; row += kSampledTogether) {
          // One draw serves kSampledTogether rows, and parts begin at multiples of it:
          // which thread draws changes nothing.
          const Draw words = sampling_draw(sampling, sampling.number, row);
          const int64_t left = std::min<int64_t>(last - row, kSampledTogether);
          for (int k = 0; k < left; ++k)
            to[(row + k) * sampling.stride] = sampled_action(sampling, row + k, words.word[k]);
        }
      });
}

}  // namespace ge
