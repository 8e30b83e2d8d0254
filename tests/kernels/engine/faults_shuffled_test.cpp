// Faults of shuffled rows are counted as on every other executor.
// environment: arena
#include "golden.hpp"

using namespace ge::test;

GE_TEST(faults_in_shuffled_rows_are_counted_once) {
  for (const int parts : {1, 2}) CHECK_EQ(faults_of_arena(parts), kFaultsOfArena);
}
