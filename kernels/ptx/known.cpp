#include "ptx/known.hpp"

#include <cctype>
#include <map>
#include <set>
#include <sstream>

namespace ge::ptx {

namespace {

using Words = std::set<std::string>;

Words words_in(const char* text) {
  std::istringstream in(text);
  Words found;
  for (std::string word; in >> word;) found.insert(word);
  return found;
}

/// All opcodes, with the modifiers besides types that are read somewhere.
const std::map<std::string, Words>& known() {
  static const std::map<std::string, Words> all = [] {
    const std::pair<const char*, const char*> list[] = {
        // control flow (9.7.12), synchronisation (9.7.13)
        {"bra", "uni"},
        {"brx", "idx uni"},
        {"call", "uni"},
        {"ret", "uni"},
        {"exit", ""},
        {"trap", ""},
        {"bar", "sync warp red or and"},
        {"barrier", "sync cta aligned"},
        {"griddepcontrol", "wait launch_dependents"},
        {"membar", "gl cta sys"},
        {"fence", "acq_rel sc gpu cta sys"},
        {"activemask", ""},
        {"vote", "sync any all uni ballot"},
        {"match", "sync any"},
        {"redux", "sync add min max and or xor"},
        {"atom", "global shared shared::cta relaxed gpu add min max inc dec and or xor exch cas"},
        {"red", "global shared shared::cta relaxed gpu add min max inc dec and or xor"},
        // memory (9.7.9)
        {"mov", ""},
        {"ld",
         "global shared shared::cta local param param::entry param::func const nc cs ca cg relaxed "
         "gpu volatile v2 v4"},
        {"st",
         "global shared shared::cta local param param::func cs wb cg relaxed gpu volatile v2 v4"},
        {"cvta", "to global shared local param const"},
        {"cvt", "rn rzi rmi rpi rni sat"},
        {"shfl", "sync idx up down bfly"},
        {"prmt", ""},
        // comparison and selection (9.7.6), logic and shifts (9.7.8)
        {"setp", "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor"},
        {"selp", ""},
        {"and", ""},
        {"or", ""},
        {"xor", ""},
        {"not", ""},
        {"cnot", ""},
        {"lop3", ""},
        {"shl", ""},
        {"shr", ""},
        {"shf", "l r wrap clamp"},
        // arithmetic (9.7.1, 9.7.3)
        {"add", "rn"},
        {"sub", "rn"},
        {"mul", "lo hi wide rn"},
        {"mad", "lo hi wide"},
        {"fma", "rn"},
        {"div", "rn"},
        {"rem", ""},
        {"sqrt", "rn"},
        {"rcp", "rn"},
        {"min", ""},
        {"max", ""},
        {"neg", ""},
        {"abs", ""},
        {"sad", ""},
        {"copysign", ""},
        {"popc", ""},
        {"clz", ""},
        {"bfind", "shiftamt"},
        {"brev", ""},
        {"bfe", ""},
        {"bfi", ""},
        {"bmsk", "clamp"},
    };
    std::map<std::string, Words> made;
    for (const auto& [opcode, modifiers] : list) made[opcode] = words_in(modifiers);
    return made;
  }();
  return all;
}

/// Operations on floats whose rounding has to be written.
bool must_round(const std::string& opcode) {
  static const Words rounded = words_in("add sub mul fma div sqrt rcp");
  return rounded.count(opcode) != 0;
}

}  // namespace

bool is_type(const std::string& modifier) {
  if (modifier == "pred") return true;
  if (modifier.size() < 2 || std::string("busf").find(modifier[0]) == std::string::npos)
    return false;
  const std::string bits = modifier.substr(1);
  return bits == "8" || bits == "16" || bits == "32" || bits == "64" || bits == "128";
}
int width_of(const std::string& type) {
  return type == "pred" ? 1 : std::stoi(type.substr(1)) / 8;
}

void require_known(const Statement& s) {
  const auto found = known().find(s.opcode);
  if (found == known().end()) throw Unknown("unknown opcode");
  bool is_real = false;
  for (const std::string& modifier : s.modifiers) {
    if (is_type(modifier)) {
      if (modifier == "f16" || width_of(modifier) == 16) throw Unknown("unknown type ." + modifier);
      is_real |= modifier == "f32" || modifier == "f64";
    } else if (found->second.count(modifier) == 0) {
      throw Unknown("unknown modifier ." + modifier);
    }
  }
  if (is_real && must_round(s.opcode) && !s.has("rn"))
    throw Unknown("without .rn it may be contracted or approximated");
}

Space space_of(const Statement& s) {
  for (const std::string& modifier : s.modifiers) {
    if (modifier == "global" || modifier == "const") return Space::global;
    if (modifier == "shared" || modifier == "shared::cta") return Space::shared;
    if (modifier == "local") return Space::local;
    if (modifier == "param" || modifier == "param::entry" || modifier == "param::func")
      return Space::param;
  }
  return Space::generic;
}

}  // namespace ge::ptx
