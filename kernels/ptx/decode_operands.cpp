// Where the operands of a statement lie.
#include <iterator>

#include "ptx/decoder.hpp"

namespace ge::ptx {

namespace {

Special special_of(const std::string& name) {
  static const std::map<std::string, Special> known{{"%tid.x", Special::thread_x},
                                                    {"%tid.y", Special::thread_y},
                                                    {"%tid.z", Special::thread_z},
                                                    {"%ntid.x", Special::threads_x},
                                                    {"%ntid.y", Special::threads_y},
                                                    {"%ntid.z", Special::threads_z},
                                                    {"%ctaid.x", Special::block_x},
                                                    {"%ctaid.y", Special::block_y},
                                                    {"%ctaid.z", Special::block_z},
                                                    {"%nctaid.x", Special::blocks_x},
                                                    {"%nctaid.y", Special::blocks_y},
                                                    {"%nctaid.z", Special::blocks_z},
                                                    {"%laneid", Special::lane},
                                                    {"%warpid", Special::warp},
                                                    {"%lanemask_lt", Special::lanes_below},
                                                    {"%lanemask_le", Special::lanes_to},
                                                    {"%lanemask_gt", Special::lanes_above},
                                                    {"%lanemask_ge", Special::lanes_from},
                                                    {"%lanemask_eq", Special::lane_alone},
                                                    {"%smid", Special::zero},
                                                    {"%clock", Special::zero}};
  const auto found = known.find(name);
  if (found == known.end()) throw Unknown("unknown register " + name);
  return found->second;
}

}  // namespace

uint32_t Decoder::register_at(const std::string& name) {
  const std::string& type = function_.type_of(name);
  if (type.empty()) throw Unknown("unknown register " + name);
  return layout_.register_at(name, type);
}
uint32_t Decoder::predicate(const Operand& o) {
  if (o.kind != Operand::name || o.is_negated || type_of(o) != "pred")
    throw Unknown("expected a predicate");
  return register_at(o.text);
}
uint32_t Decoder::read(const Operand& o, int bytes) {
  if (o.kind == Operand::number) return layout_.constant(o.value, bytes == 8);
  if (o.kind != Operand::name || o.is_negated) throw Unknown("unknown form of an operand");
  if (type_of(o).empty()) {
    if (bytes == 8) throw Unknown("unknown wide register " + o.text);
    return layout_.special(special_of(o.text));
  }
  return sized(o, bytes);
}
uint32_t Decoder::written(const Operand& o, int bytes) {
  if (o.text == "_") return layout_.take(8);
  if (o.kind != Operand::name) throw Unknown("unknown form of a result");
  return sized(o, bytes);
}
uint32_t Decoder::sized(const Operand& o, int bytes) {
  const uint32_t at = register_at(o.text);
  if (type_of(o) == "pred" || (width_of(type_of(o)) == 8) != (bytes == 8))
    throw Unknown("a register of another width: " + o.text);
  return at;
}
int Decoder::label(const std::string& name) const {
  const auto found = function_.labels.find(name);
  if (found == function_.labels.end()) throw Unknown("unknown label " + name);
  return found->second;
}
void Decoder::address(const Operand& o, Space given, Instruction& i) {
  if (o.kind != Operand::address) throw Unknown("expected an address");
  i.space = given;
  i.constant = int64_t(o.value);
  if (o.text.empty()) {
    i.a = layout_.constant(0, true);
    return;
  }
  if (const std::string& type = type_of(o); !type.empty()) {
    i.a = register_at(o.text);
    i.wide_address = width_of(type) == 8;
    return;
  }
  if (const auto own = params_.find(o.text); own != params_.end()) {
    i.a = own->second.at, i.side = int32_t(own->second.bytes);
    i.space = Space::frame;
    if (i.constant < 0 || i.constant + i.size * i.count > i.side)
      throw Unknown("an access outside of " + o.text);
    return;
  }
  const Symbol found = symbol(o.text);
  i.a = found.base;
  i.constant += found.offset;
  if (given == Space::generic) i.space = found.space;
}
/// One register or a vector of them, loaded or stored.
void Decoder::elements(const Operand& o, Instruction& i, int bytes, bool is_source) {
  const bool is_vector = o.kind == Operand::list;
  const size_t count = is_vector ? o.parts.size() : 1;
  if (count == 0 || count > std::size(i.more)) throw Unknown("a vector of unknown length");
  i.count = uint8_t(count);
  bool is_first = true;
  for (size_t k = 0; k < count; ++k) {
    const Operand& part = is_vector ? o.parts[k] : o;
    const std::string& type = part.kind == Operand::name ? type_of(part) : std::string();
    if (part.text == "_") {
      i.more[k] = layout_.take(8);
      continue;
    }
    // A register may be wider than what is loaded or stored, all of them equally.
    const bool is_wide = type.empty() ? bytes == 8 : width_of(type) == 8;
    if (bytes == 8 && !is_wide) throw Unknown("a register of another width: " + part.text);
    if (!is_first && is_wide != i.wide_result) throw Unknown("registers of different widths");
    i.wide_result = is_wide, is_first = false;
    i.more[k] = is_source ? read(part, is_wide ? 8 : 4) : written(part, is_wide ? 8 : 4);
  }
}

}  // namespace ge::ptx
