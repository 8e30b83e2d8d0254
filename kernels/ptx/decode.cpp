// From statements to instructions: variables, symbols, control flow.
#include <array>

#include "ptx/decoder.hpp"

namespace ge::ptx {

const char* name_of(Class counted) {
  static constexpr std::array<const char*, kClasses> names{
      "integer", "wide",      "real",        "real64",       "divide", "convert", "select",
      "move",    "predicate", "load_global", "store_global", "shared", "local",   "param",
      "atomic",  "warp",      "branch",      "barrier",      "other"};
  return names[size_t(counted)];
}

std::string type_in(const Statement& s) {
  for (size_t k = s.modifiers.size(); k-- > 0;)
    if (is_type(s.modifiers[k])) return s.modifiers[k];
  throw Unknown("no type");
}
const Operand& operand(const Statement& s, size_t k) {
  if (k >= s.operands.size()) throw Unknown("too few operands");
  return s.operands[k];
}
void require_count(const Statement& s, size_t count) {
  if (s.operands.size() != count) throw Unknown("unknown number of operands");
}

void Decoder::decode() {
  place_variables();
  code_.instructions.reserve(function_.code.size() + 1);
  for (const Statement& s : function_.code) {
    Instruction i;
    try {
      require_known(s);
      one(s, i);
      if (!s.guard.empty()) {
        i.guard = int32_t(register_at(s.guard));
        i.is_negated = s.is_negated;
      }
    } catch (const Unknown& problem) {
      i = Instruction{};
      i.flow = Flow::refuse;
      if (all_.kernel.refused.empty())
        all_.kernel.refused =
            "PTX line " + std::to_string(s.line) + ": " + s.whole() + ": " + problem.what();
    }
    code_.instructions.push_back(i);
  }
  Instruction end;  // of a body without a ret
  end.flow = Flow::leave, end.counted = Class::branch;
  code_.instructions.push_back(end);
  layout_.settle();
  code_.counts.resize(code_.instructions.size());
  finish_calls();
  find_meetings(code_);
}

/// Lays out local memory, and the parameters of calls.
void Decoder::place_variables() {
  const auto to_frame = [this](const Variable& v) {
    const auto bytes = uint32_t((v.bytes + 15) / 16 * 16);
    params_[v.name] = {layout_.take(bytes), bytes};
  };
  int64_t local = 0;
  for (const Variable& v : function_.variables) {
    if (v.space == "param") to_frame(v);
    if (v.space != "local") continue;
    local = (local + v.align - 1) / v.align * v.align;
    local_places_[v.name] = local;
    local += v.bytes;
  }
  code_.local_bytes = local;
  if (function_.is_entry) return;
  for (const auto* const list : {&function_.params, &function_.results})
    for (const Variable& v : *list) {
      to_frame(v);
      code_.params[v.name] = params_[v.name].at;
    }
}

/// The callee's places are known now.
void Decoder::finish_calls() {
  for (Call& call : code_.calls) {
    const Function& callee = *call.callee->function;
    for (size_t k = 0; k < call.in.size(); ++k)
      call.in[k].to = call.callee->params.at(callee.params.at(k).name);
    for (size_t k = 0; k < call.out.size(); ++k)
      call.out[k].from = call.callee->params.at(callee.results.at(k).name);
  }
}

void Decoder::one(const Statement& s, Instruction& i) {
  static const std::map<std::string, Decode> by_opcode{{"bra", &Decoder::branch},
                                                       {"brx", &Decoder::table},
                                                       {"call", &Decoder::call},
                                                       {"ret", &Decoder::leave},
                                                       {"exit", &Decoder::leave},
                                                       {"trap", &Decoder::leave},
                                                       {"bar", &Decoder::barrier},
                                                       {"barrier", &Decoder::barrier},
                                                       {"membar", &Decoder::order},
                                                       {"fence", &Decoder::order},
                                                       {"griddepcontrol", &Decoder::order},
                                                       {"ld", &Decoder::access},
                                                       {"st", &Decoder::access},
                                                       {"atom", &Decoder::atomic},
                                                       {"red", &Decoder::atomic},
                                                       {"mov", &Decoder::move},
                                                       {"cvta", &Decoder::to_space},
                                                       {"cvt", &Decoder::convert},
                                                       {"setp", &Decoder::compare},
                                                       {"selp", &Decoder::select},
                                                       {"shfl", &Decoder::exchange},
                                                       {"vote", &Decoder::ballot},
                                                       {"match", &Decoder::equal_lanes},
                                                       {"redux", &Decoder::reduction},
                                                       {"activemask", &Decoder::active}};
  const auto found = by_opcode.find(s.opcode);
  if (found != by_opcode.end()) return (this->*found->second)(s, i);
  if (type_in(s) == "pred") return join_predicates(s, i);
  compute(s, i);
}

// ---- symbols

Symbol Decoder::of_shared(const std::string& owner, const Variable& variable) {
  const int64_t at = all_.shared.place_of(owner, variable);
  if (at < 0) return {layout_.special(Special::dynamic_shared), 0, Space::shared};
  return {layout_.constant(0, true), at, Space::shared};
}
Symbol Decoder::symbol(const std::string& name) {
  if (const auto found = local_places_.find(name); found != local_places_.end())
    return {layout_.special(Special::local_base), found->second, Space::local};
  if (function_.is_entry)
    for (size_t k = 0; k < function_.params.size(); ++k)
      if (function_.params[k].name == name)
        return {layout_.special(Special::params), all_.kernel.params[k].first, Space::param};
  for (const Variable& v : function_.variables)
    if (v.name == name && v.space == "shared") return of_shared(function_.name, v);
  for (const Variable& v : all_.program.module().variables) {
    if (v.name != name) continue;
    if (v.space == "shared") return of_shared("", v);
    const char* const at = all_.program.address_of(name);
    return {layout_.constant(reinterpret_cast<uint64_t>(at), true), 0, Space::global};
  }
  throw Unknown("unknown symbol " + name);
}
// ---- control flow

void Decoder::branch(const Statement& s, Instruction& i) {
  require_count(s, 1);
  i.flow = Flow::branch, i.counted = Class::branch;
  i.target = label(s.operands[0].text);
}
void Decoder::table(const Statement& s, Instruction& i) {
  require_count(s, 2);
  i.flow = Flow::table, i.counted = Class::branch;
  i.a = read(s.operands[0], 4);
  const auto found = function_.targets.find(s.operands[1].text);
  if (found == function_.targets.end()) throw Unknown("unknown table of targets");
  std::vector<int> to;
  for (const std::string& name : found->second) to.push_back(label(name));
  i.side = int32_t(code_.tables.size());
  code_.tables.push_back(std::move(to));
}
void Decoder::leave(const Statement& s, Instruction& i) {
  i.flow = s.opcode == "ret" ? Flow::leave : s.opcode == "exit" ? Flow::finish : Flow::refuse;
  i.counted = Class::branch;
}
void Decoder::call(const Statement& s, Instruction& i) {
  size_t k = 0;
  std::vector<Operand> results, given;
  if (operand(s, 0).kind == Operand::list) results = s.operands[k++].parts;
  const std::string& name = operand(s, k++).text;
  if (k < s.operands.size()) given = s.operands[k++].parts;
  require_count(s, k);
  const Function* const callee = all_.program.module().find(name);
  if (callee == nullptr) throw Unknown("a call of " + name + ", which has no body");
  if (given.size() != callee->params.size() || results.size() != callee->results.size())
    throw Unknown("a call of " + name + " with another number of parameters");
  Call made;
  made.callee = all_.code_of(*callee);
  const auto copy = [&](const Operand& o, const Variable& there) {
    const auto found = params_.find(o.text);
    if (found == params_.end() || found->second.bytes != uint32_t((there.bytes + 15) / 16 * 16))
      throw Unknown("a parameter of another size: " + o.text);
    return found->second;
  };
  for (size_t p = 0; p < given.size(); ++p) {
    const Parameter from = copy(given[p], callee->params[p]);
    made.in.push_back({from.at, 0, from.bytes});
  }
  for (size_t p = 0; p < results.size(); ++p) {
    const Parameter to = copy(results[p], callee->results[p]);
    made.out.push_back({0, to.at, to.bytes});
  }
  i.flow = Flow::call, i.counted = Class::branch;
  i.side = int32_t(code_.calls.size());
  code_.calls.push_back(std::move(made));
}

}  // namespace ge::ptx
