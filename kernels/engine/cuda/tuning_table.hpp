// Which compiled variant of a phase is fastest on which GPU, for which number of worlds. Written by
// scripts/gpu/tune.py from timings on the GPU at hand; a phase that is not listed runs as
// shapes.hpp chooses, with dependent launch. Lanes that a row names are compiled (lanes_kept.hpp).
#pragma once

#include "engine/cuda/shapes.hpp"

namespace ge::cuda {

// clang-format off
inline constexpr Tuning kTuning[] = {
    // environment, tier, phase, architecture, most worlds (0: any), lanes per world, threads per
    // block, dependent launch
    {"", 0, "", 0, 0, 0, 0, true},
};
// clang-format on

}  // namespace ge::cuda
