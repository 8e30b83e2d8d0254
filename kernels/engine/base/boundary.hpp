// What crosses between a caller and the rules, as plain words that every machine understands:
// element types, autoreset modes, the arrays that are written and their addresses. Values and
// errors, which allocate, are elsewhere (described/values.hpp, error.hpp).
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "engine/base/platform.hpp"

namespace ge {

/// The names of an enumeration's values in every layer, in its order.
template <class E>
struct Words;

template <class E>
constexpr auto name_of(E value) -> decltype(Words<E>::at[0]) {
  return Words<E>::at[int(value)];
}
/// Words with their lengths, so that a step that parses one compares lengths first.
template <class E>
inline constexpr auto kSpelt = [] {
  std::array<std::string_view, std::size(Words<E>::at)> all;
  for (size_t k = 0; k < all.size(); ++k) all[k] = Words<E>::at[k];
  return all;
}();
template <class E>
constexpr std::optional<E> named(std::string_view name) {
  for (size_t k = 0; k < kSpelt<E>.size(); ++k)
    if (name == kSpelt<E>[k]) return E(int(k));
  return std::nullopt;
}

/// Gymnasium's three ways to begin the next episode.
enum class Autoreset { next_step, same_step, disabled };
template <>
struct Words<Autoreset> {
  static constexpr const char* at[] = {"NextStep", "SameStep", "Disabled"};
};

/// When an agent that ends before its world is reported as ended. `agent`: in the step of its own
/// end. `world`: when its world is over; every agent of the world is then flagged in one step, as
/// terminated if it had ended earlier or was absent, so that no row of a batch passes from one
/// episode to the next without a flag. Rules, records, observations and rewards do not depend on
/// it.
enum class Ends { agent, world };
template <>
struct Words<Ends> {
  static constexpr const char* at[] = {"agent", "world"};
};

/// Whether a step may leave out worlds that are over: a step of some worlds may, unless the next
/// episode begins within the step that ends one.
enum class Waiting { none, some };

/// Element types that cross the boundary.
enum class Type {
  uint8,
  int32,
  int64,
  float32,
  float64,
  boolean,
  uint32,
  uint64,
  int8,
  text,
  uint16
};
template <>
struct Words<Type> {
  static constexpr const char* at[] = {"uint8",  "int32",  "int64", "float32", "float64", "bool",
                                       "uint32", "uint64", "int8",  "string",  "uint16"};
};
constexpr int bytes_of(Type type) {
  constexpr int bytes[] = {1, 4, 8, 4, 8, 1, 4, 8, 1, 8, 2};
  return bytes[int(type)];
}

/// Element type of the observations that a learner asks for; `bits` are packed, low bit first.
enum class Elements { own, uint8, float32, bits };
template <>
struct Words<Elements> {
  static constexpr const char* at[] = {"own", "uint8", "float32", "bits"};
};

/// How a caller encodes an action of several categories: `own`, one number each, or `flat`, one
/// number for all, in which the last field changes fastest.
enum class ActionForm { own, flat };
template <>
struct Words<ActionForm> {
  static constexpr const char* at[] = {"own", "flat"};
};

/// How the rows of roles lie. `padded`: all agents of a world side by side, each row as long as the
/// longest, with zeros behind its own elements. `split`: role after role, each with rows of its own
/// type and length. `own`: padded where rows can be, else split.
enum class RoleForm { own, padded, split };
template <>
struct Words<RoleForm> {
  static constexpr const char* at[] = {"own", "padded", "split"};
};

/// Whether worlds have parameters of their own; and whether all parameters that may vary have
/// their defaults, in all worlds.
enum class Varying { none, some, usual, unusual };

/// Whether episodes begin as any world's may, or as one of some fixed levels.
enum class FixedLevels { none, some };

/// What a parameter is drawn from when an episode begins.
enum class Law { given, uniform, log_uniform, choice, normal };
template <>
struct Words<Law> {
  static constexpr const char* at[] = {"given", "uniform", "log_uniform", "choice", "normal"};
};

/// Traits of an output.
enum OutputTrait : unsigned {
  kOfAnAgent = 0,   // a row per agent,
  kOfAWorld = 1,    // or one per world
  kByAStep = 2,     // only a step can fill it: zero after a reset
  kAlways = 4,      // written even if the caller does not ask for it
  kWhereEnded = 8,  // valid only in the rows that `ended` marks
  kByName = 16,     // written only if asked for by name, not by a request for everything
  kOfAnEnd = 32,    // exists where the next episode begins within the step that ends one
};

/// The arrays a simulator can write: the one list of them. A new entry adds an output in every
/// layer; appended at the end, it leaves recorded hashes of environments without it as they are.
/// The types of rows that an environment names are in graph/outputs.hpp.
#define GE_OUTPUTS(OUTPUT)                                                                    \
  OUTPUT(kObservation, "obs", kAlways)                                                        \
  OUTPUT(kReward, "reward", kAlways | kByAStep)                                               \
  OUTPUT(kTerminated, "terminated", kAlways | kByAStep)                                       \
  OUTPUT(kTruncated, "truncated", kAlways | kByAStep)                                         \
  OUTPUT(kFinalObservation, "final_obs", kByAStep | kWhereEnded | kOfAnEnd)                   \
  OUTPUT(kEnded, "ended", kByAStep)                                                           \
  OUTPUT(kEpisodeReturn, "episode_return", kByAStep | kWhereEnded)                            \
  OUTPUT(kEpisodeLength, "episode_length", kByAStep | kWhereEnded)                            \
  OUTPUT(kActionMask, "action_mask", kOfAnAgent)                                              \
  OUTPUT(kAgentActive, "agent_active", kOfAnAgent)                                            \
  OUTPUT(kState, "state", kOfAWorld)                                                          \
  OUTPUT(kRewardParts, "reward_parts", kByAStep)                                              \
  OUTPUT(kFinalState, "final_state", kOfAWorld | kByAStep | kWhereEnded | kByName | kOfAnEnd) \
  OUTPUT(kDepth, "depth", kAlways)                                                            \
  OUTPUT(kSegmentation, "segmentation", kAlways)                                              \
  OUTPUT(kFinalDepth, "final_depth", kByAStep | kWhereEnded | kOfAnEnd)                       \
  OUTPUT(kFinalSegmentation, "final_segmentation", kByAStep | kWhereEnded | kOfAnEnd)         \
  OUTPUT(kObjective, "true_objective", kByAStep | kWhereEnded)                                \
  OUTPUT(kParameters, "parameters", kOfAWorld | kByName)                                      \
  OUTPUT(kNumbers, "numbers", kAlways)                                                        \
  OUTPUT(kFinalNumbers, "final_numbers", kByAStep | kWhereEnded | kOfAnEnd)                   \
  OUTPUT(kMeasures, "measures", kByAStep | kWhereEnded)

#define GE_OUTPUT_CONSTANT(constant, name, traits) constant,
enum Output : int { GE_OUTPUTS(GE_OUTPUT_CONSTANT) kOutputCount };
#undef GE_OUTPUT_CONSTANT

#define GE_OUTPUT_NAME(constant, name, traits) name,
template <>
struct Words<Output> {
  static constexpr const char* at[] = {GE_OUTPUTS(GE_OUTPUT_NAME)};
};
#undef GE_OUTPUT_NAME

GE_FN constexpr bool has_trait(Output output, OutputTrait trait) {
#define GE_OUTPUT_TRAITS(constant, name, traits) traits,
  constexpr unsigned all[] = {GE_OUTPUTS(GE_OUTPUT_TRAITS)};
#undef GE_OUTPUT_TRAITS
  return (all[output] & trait) != 0;
}

/// What a step does with the rows of final observations in which no episode ended.
enum class FinalRows {
  zero,         // clears them all
  keep,         // leaves them as they are
  clear_ended,  // clears those that the caller's `ended`, still of the step before, marks: for
                // arrays that are zero elsewhere because only steps have written them
};
/// The values that a caller may ask for; only an array's owner can know that `clear_ended` is
/// enough.
template <>
struct Words<FinalRows> {
  static constexpr const char* at[] = {"zero", "keep"};
};

/// Where one call writes: an address per output, null for one that is not wanted.
struct Bound {
  void* at[kOutputCount] = {};
  FinalRows final_rows = FinalRows::zero;

  GE_FN constexpr FinalRows rows_of_final() const {
    if (at[kFinalObservation] == nullptr) return FinalRows::keep;
    const bool blind = final_rows == FinalRows::clear_ended && at[kEnded] == nullptr;
    return blind ? FinalRows::zero : final_rows;
  }
  /// Last states are rarely asked for: all of them are cleared, or none.
  GE_FN constexpr bool clears_final_states() const {
    return at[kFinalState] != nullptr && final_rows != FinalRows::keep;
  }
};

}  // namespace ge
