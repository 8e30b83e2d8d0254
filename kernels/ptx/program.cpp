// Modules: their variables, and their kernels with what these need of memory.
#include <algorithm>
#include <tuple>
#include <utility>

#include "ptx/decoder.hpp"

namespace ge::ptx {

namespace {

/// Bytes of the frames, and of a lane's local memory, with those of the deepest calls.
std::pair<size_t, int64_t> depth_of(const Code& code) {
  size_t frames = 0;
  int64_t local = 0;
  for (const Call& call : code.calls) {
    const auto below = depth_of(*call.callee);
    frames = std::max(frames, below.first), local = std::max(local, below.second);
  }
  return {frames + code.frame_bytes, local + code.local_room()};
}

}  // namespace

Program::Program(const std::string& text) : module_(read_module(text)) {
  for (const Variable& v : module_.variables) {
    if (v.space == "shared") continue;
    const auto align = size_t(std::max<int64_t>(v.align, 256));
    const size_t bytes = (size_t(v.bytes) + align - 1) / align * align;
    auto& made = memory_[v.name];
    made.reset(static_cast<char*>(std::aligned_alloc(align, std::max(bytes, align))));
    std::fill_n(made.get(), v.bytes, char(0));
    std::copy(v.data.begin(), v.data.end(), made.get());
  }
}
std::vector<std::string> Program::entries() const {
  std::vector<std::string> names;
  for (const auto& function : module_.functions)
    if (function->is_entry) names.push_back(function->name);
  return names;
}
char* Program::address_of(const std::string& variable) const {
  const auto found = memory_.find(variable);
  return found == memory_.end() ? nullptr : found->second.get();
}

Kernel* Program::kernel(const std::string& name) {
  if (const auto found = kernels_.find(name); found != kernels_.end()) return found->second.get();
  const Function* const entry = module_.find(name);
  if (entry == nullptr || !entry->is_entry) return nullptr;
  auto made = std::make_unique<Kernel>();
  made->name = name;
  made->entry = entry;
  for (const Variable& v : entry->params) {
    const int64_t at = (made->param_bytes + v.align - 1) / v.align * v.align;
    made->params.emplace_back(at, v.bytes);
    made->param_bytes = at + v.bytes;
  }
  made->module = &module_;
  made->code = Functions(*this, *made).code_of(*entry);
  std::tie(made->frame_bytes, made->local_bytes) = depth_of(*made->code);
  return (kernels_[name] = std::move(made)).get();
}

}  // namespace ge::ptx
