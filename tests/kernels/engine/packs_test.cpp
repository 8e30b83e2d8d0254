// Vectors of the CPU (engine/maths/packs_cpu.hpp), where a machine's own instructions do the work.
#include "engine/maths/packs.hpp"

#include "test.hpp"

namespace {

using ge::Floats;
using ge::kPack;
using ge::lane_numbers;

}  // namespace

GE_TEST(any_of_sees_every_lane) {
  const Floats numbers = lane_numbers();
  CHECK(!ge::any_of(numbers < 0.0f));
  CHECK(ge::any_of(numbers >= 0.0f));
  for (int k = 0; k < kPack; ++k) {
    CHECK(ge::any_of(numbers == float(k)));
    CHECK(!ge::any_of(ge::both(numbers == float(k), numbers != float(k))));
    CHECK_EQ(ge::any_of(numbers > float(k)), k + 1 < kPack);
  }
}
