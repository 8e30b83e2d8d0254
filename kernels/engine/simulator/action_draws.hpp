// Random actions of all agents as draws (maths/sampling.hpp): one for each word of an action, and
// with roles that lie one after the other (RoleForm::split) one for each word of each role.
#pragma once

#include <vector>

#include "engine/maths/sampling.hpp"
#include "engine/simulator/simulator.hpp"

namespace ge {

/// One draw, and the place of its first word.
struct PlacedDraw {
  Sampling sampling;
  int32_t* to;
};

/// The draws that fill the actions of one step. `mask` is null or a filled output `action_mask`;
/// `to` has room for the actions of a step. Throws where a mask does not fit the actions.
std::vector<PlacedDraw> action_draws(const Simulator& simulator, const int8_t* mask, uint64_t seed,
                                     int32_t* to);

}  // namespace ge
