// How the rewards of a team are shared.
#pragma once

#include "engine/maths/math.hpp"

namespace ge::voxel {

/// An agent's share of the rewards for `all` events of its team in this step, of which it caused
/// `own`; each pays `reward`. With spirit 0 it is paid for its own events, with 1 for an equal part
/// of all. The sum over the team does not depend on the spirit.
GE_FN float team_share(float reward, float spirit, int own, int all, int agents) {
  return reward * ((1.0f - spirit) * float(own) + spirit * float(all) / float(agents));
}

/// An agent's share of the rewards for events of one kind, in a team of `agents`; `doers` has a bit
/// for each who caused one.
GE_FN float share_of(float reward, float spirit, uint32_t doers, int agent, int agents) {
  return team_share(reward, spirit, int(doers >> agent & 1u), count_bits(doers), agents);
}

}  // namespace ge::voxel
