// A library in front of CUDA's runtime (LD_PRELOAD) that makes the mistake of a host which FAULT
// names. RUNTIME is the file of the runtime behind it.
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace {

bool makes(const char* fault) {
  const char* const given = std::getenv("FAULT");
  return given != nullptr && std::strcmp(given, fault) == 0;
}
template <class F>
F* behind(F*, const char* name) {
  static void* const runtime = dlopen(std::getenv("RUNTIME"), RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<F*>(dlsym(runtime, name));
}

}  // namespace

#define GE_BEHIND(call) behind(&call, #call)

extern "C" {

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  if (makes("no permission")) return cudaSuccess;
  return GE_BEHIND(cudaFuncSetAttribute)(function, attribute, value);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  cudaLaunchConfig_t own = *config;
  if (makes("short of shared memory")) own.dynamicSmemBytes -= 16;
  if (makes("a block too few")) own.gridDim.x -= 1;
  return GE_BEHIND(cudaLaunchKernelExC)(&own, function, arguments);
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (makes("wrong direction") && kind == cudaMemcpyHostToDevice) kind = cudaMemcpyDeviceToHost;
  return GE_BEHIND(cudaMemcpy)(to, from, bytes, kind);
}
cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t stream) {
  return GE_BEHIND(cudaMemsetAsync)(at, value, bytes + (makes("a byte too many") ? 1 : 0), stream);
}

}  // extern "C"
