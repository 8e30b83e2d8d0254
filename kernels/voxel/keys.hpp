// Names of the heads of an action, and keys for a person who plays.
#pragma once

#include <string>

#include "voxel/tables.hpp"

namespace ge::voxel {

struct Named {
  const char *name, *key;
};
/// The categories of all heads, in the order of Act.
inline constexpr Named kActNames[] = {
    {"stay", ""},       {"forward", "w"},     {"backward", "s"},      // move
    {"no strafe", ""},  {"strafe left", "a"}, {"strafe right", "d"},  // strafe
    {"no turn", ""},    {"turn left", "j"},   {"turn right", "l"},    // turn
    {"level gaze", ""}, {"look up", "i"},     {"look down", "k"},     // gaze
    {"no jump", ""},    {"jump", " "},                                // jump
    {"hands off", ""},  {"interact", "e"},                            // interact
};
template <class Params>
std::string act_name(const Params&, int k) {
  return kActNames[k].name;
}
template <class Params>
std::string act_key(const Params&, int k) {
  return kActNames[k].key;
}

}  // namespace ge::voxel
