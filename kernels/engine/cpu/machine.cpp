// The CPU as a machine: one device, always there.
#include "engine/simulator/machine.hpp"

#include <cstring>

#include "engine/simulator/simulator.hpp"

namespace ge {

int device_count() {
  return 1;
}
std::string device_name(int device) {
  if (device != 0)
    throw Error(Fault::value,
                "device " + std::to_string(device) + " does not exist: there is one CPU");
  return "cpu";
}
std::string device_problem() {
  return "";
}
int device_of(const void*) {
  return -1;
}
bool is_capturing(void*) {
  return false;
}
void follow(int, void*, void*) {}
void wait_for(int, void*, const char*) {}
void enqueue_copy(int, void* to, const void* from, int64_t bytes, void*) {
  std::memcpy(to, from, size_t(bytes));
}
std::string kernels_on_paper(const cuda::LaunchList&, int64_t, int, const PaperGpu&) {
  throw Error(Fault::value, "a CPU runs no kernels");
}

}  // namespace ge
