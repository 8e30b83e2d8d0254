// Symmetries of a game: what an agent sees and does under other names, by which no rule goes.
#pragma once

#include <cstdint>
#include <vector>

namespace ge {

/// One way of naming, as two permutations: element k of the renamed observation is element
/// `observation[k]` of the true one, and who chooses action k takes the true action `actions[k]`.
struct Symmetry {
  std::vector<int32_t> observation, actions;
};

}  // namespace ge
