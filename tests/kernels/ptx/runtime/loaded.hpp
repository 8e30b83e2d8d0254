// Objects as nvcc makes them, by hand: fat binaries of small PTX texts, registered as the host code
// of a module does it.
#pragma once

#include <cuda_runtime.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ptx/runtime/tools.hpp"
#include "test.hpp"

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* function, char* device_function,
                            const char* name, int thread_limit, uint3* thread, uint3* block,
                            dim3* block_shape, dim3* grid_shape, int* warp_size);
void __cudaRegisterVar(void** handle, char* variable, char* device_address, const char* name,
                       int is_extern, size_t bytes, int is_constant, int is_global);
}

namespace ge::test {

/// Appends a number as the machine stores it.
template <class T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct Part {
  enum Kind : uint16_t { ptx = 1, machine_code = 2 };
  uint32_t architecture;
  std::string text;
  Kind kind = ptx;
  bool is_compressed = false;
};

/// An object that is loaded; its destructor unloads it.
class LoadedObject {
 public:
  explicit LoadedObject(const std::vector<Part>& parts) {
    std::string all;
    for (const Part& part : parts) {
      std::string text = part.text;
      text.resize((text.size() + 8) / 8 * 8);
      put<uint16_t>(all, part.kind);
      put<uint16_t>(all, 0x101);
      put<uint32_t>(all, 64);
      put<uint64_t>(all, text.size());
      put<uint32_t>(all, part.is_compressed ? uint32_t(text.size()) : 0);
      put<uint32_t>(all, 0);
      put<uint16_t>(all, 0);
      put<uint16_t>(all, 9);
      put<uint32_t>(all, part.architecture);
      all.append(32, '\0');
      all += text;
    }
    put<uint32_t>(bytes_, 0xBA55ED50);
    put<uint16_t>(bytes_, 1);
    put<uint16_t>(bytes_, 16);
    put<uint64_t>(bytes_, all.size());
    bytes_ += all;
    wrapper_.data = bytes_.data();
    handle_ = __cudaRegisterFatBinary(&wrapper_);
    __cudaRegisterFatBinaryEnd(handle_);
  }
  explicit LoadedObject(const std::string& text) : LoadedObject({Part{90, text}}) {}
  ~LoadedObject() { __cudaUnregisterFatBinary(handle_); }
  LoadedObject(const LoadedObject&) = delete;

  /// Registers a kernel, and returns the address of its host function.
  const void* kernel(const char* name) {
    char* const host = new_host();
    __cudaRegisterFunction(handle_, host, host, name, -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
    return host;
  }
  /// Registers a variable, and returns the address of the host's.
  const void* variable(const char* name, size_t bytes, bool is_constant = false) {
    char* const host = new_host();
    __cudaRegisterVar(handle_, host, host, name, 0, bytes, is_constant ? 1 : 0, 0);
    return host;
  }

 private:
  char* new_host() {
    hosts_.push_back(std::make_unique<char>());
    return hosts_.back().get();
  }
  struct {
    uint32_t magic = 0x466243B1, version = 1;
    const char* data = nullptr;
    const void* more = nullptr;
  } wrapper_;
  std::string bytes_;
  std::vector<std::unique_ptr<char>> hosts_;
  void** handle_;
};

/// Memory of the device, freed with its owner.
class DeviceWords {
 public:
  explicit DeviceWords(const std::vector<uint32_t>& values) : count_(values.size()) {
    CHECK_EQ(cudaMalloc(reinterpret_cast<void**>(&at_), 4 * count_), cudaSuccess);
    if (count_ == 0) return;
    CHECK_EQ(cudaMemcpy(at_, values.data(), 4 * count_, cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~DeviceWords() { cudaFree(at_); }
  DeviceWords(const DeviceWords&) = delete;
  uint32_t* at() const { return at_; }
  std::vector<uint32_t> values() const {
    std::vector<uint32_t> found(count_);
    CHECK_EQ(cudaMemcpy(found.data(), at_, 4 * count_, cudaMemcpyDeviceToHost), cudaSuccess);
    return found;
  }

 private:
  size_t count_;
  uint32_t* at_ = nullptr;
};

/// A launch of one block, or of another shape.
struct Shape {
  dim3 grid = dim3(1), block = dim3(32);
  size_t shared = 0;
  cudaStream_t stream = nullptr;
  bool overlaps = false;
};
template <class... P>
cudaError_t launch(const void* kernel, const Shape& shape, P... given) {
  void* arguments[] = {&given..., nullptr};
  cudaLaunchAttribute early;
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid, config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared, config.stream = shape.stream;
  config.attrs = &early, config.numAttrs = shape.overlaps ? 1 : 0;
  return cudaLaunchKernelExC(&config, kernel, arguments);
}
inline bool says(cudaError_t code, const char* part) {
  return std::strstr(cudaGetErrorString(code), part) != nullptr;
}

// ---- small kernels

inline std::string module(const std::string& body, const char* target = "sm_90") {
  return "\n.version 8.0\n.target " + std::string(target) + "\n.address_size 64\n" + body;
}
/// An entry with parameters `to` (address) and `value` (32 bits); registers are declared, %rd1 and
/// %r1 are the parameters, %r2 the thread's number in its block, %rd2 its word of `to`.
inline std::string entry(const std::string& name, const std::string& body,
                         const std::string& directives = "") {
  return ".visible .entry " + name + "(\n.param .u64 to,\n.param .u32 value)\n" + directives +
         "{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\nld.param.u64 %rd1, [to];\n"
         "ld.param.u32 %r1, [value];\nmov.u32 %r2, %tid.x;\nmul.wide.u32 %rd3, %r2, 4;\n"
         "add.s64 %rd2, %rd1, %rd3;\n" +
         body + "ret;\n}\n";
}
/// Writes `value` into the word of each thread.
inline std::string store_entry(const std::string& name = "store_value",
                               const std::string& directives = "") {
  return entry(name, "st.global.u32 [%rd2], %r1;\n", directives);
}

}  // namespace ge::test
