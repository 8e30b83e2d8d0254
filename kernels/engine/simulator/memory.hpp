// Memory of the machine that simulators run on.
#pragma once

#include <cstdint>

namespace ge {

/// Bytes that this process could get now, while other processes keep what they have.
int64_t available_memory();
/// Bytes that this process could get if no other process had any.
int64_t total_memory();

}  // namespace ge
