// What an environment's header includes: everything it may name, and nothing of any machine. The
// top of the engine's rooms: no file below includes it.
#pragma once

#include "engine/graph/channels.hpp"
#include "engine/graph/episode.hpp"
#include "engine/graph/graph.hpp"
#include "engine/maths/math.hpp"
#include "engine/maths/packs.hpp"
#include "engine/maths/random.hpp"
#include "engine/simulator/assets.hpp"
#include "engine/simulator/build.hpp"
#include "engine/simulator/files.hpp"
#include "engine/world/world.hpp"
#include "pictures/scene.hpp"

// Compilers for GPUs declare global functions of these names, and a non-template would be the
// better match: here rules find those of engine/maths/math.hpp first, whose bits are equal on every
// machine.
namespace gpu_envs::envs {
using ge::abs, ge::min, ge::max, ge::sqrt, ge::floor, ge::ceil, ge::copysign, ge::fma;
using ge::atan, ge::atan2, ge::cos, ge::exp, ge::log, ge::sin, ge::sincos;
}  // namespace gpu_envs::envs
