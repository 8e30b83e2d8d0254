// Steps and resets as parts of programs that XLA compiled (jax.jit): handlers of its interface for
// custom calls (xla_c_api.h, made for version 0.3). They run on threads of XLA, without the
// interpreter and its lock. On a GPU the buffers are in its memory, and all work is enqueued on the
// stream of the call; only what the host has to know, such as the handle, is waited for.
//
// A handle is three words of 32 bits: the number of a simulator in this process, and how many calls
// it has had, low word first. Each call takes one and returns the next: so calls have an order,
// which XLA would be free to change, and a handle that is used twice is told.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/session.hpp"
#include "bindings/simulator.hpp"
#include "bindings/xla_c_api.h"
#include "engine/simulator/machine.hpp"

namespace ge::python::jit {

inline constexpr int kHandleWords = 3;

/// The buffers of a call, and its stream.
class Call {
 public:
  explicit Call(const XLA_FFI_CallFrame& frame) : frame_(frame) {
    if (engine_machine() == std::string_view("cpu")) return;
    XLA_FFI_Stream_Get_Args args{};
    args.struct_size = XLA_FFI_Stream_Get_Args_STRUCT_SIZE;
    args.ctx = frame.ctx;
    if (XLA_FFI_Error* const problem = frame.api->XLA_FFI_Stream_Get(&args)) {
      XLA_FFI_Error_Destroy_Args destroy{};
      destroy.struct_size = XLA_FFI_Error_Destroy_Args_STRUCT_SIZE;
      destroy.error = problem;
      frame.api->XLA_FFI_Error_Destroy(&destroy);
      throw Error(Fault::runtime, "XLA has no stream for this call");
    }
    stream_ = args.stream;
  }

  const XLA_FFI_Buffer& argument(int64_t k) const {
    return *static_cast<const XLA_FFI_Buffer*>(frame_.args.args[k]);
  }
  XLA_FFI_Buffer& result(int64_t k) const {
    return *static_cast<XLA_FFI_Buffer*>(frame_.rets.rets[k]);
  }
  int64_t results() const { return frame_.rets.size; }
  void* stream() const { return stream_; }
  /// The device that has the handle; -1: the host.
  int device() const { return device_of(argument(0).data); }
  /// Copies from a buffer to the host, behind the work before.
  void read(void* to, const XLA_FFI_Buffer& buffer, size_t bytes) const {
    const int at = device();
    enqueue_copy(at, to, buffer.data, int64_t(bytes), stream_);
    wait_for(at, stream_, "a call of a program");
  }
  void write(XLA_FFI_Buffer& buffer, const void* from, size_t bytes) const {
    enqueue_copy(device(), buffer.data, from, int64_t(bytes), stream_);
  }
  /// Names of the outputs that the program expects, as one text.
  std::string_view outputs() const {
    const XLA_FFI_Attrs& attrs = frame_.attrs;
    for (int64_t k = 0; k < attrs.size; ++k) {
      const std::string_view name(attrs.names[k]->ptr, attrs.names[k]->len);
      if (name != "outputs" || attrs.types[k] != XLA_FFI_AttrType_STRING) continue;
      const auto& text = *static_cast<const XLA_FFI_ByteSpan*>(attrs.attrs[k]);
      return {text.ptr, text.len};
    }
    throw Error(Fault::type, "this call is not one that gpu_envs makes");
  }
  /// Refuses a call that does not even have these arguments, and a result for the next handle.
  void require(int64_t arguments) const {
    if (frame_.args.size != arguments || frame_.rets.size < 1)
      throw Error(Fault::type, "this call is not one that gpu_envs makes");
    if (stream_ != nullptr && device() < 0)
      throw Error(Fault::device, "this call needs buffers on a GPU, and got the host's");
  }

 private:
  const XLA_FFI_CallFrame& frame_;
  void* stream_ = nullptr;
};

inline int64_t elements_of(const XLA_FFI_Buffer& buffer) {
  int64_t count = 1;
  for (int64_t k = 0; k < buffer.rank; ++k) count *= buffer.dims[k];
  return count;
}
inline XLA_FFI_DataType type_of(Type type) {
  switch (type) {
    case Type::boolean:
      return XLA_FFI_DataType_PRED;
    case Type::int8:
      return XLA_FFI_DataType_S8;
    case Type::uint8:
      return XLA_FFI_DataType_U8;
    case Type::uint16:
      return XLA_FFI_DataType_U16;
    case Type::int32:
      return XLA_FFI_DataType_S32;
    case Type::uint32:
      return XLA_FFI_DataType_U32;
    case Type::float32:
      return XLA_FFI_DataType_F32;
    case Type::int64:
    case Type::uint64:
    case Type::float64:  // which jitted.py refuses by name
    case Type::text:
      break;
  }
  return XLA_FFI_DataType_INVALID;
}

/// The simulator of a handle for the length of a call, which is counted where it succeeds.
class Visit {
 public:
  Visit(const Call& call, const char* what) : call_(call) {
    require_handle(call.argument(0));
    require_handle(call.result(0));
    call.read(handle_.data(), call.argument(0), sizeof handle_);
    session_ = Sessions::find(handle_[0]);
    if (session_ == nullptr)
      throw Error(Fault::value, std::string(what) +
                                    ": no environment of this process has this "
                                    "handle: env.xla() returns the first one");
    lock_ = std::unique_lock(session_->guard);
    if (session_->simulator == nullptr)
      throw Error(Fault::runtime, std::string(what) + ": this environment is closed");
    use_.reset(new InUse(session_->simulator->use_later()));
    const int own = (*use_)->config().device, there = call.device();
    if (there >= 0 && there != own)
      throw Error(Fault::device, std::string(what) +
                                     ": these worlds are on cuda:" + std::to_string(own) +
                                     ", and the program runs on cuda:" + std::to_string(there));
    const uint64_t given = uint64_t(handle_[1]) | uint64_t(handle_[2]) << 32;
    if (given == session_->calls) return;
    throw Error(Fault::runtime,
                std::string(what) +
                    (session_->is_pythons
                         ? ": the worlds were stepped or changed in Python after this handle was "
                           "returned: env.xla() returns a new one"
                         : ": this handle was used before: pass on the one that the last call "
                           "returned"));
  }
  Simulator& simulator() const { return **use_; }
  const Session& session() const { return *session_; }
  void count_reset() { ++session_->resets; }
  /// The next handle.
  void finish(XLA_FFI_Buffer& handle) {
    session_->is_pythons = false;
    const uint64_t calls = ++session_->calls;
    const uint32_t next[kHandleWords] = {handle_[0], uint32_t(calls), uint32_t(calls >> 32)};
    call_.write(handle, next, sizeof next);
  }

 private:
  static void require_handle(const XLA_FFI_Buffer& buffer) {
    if (buffer.dtype != XLA_FFI_DataType_U32 || elements_of(buffer) != kHandleWords)
      throw Error(Fault::type, "a handle is three words of uint32, as env.xla() returns it");
  }

  const Call& call_;
  std::array<uint32_t, kHandleWords> handle_;
  SessionPtr session_;
  std::unique_lock<std::mutex> lock_;
  std::unique_ptr<InUse> use_;
};

/// Whether a buffer has the shape of an output: a row per agent or world, or what split roles need.
inline bool has_shape(const XLA_FFI_Buffer& buffer, const OutputShape& shape,
                      const Simulator& simulator) {
  const std::vector<int64_t>& row = shape.row;
  const int64_t first = shape.split ? 0 : 1, rank = first + int64_t(row.size());
  if (buffer.rank != rank) return false;
  const int64_t rows = simulator.worlds() * (shape.per_agent ? simulator.agents() : 1);
  return (shape.split || buffer.dims[0] == rows) &&
         std::equal(row.begin(), row.end(), buffer.dims + first);
}
/// XLA's buffers as the outputs of a call; the first result is the next handle.
inline Bound bound_of(const Call& call, const Simulator& simulator, const CallOutputs& outputs) {
  Bound bound;
  if (call.outputs() != outputs.names || call.results() != int64_t(outputs.all.size()) + 1)
    throw Error(Fault::value, "this call was made for another environment: its outputs are " +
                                  std::string(call.outputs()) + ", not " + outputs.names);
  for (size_t k = 0; k < outputs.all.size(); ++k) {
    const Output output = outputs.all[k];
    const OutputShape& shape = simulator.output(output);
    const XLA_FFI_Buffer& buffer = call.result(int64_t(k) + 1);
    if (buffer.dtype != type_of(shape.type) || !has_shape(buffer, shape, simulator))
      throw Error(Fault::value, "this call was made for another environment: '" +
                                    std::string(name_of(output)) + "' has other shapes there");
    bound.at[output] = buffer.data;
  }
  return bound;
}

inline Actions actions_of(const XLA_FFI_Buffer& buffer, const Simulator& simulator) {
  if (elements_of(buffer) != simulator.action_count())
    throw Error(Fault::value, "step: " + std::to_string(simulator.action_count()) +
                                  " words of actions are wanted, got " +
                                  std::to_string(elements_of(buffer)));
  if (simulator.action_is_float() && buffer.dtype == XLA_FFI_DataType_F32)
    return {buffer.data, Type::float32};
  if (!simulator.action_is_float() && buffer.dtype == XLA_FFI_DataType_S32)
    return {buffer.data, Type::int32};
  throw Error(Fault::type, simulator.action_is_float() ? "step: actions must be float32 here"
                                                       : "step: actions must be int32 here");
}

/// step(handle, actions) -> handle, outputs.
inline void step(const Call& call) {
  call.require(2);
  Visit visit(call, "step");
  Simulator& simulator = visit.simulator();
  const Bound bound = bound_of(call, simulator, visit.session().of_step);
  simulator.step(actions_of(call.argument(1), simulator), bound, call.stream());
  visit.finish(call.result(0));
}

/// Seeds are pairs of words, low word first; the high word of a negative one is all ones.
inline std::vector<uint64_t> seeds_of(const Call& call, const XLA_FFI_Buffer& buffer,
                                      int64_t worlds) {
  const int64_t words = elements_of(buffer), count = words / 2;
  if (buffer.dtype != XLA_FFI_DataType_U32 || words % 2 != 0 || (count > 1 && count != worlds))
    throw Error(Fault::type, "reset: seeds are pairs of uint32: none, one, or one per world, " +
                                 std::to_string(worlds));
  std::vector<uint32_t> at;
  at.resize(size_t(words));
  if (words > 0) call.read(at.data(), buffer, at.size() * sizeof(uint32_t));
  std::vector<uint64_t> seeds;
  for (int64_t k = 0; k < count; ++k) {
    if (at[size_t(2 * k + 1)] == UINT32_MAX)
      throw Error(Fault::value, "reset: seed must be from 0 to 2^64 - 2^32 - 1");
    seeds.push_back(uint64_t(at[size_t(2 * k)]) | uint64_t(at[size_t(2 * k + 1)]) << 32);
  }
  return seeds;
}
inline const uint8_t* mask_of(const XLA_FFI_Buffer& buffer, int64_t worlds) {
  const int64_t count = elements_of(buffer);
  if (buffer.dtype != XLA_FFI_DataType_PRED || (count != 0 && count != worlds))
    throw Error(Fault::type, "reset: mask must be a bool per world, " + std::to_string(worlds));
  return count == 0 ? nullptr : static_cast<const uint8_t*>(buffer.data);
}
/// reset(handle, seeds, mask) -> handle, outputs. Without elements there are no seeds, or no mask.
inline void reset(const Call& call) {
  call.require(3);
  Visit visit(call, "reset");
  Simulator& simulator = visit.simulator();
  const Bound bound = bound_of(call, simulator, visit.session().of_reset);
  const std::vector<uint64_t> seeds = seeds_of(call, call.argument(1), simulator.worlds());
  ResetRequest request;
  request.seeds = seeds;
  request.mask = mask_of(call.argument(2), simulator.worlds());
  simulator.reset(request, bound, call.stream());
  visit.count_reset();
  visit.finish(call.result(0));
}

inline XLA_FFI_Error* error_of(const XLA_FFI_CallFrame& frame, XLA_FFI_Error_Code code,
                               const char* text) {
  XLA_FFI_Error_Create_Args args{};
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = text;
  args.errc = code;
  return frame.api->XLA_FFI_Error_Create(&args);
}
inline XLA_FFI_Error_Code code_of(Fault kind) {
  switch (kind) {
    case Fault::value:
    case Fault::type:
      return XLA_FFI_Error_Code_INVALID_ARGUMENT;
    case Fault::memory:
      return XLA_FFI_Error_Code_RESOURCE_EXHAUSTED;
    case Fault::reset_needed:
      return XLA_FFI_Error_Code_FAILED_PRECONDITION;
    default:
      return XLA_FFI_Error_Code_INTERNAL;
  }
}

/// All that is used here has been the same since version 0.1, which an older XLA wants to hear of:
/// Python says which.
inline int told_minor = XLA_FFI_API_MINOR;
inline constexpr int kOldestMinor = 1;

inline void tell_version(XLA_FFI_Metadata& about) {
  about.api_version.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE;
  about.api_version.major_version = XLA_FFI_API_MAJOR;
  about.api_version.minor_version = told_minor;
  about.traits = 0;
}

/// What XLA calls: once to ask for the version, then to run.
template <void (*F)(const Call&)>
XLA_FFI_Error* handler(XLA_FFI_CallFrame* frame) {
  for (XLA_FFI_Extension_Base* own = frame->extension_start; own != nullptr; own = own->next)
    if (own->type == XLA_FFI_Extension_Metadata) {
      tell_version(*reinterpret_cast<XLA_FFI_Metadata_Extension*>(own)->metadata);
      return nullptr;
    }
  if (frame->stage != XLA_FFI_ExecutionStage_EXECUTE) return nullptr;
  try {
    F(Call(*frame));
    return nullptr;
  } catch (const Error& error) {
    return error_of(*frame, code_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return error_of(*frame, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED, "there is not enough memory");
  } catch (const std::exception& error) {
    return error_of(*frame, XLA_FFI_Error_Code_INTERNAL, error.what());
  }
}

inline void add_handlers(py::module_& m) {
  Sessions::watch_forks();
  m.def("xla_versions", [] { return std::pair(kOldestMinor, XLA_FFI_API_MINOR); });
  m.def("xla_handlers", [](int minor) {
    told_minor = minor;
    const auto held = [](XLA_FFI_Handler* handler) {
      return py::capsule(reinterpret_cast<void*>(handler));
    };
    return py::dict(py::arg("step") = held(&handler<&step>),
                    py::arg("reset") = held(&handler<&reset>));
  });
}

}  // namespace ge::python::jit
