// tanh of a CPU's networks: by exp, in vectors, a fraction of the time of torch's.
#include "engine/maths/math.hpp"
#include "learning/learning.hpp"

namespace ge::learning {

void tanh(float* at, int64_t count) {
  for (int64_t i = 0; i < count; ++i) at[i] = 1.0f - 2.0f / (exp(at[i] + at[i]) + 1.0f);
}

}  // namespace ge::learning
