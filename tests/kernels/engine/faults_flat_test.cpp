// Faults are counted by the flat executor as by every other one.
// environment: arena
#include "golden.hpp"

using namespace ge::test;

GE_TEST(faults_are_counted_as_elsewhere) {
  for (const int parts : {1, 2}) CHECK_EQ(faults_of_arena(parts), kFaultsOfArena);
}
