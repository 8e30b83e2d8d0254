// What an environment's header includes: everything it may name, and nothing of any machine.
#pragma once

#include "engine/build.hpp"
#include "engine/channels.hpp"
#include "engine/episode.hpp"
#include "engine/graph.hpp"
#include "engine/math.hpp"
#include "engine/packs.hpp"
#include "engine/random.hpp"
#include "engine/world.hpp"

// Compilers for GPUs declare functions of these names for everybody, and what is no template would
// be the better match: here rules find those of engine/math.hpp first, whose bits are equal
// everywhere.
namespace gpu_envs::envs {
using ge::abs, ge::min, ge::max, ge::sqrt, ge::floor, ge::ceil, ge::copysign, ge::fma;
using ge::atan, ge::atan2, ge::cos, ge::exp, ge::log, ge::sin, ge::sincos;
}  // namespace gpu_envs::envs
