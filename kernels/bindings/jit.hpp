// Steps and resets as parts of programs that XLA compiled (jax.jit): handlers of its interface for
// custom calls (xla_c_api.h, made for version 0.3). They run on threads of XLA, without the
// interpreter and its lock.
//
// A handle is three words of 32 bits: the number of a simulator in this process, and how many calls
// it has had, low word first. Each call takes one and returns the next: so calls have an order,
// which XLA would be free to change, and a handle that is used twice is told.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/session.hpp"
#include "bindings/simulator.hpp"
#include "bindings/xla_c_api.h"

namespace ge::python::jit {

inline constexpr int kHandleWords = 3;

/// The buffers of a call.
class Call {
 public:
  explicit Call(const XLA_FFI_CallFrame& frame) : frame_(frame) {}

  const XLA_FFI_Buffer& argument(int64_t k) const {
    return *static_cast<const XLA_FFI_Buffer*>(frame_.args.args[k]);
  }
  XLA_FFI_Buffer& result(int64_t k) const {
    return *static_cast<XLA_FFI_Buffer*>(frame_.rets.rets[k]);
  }
  int64_t results() const { return frame_.rets.size; }
  /// Refuses a call that does not even have these arguments, and a result for the next handle.
  void require(int64_t arguments) const {
    if (frame_.args.size != arguments || frame_.rets.size < 1)
      throw Error(Fault::type, "this call is not one that gpu_envs makes");
  }

 private:
  const XLA_FFI_CallFrame& frame_;
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
    case Type::int32:
      return XLA_FFI_DataType_S32;
    case Type::uint32:
      return XLA_FFI_DataType_U32;
    case Type::float32:
      return XLA_FFI_DataType_F32;
    default:
      return XLA_FFI_DataType_INVALID;
  }
}

/// The simulator of a handle for the length of a call, which is counted where it succeeds.
class Visit {
 public:
  Visit(const Call& call, const char* what) : handle_(words_of(call.argument(0))) {
    (void)words_of(call.result(0));
    session_ = Sessions::find(handle_[0]);
    if (session_ == nullptr)
      throw Error(Fault::value, std::string(what) +
                                    ": no environment of this process has this "
                                    "handle: env.xla() returns the first one");
    lock_ = std::unique_lock(session_->guard);
    if (session_->simulator == nullptr)
      throw Error(Fault::runtime, std::string(what) + ": this environment is closed");
    use_.reset(new InUse(session_->simulator->use_later()));
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
    std::memcpy(handle.data, next, sizeof next);
  }

 private:
  static std::array<uint32_t, kHandleWords> words_of(const XLA_FFI_Buffer& buffer) {
    std::array<uint32_t, kHandleWords> words;
    if (buffer.dtype != XLA_FFI_DataType_U32 || elements_of(buffer) != kHandleWords)
      throw Error(Fault::type, "a handle is three words of uint32, as env.xla() returns it");
    std::memcpy(words.data(), buffer.data, sizeof words);
    return words;
  }

  std::array<uint32_t, kHandleWords> handle_;
  SessionPtr session_;
  std::unique_lock<std::mutex> lock_;
  std::unique_ptr<InUse> use_;
};

/// XLA's buffers as the outputs of a call; the first result is the next handle.
inline Bound bound_of(const Call& call, const Simulator& simulator,
                      const std::vector<Output>& outputs) {
  Bound bound;
  if (call.results() != int64_t(outputs.size()) + 1)
    throw Error(Fault::value, "this call was made for another environment: it has other outputs");
  for (size_t k = 0; k < outputs.size(); ++k) {
    const OutputShape& shape = simulator.output(outputs[k]);
    const XLA_FFI_Buffer& buffer = call.result(int64_t(k) + 1);
    const int64_t wanted = shape.bytes / bytes_of(shape.type);
    if (buffer.dtype != type_of(shape.type) || elements_of(buffer) != wanted)
      throw Error(Fault::value, "this call was made for another environment: '" +
                                    std::string(name_of(outputs[k])) + "' has other shapes there");
    bound.at[outputs[k]] = buffer.data;
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
  const std::vector<Output>& outputs = visit.session().of_step;
  Simulator& simulator = visit.simulator();
  const Bound bound = bound_of(call, simulator, outputs);
  simulator.step(actions_of(call.argument(1), simulator), bound, nullptr);
  visit.finish(call.result(0));
}

/// Seeds are pairs of words, low word first; the high word of a negative one is all ones.
inline std::vector<uint64_t> seeds_of(const XLA_FFI_Buffer& buffer, int64_t worlds) {
  const int64_t words = elements_of(buffer), count = words / 2;
  if (buffer.dtype != XLA_FFI_DataType_U32 || words % 2 != 0 || (count > 1 && count != worlds))
    throw Error(Fault::type, "reset: seeds are pairs of uint32: none, one, or one per world, " +
                                 std::to_string(worlds));
  const auto* const at = static_cast<const uint32_t*>(buffer.data);
  std::vector<uint64_t> seeds;
  for (int64_t k = 0; k < count; ++k) {
    if (at[2 * k + 1] == UINT32_MAX)
      throw Error(Fault::value, "reset: seed must be from 0 to 2^64 - 2^32 - 1");
    seeds.push_back(uint64_t(at[2 * k]) | uint64_t(at[2 * k + 1]) << 32);
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
  const std::vector<uint64_t> seeds = seeds_of(call.argument(1), simulator.worlds());
  ResetRequest request;
  request.seeds = seeds;
  request.mask = mask_of(call.argument(2), simulator.worlds());
  simulator.reset(request, bound, nullptr);
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
