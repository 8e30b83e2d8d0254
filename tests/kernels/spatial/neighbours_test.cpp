// What kernels/spatial finds against all pairs, bit for bit: the environment is
// tests/kernels/envs/crowd.hpp, places are laid out by hand and by chance.
// environment: crowd
#include "spatial/neighbours.hpp"

#include <functional>

#include "spatial/all_pairs.hpp"

namespace {

using namespace ge;
using namespace ge::test;

void check_both_edges(const std::function<Layout(bool)>& make, const std::string& name) {
  check_layout(make(true), name + ", torus");
  check_layout(make(false), name + ", walls");
}

GE_TEST(neighbours_of_uniform_crowds_are_those_of_all_pairs) {
  const float ranges[] = {0.001f, 0.02f, 0.1f, 0.24f, 0.26f, 0.4f, 0.5f, 0.75f, 1.5f, 3.0f};
  uint32_t seed = 0;
  for (float range : ranges)
    for (int agents : {1, 2, 3, 63, 64, 65, 200, 500})
      check_both_edges(
          [&](bool wraps) { return uniform(seed++, agents, 1.0f, range, wraps, 1.0f); }, "uniform");
}
GE_TEST(neighbours_among_thousands_are_those_of_all_pairs) {
  for (float range : {0.01f, 0.1f})
    for (bool wraps : {true, false})
      check_layout(uniform(5, 16'384, 1.0f, range, wraps, 1.0f), "thousands", 173);
}
GE_TEST(neighbours_in_squares_of_other_sides_are_those_of_all_pairs) {
  for (float side : {0.037f, 3.0f, 20.0f, 1000.0f})
    for (uint32_t seed = 0; seed < uint32_t(rounds(4)); ++seed)
      check_both_edges(
          [&](bool wraps) { return uniform(seed, 150, side, 0.13f * side, wraps, 1.0f); }, "sides");
}
GE_TEST(neighbours_in_clusters_are_those_of_all_pairs) {
  for (uint32_t seed = 0; seed < uint32_t(rounds(12)); ++seed)
    for (float spread : {0.3f, 0.05f, 0.001f})
      check_both_edges([&](bool wraps) { return uniform(seed, 300, 1.0f, 0.03f, wraps, spread); },
                       "cluster");
}
GE_TEST(neighbours_of_walkers_at_one_point_are_all_others) {
  for (float at : {0.0f, 0.5f, 0.99999994f})
    check_both_edges([&](bool wraps) { return one_point(180, at, 0.1f, wraps); }, "one point");
}
GE_TEST(neighbours_on_the_borders_of_cells_are_those_of_all_pairs) {
  for (float range : {0.1f, 0.125f, 0.25f})
    for (int steps : {8, 10, 16, 40})
      check_both_edges([&](bool wraps) { return lattice(steps, range, wraps); }, "lattice");
}
GE_TEST(neighbours_across_the_seam_and_just_below_the_side_are_those_of_all_pairs) {
  for (uint32_t seed = 0; seed < uint32_t(rounds(8)); ++seed)
    check_both_edges([&](bool wraps) { return seam(seed, 220, 0.08f, wraps); }, "seam");
}

}  // namespace
