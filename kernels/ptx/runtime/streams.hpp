// Streams, events, captures and graphs of a CUDA runtime without a GPU: what a capture records,
// what it forbids, and what an edge between two launches means. The rules are those of NVIDIA's
// "CUDA Runtime API" (Stream Management, cudaThreadExchangeStreamCaptureMode) and of the chapter on
// graphs of the "CUDA C++ Programming Guide".
//
//   call                       outside of a capture   what a capture forbids
//   malloc, free, load, wait,  at once                the call, by the mode of its thread and of
//   sets and copies at once                           the capture
//   wait for a stream          nothing to wait for    the captured stream, and the legacy one while
//                                                     a blocking stream is captured
//   wait for the device        nothing to wait for    the call, in every mode
//   launch, set, copy          runs at once           events from outside of it; the legacy stream
//                                                     while a blocking stream is captured
//
// A forbidden call fails, and invalidates the captures that it concerns.
//
// Work outside of a capture runs when it is enqueued, and the nodes of a graph in the order in
// which they were captured. So of all the orders that streams allow only one is seen: work that
// nothing orders, such as that of two streams without an event between them, is not reported, and
// does not run in another order either.
//
// It is compiled against NVIDIA's cuda_runtime.h, which only declares the types below, and against
// the one of the native tests. It locks nothing; that is left to the runtime around it.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

/// Something enqueued. Its argument: whether a launch may begin before the one in front of it has
/// ended.
using Work = std::function<cudaError_t(bool is_dependent)>;

struct CUgraphNode_st {
  cudaGraphNodeType type;
  std::vector<cudaGraphNode_t> after;  // nodes that it depends on, of which none may be repeated
  bool is_dependent;
  Work work;
};

/// A graph, from the beginning of its capture on.
struct CUgraph_st {
  unsigned long long number = 0;  // of the capture
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;        // that began the capture
  const void* origin = nullptr;  // the stream that must end it
  bool is_open = true;           // the capture has not ended
  bool is_whole = true;          // until a forbidden call
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;

  /// Runs the nodes; the error of the first that fails.
  cudaError_t replay() const;
};
struct CUgraphExec_st {
  std::shared_ptr<const CUgraph_st> graph;
};

struct CUstream_st {
  bool is_blocking = false;  // the legacy stream waits for it, and it for that
  bool is_legacy = false;
  bool is_behind_kernel = false;  // a launch is the last that was enqueued outside of a capture
  std::shared_ptr<CUgraph_st> capture;
  std::vector<cudaGraphNode_t> before;   // nodes that the next one depends on
  std::vector<cudaGraphEdgeData> edges;  // to them, all zeros
};

struct CUevent_st {
  std::shared_ptr<CUgraph_st> capture;  // in which it was last recorded; null: in none
  std::vector<cudaGraphNode_t> nodes;   // that it stands for there
  bool is_recorded = false;
  std::chrono::steady_clock::time_point at;
};

namespace ge::ptx {

class Streams {
 public:
  Streams();

  // ---- streams; all calls take null and cudaStreamLegacy for the legacy stream

  cudaStream_t create(bool is_blocking);
  cudaError_t destroy(cudaStream_t handle);
  /// Null: there is no such stream.
  CUstream_st* find(cudaStream_t handle);
  /// Runs work now, or adds it to the capture of its stream. `may_overlap`: a launch that may begin
  /// before the one in front of it has ended, if that is a launch.
  cudaError_t enqueue(cudaStream_t handle, cudaGraphNodeType type, Work work,
                      bool may_overlap = false);
  cudaError_t wait_for(cudaStream_t handle);
  cudaError_t wait_for_device();

  // ---- what a capture forbids

  /// For calls that might belong to a capture: allocating, freeing, loading a kernel.
  cudaError_t check_unsafe();
  /// For sets and copies at once, which also use the legacy stream.
  cudaError_t check_at_once();
  /// Swaps the mode of the calling thread.
  static void exchange_mode(cudaStreamCaptureMode* other);

  // ---- captures and graphs

  cudaError_t begin(cudaStream_t handle, cudaStreamCaptureMode mode);
  /// Null is written where the capture has failed.
  cudaError_t end(cudaStream_t handle, cudaGraph_t* graph);
  /// Ends a capture without a graph for callers, joined or not.
  void close(const std::shared_ptr<CUgraph_st>& capture);
  cudaError_t status_of(cudaStream_t handle, cudaStreamCaptureStatus* status);
  /// What a stream's next node will depend on, until the stream is used again. All but `status` may
  /// be null.
  struct Info {
    cudaStreamCaptureStatus* status;
    unsigned long long* id;
    cudaGraph_t* graph;
    const cudaGraphNode_t** before;
    const cudaGraphEdgeData** edges;
    size_t* count;
  };
  cudaError_t describe(cudaStream_t handle, const Info& to);
  cudaError_t instantiate(cudaGraphExec_t* made, cudaGraph_t graph);
  cudaError_t launch(cudaGraphExec_t graph, cudaStream_t handle);
  cudaError_t destroy(cudaGraph_t graph);
  cudaError_t destroy(cudaGraphExec_t graph);

  // ---- events

  cudaError_t record(cudaEvent_t event, cudaStream_t handle);
  cudaError_t wait_for(cudaStream_t handle, cudaEvent_t event);
  /// For calls of the host that wait for an event or read it.
  cudaError_t check_outside(cudaEvent_t event) const;

 private:
  using Capture = std::shared_ptr<CUgraph_st>;
  template <class F>
  void each_stream(const F& f);
  cudaError_t check_legacy(const CUstream_st& stream);
  cudaError_t capture(CUstream_st& stream, cudaGraphNodeType type, Work work, bool may_overlap);
  bool is_joined(const CUstream_st& origin);

  // Streams stay where they are: their addresses are handles.
  std::unique_ptr<CUstream_st> legacy_;
  std::map<std::thread::id, std::unique_ptr<CUstream_st>> per_thread_;
  std::map<const void*, std::unique_ptr<CUstream_st>> streams_;
  std::vector<Capture> open_;
  std::map<const void*, Capture> graphs_;
  std::map<const void*, std::unique_ptr<CUgraphExec_st>> instances_;
};

}  // namespace ge::ptx
