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
/// The device that has an address; -1: none, it is the host's. (GPU)
int device_of(const void* address);

// Streams of a GPU. A CPU has none: there these do nothing.

/// Whether a stream is being captured into a CUDA graph.
bool is_capturing(void* stream);
/// Lets later work of a stream wait for what another one has so far. Throws where a capture has the
/// one and not the other.
void follow(int device, void* stream, void* other);
/// Waits for all work of a stream, for the sake of `call`; throws if it is being captured.
void wait_for(int device, void* stream, const char* call);

/// Turns clocks around the stages of a step on (from zero) or off, and reads them; a GPU has none.
void watch_stages(bool on);
std::vector<std::pair<std::string, double>> stage_seconds();

}  // namespace ge
