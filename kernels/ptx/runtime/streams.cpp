// See streams.hpp.
#include "ptx/runtime/streams.hpp"

#include <algorithm>
#include <set>
#include <utility>

cudaError_t CUgraph_st::replay() const {
  for (const auto& node : nodes)
    if (const cudaError_t code = node->work(node->is_dependent); code != cudaSuccess) return code;
  return cudaSuccess;
}

namespace ge::ptx {
namespace {

thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

cudaError_t invalidate(CUgraph_st& capture, cudaError_t code) {
  capture.is_whole = false;
  return code;
}
template <class T>
void add_missing(std::vector<T>& to, const std::vector<T>& from) {
  for (const T& one : from)
    if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
}

}  // namespace

Streams::Streams() : legacy_(std::make_unique<CUstream_st>()) {
  legacy_->is_legacy = true;
}

// ---- streams

template <class F>
void Streams::each_stream(const F& f) {
  for (const auto& [thread, stream] : per_thread_) f(*stream);
  for (const auto& [handle, stream] : streams_) f(*stream);
}

cudaStream_t Streams::create(bool is_blocking) {
  auto made = std::make_unique<CUstream_st>();
  made->is_blocking = is_blocking;
  CUstream_st* const handle = made.get();
  streams_[handle] = std::move(made);
  return handle;
}
cudaError_t Streams::destroy(cudaStream_t handle) {
  const auto found = streams_.find(handle);
  if (found == streams_.end()) return cudaErrorInvalidResourceHandle;
  if (found->second->capture != nullptr) found->second->capture->is_whole = false;
  streams_.erase(found);
  return cudaSuccess;
}
CUstream_st* Streams::find(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return legacy_.get();
  if (handle == cudaStreamPerThread) {
    auto& own = per_thread_[std::this_thread::get_id()];
    if (own == nullptr) {
      own = std::make_unique<CUstream_st>();
      own->is_blocking = true;
    }
    return own.get();
  }
  const auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second.get();
}

cudaError_t Streams::enqueue(cudaStream_t handle, cudaGraphNodeType type, Work work,
                             bool may_overlap) {
  CUstream_st* const stream = find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t code = check_legacy(*stream); code != cudaSuccess) return code;
  if (stream->capture != nullptr) return capture(*stream, type, std::move(work), may_overlap);
  const bool is_dependent = may_overlap && stream->is_behind_kernel;
  // Between work of the legacy stream and of a blocking one lies a whole dependency.
  if (stream->is_legacy) {
    each_stream([](CUstream_st& other) { other.is_behind_kernel &= !other.is_blocking; });
  } else if (stream->is_blocking) {
    legacy_->is_behind_kernel = false;
  }
  stream->is_behind_kernel = type == cudaGraphNodeTypeKernel;
  return work(is_dependent);
}
cudaError_t Streams::wait_for(cudaStream_t handle) {
  if (const cudaError_t code = check_unsafe(); code != cudaSuccess) return code;
  CUstream_st* const stream = find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture != nullptr)
    return invalidate(*stream->capture, cudaErrorStreamCaptureUnsupported);
  if (const cudaError_t code = check_legacy(*stream); code != cudaSuccess) return code;
  stream->is_behind_kernel = false;
  return cudaSuccess;
}
cudaError_t Streams::wait_for_device() {
  // In no mode: the device encompasses the captured streams.
  for (const Capture& capture : open_) capture->is_whole = false;
  if (!open_.empty()) return cudaErrorStreamCaptureUnsupported;
  each_stream([](CUstream_st& stream) { stream.is_behind_kernel = false; });
  legacy_->is_behind_kernel = false;
  return cudaSuccess;
}

// ---- what a capture forbids

void Streams::exchange_mode(cudaStreamCaptureMode* other) {
  std::swap(mode_of_thread, *other);
}
cudaError_t Streams::check_unsafe() {
  if (mode_of_thread == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  cudaError_t code = cudaSuccess;
  for (const Capture& capture : open_) {
    const bool is_own = capture->thread == std::this_thread::get_id();
    const bool forbids = is_own ? capture->mode != cudaStreamCaptureModeRelaxed
                                : mode_of_thread == cudaStreamCaptureModeGlobal &&
                                      capture->mode == cudaStreamCaptureModeGlobal;
    if (forbids) code = invalidate(*capture, cudaErrorStreamCaptureUnsupported);
  }
  return code;
}
cudaError_t Streams::check_at_once() {
  const cudaError_t code = check_unsafe();
  if (code != cudaSuccess) return code;
  if (const cudaError_t implicit = check_legacy(*legacy_); implicit != cudaSuccess) return implicit;
  each_stream([](CUstream_st& other) { other.is_behind_kernel &= !other.is_blocking; });
  legacy_->is_behind_kernel = false;
  return cudaSuccess;
}
/// Any use of the legacy stream is one of all blocking streams.
cudaError_t Streams::check_legacy(const CUstream_st& stream) {
  cudaError_t code = cudaSuccess;
  if (!stream.is_legacy) return code;
  each_stream([&](CUstream_st& other) {
    if (other.is_blocking && other.capture != nullptr)
      code = invalidate(*other.capture, cudaErrorStreamCaptureImplicit);
  });
  return code;
}

// ---- captures

cudaError_t Streams::begin(cudaStream_t handle, cudaStreamCaptureMode mode) {
  static unsigned long long captures = 0;
  CUstream_st* const stream = find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->is_legacy) return cudaErrorStreamCaptureUnsupported;
  if (stream->capture != nullptr) return cudaErrorIllegalState;
  auto made = std::make_shared<CUgraph_st>();
  made->number = ++captures;
  made->mode = mode;
  made->thread = std::this_thread::get_id();
  made->origin = stream;
  open_.push_back(made);
  stream->capture = std::move(made);
  stream->before.clear();
  return cudaSuccess;
}
cudaError_t Streams::capture(CUstream_st& stream, cudaGraphNodeType type, Work work,
                             bool may_overlap) {
  CUgraph_st& graph = *stream.capture;
  if (!graph.is_whole) return cudaErrorStreamCaptureInvalidated;
  const bool is_behind_kernels =
      std::all_of(stream.before.begin(), stream.before.end(),
                  [](cudaGraphNode_t node) { return node->type == cudaGraphNodeTypeKernel; });
  // An edge that lets a launch begin early leads from a kernel to a kernel.
  if (may_overlap && !is_behind_kernels)
    return invalidate(graph, cudaErrorStreamCaptureUnsupported);
  const bool is_dependent = may_overlap && !stream.before.empty();
  graph.nodes.push_back(std::make_unique<CUgraphNode_st>(
      CUgraphNode_st{type, stream.before, is_dependent, std::move(work)}));
  stream.before = {graph.nodes.back().get()};
  return cudaSuccess;
}
/// Whether what other streams have captured is in front of the origin's next node.
bool Streams::is_joined(const CUstream_st& origin) {
  std::set<cudaGraphNode_t> reached;
  std::vector<cudaGraphNode_t> left = origin.before;
  while (!left.empty()) {
    const cudaGraphNode_t node = left.back();
    left.pop_back();
    if (reached.insert(node).second) add_missing(left, node->after);
  }
  bool all = true;
  each_stream([&](CUstream_st& stream) {
    if (stream.capture != origin.capture) return;
    for (const cudaGraphNode_t node : stream.before) all = all && reached.contains(node);
  });
  return all;
}
cudaError_t Streams::end(cudaStream_t handle, cudaGraph_t* graph) {
  *graph = nullptr;
  CUstream_st* const stream = find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture == nullptr) return cudaErrorIllegalState;
  const Capture capture = stream->capture;
  if (capture->origin != stream) return invalidate(*capture, cudaErrorStreamCaptureUnmatched);
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id())
    return invalidate(*capture, cudaErrorStreamCaptureWrongThread);
  const bool joined = is_joined(*stream);
  close(capture);
  if (!capture->is_whole) return cudaErrorStreamCaptureInvalidated;
  if (!joined) return cudaErrorStreamCaptureUnjoined;
  graphs_[capture.get()] = capture;
  *graph = capture.get();
  return cudaSuccess;
}
void Streams::close(const Capture& capture) {
  const Capture kept = capture;  // it may be the member that is cleared
  each_stream([&](CUstream_st& stream) {
    if (stream.capture != kept) return;
    stream.capture = nullptr;
    stream.before.clear();
    stream.is_behind_kernel = false;
  });
  std::erase(open_, kept);
  kept->is_open = false;
}
cudaError_t Streams::status_of(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  CUstream_st* const stream = find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture != nullptr)
    *status = stream->capture->is_whole ? cudaStreamCaptureStatusActive
                                        : cudaStreamCaptureStatusInvalidated;
  // This use of the legacy stream, and no other, leaves captures as they are.
  bool is_implicit = false;
  if (stream->is_legacy)
    each_stream([&](CUstream_st& other) {
      is_implicit = is_implicit || (other.is_blocking && other.capture != nullptr);
    });
  return is_implicit ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}
cudaError_t Streams::describe(cudaStream_t handle, const Info& to) {
  if (to.count != nullptr) *to.count = 0;
  const cudaError_t code = status_of(handle, to.status);
  if (code != cudaSuccess || *to.status != cudaStreamCaptureStatusActive) return code;
  CUstream_st& stream = *find(handle);
  if (to.id != nullptr) *to.id = stream.capture->number;
  if (to.graph != nullptr) *to.graph = stream.capture.get();
  stream.edges.assign(stream.before.size(), cudaGraphEdgeData{});
  if (to.before != nullptr) *to.before = stream.before.data();
  if (to.edges != nullptr) *to.edges = stream.edges.data();
  if (to.count != nullptr) *to.count = stream.before.size();
  return cudaSuccess;
}

// ---- graphs

cudaError_t Streams::instantiate(cudaGraphExec_t* made, cudaGraph_t graph) {
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return cudaErrorInvalidValue;
  auto one = std::make_unique<CUgraphExec_st>(CUgraphExec_st{found->second});
  *made = one.get();
  instances_[one.get()] = std::move(one);
  return cudaSuccess;
}
cudaError_t Streams::launch(cudaGraphExec_t graph, cudaStream_t handle) {
  const auto found = instances_.find(graph);
  if (found == instances_.end()) return cudaErrorInvalidValue;
  return enqueue(handle, cudaGraphNodeTypeGraph,
                 [kept = found->second->graph](bool) { return kept->replay(); });
}
cudaError_t Streams::destroy(cudaGraph_t graph) {
  return graphs_.erase(graph) > 0 ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t Streams::destroy(cudaGraphExec_t graph) {
  return instances_.erase(graph) > 0 ? cudaSuccess : cudaErrorInvalidValue;
}

// ---- events

cudaError_t Streams::record(cudaEvent_t event, cudaStream_t handle) {
  CUstream_st* const stream = find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t code = check_legacy(*stream); code != cudaSuccess) return code;
  event->capture = stream->capture;
  event->nodes = stream->before;
  event->is_recorded = true;
  event->at = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t Streams::wait_for(cudaStream_t handle, cudaEvent_t event) {
  CUstream_st* const stream = find(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  const Capture& own = stream->capture;
  const Capture& other = event->capture;
  if (own != nullptr && own == other) {
    add_missing(stream->before, event->nodes);
    return cudaSuccess;
  }
  if (own != nullptr) {
    own->is_whole = false;
    if (other == nullptr || !other->is_open) return cudaErrorStreamCaptureIsolation;
    return invalidate(*other, cudaErrorStreamCaptureMerge);
  }
  if (other == nullptr) {
    const cudaError_t code = check_legacy(*stream);
    if (code == cudaSuccess) stream->is_behind_kernel = false;
    return code;
  }
  if (!other->is_open) return cudaErrorCapturedEvent;
  if (stream->is_legacy) return invalidate(*other, cudaErrorStreamCaptureImplicit);
  // A stream that waits for a captured one is captured with it.
  stream->capture = other;
  stream->before = event->nodes;
  return cudaSuccess;
}
cudaError_t Streams::check_outside(cudaEvent_t event) const {
  if (event->capture == nullptr) return cudaSuccess;
  event->capture->is_whole = event->capture->is_whole && !event->capture->is_open;
  return cudaErrorCapturedEvent;
}

}  // namespace ge::ptx
