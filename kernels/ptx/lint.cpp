#include "ptx/lint.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "ptx/instruction.hpp"
#include "ptx/known.hpp"

namespace ge::ptx {

namespace {

bool is_of_floats(const Statement& s) {
  return std::any_of(s.modifiers.begin(), s.modifiers.end(), [](const std::string& modifier) {
    return modifier == "f32" || modifier == "f64" || modifier.rfind("f16", 0) == 0 ||
           modifier.rfind("bf16", 0) == 0;
  });
}
bool ends_function(const Statement& s) {
  return s.opcode == "ret" || s.opcode == "exit";
}
/// Nothing follows it.
bool stops(const Statement& s) {
  return ends_function(s) || s.opcode == "trap" || s.opcode == "bra" || s.opcode == "brx";
}
/// The function that a call names: the first operand that is a name.
std::string callee_of(const Statement& s) {
  for (const Operand& o : s.operands)
    if (o.kind == Operand::name) return o.text;
  return "";
}
std::string source_of(const Module& module, const Statement& s) {
  const auto file = module.files.find(s.source_file);
  if (s.source_line == 0 || file == module.files.end()) return "";
  return file->second + ":" + std::to_string(s.source_line);
}

/// Where each statement of a function leads.
class Ways {
 public:
  explicit Ways(const Function& function) : code_(function.code), next_(code_.size()) {
    for (size_t k = 0; k < code_.size(); ++k) {
      const Statement& s = code_[k];
      if (ends_function(s)) leaving_.push_back(k);
      if (s.opcode == "bra" && !s.operands.empty()) lead(function, k, s.operands[0].text);
      if (s.opcode == "brx" && s.operands.size() > 1)
        if (const auto to = function.targets.find(s.operands[1].text); to != function.targets.end())
          for (const std::string& label : to->second) lead(function, k, label);
      if (!stops(s) || !s.guard.empty()) lead_to(k, k + 1);
    }
  }

  /// The statements that are reached from these, themselves among them.
  std::vector<bool> reached_from(const std::vector<size_t>& first) const {
    return flood(first, next_);
  }
  /// Those from which the function is left.
  std::vector<bool> leading_out() const {
    std::vector<std::vector<size_t>> before(code_.size());
    for (size_t k = 0; k < code_.size(); ++k)
      for (const size_t to : next_[k]) before[to].push_back(k);
    return flood(leaving_, before);
  }
  bool is_in_loop(size_t k) const { return reached_from(next_[k])[k]; }

 private:
  void lead(const Function& function, size_t from, const std::string& label) {
    const auto to = function.labels.find(label);
    if (to != function.labels.end()) lead_to(from, size_t(to->second));
  }
  void lead_to(size_t from, size_t to) {
    if (to < code_.size())
      next_[from].push_back(to);
    else
      leaving_.push_back(from);  // behind the last statement
  }
  static std::vector<bool> flood(std::vector<size_t> open,
                                 const std::vector<std::vector<size_t>>& ways) {
    std::vector<bool> seen(ways.size(), false);
    for (const size_t k : open) seen[k] = true;
    while (!open.empty()) {
      const size_t k = open.back();
      open.pop_back();
      for (const size_t to : ways[k]) {
        if (seen[to]) continue;
        seen[to] = true;
        open.push_back(to);
      }
    }
    return seen;
  }

  const std::vector<Statement>& code_;
  std::vector<std::vector<size_t>> next_;
  std::vector<size_t> leaving_;
};

/// All rules, function by function.
class Linter {
 public:
  explicit Linter(const Module& module) : module_(module) {}

  std::vector<Finding> findings() {
    for (const auto& function : module_.functions) {
      if (!function->has_body) continue;
      function_ = function.get();
      for (size_t k = 0; k < function->code.size(); ++k) statement(k);
      whole();
    }
    return std::move(found_);
  }

 private:
  void name(const char* rule, const Statement* s, const std::string& text) {
    found_.push_back({rule, function_->name, s == nullptr ? 0 : s->line,
                      s == nullptr ? "" : source_of(module_, *s), text});
  }

  void statement(size_t k) {
    const Statement& s = function_->code[k];
    for (const char* const modifier : {"approx", "ftz", "full"})
      if (s.has(modifier)) return name("approximate", &s, s.whole());
    const std::string& op = s.opcode;
    if (op == "fma" || (op == "mad" && is_of_floats(s))) {
      if (!is_ours(k)) name("fma", &s, s.whole());
      return;
    }
    const bool rounds =
        op == "add" || op == "sub" || op == "mul" || op == "div" || op == "sqrt" || op == "rcp";
    if (rounds && is_of_floats(s) && !s.has("rn")) name("rounding", &s, s.whole());
  }

  /// Whether ge::fma made it: by its line of source, or, without such lines, since ge::fma makes
  /// every NaN the same one, by the test of the result that follows.
  bool is_ours(size_t k) const {
    const auto& code = function_->code;
    const Statement& s = code[k];
    if (!s.has("rn") || s.operands.empty()) return false;
    if (const std::string source = source_of(module_, s); !source.empty())
      return source.find("engine/base/platform_numbers.hpp:") != std::string::npos;
    const std::string& result = s.operands[0].text;
    for (size_t at = k + 1; at < code.size() && !stops(code[at]); ++at) {
      const Statement& test = code[at];
      if (test.opcode == "setp" && test.has("nan") && test.operands.size() > 2 &&
          test.operands[1].text == result && test.operands[2].text == result)
        return true;
    }
    return false;
  }

  void whole() {
    const auto& code = function_->code;
    const bool is_empty = std::all_of(code.begin(), code.end(), ends_function);
    if (function_->is_entry && is_empty) name("empty", nullptr, "it only returns");
    for (const Variable& v : function_->variables)
      if (v.space == "local")
        name("local", nullptr, v.name + ": " + std::to_string(v.bytes) + " bytes");
    const Ways ways(*function_);
    endless(ways);
    for (size_t k = 0; k < code.size(); ++k) {
      if (code[k].opcode != "call") continue;
      if (ways.is_in_loop(k)) name("loop-call", &code[k], callee_of(code[k]));
      if (calls_back(callee_of(code[k]))) name("recursion", &code[k], callee_of(code[k]));
    }
  }
  /// The first statement of each piece of code that never leaves.
  void endless(const Ways& ways) {
    const auto& code = function_->code;
    if (code.empty()) return;
    const std::vector<bool> run = ways.reached_from({0}), leaves = ways.leading_out();
    for (size_t k = 0; k < code.size(); ++k) {
      const bool is_lost = run[k] && !leaves[k];
      if (is_lost && (k == 0 || !run[k - 1] || leaves[k - 1]))
        name("endless", &code[k], code[k].whole());
    }
  }
  /// Whether a function calls the one that is looked at, or itself through others.
  bool calls_back(const std::string& callee) const {
    std::set<std::string> seen{callee};
    std::vector<std::string> open{callee};
    while (!open.empty()) {
      if (open.back() == function_->name) return true;
      const Function* const next = module_.find(open.back());
      open.pop_back();
      if (next == nullptr) continue;
      for (const Statement& s : next->code)
        if (s.opcode == "call" && seen.insert(callee_of(s)).second) open.push_back(callee_of(s));
    }
    return false;
  }

  const Module& module_;
  const Function* function_ = nullptr;
  std::vector<Finding> found_;
};

void count_registers(const Operand& o, const Function& function, std::map<std::string, long>& to) {
  for (const Operand& part : o.parts) count_registers(part, function, to);
  if (o.text.size() > 1 && o.text[0] == '%' && function.type_of(o.text).empty()) ++to[o.text];
}

std::string lines_of(const std::string& text) {
  return std::to_string(std::count(text.begin(), text.end(), '\n'));
}
void append(std::string& to, const Finding& one) {
  to += "\t" + one.function + "\t" + std::to_string(one.line) + "\t" + one.source + "\t" +
        one.text + "\n";
}

}  // namespace

std::vector<Finding> findings_in(const Module& module) {
  return Linter(module).findings();
}

Inventory inventory_of(const std::string& text) {
  Program program(text);
  const Module& module = program.module();
  Inventory made;
  std::set<std::string> names;
  for (const auto& function : module.functions) {
    made.entries += function->is_entry ? 1 : 0;
    for (const Statement& s : function->code) {
      const std::string name = s.whole();
      ++made.opcodes[name];
      for (const Operand& o : s.operands) count_registers(o, *function, made.registers);
      if (s.opcode == "call" && module.find(callee_of(s)) == nullptr) ++made.calls[callee_of(s)];
      try {
        require_known(s);
      } catch (const Unknown& problem) {
        if (names.insert(name).second)
          made.unknown.push_back({"unknown", function->name, s.line, source_of(module, s),
                                  name + ": " + problem.what()});
      }
    }
  }
  for (const std::string& entry : program.entries()) {
    const std::string refused = program.kernel(entry)->refused;  // PTX line 7: opcode: why
    const std::string why = refused.substr(std::min(refused.find(": "), refused.size()));
    const bool is_named = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return why.rfind(": " + name + ":", 0) == 0;
    });
    if (!why.empty() && !is_named && names.insert(why).second)
      made.unknown.push_back({"unknown", entry, 0, "", refused});
  }
  return made;
}

}  // namespace ge::ptx

namespace {

/// Keeps what a call returns until the next one.
template <class F>
const char* kept(const char* text, const F& write) {
  static thread_local std::string made;
  made.clear();
  try {
    write(std::string(text), made);
  } catch (const std::exception& problem) {
    made = std::string("unreadable\t") + problem.what() + "\n";
  }
  return made.c_str();
}

}  // namespace

const char* ge_ptx_lint(const char* text) {
  using namespace ge::ptx;
  return kept(text, [](const std::string& whole, std::string& made) {
    const Module module = read_module(whole);
    const auto entries = std::count_if(module.functions.begin(), module.functions.end(),
                                       [](const auto& function) { return function->is_entry; });
    made = "module\t" + std::to_string(entries) + "\t" + lines_of(whole) + "\n";
    for (const Finding& one : findings_in(module)) append(made += one.rule, one);
  });
}
const char* ge_ptx_inventory(const char* text) {
  using namespace ge::ptx;
  return kept(text, [](const std::string& whole, std::string& made) {
    const Inventory all = inventory_of(whole);
    made = "module\t" + std::to_string(all.entries) + "\t" + lines_of(whole) + "\n";
    const auto list = [&](const char* kind, const std::map<std::string, long>& counts) {
      for (const auto& [name, count] : counts)
        made += std::string(kind) + "\t" + name + "\t" + std::to_string(count) + "\n";
    };
    list("opcode", all.opcodes), list("register", all.registers), list("call", all.calls);
    for (const Finding& one : all.unknown) append(made += "unknown", one);
  });
}
