// Native code for a learner: draws of actions from a policy's outputs, and the gradient of its loss
// by these outputs. All arrays are the caller's, on the named device; nothing allocates and nothing
// waits, so calls may be captured into CUDA graphs.
#pragma once

#include <cstdint>

#include "engine/base/platform.hpp"
#include "engine/maths/scalar.hpp"

namespace ge::learning {

/// The space of actions: categories (independent heads side by side), or normally distributed
/// numbers.
struct Space {
  bool numbers;
  int parts;              // heads, or numbers
  int outputs;            // of a row: all categories, or a mean for each number
  const int32_t* counts;  // categories of each head
  // Bounds of each number, and their middle and half width: a policy's -1 and 1.
  const float *low, *high, *centre, *reach;

  GE_FN bool bounded(int part) const {
    return abs(low[part]) < infinity<float>() && abs(high[part]) < infinity<float>();
  }
  /// Scales and clamps a drawn number to the environment's bounds.
  GE_FN float within(int part, float number) const {
    return min(max(centre[part] + reach[part] * number, low[part]), high[part]);
  }
};

/// Source of random numbers: a hash of these, of the row and of the part that is drawn.
struct Noise {
  uint64_t key;
  const int64_t* clock;  // in the device's memory, so that a captured draw goes on
  int64_t factor, offset, first_row;
};

/// One draw for each of `count` rows; null arrays are neither read nor written.
struct Draw {
  const int64_t* rows;  // null: 0 to count - 1; outputs and values are in this order
  int64_t count;
  Noise noise;
  const float *outputs, *log_std;         // no outputs: all that is legal is as likely
  const int8_t* mask;                     // of all rows, like what follows
  const float *value, *mean, *deviation;  // the critic's, and its units
  void* action;                           // int64_t or float
  float *bounded_action, *log_prob, *real_value, *entropy;

  GE_FN uint64_t step() const { return uint64_t(*noise.clock * noise.factor + noise.offset); }
};

inline constexpr int kStats = 5;  // losses of policy and value, entropy, divergence, share of far

/// PPO's loss of `count` times `steps` samples: b is sample b / count * stride + index[b % count].
struct Loss {
  const int64_t* index;
  int64_t count, steps, stride;
  const float *outputs, *log_std, *value;  // of b
  const void* action;                      // of all samples, like what follows
  const float *old, *advantage, *target;   // old: the logarithm of the probability
  const int8_t *mask, *known;              // known: 0 is not learned from
  const float *counted, *entropy_weight;   // numbers on the device; counted: sum of known
  float clip, far, value_weight;           // clip: negative for none; far: its limit then
  float *gradient, *log_std_gradient, *value_gradient, *stats;  // of b
};

void draw(const Space& space, const Draw& draw, int device, void* stream);
void lose(const Space& space, const Loss& loss, int device, void* stream);

/// Replaces numbers in host memory by their hyperbolic tangents, each within 1.2e-7.
void tanh(float* at, int64_t count);

}  // namespace ge::learning
