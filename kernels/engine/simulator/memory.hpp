// Memory of the machine that simulators run on.
#pragma once

#include <cstdint>

namespace ge {

/// Bytes that the system still has to give.
int64_t available_memory();
/// Bytes that this process could get if no other process had any.
int64_t total_memory();

}  // namespace ge
