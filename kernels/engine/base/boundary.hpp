// What crosses between a caller and the rules, as plain words that every machine understands: element
// types, ways to begin anew, the arrays that are written and where. Values and errors, which need
// memory, are elsewhere (described/values.hpp, error.hpp).
#pragma once

#include "engine/base/platform.hpp"

namespace ge {

/// Gymnasium's three ways to begin the next episode.
enum class Autoreset { next_step, same_step, disabled };
const char* name_of(Autoreset mode);

/// Element types that cross the boundary.
enum class Type { uint8, int32, int64, float32, float64, boolean, uint32, uint64, int8, text };
const char* name_of(Type type);
int bytes_of(Type type);

/// The arrays a simulator can write, in this order in every layer.
enum Output : int {
  kObservation,
  kReward,
  kTerminated,
  kTruncated,
  kFinalObservation,
  kEnded,
  kEpisodeReturn,
  kEpisodeLength,
  kActionMask,
  kAgentActive,
  kState,
  kRewardParts,
  kOutputCount
};
const char* name_of(Output output);
/// What only a step can fill; zero after a reset.
inline bool is_of_a_step(Output output) {
  return (output >= kReward && output <= kEpisodeLength) || output == kRewardParts;
}

/// Element type of the observations that a learner asks for; `bits` are packed, low bit first.
enum class Elements { own, uint8, float32, bits };
const char* name_of(Elements elements);

/// Where one call writes: an address per output, null for one that is not wanted.
struct Bound {
  void* at[kOutputCount] = {};
};

}  // namespace ge
