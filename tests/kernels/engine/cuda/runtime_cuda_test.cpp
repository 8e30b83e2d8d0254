// Memory, streams and captures: what the engine asks of CUDA's runtime, in which order, and that a
// capture which somebody else has begun outlives it.
// runs always: a process forks
#include <sys/wait.h>
#include <unistd.h>

#include "engine/cuda/device.hpp"
#include "engine/cuda/fake_runtime.hpp"
#include "engine/cuda/runtime.hpp"
#include "engine/simulator/machine.hpp"
#include "test.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(memory_comes_and_goes_while_another_stream_is_captured) {
  FakeRuntime& fake = FakeRuntime::renew();
  const auto graph = fake.begin_capture(fake.new_stream());
  {
    const cuda::DeviceMemory memory(100);
  }
  cuda::release(cuda::allocate(0, 100));
  CHECK(graph->is_whole);
  CHECK(fake.memory.empty());
}

GE_TEST(memory_that_a_capture_keeps_from_being_freed_is_freed_later) {
  FakeRuntime& fake = FakeRuntime::renew();
  fake.refused_frees = 3;  // the first of them twice
  {
    const cuda::DeviceMemory one(100), other(100);
  }
  CHECK_EQ(fake.memory.size(), size_t{2});
  {
    const cuda::DeviceMemory later(100);
  }
  CHECK(fake.memory.empty());
}

GE_TEST(nothing_throws_and_nothing_waits_when_memory_is_released_on_a_lost_device) {
  FakeRuntime& fake = FakeRuntime::renew();
  void* const memory = cuda::allocate(0, 100);
  {
    const cuda::DeviceMemory own(100);
    fake.is_lost = true;
    cuda::release(memory);
  }
  CHECK(fake.named("DeviceSynchronize").empty());
  FakeRuntime::renew();
}

GE_TEST(a_forked_child_frees_nothing_and_is_told_why_it_has_no_device) {
  FakeRuntime& fake = FakeRuntime::renew();
  CHECK_EQ(device_count(), 1);
  void* const memory = cuda::allocate(0, 100);
  cuda::DeviceMemory own(100);
  const pid_t child = fork();
  if (child == 0) {
    {
      const cuda::DeviceMemory ended = std::move(own);
    }
    cuda::release(memory);
    const bool told = device_problem().find("forked from one that has used it") < 100;
    _exit(told && device_count() == 0 && fake.memory.size() == 2 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
  CHECK_EQ(device_problem(), std::string());
  cuda::release(memory);
}

GE_TEST(a_mode_of_captures_is_left_as_it_was) {
  FakeRuntime::renew();
  for (const auto mode : {cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeGlobal}) {
    cudaStreamCaptureMode own = mode;
    cudaThreadExchangeStreamCaptureMode(&own);
    {
      const cuda::BesideCaptures outer;
      const cuda::DeviceMemory memory(8);
    }
    own = cudaStreamCaptureModeGlobal;
    cudaThreadExchangeStreamCaptureMode(&own);
    CHECK_EQ(int(own), int(mode));
  }
}

GE_TEST(a_stream_follows_another_by_an_event_that_is_given_back) {
  FakeRuntime& fake = FakeRuntime::renew();
  const cudaStream_t late = fake.new_stream(), early = fake.new_stream();
  follow(0, late, early);
  const auto recorded = fake.named("EventRecord"), awaited = fake.named("StreamWaitEvent");
  CHECK_EQ(recorded.size(), size_t{1});
  CHECK_EQ(awaited.size(), size_t{1});
  CHECK(recorded[0].stream == early);
  CHECK(awaited[0].stream == late);
  CHECK(recorded[0].what == awaited[0].what);
  CHECK_EQ(fake.events, 0);
  follow(0, late, late);
  CHECK_EQ(fake.named("EventRecord").size(), size_t{1});
}

GE_TEST(a_stream_joins_the_capture_of_the_one_that_it_follows) {
  FakeRuntime& fake = FakeRuntime::renew();
  const cudaStream_t inner = fake.new_stream(), outer = fake.new_stream();
  const auto graph = fake.begin_capture(outer);
  follow(0, inner, outer);
  CHECK(inner->capture == graph);
  follow(0, outer, inner);
  CHECK(graph->is_whole);
}

GE_TEST(a_captured_stream_that_would_follow_one_outside_is_refused_and_goes_on) {
  FakeRuntime& fake = FakeRuntime::renew();
  const cudaStream_t captured = fake.new_stream(), other = fake.new_stream(true);
  const auto graph = fake.begin_capture(captured);
  CHECK(is_capturing(captured));
  CHECK_THROWS(follow(0, captured, other), Error, "make it the current one");
  CHECK_THROWS(follow(0, captured, nullptr), Error, "make it the current one");
  CHECK_THROWS(follow(0, nullptr, captured), Error, "default stream cannot take part");
  const auto another = fake.begin_capture(other);
  CHECK_THROWS(follow(0, captured, other), Error, "make it the current one");
  CHECK_THROWS(follow(0, captured, nullptr), Error, "make it the current one");
  CHECK(graph->is_whole);
  CHECK(another->is_whole);
}

GE_TEST(a_wait_for_a_captured_stream_is_refused_before_it_harms_the_capture) {
  FakeRuntime& fake = FakeRuntime::renew();
  const cudaStream_t captured = fake.new_stream(), other = fake.new_stream();
  const auto graph = fake.begin_capture(captured);
  CHECK_THROWS(wait_for(0, captured, "get()"), Error, "get() waits for the GPU, and a CUDA graph");
  wait_for(0, other, "get()");
  wait_for(0, nullptr, "get()");
  CHECK(graph->is_whole);
}

GE_TEST(a_wait_for_the_default_stream_is_refused_where_a_captured_one_waits_for_it) {
  FakeRuntime& fake = FakeRuntime::renew();
  const auto graph = fake.begin_capture(fake.new_stream(true));
  CHECK_THROWS(wait_for(0, nullptr, "check()"), Error, "waits for the default stream");
  char byte = 0;
  CHECK_THROWS(cuda::copy(0, &byte, &byte, 1), Error, "before or after the capture");
  CHECK(graph->is_whole);
}

GE_TEST(an_address_is_on_the_device_that_has_it) {
  FakeRuntime& fake = FakeRuntime::renew();
  const char here = 0, there = 0, host = 0;
  fake.device_of[&here] = 0, fake.device_of[&there] = 1;
  CHECK_EQ(device_of(&here), 0);
  CHECK_EQ(device_of(&there), 1);
  CHECK_EQ(device_of(&host), -1);
}
