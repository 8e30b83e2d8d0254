// The machine that a binary's simulators run on; each machine defines these once.
#pragma once

#include <string>

namespace ge {

int device_count();
std::string device_name(int device);
/// Empty where a device can be used, else one line that says why not.
std::string device_problem();

}  // namespace ge
