// Squads of emulated lanes, and lanes that look alone, find whom all pairs find.
// environment: crowd
#include "engine/checking/lanes_emulated.hpp"
#include "spatial/all_pairs.hpp"

namespace {

using namespace ge;
using namespace ge::test;

// One lane per world, lanes that each take an agent, a squad, and squads that take turns.
const int kLanes[] = {1, 8, 32, 64};

void check_lanes(const Layout& layout, const std::string& name) {
  for (const int lanes : kLanes)
    check_layout(layout, name + ", " + std::to_string(lanes) + " lanes", 1, lanes);
}

GE_TEST(lanes_find_the_neighbours_of_all_pairs_in_uniform_crowds) {
  uint32_t seed = 0;
  for (float range : {0.02f, 0.1f, 0.26f, 0.5f, 1.5f})
    for (int agents : {1, 3, 64, 65, 220})
      for (bool wraps : {true, false})
        check_lanes(uniform(seed++, agents, 1.0f, range, wraps, 1.0f), "uniform");
}
GE_TEST(lanes_find_the_neighbours_of_all_pairs_in_clusters_and_across_the_seam) {
  for (bool wraps : {true, false}) {
    check_lanes(uniform(3, 150, 1.0f, 0.03f, wraps, 0.05f), "cluster");
    check_lanes(uniform(4, 150, 1.0f, 0.03f, wraps, 0.001f), "cluster");
    check_lanes(one_point(90, 0.99999994f, 0.1f, wraps), "one point");
    check_lanes(lattice(16, 0.125f, wraps), "lattice");
    check_lanes(seam(1, 150, 0.08f, wraps), "seam");
  }
}

}  // namespace
