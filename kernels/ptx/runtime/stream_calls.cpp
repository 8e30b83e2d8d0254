// The calls of streams, events, captures and graphs; what they do is in streams.hpp.
#include <algorithm>
#include <chrono>
#include <memory>

#include "ptx/runtime/runtime.hpp"

namespace ge::ptx {
namespace {

cudaEvent_t event_of(Runtime& runtime, cudaEvent_t handle) {
  if (!runtime.events.contains(handle)) throw Refusal{cudaErrorInvalidResourceHandle, {}};
  return handle;
}
/// For calls of the host that wait for an event or read it: all work has ended.
cudaEvent_t ended(Runtime& runtime, cudaEvent_t handle) {
  check(runtime.streams.check_outside(event_of(runtime, handle)));
  return handle;
}

}  // namespace
}  // namespace ge::ptx

using namespace ge::ptx;

// ---- streams

cudaError_t cudaStreamCreate(cudaStream_t* made) {
  return call([&](Runtime& runtime) { *made = runtime.streams.create(true); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* made, unsigned flags) {
  return call([&](Runtime& runtime) {
    if ((flags & ~unsigned{cudaStreamNonBlocking}) != 0) throw Refusal{cudaErrorInvalidValue, {}};
    *made = runtime.streams.create(flags == 0);
  });
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* made, unsigned flags, int) {
  return cudaStreamCreateWithFlags(made, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&](Runtime& runtime) { check(runtime.streams.destroy(stream)); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&](Runtime& runtime) { check(runtime.streams.wait_for(stream)); });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call(
      [&](Runtime& runtime) { check(runtime.streams.wait_for(stream, event_of(runtime, event))); });
}

// ---- events

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* made, unsigned) {
  return call([&](Runtime& runtime) {
    auto one = std::make_unique<CUevent_st>();
    *made = one.get();
    runtime.events[*made] = std::move(one);
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* made) {
  return cudaEventCreateWithFlags(made, cudaEventDefault);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call(
      [&](Runtime& runtime) { check(runtime.streams.record(event_of(runtime, event), stream)); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&](Runtime& runtime) { ended(runtime, event); });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return cudaEventSynchronize(event);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return call([&](Runtime& runtime) {
    const cudaEvent_t first = ended(runtime, begin), last = ended(runtime, end);
    if (!first->is_recorded || !last->is_recorded)
      throw Refusal{cudaErrorInvalidResourceHandle, {}};
    *milliseconds = std::chrono::duration<float, std::milli>(last->at - first->at).count();
  });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&](Runtime& runtime) { runtime.events.erase(event_of(runtime, event)); });
}

// ---- captures

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call([&](Runtime& runtime) { check(runtime.streams.begin(stream, mode)); });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call([&](Runtime& runtime) { check(runtime.streams.end(stream, graph)); });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return call([&](Runtime& runtime) { check(runtime.streams.status_of(stream, status)); });
}
#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(
#else
cudaError_t cudaStreamGetCaptureInfo_v3(
#endif
    cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
    cudaGraph_t* graph, const cudaGraphNode_t** before, const cudaGraphEdgeData** edges,
    size_t* count) {
  return call([&](Runtime& runtime) {
    check(runtime.streams.describe(stream, {status, id, graph, before, edges, count}));
  });
}
#if CUDART_VERSION < 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** before, size_t* count) {
  return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, before, nullptr, count);
}
#endif
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call([&](Runtime&) { Streams::exchange_mode(mode); });
}

// ---- graphs

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph,
                                 unsigned long long flags) {
  return call([&](Runtime& runtime) {
    if (flags != 0)
      throw Refusal{cudaErrorNotSupported,
                    "cudaGraphInstantiate: the interpreter does not know flags"};
    check(runtime.streams.instantiate(made, graph));
  });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(made, graph, flags);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  return call([&](Runtime& runtime) { check(runtime.streams.launch(graph, stream)); });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return call([&](Runtime& runtime) { check(runtime.streams.destroy(graph)); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  return call([&](Runtime& runtime) { check(runtime.streams.destroy(graph)); });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return call([&](Runtime&) {
    const size_t room = nodes == nullptr ? 0 : *count;
    *count = graph->nodes.size();
    for (size_t k = 0; k < std::min(room, *count); ++k) nodes[k] = graph->nodes[k].get();
  });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return call([&](Runtime&) { *type = node->type; });
}
