// The machine that a binary's simulators run on, in questions that need no simulator. Each machine
// defines these once (cpu/machine.cpp, cuda/runtime.cpp); who asks need not know which is linked.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ge {

int device_count();
std::string device_name(int device);
/// Empty where a device can be used, else one line that says why not.
std::string device_problem();
/// Turns clocks around the stages of a step on (from zero) or off, and reads them; a GPU has none.
void watch_stages(bool on);
std::vector<std::pair<std::string, double>> stage_seconds();

}  // namespace ge
