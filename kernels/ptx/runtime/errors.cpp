// See errors.hpp.
#include "ptx/runtime/errors.hpp"

#include <cstdio>
#include <deque>
#include <utility>

#include "ptx/runtime/runtime.hpp"

namespace ge::ptx {
namespace {

struct OfThread {
  cudaError_t last = cudaSuccess;  // since it was last asked for
  cudaError_t code = cudaSuccess;  // of the text
  std::string text;
};
thread_local OfThread own;

/// Guarded by the mutex of the runtime. Earlier faults stay, since callers may hold their texts.
struct Faults {
  std::deque<std::string> whole, first_lines;
  bool is_lost = false;
};
Faults& faults() {
  static Faults* const one = new Faults;
  return *one;
}

struct Named {
  cudaError_t code;
  const char *name, *text;
};
#define GE_NAMED(code, text) {code, #code, text}
constexpr Named kNames[] = {
    GE_NAMED(cudaSuccess, "no error"),
    GE_NAMED(cudaErrorInvalidValue, "an argument is not valid"),
    GE_NAMED(cudaErrorMemoryAllocation, "the device has no such memory left"),
    GE_NAMED(cudaErrorInvalidConfiguration, "the shape of a launch is not valid"),
    GE_NAMED(cudaErrorInvalidSymbol, "no variable of the device has this address"),
    GE_NAMED(cudaErrorInvalidDeviceFunction, "no kernel has this address"),
    GE_NAMED(cudaErrorInvalidDevice, "there is no such device"),
    GE_NAMED(cudaErrorInvalidKernelImage, "the code cannot be read"),
    GE_NAMED(cudaErrorNoKernelImageForDevice, "there is no code for this device"),
    GE_NAMED(cudaErrorInvalidPtx, "the PTX cannot be read"),
    GE_NAMED(cudaErrorInvalidResourceHandle, "there is no such stream, event or graph"),
    GE_NAMED(cudaErrorIllegalState, "a call at the wrong time"),
    GE_NAMED(cudaErrorLaunchOutOfResources, "a launch needs more registers than there are"),
    GE_NAMED(cudaErrorLaunchFailure, "a kernel has failed"),
    GE_NAMED(cudaErrorNotSupported, "the interpreter does not support this"),
    GE_NAMED(cudaErrorStreamCaptureUnsupported, "a capture forbids this call"),
    GE_NAMED(cudaErrorStreamCaptureInvalidated, "an earlier call has ended the capture"),
    GE_NAMED(cudaErrorStreamCaptureMerge, "two captures cannot be joined"),
    GE_NAMED(cudaErrorStreamCaptureUnmatched, "the capture began on another stream"),
    GE_NAMED(cudaErrorStreamCaptureUnjoined, "a stream of the capture has not been joined"),
    GE_NAMED(cudaErrorStreamCaptureIsolation, "a captured stream cannot wait for work outside"),
    GE_NAMED(cudaErrorStreamCaptureImplicit, "the legacy stream waits for a captured one"),
    GE_NAMED(cudaErrorCapturedEvent, "the event was recorded in a capture"),
    GE_NAMED(cudaErrorStreamCaptureWrongThread, "another thread began the capture"),
};
#undef GE_NAMED
const Named* find(cudaError_t code) {
  for (const Named& one : kNames)
    if (one.code == code) return &one;
  return nullptr;
}

}  // namespace

cudaError_t note(cudaError_t code, const std::string& text) {
  if (code == cudaSuccess) return code;
  own.last = own.code = code;
  own.text = text;
  return code;
}
void lose(const std::string& fault) {
  std::fprintf(stderr, "GPU fault: %s\n", fault.c_str());
  Faults& all = faults();
  all.is_lost = true;
  all.whole.push_back(fault);
  all.first_lines.push_back(fault.substr(0, fault.find('\n')));
  throw Refusal{cudaErrorLaunchFailure, {}};
}
const char* fault_of_process() {
  return faults().is_lost ? faults().whole.back().c_str() : nullptr;
}
void forget_fault() {
  faults().is_lost = false;
  own = OfThread{};
}

}  // namespace ge::ptx

using namespace ge::ptx;

cudaError_t cudaGetLastError() {
  const Lock lock;
  const cudaError_t last = std::exchange(own.last, cudaSuccess);
  return fault_of_process() != nullptr ? cudaErrorLaunchFailure : last;
}
cudaError_t cudaPeekAtLastError() {
  const Lock lock;
  return fault_of_process() != nullptr ? cudaErrorLaunchFailure : own.last;
}
const char* cudaGetErrorName(cudaError_t code) {
  const Named* const found = find(code);
  return found != nullptr ? found->name : "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t code) {
  const Lock lock;
  if (code == cudaErrorLaunchFailure && fault_of_process() != nullptr)
    return faults().first_lines.back().c_str();
  if (code == own.code && !own.text.empty()) return own.text.c_str();
  const Named* const found = find(code);
  return found != nullptr ? found->text : "unrecognized error code";
}
