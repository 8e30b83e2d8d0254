// Memory of the device: to the byte, poisoned, and never mistaken for the host's.
#include <algorithm>
#include <cstdint>
#include <set>

#include "ptx/runtime/loaded.hpp"

using namespace ge::test;

namespace {

using Words = std::vector<uint32_t>;
constexpr auto kIn = cudaMemcpyHostToDevice, kOut = cudaMemcpyDeviceToHost,
               kWithin = cudaMemcpyDeviceToDevice;

}  // namespace

GE_TEST(allocations_are_aligned_poisoned_and_counted) {
  size_t free = 0, less = 0, total = 0;
  CHECK_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  for (const size_t bytes : {size_t{1}, size_t{255}, size_t{257}, size_t{100'000}}) {
    ge_ptx_set("poison", 0x12345678);
    void* at = nullptr;
    CHECK_EQ(cudaMalloc(&at, bytes), cudaSuccess);
    CHECK_EQ(reinterpret_cast<uintptr_t>(at) % 256, uintptr_t{0});
    std::vector<uint8_t> found(bytes);
    CHECK_EQ(cudaMemcpy(found.data(), at, bytes, kOut), cudaSuccess);
    CHECK_EQ(int(found[0]), 0x78);
    CHECK_EQ(int(found[bytes - 1]), 0x78 - 0x22 * int((bytes - 1) % 4));
    CHECK_EQ(cudaMemGetInfo(&less, &total), cudaSuccess);
    CHECK_EQ(less, free - bytes);
    CHECK_EQ(cudaFree(at), cudaSuccess);
    CHECK_EQ(cudaFree(at), cudaErrorInvalidValue);
  }
  ge_ptx_set("poison", 0xcdcdcdcd);
  CHECK_EQ(cudaMemGetInfo(&less, &total), cudaSuccess);
  CHECK_EQ(less, free);
  void* at = &free;
  CHECK_EQ(cudaMalloc(&at, 0), cudaSuccess);
  CHECK(at == nullptr);
  CHECK_EQ(cudaFree(nullptr), cudaSuccess);
}

GE_TEST(freed_memory_is_not_used_again_at_once) {
  // A late access would find what has taken its place, such as the parameters of a launch.
  // The address sanitizer keeps 256 MiB by itself.
  constexpr size_t kSize = 1 << 20, kAtOnce = 10, kLater = 600;
  std::vector<void*> seen(kLater);  // nothing else is allocated in the loop
  for (void*& at : seen) {
    CHECK_EQ(cudaMalloc(&at, kSize), cudaSuccess);
    CHECK_EQ(cudaFree(at), cudaSuccess);
  }
  for (size_t k = kAtOnce; k < kLater; ++k)
    CHECK(std::find(&seen[k - kAtOnce], &seen[k], seen[k]) == &seen[k]);
  CHECK(std::set<void*>(seen.begin(), seen.end()).size() < kLater);  // but not all of it is kept
}

GE_TEST(there_is_as_much_memory_as_is_set) {
  const uint64_t all = ge_ptx_get("memory");
  CHECK_EQ(ge_ptx_set("memory", 1000), 0);
  void *one = nullptr, *two = nullptr;
  CHECK_EQ(cudaMalloc(&one, 600), cudaSuccess);
  CHECK_EQ(cudaMalloc(&two, 401), cudaErrorMemoryAllocation);
  CHECK_EQ(cudaMalloc(&two, 400), cudaSuccess);
  size_t free = 1, total = 0;
  CHECK_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  CHECK_EQ(free, size_t{0});
  CHECK_EQ(total, size_t{1000});
  cudaFree(one), cudaFree(two);
  ge_ptx_set("memory", all);
}

GE_TEST(kernels_may_touch_an_allocation_to_its_last_byte) {
  LoadedObject object(module(store_entry()));
  const void* const kernel = object.kernel("store_value");
  const DeviceWords words(Words(33));
  CHECK_EQ(launch(kernel, {dim3(1), dim3(33)}, words.at(), 1u), cudaSuccess);
  CHECK_EQ(launch(kernel, {dim3(1), dim3(34)}, words.at(), 1u), cudaErrorLaunchFailure);
  ge_ptx_forget_fault();
  uint32_t host[32] = {};
  CHECK_EQ(launch(kernel, {}, &host[0], 1u), cudaErrorLaunchFailure);
  ge_ptx_forget_fault();
  CHECK_EQ(host[0], 0u);
  // Memory that was freed is nobody's.
  uint32_t* freed = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&freed), 128);
  CHECK_EQ(launch(kernel, {}, freed, 1u), cudaSuccess);
  CHECK_EQ(cudaFree(freed), cudaSuccess);
  CHECK_EQ(launch(kernel, {}, freed, 1u), cudaErrorLaunchFailure);
  ge_ptx_forget_fault();
}

GE_TEST(copies_and_sets_are_held_to_the_sides_that_they_name) {
  const DeviceWords one(Words(4)), two({5, 6, 7, 8});
  uint32_t host[5] = {1, 2, 3, 4, 5};
  char* const inner = reinterpret_cast<char*>(one.at()) + 1;
  struct Case {
    void* to;
    const void* from;
    size_t bytes;
    cudaMemcpyKind kind;
    bool is_right;
  };
  for (const Case& each : {Case{one.at(), host, 16, kIn, true},
                           {one.at(), host, 17, kIn, false},
                           {inner, host, 15, kIn, true},
                           {inner, host, 16, kIn, false},
                           {one.at(), two.at(), 16, kIn, false},
                           {host, host + 1, 4, kIn, false},
                           {two.at(), one.at() - 1, 8, kIn, false},
                           {host, two.at(), 16, kOut, true},
                           {host, two.at(), 17, kOut, false},
                           {one.at(), two.at(), 16, kOut, false},
                           {one.at(), two.at(), 16, kWithin, true},
                           {one.at(), host, 16, kWithin, false},
                           {one.at(), host, 16, cudaMemcpyHostToHost, false},
                           {host, host + 1, 4, cudaMemcpyHostToHost, true},
                           {one.at(), host, 16, cudaMemcpyDefault, true},
                           {one.at(), host, 17, cudaMemcpyDefault, false},
                           {host, two.at() + 1, 16, cudaMemcpyDefault, false},
                           {nullptr, two.at(), 4, cudaMemcpyDefault, false},
                           {one.at(), two.at(), 16, cudaMemcpyKind(7), false},
                           {nullptr, nullptr, 0, kIn, true}}) {
    const cudaError_t wrong =
        int(each.kind) == 7 ? cudaErrorInvalidMemcpyDirection : cudaErrorInvalidValue;
    const cudaError_t wanted = each.is_right ? cudaSuccess : wrong;
    CHECK_EQ(cudaMemcpy(each.to, each.from, each.bytes, each.kind), wanted);
    CHECK_EQ(cudaMemcpyAsync(each.to, each.from, each.bytes, each.kind, nullptr), wanted);
  }
  CHECK_EQ(cudaMemcpy(one.at(), host, 17, kIn), cudaErrorInvalidValue);
  CHECK(says(cudaErrorInvalidValue, "17 bytes at "));
  CHECK(says(cudaErrorInvalidValue, "reach beyond an allocation of 16 bytes"));
  CHECK_EQ(cudaMemset(one.at(), 0, 16), cudaSuccess);
  CHECK_EQ(cudaMemset(one.at(), 0, 17), cudaErrorInvalidValue);
  CHECK_EQ(cudaMemset(host, 0, 4), cudaErrorInvalidValue);
  CHECK(says(cudaErrorInvalidValue, "not in memory of the device"));
  CHECK_EQ(cudaMemsetAsync(host, 0, 4, nullptr), cudaErrorInvalidValue);
  CHECK(one.values() == Words(4));
}

GE_TEST(an_address_is_the_devices_or_nobodys) {
  const DeviceWords words(Words(2));
  cudaPointerAttributes found{};
  CHECK_EQ(cudaPointerGetAttributes(&found, words.at() + 1), cudaSuccess);
  CHECK_EQ(found.type, cudaMemoryTypeDevice);
  CHECK_EQ(found.device, 0);
  CHECK_EQ(cudaPointerGetAttributes(&found, words.at() + 2), cudaSuccess);
  CHECK_EQ(found.type, cudaMemoryTypeUnregistered);
  CHECK_EQ(cudaPointerGetAttributes(&found, &found), cudaSuccess);
  CHECK_EQ(found.type, cudaMemoryTypeUnregistered);
}

GE_TEST(captured_copies_and_sets_happen_at_each_replay) {
  const DeviceWords words({1, 2});
  uint32_t host = 5;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  CHECK_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  CHECK_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  CHECK_EQ(cudaMemsetAsync(words.at() + 1, 0, 4, stream), cudaSuccess);
  CHECK_EQ(cudaMemcpyAsync(words.at(), &host, 4, kIn, stream), cudaSuccess);
  // What is wrong is refused when it is captured.
  CHECK_EQ(cudaMemsetAsync(&host, 0, 4, stream), cudaErrorInvalidValue);
  CHECK_EQ(cudaMemcpyAsync(words.at(), &host, 9, kIn, stream), cudaErrorInvalidValue);
  CHECK_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  CHECK(words.values() == (Words{1, 2}));
  CHECK_EQ(cudaGraphInstantiate(&made, graph), cudaSuccess);
  for (host = 6; host < 8; ++host) {
    CHECK_EQ(cudaGraphLaunch(made, stream), cudaSuccess);
    CHECK(words.values() == (Words{host, 0}));
  }
  cudaGraphExecDestroy(made), cudaGraphDestroy(graph), cudaStreamDestroy(stream);
}

GE_TEST(calls_of_memory_are_forbidden_while_a_graph_is_captured) {
  const DeviceWords words({1});
  uint32_t host = 0;
  void* at = nullptr;
  cudaStream_t stream = nullptr;
  CHECK_EQ(cudaStreamCreate(&stream), cudaSuccess);
  for (int call = 0; call < 5; ++call) {
    cudaGraph_t graph = nullptr;
    CHECK_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    const cudaError_t code = call == 0   ? cudaMalloc(&at, 4)
                             : call == 1 ? cudaFree(words.at())
                             : call == 2 ? cudaMemset(words.at(), 0, 4)
                             : call == 3 ? cudaMemcpy(&host, words.at(), 4, kOut)
                                         : cudaDeviceSynchronize();
    CHECK_EQ(code, cudaErrorStreamCaptureUnsupported);
    CHECK_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  }
  CHECK_EQ(words.values()[0], 1u);
  CHECK_EQ(cudaStreamDestroy(stream), cudaSuccess);
}
