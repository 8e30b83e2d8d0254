// Sums that do not depend on their order: each addend is first rounded to a multiple of 2^-24, and
// whole numbers add up to the same sum on every machine, however the work was divided.
#pragma once

#include "engine/maths/math.hpp"

namespace ge::spatial {

/// An addend between 0 and 100 as a number of 2^-24, to be cast to int32_t: that rounds it to the
/// nearest.
GE_FN float fixed(float value) {
  return value * 0x1p24f + 0.5f;
}
GE_FN float from_fixed(int64_t sum) {
  return float(sum) * 0x1p-24f;
}

}  // namespace ge::spatial
