// See report.hpp.
#include "ptx/runtime/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "ptx/runtime/runtime.hpp"

namespace ge::ptx {
namespace {

std::string quoted(const std::string& text) {
  std::string made = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') made += '\\';
    made += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
  }
  return made + '"';
}
/// Puts a comma in front of all elements but the first.
void separate(std::string& text, const char* comma = ", ") {
  if (!text.empty()) text += comma;
}

/// Texts that rows name by number; the first is empty.
class Texts {
 public:
  Texts() { number_of(""); }
  uint64_t number_of(const std::string& text) {
    const auto [found, is_new] = numbers_.try_emplace(text, all_.size());
    if (is_new) all_.push_back(text);
    return found->second;
  }
  std::string json() const {
    std::string made;
    for (const std::string& text : all_) separate(made), made += quoted(text);
    return "[" + made + "]";
  }

 private:
  std::map<std::string, uint64_t> numbers_;
  std::vector<std::string> all_;
};

class Report {
 public:
  void add(const Runtime& runtime, const Binary& binary);
  std::string json() const;

 private:
  std::string functions_of(const Module& module, const Kernel& kernel);
  std::string rows_of(const Module& module, const Code& code);

  Texts files_, opcodes_;
  std::string kernels_;
};

/// Whether the instruction behind one can be the next.
bool goes_on(const Instruction& i) {
  const bool leads_away = i.flow == Flow::branch || i.flow == Flow::table ||
                          i.flow == Flow::leave || i.flow == Flow::finish || i.flow == Flow::refuse;
  return i.guard >= 0 || !leads_away;
}

std::string Report::rows_of(const Module& module, const Code& code) {
  const auto& statements = code.function->code;
  std::string rows;
  for (size_t k = 0; k < std::min(statements.size(), code.instructions.size()); ++k) {
    const Statement& s = statements[k];
    const Count& count = code.counts[k];
    const Instruction& i = code.instructions[k];
    const auto file = module.files.find(s.source_file);
    const bool is_known = s.source_line > 0 && file != module.files.end();
    separate(rows, ",");
    rows += '[';
    for (const uint64_t value :
         {uint64_t(s.line), is_known ? files_.number_of(file->second) : 0,
          uint64_t(is_known ? s.source_line : 0), opcodes_.number_of(s.whole()),
          uint64_t(i.counted), count.warps, count.lanes, count.sectors, count.waves, count.splits,
          uint64_t(i.flow == Flow::branch ? i.target + 1 : 0), uint64_t(goes_on(i))}) {
      if (rows.back() != '[') rows += ',';
      rows += std::to_string(value);
    }
    rows += ']';
  }
  return rows;
}
std::string Report::functions_of(const Module& module, const Kernel& kernel) {
  std::string functions;
  for (const auto& [name, code] : kernel.codes) {
    separate(functions, ",\n   ");
    functions += "{\"name\": " + quoted(name) + ", \"rows\": [" + rows_of(module, *code) + "]}";
  }
  return functions;
}
void Report::add(const Runtime& runtime, const Binary& binary) {
  if (binary.program == nullptr) return;
  for (const std::string& name : binary.program->entries()) {
    const auto found = binary.kernels.find(name);
    const Kernel* const kernel = found == binary.kernels.end() ? nullptr : found->second;
    const Kernel none{};
    const Kernel& shown = kernel == nullptr ? none : *kernel;
    const auto field = [&](const char* field_name, uint64_t value) {
      kernels_ += std::string(", \"") + field_name + "\": " + std::to_string(value);
    };
    separate(kernels_, ",\n  ");
    kernels_ += "{\"name\": " + quoted(name) + ", \"object\": " + quoted(binary.object);
    field("registers", uint64_t(registers_of(runtime, binary, name)));
    field("shared_bytes", uint64_t(shown.shared_bytes));
    field("local_bytes", uint64_t(shown.local_bytes));
    field("launches", shown.launches);
    field("blocks", shown.blocks);
    field("threads", shown.threads);
    kernels_ += ", \"functions\": [" + functions_of(binary.program->module(), shown) + "]}";
  }
}
std::string Report::json() const {
  std::string classes;
  for (int k = 0; k < kClasses; ++k) separate(classes), classes += quoted(name_of(Class(k)));
  return "{\"format\": 1,\n \"columns\": [\"line\", \"file\", \"source_line\", \"opcode\", "
         "\"class\", \"warps\", \"lanes\", \"sectors\", \"waves\", \"splits\", "
         "\"target\", \"goes_on\"],\n \"files\": " +
         files_.json() + ",\n \"opcodes\": " + opcodes_.json() + ",\n \"classes\": [" + classes +
         "],\n \"kernels\": [\n  " + kernels_ + "]}\n";
}

}  // namespace

std::string report_of(const Runtime& runtime) {
  Report report;
  for (const auto& binary : runtime.loaded.binaries) report.add(runtime, *binary);
  return report.json();
}
bool write_report(const Runtime& runtime, const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const std::string text = report_of(runtime);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && is_written;
}
void write_report_of_environment(const Runtime& runtime) {
  const char* const named = std::getenv(kReportVariable);
  if (named == nullptr || *named == 0) return;
  std::string path = named;
  if (const size_t at = path.find("%p"); at != std::string::npos)
    path.replace(at, 2, std::to_string(getpid()));
  if (!write_report(runtime, path))
    std::fprintf(stderr, "%s: cannot write %s\n", kReportVariable, path.c_str());
}
uint64_t executed_of(const Runtime& runtime) {
  uint64_t executed = 0;
  for (const auto& binary : runtime.loaded.binaries)
    for (const auto& [name, kernel] : binary->kernels)
      for (const auto& [function, code] : kernel->codes)
        executed += uint64_t(std::count_if(code->counts.begin(), code->counts.end(),
                                           [](const Count& count) { return count.lanes > 0; }));
  return executed;
}
void clear_counts(Runtime& runtime) {
  runtime.calls.clear();
  for (const auto& binary : runtime.loaded.binaries)
    for (const auto& [name, kernel] : binary->kernels) {
      kernel->launches = kernel->blocks = kernel->threads = 0;
      for (const auto& [function, code] : kernel->codes)
        std::fill(code->counts.begin(), code->counts.end(), Count{});
    }
}

}  // namespace ge::ptx
