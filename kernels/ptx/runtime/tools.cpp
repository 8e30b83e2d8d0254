// See tools.hpp.
#include "ptx/runtime/tools.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "ptx/runtime/report.hpp"
#include "ptx/runtime/runtime.hpp"

namespace ge::ptx {
namespace {

/// A setting that can be read and written, whatever its type.
struct Setting {
  const char* name;
  uint64_t (*get)(const Runtime& runtime);
  void (*set)(Runtime& runtime, uint64_t value);
};
template <auto kMember>
constexpr Setting of_machine(const char* name) {
  return {name, [](const Runtime& runtime) { return uint64_t(runtime.machine.settings.*kMember); },
          [](Runtime& runtime, uint64_t value) {
            auto& to = runtime.machine.settings.*kMember;
            to = static_cast<std::remove_reference_t<decltype(to)>>(value);
          }};
}
template <auto kMember>
constexpr Setting of_runtime(const char* name) {
  return {name, [](const Runtime& runtime) { return uint64_t(runtime.*kMember); },
          [](Runtime& runtime, uint64_t value) {
            auto& to = runtime.*kMember;
            to = static_cast<std::remove_reference_t<decltype(to)>>(value);
          }};
}
constexpr Setting kSettings[] = {
    of_machine<&Settings::shuffle>("shuffle"),
    of_machine<&Settings::poison>("poison"),
    of_machine<&Settings::races>("races"),
    of_machine<&Settings::counts>("counts"),
    of_machine<&Settings::limit>("limit"),
    of_runtime<&Runtime::registers>("registers"),
    of_runtime<&Runtime::total>("memory"),
    of_runtime<&Runtime::shared>("shared"),
    of_runtime<&Runtime::multiprocessors>("multiprocessors"),
};
const Setting* find(const char* name) {
  for (const Setting& one : kSettings)
    if (std::strcmp(one.name, name) == 0) return &one;
  return nullptr;
}

/// Copies as much as there is room for, and a zero; returns the bytes that it needs.
size_t copy_text(const std::string& text, char* to, size_t room) {
  if (room > 0) {
    const size_t copied = std::min(room - 1, text.size());
    std::memcpy(to, text.data(), copied);
    to[copied] = 0;
  }
  return text.size() + 1;
}

}  // namespace
}  // namespace ge::ptx

using namespace ge::ptx;

extern "C" {

int ge_ptx_set(const char* name, uint64_t value) {
  const Lock lock;
  const Setting* const found = find(name);
  if (found == nullptr) return -1;
  found->set(Runtime::get(), value);
  return 0;
}
uint64_t ge_ptx_get(const char* name) {
  const Lock lock;
  const Setting* const found = find(name);
  return found == nullptr ? 0 : found->get(Runtime::get());
}

size_t ge_ptx_report(char* to, size_t room) {
  const Lock lock;
  return copy_text(report_of(Runtime::get()), to, room);
}
int ge_ptx_write_report(const char* path) {
  const Lock lock;
  return write_report(Runtime::get(), path) ? 0 : -1;
}
uint64_t ge_ptx_executed(void) {
  const Lock lock;
  return executed_of(Runtime::get());
}
uint64_t ge_ptx_calls(const char* name) {
  const Lock lock;
  const auto& calls = Runtime::get().calls;
  const auto found = calls.find(name);
  return found == calls.end() ? 0 : found->second;
}
size_t ge_ptx_called(char* to, size_t room) {
  const Lock lock;
  std::string names;
  for (const auto& [name, count] : Runtime::get().calls) names += name + '\n';
  return copy_text(names, to, room);
}
void ge_ptx_clear_counts(void) {
  const Lock lock;
  clear_counts(Runtime::get());
}

int ge_ptx_edit(const char* pattern, const char* replacement, int64_t nth) {
  const Lock lock;
  try {
    Runtime::get().edits.add(pattern, replacement, nth);
  } catch (const std::regex_error&) {
    return -1;
  }
  return 0;
}
void ge_ptx_edit_with(const char* (*edit)(const char* text, void* context), void* context) {
  const Lock lock;
  Runtime::get().edits.set_hook(edit, context);
}
void ge_ptx_clear_edits(void) {
  const Lock lock;
  Runtime::get().edits.clear();
}
uint64_t ge_ptx_edited(void) {
  const Lock lock;
  return Runtime::get().edits.changed();
}
void ge_ptx_reload(void) {
  const Lock lock;
  forget_programs(Runtime::get());
}

const char* ge_ptx_fault(void) {
  const Lock lock;
  return fault_of_process();
}
void ge_ptx_forget_fault(void) {
  const Lock lock;
  forget_fault();
}

}  // extern "C"
