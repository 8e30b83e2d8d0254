// The environments that are linked into this binary. The definition is written by the build from
// the list of headers (kernels/cmake/environments.cmake): registration from static initialisers
// would be dropped from static libraries.
#pragma once

#include <vector>

#include "engine/simulator/simulator.hpp"

namespace ge {

/// One entry per environment header, in the order of the headers' names.
std::vector<const Entry*> registry();

}  // namespace ge
