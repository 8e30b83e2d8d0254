// Comparisons, predicates, arithmetic, and what lanes do together.
#include <algorithm>
#include <iterator>
#include <utility>

#include "ptx/decoder.hpp"

namespace ge::ptx {

// ---- comparisons, predicates, arithmetic

void Decoder::compare(const Statement& s, Instruction& i) {
  const std::string type = type_in(s);
  const int bytes = width_of(type);
  const Operand& to = first_of(operand(s, 0));
  i.d = to.text == "_" ? layout_.take(2) : predicate(to);
  if (const Operand* const opposite = second_of(s.operands[0]); opposite != nullptr) {
    i.more[0] = predicate(*opposite);
    i.variant |= kBoth;
  }
  i.a = read(operand(s, 1), bytes), i.b = read(operand(s, 2), bytes);
  const bool joins = s.has("and") || s.has("or") || s.has("xor");
  require_count(s, joins ? 4 : 3);
  if (joins) {
    i.variant |= s.has("and") ? kJoinAnd : s.has("or") ? kJoinOr : kJoinXor;
    Operand other = s.operands[3];
    i.is_signed = std::exchange(other.is_negated, false);
    i.c = predicate(other);
  }
  plain(i, comparison_of(s.modifiers.at(0), type), Class::predicate);
}
void Decoder::select(const Statement& s, Instruction& i) {
  require_count(s, 4);
  const int bytes = width_of(type_in(s));
  i.d = written(s.operands[0], bytes);
  i.a = read(s.operands[1], bytes), i.b = read(s.operands[2], bytes);
  i.c = predicate(s.operands[3]);
  plain(i, bytes == 8 ? &select_long : &select_word, Class::select);
}
void Decoder::join_predicates(const Statement& s, Instruction& i) {
  const bool inverts = s.opcode == "not";
  require_count(s, inverts ? 2 : 3);
  i.d = predicate(s.operands[0]);
  i.a = predicate(s.operands[1]);
  i.b = inverts ? i.a : predicate(s.operands[2]);
  plain(i,
        inverts             ? &predicate_not
        : s.opcode == "and" ? &predicate_and
        : s.opcode == "or"  ? &predicate_or
        : s.opcode == "xor" ? &predicate_xor
                            : nullptr,
        Class::predicate);
}
void Decoder::compute(const Statement& s, Instruction& i) {
  const std::string type = type_in(s), &op = s.opcode;
  const int bytes = width_of(type);
  // Most opcodes have one type. These have words beside it, or twice as much.
  const bool counts = op == "popc" || op == "clz" || op == "bfind";
  const bool widens = s.has("wide"), shifts = op == "shl" || op == "shr";
  const int result = counts ? 4 : widens ? 2 * bytes : bytes;
  const int second = shifts || op == "bfe" ? 4 : bytes;
  const int third = op == "mad" && widens                       ? 2 * bytes
                    : op == "bfe" || op == "bfi" || op == "shf" ? 4
                                                                : bytes;
  const size_t count = s.operands.size();
  i.d = written(operand(s, 0), result);
  i.a = read(operand(s, 1), bytes);
  if (count > 2) i.b = read(s.operands[2], second);
  if (count > 3) i.c = read(s.operands[3], third);
  if (op == "lop3") {
    require_count(s, 5);
    if (s.operands[4].kind != Operand::number) throw Unknown("logic that is not constant");
    i.constant = int64_t(s.operands[4].value);
  } else if (op == "bfi") {
    require_count(s, 5);
    i.more[0] = read(s.operands[4], 4);
  }
  const bool divides = op == "div" || op == "rem" || op == "sqrt" || op == "rcp";
  plain(i, arithmetic_of(s, type),
        divides         ? Class::divide
        : type == "f64" ? Class::real64
        : type == "f32" ? Class::real
        : bytes == 8    ? Class::wide
                        : Class::integer);
  require_count(s, operands_of(s));
}

// ---- lanes together

void Decoder::exchange(const Statement& s, Instruction& i) {
  require_count(s, 5);
  i.d = written(first_of(s.operands[0]), 4);
  const Operand* const in_range = second_of(s.operands[0]);
  i.more[0] = in_range != nullptr ? predicate(*in_range) : layout_.take(2);
  i.a = read(s.operands[1], 4), i.b = read(s.operands[2], 4), i.c = read(s.operands[3], 4);
  i.more[1] = read(s.operands[4], 4);
  i.variant = s.has("idx")    ? kShuffleTo
              : s.has("up")   ? kShuffleUp
              : s.has("down") ? kShuffleDown
                              : kShuffleAcross;
  plain(i, s.has("sync") ? &shuffle : nullptr, Class::warp);
}
void Decoder::ballot(const Statement& s, Instruction& i) {
  require_count(s, 3);
  i.variant = s.has("any")   ? kVoteAny
              : s.has("all") ? kVoteAll
              : s.has("uni") ? kVoteAlike
                             : kVoteBallot;
  const bool is_ballot = i.variant == kVoteBallot;
  i.d = is_ballot ? written(s.operands[0], 4) : predicate(s.operands[0]);
  Operand given = s.operands[1];
  i.is_signed = std::exchange(given.is_negated, false);
  i.a = predicate(given);
  i.b = read(s.operands[2], 4);
  plain(i, s.has("sync") ? &vote : nullptr, Class::warp);
}
void Decoder::equal_lanes(const Statement& s, Instruction& i) {
  require_count(s, 3);
  const int bytes = width_of(type_in(s));
  i.d = written(s.operands[0], 4);
  i.a = read(s.operands[1], bytes), i.b = read(s.operands[2], 4);
  i.wide_address = bytes == 8;
  plain(i, &match, Class::warp);
}
void Decoder::reduction(const Statement& s, Instruction& i) {
  require_count(s, 3);
  const std::string type = type_in(s);
  i.d = written(s.operands[0], 4);
  i.a = read(s.operands[1], 4), i.b = read(s.operands[2], 4);
  i.is_signed = type[0] == 's';
  const auto* const found = std::find_if(std::begin(kChanges), std::end(kChanges),
                                         [&](const char* name) { return s.has(name); });
  i.variant = uint8_t(found - std::begin(kChanges));
  plain(i, found == std::end(kChanges) ? nullptr : &reduce, Class::warp);
}
void Decoder::active(const Statement& s, Instruction& i) {
  require_count(s, 1);
  i.d = written(s.operands[0], 4);
  plain(i, &active_lanes, Class::warp);
}
void Decoder::barrier(const Statement& s, Instruction& i) {
  if (s.has("warp")) {
    require_count(s, 1);
    i.a = read(s.operands[0], 4);
    return plain(i, &warp_barrier, Class::barrier);
  }
  i.flow = Flow::barrier, i.counted = Class::barrier;
  const bool votes = s.has("red");
  if (votes == s.has("sync")) throw Unknown("unknown kind of barrier");
  require_count(s, votes ? 3 : 1);  // more: a barrier of some threads
  const Operand& number = s.operands[votes ? 1 : 0];
  if (number.kind != Operand::number) throw Unknown("a barrier whose number is not constant");
  i.constant = int64_t(number.value);
  if (!votes) return;
  if (type_in(s) != "pred") throw Unknown("unknown reduction at a barrier");
  i.variant = s.has("or") ? kBarrierAny : kBarrierAll;
  i.d = predicate(s.operands[0]), i.a = predicate(s.operands[2]);
}
/// Memory is written and read in the order of the instructions: fences have nothing to do.
void Decoder::order(const Statement& s, Instruction& i) {
  require_count(s, 0);
  plain(i, s.has("wait") ? &wait_for_grid : &nothing, Class::other);
}

}  // namespace ge::ptx
