// When an episode ends.
#pragma once

#include "voxel/tables.hpp"

namespace ge::voxel {

/// An episode's time. It ends when `passed` reaches `length`, never otherwise.
struct Timer {
  int32_t passed, length;  // [steps]
  int32_t solved;
  static constexpr auto describe() {
    return fields(field("passed", &Timer::passed,
                        "steps that count as passed; success moves them towards the end")
                      .within(0, 0x7fffffff),
                  field("length", &Timer::length, "steps of the episode").within(0, 0x7fffffff),
                  field("solved", &Timer::solved, "1: the episode has succeeded").within(0, 1));
  }
};
/// Steps from the one that succeeds to the last.
inline constexpr int32_t kStepsAfterSuccess = 4;

GE_FN Timer timer_of(float seconds) {
  // Less a thousandth of a step: 0.2 s are 3 steps, not 4.
  return {0, max(to_int(ceil(seconds * float(kStepsPerSecond) - 1e-3f)), 1), 0};
}
/// Before the step's time passes.
GE_FN void succeed(Timer& timer) {
  timer.solved = 1;
  timer.passed = max(timer.passed, timer.length - kStepsAfterSuccess - 1);
}
/// Whether the episode is over.
GE_FN bool pass(Timer& timer) {
  timer.passed += timer.passed < timer.length ? 1 : 0;
  return timer.passed >= timer.length;
}
/// The share of the episode that is left.
GE_FN float time_left(const Timer& timer) {
  return clamp(1.0f - float(timer.passed) / float(timer.length), 0.0f, 1.0f);
}

}  // namespace ge::voxel
