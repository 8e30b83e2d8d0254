#include "ptx/layout.hpp"

#include <cstring>

#include "ptx/known.hpp"

namespace ge::ptx {

namespace {

bool is_wide(Special what) {
  return what == Special::local_base || what == Special::params || what == Special::dynamic_shared;
}

}  // namespace

uint32_t Layout::in_front(uint32_t bytes) {
  const auto at = uint32_t(code_.image.size());
  code_.image.resize(at + bytes * kLanes);
  return at | kFront;
}
uint32_t Layout::constant(uint64_t value, bool is_wide) {
  if (!is_wide) value = uint32_t(value);
  const auto [found, is_new] = constants_.try_emplace({value, is_wide});
  if (!is_new) return found->second;
  const uint32_t bytes = is_wide ? 8 : 4;
  found->second = in_front(bytes);
  char* const at = code_.image.data() + (found->second & ~kFront);
  for (int lane = 0; lane < kLanes; ++lane) std::memcpy(at + lane * int(bytes), &value, bytes);
  return found->second;
}
uint32_t Layout::special(Special what) {
  for (const Code::Filled& known : code_.specials)
    if (known.what == what) return known.at;
  code_.specials.push_back({what, in_front(is_wide(what) ? 8 : 4)});
  return code_.specials.back().at;
}
uint32_t Layout::register_at(const std::string& name, const std::string& type) {
  const auto [found, is_new] = registers_.try_emplace(name);
  if (!is_new) return found->second;
  // A predicate is one word, and all places are as far apart as vectors of AVX-512 like them.
  if (type == "pred")
    found->second = take(2);
  else
    found->second = take(width_of(type) == 8 ? 8 : 4);
  return found->second;
}

void Layout::settle() {
  const auto front = uint32_t(code_.image.size());
  const auto move = [front](uint32_t& at) { at = (at & kFront) != 0 ? at & ~kFront : at + front; };
  for (Instruction& i : code_.instructions) {
    for (uint32_t* const at : {&i.d, &i.a, &i.b, &i.c}) move(*at);
    for (uint32_t& at : i.more) move(at);
    if (i.guard >= 0) i.guard += int32_t(front);
  }
  for (Code::Filled& special : code_.specials) move(special.at);
  for (Call& call : code_.calls) {
    for (Call::Copy& copy : call.in) move(copy.from);
    for (Call::Copy& copy : call.out) move(copy.to);
  }
  for (auto& [name, at] : code_.params) move(at);
  code_.frame_bytes = front + used_;
}

}  // namespace ge::ptx
