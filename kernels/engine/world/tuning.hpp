// Tuning: how an environment's worlds are stored and run fastest. Its Schema may set it; no result
// depends on it, and every member has a default:
//
//   static constexpr Tuning tuning{.cpu_block = 1, .cuda_block = 1, .step_lanes = {128, 32}};
#pragma once

namespace ge {

/// Lane counts per world that a phase may be compiled for on a GPU, at most four;
/// cuda/lanes_kept.hpp says which of them are, and which runs by default.
struct LaneCounts {
  int at[4];
  // NOLINTNEXTLINE(google-explicit-constructor): `.step_lanes = 32` reads as it means
  consteval LaneCounts(int first, int second = 0, int third = 0, int fourth = 0)
      : at{first, second, third, fourth} {}
};

struct Tuning {
  /// Worlds that are stored interleaved (record.hpp). 1 suits worlds that diverge too much to run
  /// side by side, and whose own rays, bodies or neighbours fill the lanes instead.
  int cpu_block = 16, cuda_block = 32;

  LaneCounts step_lanes = {1, 8, 32}, reset_lanes = {8, 1, 32}, observe_lanes = {1, 8, 32};

  /// Resets ended worlds in a launch of their own, over a list of them, instead of in a branch of
  /// the step: for resets that are long or need many registers.
  bool rare_resets = false;

  /// Threads of a block on a GPU, at most. Two such blocks share the registers of a multiprocessor,
  /// so rules that need more of them ask for smaller blocks.
  int most_threads = 256;

  /// A lifetime of scratch memory (table.hpp) whose tables have room for many more rows than they
  /// mostly hold; 0: none. On a GPU it lies in global memory, of which only the rows in use come
  /// near; in shared memory its size would decide how many worlds run at once. Not with `flat`.
  int roomy_lifetime = 0;

  /// Whether lanes of a group take a row each of EachTogether and of rows of floats that squads
  /// make, side by side, instead of a squad a row: for systems whose set-up costs as much as their
  /// loops. The flat executor, whose worlds are few, keeps to squads.
  bool abreast = false;

  /// Also builds the environment for a GPU's flat executor, one grid-wide kernel per stage, for
  /// worlds larger than a block of threads; it is used where worlds are few and large.
  bool flat = false;
};

template <class S>
consteval Tuning tuning_of() {
  if constexpr (requires { S::tuning; }) return S::tuning;
  return {};
}
template <class S>
inline constexpr Tuning kTuning = tuning_of<S>();

}  // namespace ge
