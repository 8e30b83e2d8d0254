// Rules call engine/maths/math.hpp. nvcc declares functions of the same names for everybody, which
// would be better matches than templates and whose bits are others: here such functions exist too,
// and whoever finds one does not compile.
#include "engine/environment.hpp"
#include "test.hpp"

float atan(float) = delete;
float atan2(float, float) = delete;
float ceil(float) = delete;
float copysign(float, float) = delete;
float cos(float) = delete;
float exp(float) = delete;
float floor(float) = delete;
float fma(float, float, float) = delete;
float log(float) = delete;
float max(float, float) = delete;
double max(double, double) = delete;
int max(int, int) = delete;
float min(float, float) = delete;
double min(double, double) = delete;
int min(int, int) = delete;
float sin(float) = delete;
float sqrt(float) = delete;

#include "every_environment.hpp"  // which the build writes from its list

namespace gpu_envs::envs {

using namespace ge;

GE_TEST(rules_find_the_functions_of_the_engine) {
  CHECK_EQ(max(1.0f, 2.0f), 2.0f);
  CHECK_EQ(min(1.0, 2.0), 1.0);
  CHECK_EQ(min(1, 2), 1);
  CHECK_EQ(abs(-1.5f), 1.5f);
  CHECK_EQ(sqrt(4.0f) + floor(2.5f) + ceil(2.5f), 7.0f);
  CHECK_EQ(atan2(0.0f, 1.0f) + atan(0.0f) + sin(0.0f) + log(1.0f), 0.0f);
  CHECK_EQ(cos(0.0f) + exp(0.0f), 2.0f);
  CHECK_EQ(copysign(2.0f, -1.0f) + fma(2.0f, 3.0f, 4.0f), 8.0f);
}

}  // namespace gpu_envs::envs
