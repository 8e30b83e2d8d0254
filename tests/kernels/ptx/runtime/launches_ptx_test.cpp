// Launches: what they do, what of them is refused, captures, early beginnings, faults, occupancy.
#include <atomic>
#include <barrier>
#include <thread>

#include "ptx/runtime/device.hpp"
#include "ptx/runtime/loaded.hpp"

using namespace ge::test;

extern "C" {
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream);
}

namespace {

using Words = std::vector<uint32_t>;

/// Faults are printed, and then forgotten.
struct Forgets {
  ~Forgets() { ge_ptx_forget_fault(); }
};

}  // namespace

GE_TEST(every_thread_of_a_launch_runs_with_its_parameters) {
  LoadedObject object(module(store_entry()));
  const DeviceWords words(Words(64, 1));
  CHECK_EQ(launch(object.kernel("store_value"), {dim3(1), dim3(48)}, words.at(), 5u), cudaSuccess);
  Words wanted(64, 1);
  for (int k = 0; k < 48; ++k) wanted[size_t(k)] = 5;
  CHECK(words.values() == wanted);
}

GE_TEST(a_stub_launches_the_shape_that_was_pushed_last) {
  LoadedObject object(module(store_entry()));
  const DeviceWords words(Words(64, 1));
  cudaKernel_t kernel = nullptr;
  CHECK_EQ(__cudaGetKernel(&kernel, object.kernel("store_value")), cudaSuccess);
  __cudaPushCallConfiguration(dim3(9), dim3(9), 9, nullptr);
  __cudaPushCallConfiguration(dim3(1), dim3(2), 0, nullptr);
  dim3 grid, block;
  size_t shared = 7;
  cudaStream_t stream = cudaStreamPerThread;
  CHECK_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  uint32_t* to = words.at();
  uint32_t value = 4;
  void* arguments[] = {&to, &value};
  CHECK_EQ(__cudaLaunchKernel(kernel, grid, block, arguments, shared, stream), cudaSuccess);
  CHECK_EQ(words.values()[1], 4u);
  CHECK_EQ(words.values()[2], 1u);
  CHECK_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  CHECK_EQ(shared, size_t{9});
  CHECK_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
           cudaErrorInvalidConfiguration);
}

GE_TEST(shapes_beyond_the_limits_are_refused) {
  LoadedObject object(module(entry("idle", "")));
  const void* const idle = object.kernel("idle");
  for (const Shape& bad :
       {Shape{dim3(0), dim3(32)}, Shape{dim3(1), dim3(0)}, Shape{dim3(1), dim3(1025)},
        Shape{dim3(1), dim3(32, 33)}, Shape{dim3(1), dim3(1, 1, 65)},
        Shape{dim3(1, 65536), dim3(1)}, Shape{dim3(0x80000000u), dim3(1)}}) {
    CHECK_EQ(launch(idle, bad, 0ull, 0u), cudaErrorInvalidConfiguration);
    CHECK(says(cudaErrorInvalidConfiguration, "launch of idle: a "));
    CHECK_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    CHECK_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
    CHECK_EQ(cudaGetLastError(), cudaSuccess);
  }
  CHECK_EQ(launch(idle, {dim3(1), dim3(32, 4, 8)}, 0ull, 0u), cudaSuccess);
}

GE_TEST(launch_bounds_and_registers_limit_a_block) {
  LoadedObject object(module(entry("bounded", "", ".maxntid 64, 1, 1\n") + entry("idle", "")));
  const void* const bounded = object.kernel("bounded");
  CHECK_EQ(launch(bounded, {dim3(1), dim3(64)}, 0ull, 0u), cudaSuccess);
  CHECK_EQ(launch(bounded, {dim3(1), dim3(65)}, 0ull, 0u), cudaErrorInvalidValue);
  CHECK(says(cudaErrorInvalidValue, "65 threads, its launch bounds (.maxntid) allow 64"));
  ge_ptx_set("registers", 128);
  const void* const idle = object.kernel("idle");
  CHECK_EQ(launch(idle, {dim3(1), dim3(512)}, 0ull, 0u), cudaSuccess);
  CHECK_EQ(launch(idle, {dim3(1), dim3(544)}, 0ull, 0u), cudaErrorLaunchOutOfResources);
  cudaFuncAttributes found{};
  CHECK_EQ(cudaFuncGetAttributes(&found, idle), cudaSuccess);
  CHECK_EQ(found.maxThreadsPerBlock, 512);
  ge_ptx_set("registers", 64);
}

GE_TEST(shared_memory_beyond_48_kib_must_be_asked_for_and_227_are_all) {
  LoadedObject object(module(entry("idle",
                                   ".shared .align 4 .b8 own[1024];\nmov.u32 %r3, own;\n"
                                   "st.shared.u32 [%r3], %r1;\n")));
  const void* const idle = object.kernel("idle");
  const auto run = [&](size_t bytes) { return launch(idle, {dim3(1), dim3(1), bytes}, 0ull, 0u); };
  CHECK_EQ(run(48 << 10), cudaSuccess);
  CHECK_EQ(run((48 << 10) + 1), cudaErrorInvalidValue);
  CHECK(says(cudaErrorInvalidValue, "cudaFuncAttributeMaxDynamicSharedMemorySize"));
  const auto allow = [&](int bytes) {
    return cudaFuncSetAttribute(idle, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  CHECK_EQ(allow(227 << 10), cudaErrorInvalidValue);  // beside 1 KiB of its own
  CHECK_EQ(allow(226 << 10), cudaSuccess);
  CHECK_EQ(run(226 << 10), cudaSuccess);
  CHECK_EQ(run((226 << 10) + 1), cudaErrorInvalidValue);
  CHECK_EQ(cudaFuncSetAttribute(idle, cudaFuncAttributePreferredSharedMemoryCarveout, 50),
           cudaErrorNotSupported);
}

GE_TEST(a_device_is_as_large_as_is_set) {
  LoadedObject object(module(entry("idle", "")));
  const void* const idle = object.kernel("idle");
  const uint64_t before = ge_ptx_get("shared");
  CHECK_EQ(before, uint64_t{227 << 10});
  ge_ptx_set("shared", 2000);
  int value = 0, blocks = 0;
  CHECK_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), cudaSuccess);
  CHECK_EQ(value, 2000);
  cudaDeviceProp properties{};
  CHECK_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  CHECK_EQ(properties.sharedMemPerBlockOptin, size_t{2000});
  const auto allow = [&](int bytes) {
    return cudaFuncSetAttribute(idle, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  CHECK_EQ(allow(2001), cudaErrorInvalidValue);
  CHECK_EQ(allow(2000), cudaSuccess);
  CHECK_EQ(launch(idle, {dim3(1), dim3(1), 2001}, 0ull, 0u), cudaErrorInvalidValue);
  CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, idle, 32, 2001), cudaSuccess);
  CHECK_EQ(blocks, 0);
  CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, idle, 32, 2000), cudaSuccess);
  CHECK(blocks > 0);
  ge_ptx_set("shared", before);
  ge_ptx_set("multiprocessors", 3);
  CHECK_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  CHECK_EQ(value, 3);
  ge_ptx_set("multiprocessors", 132);
}

GE_TEST(what_the_interpreter_does_not_know_is_refused_by_name) {
  LoadedObject object(module(entry("strange", "frobnicate.u32 %r3, %r1;\n") + entry("idle", "")));
  CHECK_EQ(launch(object.kernel("strange"), {}, 0ull, 0u), cudaErrorNotSupported);
  CHECK(says(cudaErrorNotSupported, "launch of strange"));
  CHECK(says(cudaErrorNotSupported, "frobnicate.u32"));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  config.attrs = &cluster, config.numAttrs = 1;
  CHECK_EQ(cudaLaunchKernelExC(&config, object.kernel("idle"), nullptr), cudaErrorNotSupported);
  CHECK(says(cudaErrorNotSupported, "cudaLaunchAttributeClusterDimension"));
  int value = 0;
  CHECK_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxPitch, 0), cudaErrorNotSupported);
  CHECK(says(cudaErrorNotSupported, "attribute 11"));
  CHECK_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

GE_TEST(a_replay_runs_with_the_parameters_of_its_capture) {
  LoadedObject object(module(store_entry()));
  const void* const kernel = object.kernel("store_value");
  const DeviceWords words(Words(32, 1));
  cudaFuncAttributes found{};
  CHECK_EQ(cudaFuncGetAttributes(&found, kernel), cudaSuccess);  // loads it
  cudaStream_t stream = nullptr;
  CHECK_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  CHECK_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  for (uint32_t value : {5u, 6u}) {
    CHECK_EQ(launch(kernel, {dim3(1), dim3(value == 5 ? 32 : 16), 0, stream}, words.at(), value),
             cudaSuccess);
    value = 0;
  }
  cudaGraph_t graph = nullptr;
  CHECK_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  CHECK_EQ(words.values()[0], 1u);
  cudaGraphExec_t made = nullptr;
  CHECK_EQ(cudaGraphInstantiate(&made, graph), cudaSuccess);
  size_t count = 0;
  CHECK_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
  CHECK_EQ(count, size_t{2});
  CHECK_EQ(cudaGraphDestroy(graph), cudaSuccess);
  CHECK_EQ(cudaGraphLaunch(made, stream), cudaSuccess);
  CHECK_EQ(words.values()[0], 6u);
  CHECK_EQ(words.values()[31], 5u);
  CHECK_EQ(cudaGraphExecDestroy(made), cudaSuccess);
  CHECK_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

GE_TEST(the_first_use_of_a_kernel_loads_it_which_a_capture_forbids) {
  LoadedObject object(module(store_entry()));
  cudaStream_t stream = nullptr;
  CHECK_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  CHECK_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  CHECK_EQ(launch(object.kernel("store_value"), {dim3(1), dim3(1), 0, stream}, 0ull, 0u),
           cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  CHECK_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  CHECK_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

GE_TEST(an_early_launch_that_does_not_wait_for_the_kernel_in_front_fails) {
  LoadedObject object(module(store_entry() + entry("waits",
                                                   "griddepcontrol.wait;\n"
                                                   "st.global.u32 [%rd2], %r1;\n")));
  const void* const hasty = object.kernel("store_value");
  const void* const waits = object.kernel("waits");
  const DeviceWords words(Words(32));
  const Forgets forgets;
  const Shape early{dim3(1), dim3(32), 0, nullptr, true};
  // Behind a copy a launch is a plain one.
  CHECK_EQ(launch(hasty, early, words.at(), 1u), cudaSuccess);
  CHECK_EQ(launch(waits, early, words.at(), 2u), cudaSuccess);
  CHECK_EQ(cudaMemsetAsync(words.at(), 0, 4, nullptr), cudaSuccess);
  CHECK_EQ(launch(hasty, early, words.at(), 3u), cudaSuccess);
  CHECK_EQ(launch(hasty, early, words.at(), 4u), cudaErrorLaunchFailure);
}

GE_TEST(after_a_fault_every_call_fails_with_its_first_line) {
  const Forgets forgets;
  LoadedObject object(module(store_entry()));
  const DeviceWords words(Words(16));
  CHECK_EQ(launch(object.kernel("store_value"), {}, words.at(), 1u), cudaErrorLaunchFailure);
  const std::string first = cudaGetErrorString(cudaErrorLaunchFailure), whole = ge_ptx_fault();
  CHECK(!first.empty() && first.find('\n') == std::string::npos);
  CHECK(whole.size() > first.size() && whole.compare(0, first.size(), first) == 0);
  CHECK(whole.find("store_value") != std::string::npos);
  void* at = nullptr;
  CHECK_EQ(cudaMalloc(&at, 4), cudaErrorLaunchFailure);
  CHECK_EQ(cudaStreamSynchronize(nullptr), cudaErrorLaunchFailure);
  CHECK_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  CHECK_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  ge_ptx_forget_fault();
  CHECK_EQ(cudaGetLastError(), cudaSuccess);
  CHECK_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  CHECK(ge_ptx_fault() == nullptr);
}

GE_TEST(a_multiprocessor_holds_as_many_blocks_as_its_scarcest_part_allows) {
  using ge::ptx::resident_blocks;
  CHECK_EQ(resident_blocks(32, 32, 0), 32);   // blocks
  CHECK_EQ(resident_blocks(256, 32, 0), 8);   // threads
  CHECK_EQ(resident_blocks(256, 64, 0), 4);   // registers
  CHECK_EQ(resident_blocks(128, 33, 0), 12);  // in steps of 8
  CHECK_EQ(resident_blocks(32, 120, 0), 16);  // by scheduler
  CHECK_EQ(resident_blocks(1024, 64, 0), 1);
  CHECK_EQ(resident_blocks(1024, 72, 0), 0);
  CHECK_EQ(resident_blocks(32, 32, 227 << 10), 1);  // shared memory, and 1 KiB for the system
  CHECK_EQ(resident_blocks(32, 32, 113 << 10), 2);
  CHECK_EQ(resident_blocks(32, 32, (113 << 10) + 1), 1);
  LoadedObject object(module(entry("idle", "", ".maxntid 256, 1, 1\n")));
  int blocks = 0;
  const void* const idle = object.kernel("idle");
  CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, idle, 256, 100 << 10),
           cudaSuccess);
  CHECK_EQ(blocks, 2);
  CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, idle, 512, 0), cudaSuccess);
  CHECK_EQ(blocks, 0);
}

GE_TEST(attributes_of_a_kernel_are_those_of_its_ptx) {
  LoadedObject object({Part{80, module(entry("idle",
                                             ".shared .align 4 .b8 own[512];\n"
                                             "mov.u32 %r3, own;\nst.shared.u32 [%r3], %r1;\n",
                                             ".maxntid 128, 1, 1\n"),
                                       "sm_80")}});
  cudaFuncAttributes found{};
  CHECK_EQ(cudaFuncGetAttributes(&found, object.kernel("idle")), cudaSuccess);
  CHECK_EQ(found.ptxVersion, 80);
  CHECK_EQ(found.binaryVersion, 90);
  CHECK_EQ(found.sharedSizeBytes, size_t{512});
  CHECK_EQ(found.maxThreadsPerBlock, 128);
  CHECK_EQ(found.maxDynamicSharedSizeBytes, 48 << 10);
}

GE_TEST(threads_may_call_at_once_and_each_has_errors_of_its_own) {
  LoadedObject object(module(store_entry()));
  const void* const kernel = object.kernel("store_value");
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  std::barrier together(4);
  for (uint32_t k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      bool is_right = true;
      together.arrive_and_wait();
      for (uint32_t n = 0; n < 3000; ++n) {
        uint32_t *at = nullptr, found[32] = {};
        cudaMalloc(reinterpret_cast<void**>(&at), sizeof found);
        launch(kernel, {}, at, 10000 * k + n);
        cudaMemcpy(found, at, sizeof found, cudaMemcpyDeviceToHost);
        is_right = is_right && cudaFree(at) == cudaSuccess && found[31] == 10000 * k + n;
        if (k == 0) cudaSetDevice(1);
      }
      // The first thread asks last, and so clears no error that another one could see.
      together.arrive_and_wait();
      if (k != 0) is_right = is_right && cudaGetLastError() == cudaSuccess;
      together.arrive_and_wait();
      if (k == 0) is_right = is_right && cudaGetLastError() == cudaErrorInvalidDevice;
      right += is_right ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(right.load(), 4);
}

GE_TEST(there_is_one_device_and_it_says_what_it_is) {
  int count = 0, value = 0;
  CHECK_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  CHECK_EQ(count, 1);
  CHECK_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  CHECK_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  cudaDeviceProp properties{};
  CHECK_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  CHECK_EQ(std::string(properties.name), "interpreted PTX");
  CHECK_EQ(properties.major * 10 + properties.minor, 90);
  CHECK_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  CHECK_EQ(value, properties.multiProcessorCount);
}
