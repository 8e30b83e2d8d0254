// See host.hpp.
#include "engine/host.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "engine/cpu/pool.hpp"

namespace ge {
namespace {

[[noreturn]] void refuse(const Simulator& simulator, int64_t element, double value) {
  const std::vector<double>& ranges = simulator.action_ranges();
  const int64_t words = int64_t(ranges.size()) / 2;
  const int64_t row = element / words, k = element % words;
  const int agents = simulator.agents();
  std::string where =
      "world " + std::to_string(row / agents) + ", agent " + std::to_string(row % agents);
  if (words > 1) where += ", component " + std::to_string(k);
  const double low = ranges[size_t(2 * k)], high = ranges[size_t(2 * k + 1)];
  const std::string legal = simulator.action_is_float()
                                ? "a number from " + spelled(low) + " to " + spelled(high)
                                : "one of " + spelled(low) + " to " + spelled(high);
  throw Error(Fault::value, "actions: " + where + ": " + spelled(value) + " is not " + legal);
}

// Blocks of elements are judged without a branch; only a block with a bad one is searched.
template <class From>
void check(const Simulator& simulator, const From* values, int64_t count) {
  // As wide as the bounds need: 999 is no uint8_t. A double is judged as the float that the rules
  // will see, as on a GPU: what rounds to a bound is within it.
  using Whole = std::conditional_t<sizeof(From) == 1, int32_t, From>;
  using Wide = std::conditional_t<std::is_floating_point_v<From>, float, Whole>;
  const std::vector<double>& ranges = simulator.action_ranges();
  const int64_t words = int64_t(ranges.size()) / 2;
  const auto bad = [&](int64_t i) {
    const int64_t k = i % words;
    const Wide value = Wide(values[i]);
    return !(value >= Wide(ranges[size_t(2 * k)]) && value <= Wide(ranges[size_t(2 * k + 1)]));
  };
  constexpr int64_t kBlock = 1024;
  for (int64_t first = 0; first < count; first += kBlock) {
    const int64_t last = first + kBlock < count ? first + kBlock : count;
    uint32_t any = 0;
    if (words == 1) {
      const Wide low = Wide(ranges[0]), high = Wide(ranges[1]);
      for (int64_t i = first; i < last; ++i)
        any |= (Wide(values[i]) >= low) & (Wide(values[i]) <= high) ? 0u : 1u;
    } else {
      for (int64_t i = first; i < last; ++i) any |= bad(i) ? 1u : 0u;
    }
    for (int64_t i = first; any != 0 && i < last; ++i)
      if (bad(i)) refuse(simulator, i, double(values[i]));
  }
}

}  // namespace

void check_action_type(const Simulator& simulator, const Actions& actions) {
  const bool floats = actions.type == Type::float32 || actions.type == Type::float64;
  const bool ints =
      actions.type == Type::int64 || actions.type == Type::int32 || actions.type == Type::uint8;
  if (simulator.action_is_float() ? !floats : !ints)
    throw Error(Fault::type,
                std::string("actions must be ") +
                    (simulator.action_is_float() ? "float32 or float64" : "int64, int32 or uint8") +
                    ", got " + name_of(actions.type));
  if (actions.data == nullptr) throw Error(Fault::value, "actions: there are none");
}

void check_actions(const Simulator& simulator, const Actions& actions) {
  check_action_type(simulator, actions);
  const int64_t count =
      simulator.worlds() * simulator.agents() * int64_t(simulator.action_ranges().size()) / 2;
  switch (actions.type) {
    case Type::int64:
      return check(simulator, static_cast<const int64_t*>(actions.data), count);
    case Type::int32:
      return check(simulator, static_cast<const int32_t*>(actions.data), count);
    case Type::uint8:
      return check(simulator, static_cast<const uint8_t*>(actions.data), count);
    case Type::float32:
      return check(simulator, static_cast<const float*>(actions.data), count);
    default:
      return check(simulator, static_cast<const double*>(actions.data), count);
  }
}

int64_t available_memory() {
  if (std::FILE* file = std::fopen("/proc/meminfo", "r")) {
    char line[128];
    long long kilobytes = -1;
    while (std::fgets(line, sizeof line, file) != nullptr)
      if (std::sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1) break;
    std::fclose(file);
    if (kilobytes >= 0) return int64_t(kilobytes) * 1024;
  }
  return total_memory();
}
int64_t total_memory() {
  return int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

void sample_on_host(const Sampling& sampling, int32_t* to, int threads) {
  constexpr int64_t kRows = 4096;  // of a part: some tens of microseconds
  static_assert(kRows % kSampledTogether == 0);
  const int available = available_threads();
  const int64_t parts = (sampling.rows + kRows - 1) / kRows;
  parallel_for(parts, threads > 0 && threads < available ? threads : available,
               [&](int64_t part, int) {
                 const int64_t first = part * kRows;
                 const int64_t last = std::min(first + kRows, sampling.rows);
                 for (int64_t row = first; row < last; row += kSampledTogether) {
                   const Draw words = sampling_draw(sampling, row);
                   const int64_t left = std::min<int64_t>(last - row, kSampledTogether);
                   for (int k = 0; k < left; ++k)
                     to[row + k] = sampled_action(sampling, row + k, words.word[k]);
                 }
               });
}

}  // namespace ge
