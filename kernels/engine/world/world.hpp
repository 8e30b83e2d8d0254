// World: what a system sees of the world it runs in. Reads are values, never references; writing is
// the engine's part, through what a system's signature grants. `Cells` beneath is the executors'
// view: addresses of words. What a rule names by a type or a text in angle brackets is a free
// function, `get<Table, Component>(w, row)`: a rule that is a template itself reads like any other.
#pragma once

#include "engine/base/boundary.hpp"
#include "engine/base/platform_lanes.hpp"
#include "engine/maths/random.hpp"
#include "engine/world/assets.hpp"
#include "engine/world/record.hpp"
#include "engine/world/roles.hpp"
#include "engine/world/tuning.hpp"
#include "engine/world/varied.hpp"

namespace ge {

// ---- the engine's own state of every world

/// Which random numbers a world draws; a fork keeps those of its source.
struct Identity {
  uint32_t seed_low, seed_high, world;
  static constexpr auto describe() {
    return fields(
        field("seed_low", &Identity::seed_low, "low word of the seed").any_value(),
        field("seed_high", &Identity::seed_high, "high word of the seed").any_value(),
        field("identity", &Identity::world, "number of the world under its seed").any_value());
  }
};

struct Clock {
  uint32_t episode, step;
  /// The counter saturates here in episodes without a limit: rules may convert a step to int.
  static constexpr uint32_t kMostSteps = 0x7fffffff;
  static constexpr auto describe() {
    return fields(
        field("episode", &Clock::episode, "episodes begun since the last seeded reset").any_value(),
        field("step", &Clock::step, "steps taken in this episode").within(0, kMostSteps));
  }
};

struct Progress {
  uint32_t over;  // nonzero: the episode has ended and no new one has begun
  static constexpr auto describe() {
    return fields(field("over", &Progress::over, "1: the episode has ended and waits for a reset")
                      .within(0, 1));
  }
};

/// The rules' verdict on the whole world, for environments that end for all agents at once. Zero at
/// the beginning of a step.
struct Verdict {
  uint32_t terminated, truncated;
  uint32_t any_ended;  // the life cycle's: some agent ended in this step
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("terminated", &Verdict::terminated,
              "nonzero: every agent's episode ends by the rules"),
        field("truncated", &Verdict::truncated, "nonzero: it is cut short for every agent"),
        field("any_ended", &Verdict::any_ended, "nonzero: an agent ended in this step"));
  }
};

/// What a world draws by, while its `Reset` draws as a level does.
struct OwnDraws {
  uint32_t seed_low, seed_high, world, episode;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("own_seed_low", &OwnDraws::seed_low, "low word of the seed").any_value(),
                  field("own_seed_high", &OwnDraws::seed_high, "high word of the seed").any_value(),
                  field("own_world", &OwnDraws::world, "number of the world").any_value(),
                  field("own_episode", &OwnDraws::episode, "number of the episode").any_value());
  }
};

struct EpisodeTable : Single<Identity, Clock, Progress, Verdict, OwnDraws> {
  static constexpr const char* name = "world";
};

/// Sum of an agent's rewards in this episode.
struct Return {
  float value;
  static constexpr auto describe() {
    return fields(field("episode_return", &Return::value, "sum of rewards in this episode"));
  }
};

/// Whether an agent has ended, and how; a frozen world keeps showing the flags.
struct Fate {
  uint32_t bits;
  static constexpr uint32_t kGone = 1, kTerminated = 2, kTruncated = 4, kJustEnded = 8;
  static constexpr uint32_t kHow = kTerminated | kTruncated;  // none: absent from the beginning
  /// The fate of an agent that is left out of an episode; only systems of `Reset` may write it.
  static GE_FN constexpr Fate absent() { return {kGone}; }
  static constexpr auto describe() {
    return fields(
        field("fate", &Fate::bits,
              "1: the agent has ended, 2: by the rules, 4: cut short, 8: in the last step")
            .within(0, kGone | kTerminated | kTruncated | kJustEnded));
  }
};

/// The rules' report of one step, which the life cycle reads at the end. Zero at the beginning.
struct Reward {
  float value;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("reward", &Reward::value, "reward of this step"));
  }
};
struct Ending {
  uint32_t terminated, truncated;
  uint32_t ended;  // the life cycle's: the agent ended in this step
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("terminated", &Ending::terminated, "nonzero: the agent's episode ends by the rules"),
        field("truncated", &Ending::truncated, "nonzero: it is cut short"),
        field("ended", &Ending::ended, "nonzero: the agent ended in this step"));
  }
};

/// The table of an environment's agents; the engine adds what it keeps of each.
template <int N, class... Cs>
using Agents = Fixed<N, Cs..., Return, Fate, Reward, Ending>;

template <class S>
using AllTables = concat<Types<EpisodeTable>, typename S::tables, typename OwnTables<S>::type>;

/// Worlds per interleaved block of this build: a register of the widest CPU, a line of 128
/// bytes on a GPU, unless the environment asks for another number.
template <class S>
consteval int block_of() {
  if constexpr (kBlockOfBuild > 0)
    return kBlockOfBuild;
  else
    return kOnLanes ? kTuning<S>.cuda_block : kTuning<S>.cpu_block;
}
template <class S>
inline constexpr int kBlock = block_of<S>();

template <class S, class = void>
struct OptionsOf {
  using type = None;
};
template <class S>
struct OptionsOf<S, std::void_t<typename S::Options>> {
  using type = typename S::Options;
};

/// Fault counters, which no rule can read.
struct Counters {
  static constexpr int kTables = 24;
  // The first row of a kind is kept as its complement, so that a maximum finds the smallest row.
  unsigned long long bad_actions, first_bad, illegal_actions, first_illegal, frozen_steps;
  unsigned long long lost_views, first_lost;
  unsigned long long dropped[kTables], needed[kTables];
};

/// Everything a graph needs besides the records: the kernel's parameter.
template <class S>
struct Shared {
  char *base, *aside;  // records, and what lies aside of them (record.hpp)
  int32_t worlds;
  uint32_t max_steps;  // 0: no limit
  uint32_t first_world;
  Autoreset autoreset;
  Type action_type;
  Ends ends;
  const void* actions;
  int32_t flat_actions;       // number of flat actions where one number encodes all categories;
                              // else 0
  RoleForm role_form;         // of rows and actions of roles
  bool shows_only;            // a reset that restarts no world: `observe`
  const uint8_t* reset_mask;  // null: all
  const uint8_t* step_mask;   // of a step: a byte per world, 0: it stays as it is; null: all step
  int32_t seed_count;         // of a reset; 0: random streams go on
  uint64_t seed;              // 1: world i gets (seed, first_world + i)
  const uint64_t* seeds;      // else one per world
  Counters* counters;
  Elements format;  // of the observations' wide rows
  Bound bound;
  held_of<S> params;
  typename AssetsOf<S>::type assets;
  typename OptionsOf<S>::type options;
  // What follows from parameters that may vary, while they do not: here on lanes, else `kBlock`
  // times side by side at `common`, since loops copy a Shared. So the parameters themselves.
  std::conditional_t<kOnLanes, derived_of<S>, None> derived;
  char* common;
  std::conditional_t<kOnLanes, varied_of<S>, const varied_of<S>*> varied;
  bool is_usual;  // all of them have their defaults, in all worlds
  // Read by resets only, so they lie behind what each step reads. Count 0: no fixed levels.
  uint32_t first_level, level_count;
};

/// Where a block's own parameters are, or those of all worlds; null on lanes that have none.
template <class S>
GE_FN char* own_of(const Shared<S>& shared, char* block) {
  if constexpr (!has_varied<S>) return nullptr;
  if constexpr (has_varied<S>)
    return shared.params.varying > 0 ? block + own_offset<AllTables<S>>(shared.params) * kBlock<S>
                                     : shared.common;
}

/// Whether a call of a simulator has this choice; equal for all worlds.
template <class S>
GE_FN bool has_choice(const Shared<S>& shared, Autoreset autoreset) {
  return shared.autoreset == autoreset;
}
template <class S>
GE_FN bool has_choice(const Shared<S>& shared, Ends ends) {
  return shared.ends == ends;
}
template <class S>
GE_FN bool has_choice(const Shared<S>& shared, Varying varying) {
  if constexpr (has_varied<S>) {
    if (varying == Varying::usual || varying == Varying::unusual)
      return shared.is_usual == (varying == Varying::usual);
    return (shared.params.varying > 0) == (varying == Varying::some);
  } else {
    return varying == Varying::none || varying == Varying::usual;
  }
}

template <class S>
GE_FN bool has_choice(const Shared<S>& shared, FixedLevels levels) {
  return (shared.level_count > 0) == (levels == FixedLevels::some);
}
template <class S>
GE_FN bool has_choice(const Shared<S>& shared, Waiting waiting) {
  const bool some = shared.step_mask != nullptr && shared.autoreset != Autoreset::same_step;
  return some == (waiting == Waiting::some);
}

/// Agents of each world.
template <class S>
GE_FN int agents_of(const Shared<S>& shared) {
  return agents_with<S>(shared.params);
}
/// The number of an agent of role R among those of the batch.
template <class R, class S>
GE_FN int64_t agent_index(const Shared<S>& shared, int world, int row) {
  if constexpr (has_one_agent<S>)
    return world;  // worlds are contiguous, and the compiler sees it: one vector store
  else
    return int64_t{world} * agents_of(shared) + first_agent<S, R>(shared.params) + row;
}
/// Whether each role's rows lie in a part of their own. With one role both forms coincide, which
/// the compiler then knows.
template <class S>
GE_FN bool is_split(const Shared<S>& shared) {
  return has_one_role<S> || shared.role_form == RoleForm::split;
}

/// Keeps the smallest row that was counted.
GE_FN void count_first(unsigned long long* counter, int64_t row) {
  count_max(counter, ~0ull - (unsigned long long)row);
}

/// Whether a column lies in the scratch memory of the roomy lifetime, where lanes keep that apart.
template <class S, class T, class C>
consteval bool is_roomy() {
  const int roomy = kTuning<S>.roomy_lifetime;
  return kOnLanes && roomy > 0 && in_scratch<T, C> && lifetime_of<T, C>() == roomy;
}
/// Where that memory lies among all scratch memory of a world.
template <class S>
inline constexpr MeasureLifetime kRoomy =
    lifetime_in_scratch<AllTables<S>>(kTuning<S>.roomy_lifetime);

/// Addresses of the words of one world: the executors' view.
template <class S>
struct Cells {
  using Schema = S;
  using Tables = AllTables<S>;
  static constexpr int B = kBlock<S>;

  const Shared<S>* shared;
  int32_t world;       // index in the batch
  char* block;         // its block of records
  int lane;            // its place in the block
  char* scratch;       // scratch memory of the block or group
  int scratch_stride;  // worlds interleaved there
  int scratch_lane;
  int squad_lane = 0, squad_size = 1;  // the lane's place among those that share a row
  char* roomy = nullptr;               // scratch memory of the roomy lifetime (tuning.hpp)
  char* own = nullptr;                 // the block's own parameters (varied.hpp)

  template <class T, class C>
  GE_FN char* at(int row) const {
    static_assert(contains<T, Tables>, "GE: this environment has no table T");
    static_assert(contains<C, typename T::components>, "GE: table T has no component C");
    if constexpr (is_own<T> && is_aside<Tables, T, C>) {
      constexpr int offset = kOwnOffset<Tables, T, C> - kOwnHead<Tables>;
      char* const aside =
          shared->aside + int64_t(uint32_t(world) / B) * aside_bytes<Tables, B>(shared->params);
      return aside + (offset + row * int(sizeof(C))) * B + int(uint32_t(world) % B) * unit_of<C>;
    } else if constexpr (is_own<T>) {
      return own + (kOwnOffset<Tables, T, C> + row * int(sizeof(C))) * B + own_lane() * unit_of<C>;
    } else if constexpr (is_any<T>) {
      const int64_t at =
          any_offset<Tables, T, C>(shared->params) + int64_t{row} * int64_t(sizeof(C));
      if constexpr (in_scratch<T, C>)
        return scratch + at * scratch_stride + scratch_lane * unit_of<C>;
      else
        return block + at * B + lane * unit_of<C>;
    } else {
      constexpr int offset = kOffset<Tables, T, C>;
      if constexpr (is_roomy<S, T, C>())
        return roomy + (offset - int(kRoomy<S>.first) + row * int(sizeof(C))) * scratch_stride +
               scratch_lane * unit_of<C>;
      else if constexpr (in_scratch<T, C>)
        return scratch + (offset + row * int(sizeof(C))) * scratch_stride +
               scratch_lane * unit_of<C>;
      else
        return block + (offset + row * int(sizeof(C))) * B + lane * unit_of<C>;
    }
  }
  /// The world's place among its block's own parameters; on lanes, `lane` may be the one in a copy.
  GE_FN int own_lane() const { return kOnLanes ? world % B : lane; }
  /// Capacity of T in this world.
  template <class T>
  GE_FN int room() const {
    return int(room_of<T>(shared->params));
  }
  template <class T, class C>
  GE_FN C load(int row) const {
    GE_ASSERT(row >= 0 && row < room<T>());
    return load_words<C>(at<T, C>(row), in_scratch<T, C> ? scratch_stride : B);
  }
  template <class T, class C>
  GE_FN void store(int row, const C& value) const {
    GE_ASSERT(row >= 0 && row < room<T>());
    store_words<C>(at<T, C>(row), in_scratch<T, C> ? scratch_stride : B, value);
  }

  /// Word k of a table's own header: the count of a List; live bits, then generations, of a Pool.
  template <class T>
  GE_FN uint32_t* header(int k) const {
    int64_t offset;
    if constexpr (is_any<T>)
      offset = any_offset<Tables, T, void>(shared->params);
    else
      offset = kOffset<Tables, T, void>;
    char* p = T::scratch ? scratch + (offset + 4 * k) * scratch_stride + scratch_lane * 4
                         : block + (offset + 4 * k) * B + lane * 4;
    GE_WATCH(p, 4, false);
    return reinterpret_cast<uint32_t*>(p);
  }

  /// Rows to visit: all of a Fixed or Pool table (a Pool's dead ones included), the live ones of a
  /// List.
  template <class T>
  GE_FN int rows() const {
    if constexpr (T::kind == Kind::list) return int(*header<T>(0));
    if constexpr (requires { T::count(shared->params); }) return int(T::count(shared->params));
    return T::capacity;
  }
  template <class T>
  GE_FN bool alive(int row) const {
    if constexpr (T::kind == Kind::pool) return (*header<T>(row >> 5) >> (row & 31)) & 1u;
    return true;
  }
  template <class T>
  GE_FN uint32_t* generation(int row) const {
    return header<T>(kLiveWords<T> + row);
  }
};

/// Whether this step is one of this world: not if a mask leaves it out.
template <class S>
GE_FN bool is_stepped(const Cells<S>& cells) {
  const uint8_t* const mask = cells.shared->step_mask;
  return mask == nullptr || mask[cells.world] != 0;
}

/// The World type that the rules of an environment see.
template <class E>
using CellsOf = Cells<typename E::Schema>;

template <class S>
class World {
 public:
  using Cells = ge::Cells<S>;
  using Params = typename S::Params;
  using Derived = derived_of<S>;

  GE_FN explicit World(const Cells& cells) : cells_(cells) {}

  /// Whether the row that a handle names still lives.
  template <class T>
  GE_FN bool alive(Handle<T> handle) const {
    return handle.slot < uint32_t(T::capacity) && cells_.template alive<T>(int(handle.slot)) &&
           *cells_.template generation<T>(int(handle.slot)) == handle.generation;
  }
  GE_FN const Params& params() const { return cells_.shared->params; }
  /// Parameters that may differ by world, or what follows from them (varied.hpp).
  GE_FN Derived varied() const {
    static_assert(has_varied<S>, "GE: this Schema has no Varied");
    if constexpr (kOnLanes)
      if (cells_.own == nullptr) return cells_.shared->derived;
    return load_words<Derived>(cells_.own + cells_.own_lane() * unit_of<Derived>, Cells::B);
  }
  /// What `varied` returns, but where worlds are not interleaved without copying it: for a Derived
  /// of many numbers of which a rule reads few.
  GE_FN std::conditional_t<Cells::B == 1, const Derived&, Derived> varied_in_place() const {
    static_assert(has_varied<S>, "GE: this Schema has no Varied");
    if constexpr (Cells::B > 1) {
      return varied();
    } else {
      if constexpr (kOnLanes)
        if (cells_.own == nullptr) return cells_.shared->derived;
      return *reinterpret_cast<const Derived*>(cells_.own);
    }
  }
  /// What all worlds share: `w.assets().levels[k]`.
  GE_FN const typename AssetsOf<S>::type& assets() const { return cells_.shared->assets; }
  /// Options of the current reset; their defaults in a reset that the life cycle begins.
  GE_FN const typename OptionsOf<S>::type& options() const { return cells_.shared->options; }
  GE_FN uint32_t step() const { return cells_.template load<EpisodeTable, Clock>(0).step; }
  GE_FN uint32_t episode() const { return cells_.template load<EpisodeTable, Clock>(0).episode; }

  /// The episode's limit in steps; 0: none.
  GE_FN uint32_t max_steps() const { return cells_.shared->max_steps; }
  /// Counts an action that the rules forbade and replaced: for EachWorld, or for the row that a
  /// system runs on. For an agent of a role, name its table: count_illegal<Governors>(w, row).
  GE_FN void count_illegal(int agent) const {
    if (!is_stepped(cells_)) return;
    Counters* const counters = cells_.shared->counters;
    count_add(&counters->illegal_actions, 1);
    count_first(&counters->first_illegal,
                int64_t(cells_.world) * agents_of(*cells_.shared) + agent);
  }

  /// Counts a picture that was not drawn because the pose of its eye is not finite.
  GE_FN void count_lost_view(int agent) const {
    if (!is_stepped(cells_)) return;
    Counters* const counters = cells_.shared->counters;
    count_add(&counters->lost_views, 1);
    count_first(&counters->first_lost, int64_t(cells_.world) * agents_of(*cells_.shared) + agent);
  }

  /// The life cycle's own view; environments have no use for it.
  GE_FN const Cells& engine() const { return cells_; }

 private:
  Cells cells_;
};

// ---- reading a world: free functions, found through their argument without a `using`

/// Component C of a row of T, by value. Never read another row of a component that the system
/// writes.
template <class T, class C, class S>
GE_FN C get(const World<S>& w, int row) {
  return w.engine().template load<T, C>(row);
}
/// Component C of the one table of capacity 1 that has it.
template <class C, class S>
GE_FN C get(const World<S>& w) {
  return w.engine().template load<single_of<C, AllTables<S>>, C>(0);
}
/// The number of rows of T to visit: the live ones of a List, all of any other table. Rows of a
/// Pool may be dead (check `alive`).
template <class T, class S>
GE_FN int row_count(const World<S>& w) {
  return w.engine().template rows<T>();
}
template <class T, class S>
GE_FN bool alive(const World<S>& w, int row) {
  return row >= 0 && row < T::capacity && w.engine().template alive<T>(row);
}
/// A handle to a row of a Pool: `w.alive(handle)` is false once the row has been destroyed.
template <class T, class S>
GE_FN Handle<T> handle_of(const World<S>& w, int row) {
  return {uint32_t(row), *w.engine().template generation<T>(row)};
}

/// Four random words, a function of only seed, world, episode, step, stream, slot and block.
template <Name stream, class S>
GE_FN Draw draw(const World<S>& w, int slot, int block = 0) {
  const Identity id = get<EpisodeTable, Identity>(w, 0);
  const Clock clock = get<EpisodeTable, Clock>(w, 0);
  constexpr uint32_t hash = stream.hash();
  return ge::draw(id.seed_low, id.seed_high, id.world, clock.episode, clock.step, hash,
                  uint32_t(slot), uint32_t(block));
}

/// Counts an illegal action of a role's agent, a row of that role's table T.
template <class T, class S>
GE_FN void count_illegal(const World<S>& w, int row) {
  w.count_illegal(first_agent<S, role_with_table<S, T>>(w.params()) + row);
}

/// Component C of the rows of T, for a system that runs once per world: it reads and writes them in
/// place, one after the other.
template <class T, class C>
class Rows {
 public:
  using Table = T;
  using Component = C;
  GE_FN Rows(char* at, int stride, int step) : at_(at), stride_(stride), step_(step) {}
  GE_FN C get(int row) const {
    GE_ASSERT(row >= 0 && row < T::capacity);
    return load_words<C>(at_ + int64_t{row} * step_, stride_);
  }
  GE_FN void set(int row, const C& value) const {
    GE_ASSERT(row >= 0 && row < T::capacity);
    store_words<C>(at_ + int64_t{row} * step_, stride_, value);
  }

 private:
  char* at_;
  int stride_, step_;  // words between two words, bytes between two rows
};

template <class Arg>
inline constexpr bool is_rows = false;
template <class T, class C>
inline constexpr bool is_rows<Rows<T, C>> = true;

}  // namespace ge
