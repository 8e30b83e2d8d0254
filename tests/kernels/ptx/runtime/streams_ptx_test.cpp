// What captures record and forbid, by mode and thread; graphs, events, and which launches may begin
// before the one in front of them has ended.
#include <string>
#include <thread>

#include "ptx/runtime/streams.hpp"
#include "test.hpp"

using ge::ptx::Streams;

namespace {

constexpr auto kGlobal = cudaStreamCaptureModeGlobal, kLocal = cudaStreamCaptureModeThreadLocal,
               kRelaxed = cudaStreamCaptureModeRelaxed;

/// Streams whose work writes a letter each, in capitals where it may begin early.
struct Letters {
  Streams streams;
  std::string written;

  cudaError_t add(cudaStream_t stream, char letter, cudaGraphNodeType type, bool overlap = false) {
    return streams.enqueue(
        stream, type,
        [this, letter](bool is_dependent) {
          written += is_dependent ? char(letter - 'a' + 'A') : letter;
          return cudaSuccess;
        },
        overlap);
  }
  cudaError_t launch(cudaStream_t stream, char letter, bool overlap = false) {
    return add(stream, letter, cudaGraphNodeTypeKernel, overlap);
  }
  cudaError_t set(cudaStream_t stream, char letter) {
    return add(stream, letter, cudaGraphNodeTypeMemset);
  }
  /// Ends a capture and runs its graph.
  cudaError_t end_and_run(cudaStream_t stream) {
    cudaGraph_t graph = nullptr;
    const cudaError_t code = streams.end(stream, &graph);
    if (code != cudaSuccess) return code;
    cudaGraphExec_t made = nullptr;
    CHECK_EQ(streams.instantiate(&made, graph), cudaSuccess);
    CHECK_EQ(streams.destroy(graph), cudaSuccess);
    written.clear();
    CHECK_EQ(streams.launch(made, stream), cudaSuccess);
    return streams.destroy(made);
  }
};
struct Mode {
  cudaStreamCaptureMode mode;
  explicit Mode(cudaStreamCaptureMode own) : mode(own) { Streams::exchange_mode(&mode); }
  ~Mode() { Streams::exchange_mode(&mode); }
};
template <class F>
cudaError_t elsewhere(const F& f) {
  cudaError_t code = cudaSuccess;
  std::thread([&] { code = f(); }).join();
  return code;
}

}  // namespace

GE_TEST(work_runs_at_once_and_captured_work_at_each_replay) {
  Letters all;
  const auto stream = all.streams.create(false);
  all.launch(stream, 'a');
  CHECK_EQ(all.written, "a");
  all.streams.begin(stream, kGlobal);
  all.launch(stream, 'b');
  all.set(stream, 'c');
  CHECK_EQ(all.written, "a");
  CHECK_EQ(all.end_and_run(stream), cudaSuccess);
  CHECK_EQ(all.written, "bc");
}

GE_TEST(only_a_launch_right_behind_a_launch_may_begin_early) {
  Letters all;
  const auto stream = all.streams.create(false);
  all.launch(stream, 'a', true);
  all.launch(stream, 'b', true);
  all.launch(stream, 'c');
  all.set(stream, 'd');
  all.launch(stream, 'e', true);
  all.streams.wait_for(stream);
  all.launch(stream, 'f', true);
  all.launch(stream, 'g', true);
  CHECK_EQ(all.written, "aBcdefG");
}

GE_TEST(work_of_the_legacy_stream_lies_between_launches_of_blocking_streams) {
  for (const bool is_blocking : {true, false}) {
    Letters all;
    const auto stream = all.streams.create(is_blocking);
    all.launch(stream, 'a');
    all.launch(nullptr, 'b');
    all.launch(cudaStreamLegacy, 'c', true);
    all.launch(stream, 'd', true);
    all.launch(nullptr, 'e', true);
    CHECK_EQ(all.written, is_blocking ? "abCde" : "abCDE");
  }
}

GE_TEST(a_captured_launch_keeps_its_early_beginning_and_needs_a_launch_in_front) {
  Letters all;
  const auto stream = all.streams.create(false);
  all.launch(stream, 'x');
  all.streams.begin(stream, kGlobal);
  all.launch(stream, 'a', true);
  all.launch(stream, 'b', true);
  all.launch(stream, 'c');
  CHECK_EQ(all.end_and_run(stream), cudaSuccess);
  CHECK_EQ(all.written, "aBc");
  all.launch(stream, 'd', true);
  CHECK_EQ(all.written, "aBcd");

  all.streams.begin(stream, kGlobal);
  all.set(stream, 'a');
  CHECK_EQ(all.launch(stream, 'b', true), cudaErrorStreamCaptureUnsupported);
  CHECK_EQ(all.launch(stream, 'c'), cudaErrorStreamCaptureInvalidated);
  CHECK_EQ(all.end_and_run(stream), cudaErrorStreamCaptureInvalidated);
}

GE_TEST(unsafe_calls_are_forbidden_by_the_modes_of_thread_and_capture) {
  struct Case {
    cudaStreamCaptureMode capture, thread;
    bool forbidden, forbidden_elsewhere;
  };
  for (const Case& each :
       {Case{kGlobal, kGlobal, true, true}, Case{kGlobal, kLocal, true, false},
        Case{kGlobal, kRelaxed, false, false}, Case{kLocal, kGlobal, true, false},
        Case{kLocal, kLocal, true, false}, Case{kRelaxed, kGlobal, false, false}}) {
    for (const bool is_elsewhere : {false, true}) {
      Letters all;
      const auto stream = all.streams.create(false);
      all.streams.begin(stream, each.capture);
      const auto call = [&] {
        const Mode own(each.thread);
        return all.streams.check_unsafe();
      };
      const cudaError_t code = is_elsewhere ? elsewhere(call) : call();
      const bool forbidden = is_elsewhere ? each.forbidden_elsewhere : each.forbidden;
      CHECK_EQ(code, forbidden ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
      CHECK_EQ(all.end_and_run(stream),
               forbidden ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
    }
  }
}

GE_TEST(uses_of_the_legacy_stream_end_captures_of_blocking_streams) {
  using Call = cudaError_t (*)(Letters&);
  const Call calls[] = {
      [](Letters& all) { return all.launch(nullptr, 'a'); },
      [](Letters& all) { return all.streams.check_at_once(); },
      [](Letters& all) { return all.streams.wait_for(nullptr); },
      [](Letters& all) {
        CUevent_st event;
        return all.streams.record(&event, nullptr);
      },
  };
  for (const Call call : calls) {
    for (const bool is_blocking : {true, false}) {
      Letters all;
      const Mode own(kRelaxed);
      const auto stream = all.streams.create(is_blocking);
      all.streams.begin(stream, kGlobal);
      CHECK_EQ(call(all), is_blocking ? cudaErrorStreamCaptureImplicit : cudaSuccess);
      CHECK_EQ(all.end_and_run(stream),
               is_blocking ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
    }
  }
}

GE_TEST(a_look_at_the_legacy_stream_ends_no_capture) {
  Letters all;
  const auto stream = all.streams.create(true);
  all.streams.begin(stream, kGlobal);
  cudaStreamCaptureStatus status;
  CHECK_EQ(all.streams.status_of(nullptr, &status), cudaErrorStreamCaptureImplicit);
  CHECK_EQ(all.streams.status_of(stream, &status), cudaSuccess);
  CHECK_EQ(status, cudaStreamCaptureStatusActive);
  all.streams.wait_for(stream);
  CHECK_EQ(all.streams.status_of(stream, &status), cudaSuccess);
  CHECK_EQ(status, cudaStreamCaptureStatusInvalidated);
}

GE_TEST(waits_for_the_device_or_a_captured_stream_are_forbidden_in_every_mode) {
  for (const bool is_device : {true, false}) {
    Letters all;
    const Mode own(kRelaxed);
    const auto stream = all.streams.create(false);
    all.streams.begin(stream, kRelaxed);
    CHECK_EQ(all.streams.wait_for(all.streams.create(true)), cudaSuccess);
    CHECK_EQ(is_device ? all.streams.wait_for_device() : all.streams.wait_for(stream),
             cudaErrorStreamCaptureUnsupported);
    CHECK_EQ(all.end_and_run(stream), cudaErrorStreamCaptureInvalidated);
  }
}

GE_TEST(a_stream_that_waits_for_a_captured_one_is_captured_until_it_is_joined) {
  for (const bool is_joined : {true, false}) {
    Letters all;
    const auto origin = all.streams.create(false), other = all.streams.create(false);
    CUevent_st fork, join;
    all.streams.begin(origin, kGlobal);
    all.launch(origin, 'a');
    all.streams.record(&fork, origin);
    CHECK_EQ(all.streams.wait_for(other, &fork), cudaSuccess);
    CHECK(other->before == origin->before);
    all.launch(other, 'b');
    all.launch(origin, 'c');
    all.streams.record(&join, other);
    if (is_joined) CHECK_EQ(all.streams.wait_for(origin, &join), cudaSuccess);
    cudaStreamCaptureStatus status;
    size_t count = 0;
    const cudaGraphNode_t* before = nullptr;
    all.streams.describe(origin, {&status, nullptr, nullptr, &before, nullptr, &count});
    CHECK_EQ(count, is_joined ? size_t{2} : size_t{1});
    cudaGraph_t graph = nullptr;
    CHECK_EQ(all.streams.end(other, &graph), cudaErrorStreamCaptureUnmatched);
  }
}

GE_TEST(captures_end_where_they_began_with_all_streams_joined) {
  for (const bool is_joined : {true, false}) {
    Letters all;
    const auto origin = all.streams.create(false), other = all.streams.create(false);
    CUevent_st fork, join;
    all.streams.begin(origin, kGlobal);
    all.streams.record(&fork, origin);
    all.streams.wait_for(other, &fork);
    all.launch(other, 'b');
    all.streams.record(&join, other);
    if (is_joined) all.streams.wait_for(origin, &join);
    all.launch(origin, 'a');
    CHECK_EQ(all.end_and_run(origin), is_joined ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
    CHECK_EQ(all.written, is_joined ? "ba" : "");
    CHECK(other->capture == nullptr);
    // An event of a capture says nothing outside of it.
    CHECK_EQ(all.streams.wait_for(other, &join), cudaErrorCapturedEvent);
    CHECK_EQ(all.streams.check_outside(&join), cudaErrorCapturedEvent);
  }
  Letters all;
  const auto stream = all.streams.create(false);
  cudaGraph_t graph = nullptr;
  CHECK_EQ(all.streams.end(stream, &graph), cudaErrorIllegalState);
  all.streams.begin(stream, kLocal);
  CHECK_EQ(all.streams.begin(stream, kLocal), cudaErrorIllegalState);
  CHECK_EQ(elsewhere([&] { return all.streams.end(stream, &graph); }),
           cudaErrorStreamCaptureWrongThread);
  CHECK_EQ(all.streams.begin(nullptr, kGlobal), cudaErrorStreamCaptureUnsupported);
}

GE_TEST(a_captured_stream_waits_only_for_events_of_its_own_capture) {
  Letters all;
  const auto one = all.streams.create(false), two = all.streams.create(false);
  CUevent_st outside, inside;
  all.streams.record(&outside, two);
  all.streams.begin(one, kGlobal);
  CHECK_EQ(all.streams.wait_for(one, &outside), cudaErrorStreamCaptureIsolation);
  CHECK_EQ(all.end_and_run(one), cudaErrorStreamCaptureInvalidated);
  all.streams.begin(two, kGlobal);
  all.streams.record(&inside, two);
  CHECK_EQ(all.streams.wait_for(nullptr, &inside), cudaErrorStreamCaptureImplicit);
  CHECK_EQ(all.end_and_run(two), cudaErrorStreamCaptureInvalidated);
  all.streams.begin(one, kGlobal);
  all.streams.begin(two, kGlobal);
  all.streams.record(&inside, two);
  CHECK_EQ(all.streams.wait_for(one, &inside), cudaErrorStreamCaptureMerge);
  CHECK_EQ(all.end_and_run(one), cudaErrorStreamCaptureInvalidated);
  CHECK_EQ(all.end_and_run(two), cudaErrorStreamCaptureInvalidated);
}
