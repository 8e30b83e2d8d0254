// Loads, stores, atomics, moves and conversions.
#include <algorithm>
#include <iterator>

#include "ptx/decoder.hpp"

namespace ge::ptx {

void Decoder::access(const Statement& s, Instruction& i) {
  require_count(s, 2);
  const bool writes = s.opcode == "st";
  const std::string type = type_in(s);
  const int bytes = width_of(type);
  if (type == "pred") throw Unknown("an access of a predicate");
  i.size = uint8_t(bytes), i.is_signed = type[0] == 's', i.used = s.used;
  i.is_strong = s.has("relaxed") || s.has("volatile");
  elements(s.operands[writes ? 1 : 0], i, bytes, writes);
  const int vector = s.has("v4") ? 4 : s.has("v2") ? 2 : 1;
  if (i.count != vector) throw Unknown("a vector of another length");
  address(s.operands[writes ? 0 : 1], space_of(s), i);
  const bool is_param = i.space == Space::param || i.space == Space::frame;
  plain(i, writes ? &store : &load,
        i.space == Space::shared  ? Class::shared
        : i.space == Space::local ? Class::local
        : is_param                ? Class::param
        : writes                  ? Class::store_global
                                  : Class::load_global);
}
void Decoder::atomic(const Statement& s, Instruction& i) {
  const bool returns = s.opcode == "atom";
  const size_t at = returns ? 1 : 0;
  const std::string type = type_in(s);
  const int bytes = width_of(type);
  if (type[0] == 'f' || bytes < 4) throw Unknown("unknown type of an atomic");
  i.size = uint8_t(bytes), i.is_signed = type[0] == 's', i.is_strong = true;
  const auto* const found = std::find_if(std::begin(kChanges), std::end(kChanges),
                                         [&](const char* name) { return s.has(name); });
  if (found == std::end(kChanges)) throw Unknown("unknown change");
  i.variant = uint8_t(found - std::begin(kChanges));
  require_count(s, at + (i.variant == kCompareSwap ? 3 : 2));
  address(s.operands[at], space_of(s), i);
  i.d = returns ? written(s.operands[0], bytes) : layout_.take(8);
  i.b = read(s.operands[at + 1], bytes);
  i.c = i.variant == kCompareSwap ? read(s.operands[at + 2], bytes) : i.b;
  plain(i, &change_atomically, Class::atomic);
}
void Decoder::to_space(const Statement& s, Instruction& i) {
  require_count(s, 2);
  const Operand& from = s.operands[1];
  i.d = written(s.operands[0], 8);
  i.wide_result = true;
  i.variant = s.has("to") ? 1 : 0;
  i.space = space_of(s);
  if (type_of(from).empty() && from.kind == Operand::name) {
    const Symbol found = symbol(from.text);
    i.a = found.base, i.constant = found.offset;
  } else {
    i.a = read(from, 8);
  }
  plain(i, &change_space, Class::wide);
}

void Decoder::move(const Statement& s, Instruction& i) {
  require_count(s, 2);
  const Operand &to = s.operands[0], &from = s.operands[1];
  const std::string type = type_in(s);
  if (type == "pred") return move_predicate(s, i);
  if (to.kind == Operand::list || from.kind == Operand::list) return move_vector(s, i);
  const int bytes = width_of(type);
  i.d = written(to, bytes);
  const bool is_symbol = from.kind == Operand::name && type_of(from).empty() && from.text[0] != '%';
  if (!is_symbol) {
    i.a = read(from, bytes);
    return plain(i, bytes == 8 ? &copy_long : &copy_word, Class::move);
  }
  // The address within its space.
  if (params_.count(from.text) != 0) throw Unknown("the address of a function's parameter");
  const Symbol found = symbol(from.text);
  i.a = found.base, i.constant = found.offset;
  i.wide_result = bytes == 8;
  plain(i, &change_space, Class::move);
}
void Decoder::move_vector(const Statement& s, Instruction& i) {
  const Operand &to = s.operands[0], &from = s.operands[1];
  const bool packs = from.kind == Operand::list;
  const std::vector<Operand>& parts = packs ? from.parts : to.parts;
  const int bytes = width_of(type_in(s));
  i.count = uint8_t(parts.size());
  if (parts.empty() || parts.size() > 4 || bytes % int(parts.size()) != 0 || bytes > 8)
    throw Unknown("a vector of unknown length");
  i.size = uint8_t(bytes / i.count);
  for (size_t k = 0; k < parts.size(); ++k)
    i.more[k] = packs ? read(parts[k], i.size) : written(parts[k], i.size);
  i.wide_result = bytes == 8;
  if (packs)
    i.d = written(to, bytes);
  else
    i.a = read(from, bytes);
  plain(i, packs ? &pack : &unpack, Class::move);
}
void Decoder::move_predicate(const Statement& s, Instruction& i) {
  i.d = predicate(s.operands[0]);
  if (s.operands[1].kind == Operand::number) {
    i.constant = s.operands[1].value != 0 ? -1 : 0;
    return plain(i, &predicate_set, Class::move);
  }
  i.a = predicate(s.operands[1]);
  plain(i, &predicate_copy, Class::move);
}
void Decoder::convert(const Statement& s, Instruction& i) {
  require_count(s, 2);
  std::vector<std::string> types;
  for (const std::string& modifier : s.modifiers)
    if (is_type(modifier)) types.push_back(modifier);
  if (types.size() != 2) throw Unknown("expected two types");
  const Operand &to = s.operands[0], &from = s.operands[1];
  if (to.kind != Operand::name || type_of(to).empty()) throw Unknown("unknown form of a result");
  const int given = width_of(type_of(to));
  if (given < width_of(types[0])) throw Unknown("a register of another width: " + to.text);
  i.d = register_at(to.text);
  i.wide_result = given == 8, i.size = uint8_t(given);
  const bool is_register = from.kind == Operand::name && !type_of(from).empty();
  const int source = is_register ? width_of(type_of(from)) : std::max(4, width_of(types[1]));
  if (source < width_of(types[1])) throw Unknown("a register of another width: " + from.text);
  i.a = read(from, source);
  // Read by its own type: only whole numbers may lie in wider registers.
  if (types[1][0] == 'f' && (source == 8) != (types[1] == "f64"))
    throw Unknown("a register of another width: " + from.text);
  plain(i, conversion_of(s, types[0], types[1], source, i), Class::convert);
}

}  // namespace ge::ptx
