// Loads, stores and atomics (9.7.9.8 to 9.7.9.11, 9.7.13.5): every address is checked, to the byte.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ptx/races.hpp"

namespace ge::ptx {

namespace {

/// Where each lane's access goes.
struct Places {
  char* at[kLanes];
  uint64_t address[kLanes];  // within its space
  bool in_global = false, in_shared = false, in_local = false;
};

[[noreturn]] void refuse(const char* what, int lane, uint64_t address, int bytes) {
  char text[160];
  std::snprintf(text, sizeof text, "%s: lane %d, %d bytes at 0x%llx", what, lane, bytes,
                static_cast<unsigned long long>(address));
  throw Fault(text);
}

/// Finds the places of an access and checks them.
class Resolver {
 public:
  Resolver(Context& context, const Instruction& i, bool writes)
      : x_(context), i_(i), bytes_(i.size * i.count), writes_(writes) {}

  Places operator()(uint32_t lanes) {
    Places to;
    each(lanes, [&](int lane) { one(to, lane); });
    return to;
  }

 private:
  void one(Places& to, int lane) {
    if (i_.space == Space::frame) {
      to.at[lane] = x_.registers + i_.a + size_t(lane) * size_t(i_.side) + i_.constant;
      return;
    }
    const auto offset = uint64_t(i_.constant);
    // In 32 bits the sum wraps around: an index below zero may come with an offset above it.
    uint64_t at = i_.wide_address ? get<uint64_t>(x_, i_.a, lane) + offset
                                  : uint32_t(get<uint32_t>(x_, i_.a, lane) + offset);
    if (at % uint64_t(bytes_) != 0) refuse("misaligned access", lane, at, bytes_);
    Space space = i_.space;
    if (space == Space::generic) space = space_of(at);
    to.address[lane] = at;
    switch (space) {
      case Space::shared:
        return in_shared(to, lane, at);
      case Space::local:
        return in_local(to, lane, at);
      default:
        return in_global(to, lane, at);
    }
  }
  static Space space_of(uint64_t& at) {
    if (at - kSharedWindow < kWindowBytes) return at -= kSharedWindow, Space::shared;
    if (at - kLocalWindow < kWindowBytes) return at -= kLocalWindow, Space::local;
    return Space::global;
  }
  Use use() const {
    if (i_.is_strong) return writes_ ? Use::change : Use::look;
    return writes_ ? Use::write : Use::read;
  }
  bool fits(uint64_t at, int64_t size) const {
    return at <= uint64_t(size) && uint64_t(bytes_) <= uint64_t(size) - at;
  }
  void in_shared(Places& to, int lane, uint64_t at) {
    if (!fits(at, x_.shared_bytes))
      refuse(writes_ ? "store outside of shared memory" : "load outside of shared memory", lane, at,
             bytes_);
    to.at[lane] = x_.shared + at, to.in_shared = true;
    if (x_.looks_for_races) note_access(x_, x_.shared_touched, at, i_, use(), lane, false);
  }
  void in_local(Places& to, int lane, uint64_t at) {
    if (!fits(at, x_.local_end)) refuse("access outside of local memory", lane, at, bytes_);
    to.at[lane] = x_.local + uint64_t(lane) * uint64_t(x_.local_bytes) + at, to.in_local = true;
  }
  void in_global(Places& to, int lane, uint64_t at) {
    to.at[lane] = reinterpret_cast<char*>(at);
    const uint64_t in_params = at - reinterpret_cast<uint64_t>(x_.params);
    if (in_params < uint64_t(x_.param_bytes)) {
      if (writes_ || !fits(in_params, x_.param_bytes))
        refuse("bad access of a kernel's parameters", lane, at, bytes_);
      return;
    }
    const Region* const region = x_.memory->find(at, uint64_t(bytes_));
    if (region == nullptr || (writes_ && !region->is_writable))
      refuse(writes_ ? "illegal store" : "illegal load", lane, at, bytes_);
    if (x_.is_dependent && (x_.waited >> lane & 1) == 0)
      refuse("global memory before griddepcontrol.wait", lane, at, bytes_);
    to.in_global = true;
    if (!x_.looks_for_races || !region->is_writable) return;
    if (region->touched.empty()) region->touched.resize(region->end - region->begin);
    note_access(x_, region->touched.data(), at - region->begin, i_, use(), lane, true);
  }

  Context& x_;
  const Instruction& i_;
  int bytes_;
  bool writes_;
};

// ---- what accesses cost

/// Distinct sectors of 32 bytes.
uint64_t sectors_of(const Places& to, uint32_t lanes, int bytes) {
  uint64_t found[2 * kLanes];
  int count = 0;
  each(lanes, [&](int lane) {
    const uint64_t first = to.address[lane] / 32,
                   last = (to.address[lane] + uint64_t(bytes) - 1) / 32;
    for (uint64_t sector = first; sector <= last; ++sector)
      if (std::find(found, found + count, sector) == found + count && count < 2 * kLanes)
        found[count++] = sector;
  });
  return uint64_t(count);
}
/// Passes through the 32 banks of 4 bytes: lanes are served at once with 4 bytes each, in halves
/// with 8, in quarters with 16; of different words in one bank, one at a time.
uint64_t waves_of(const Places& to, uint32_t lanes, int bytes) {
  const int parts = std::max(1, bytes / 4), size = kLanes / parts;
  uint64_t waves = 0;
  for (int part = 0; part < parts; ++part) {
    uint64_t words[kLanes][kLanes];
    int count[kLanes] = {}, most = 0;
    for (int lane = part * size; lane < (part + 1) * size; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      const uint64_t last = (to.address[lane] + uint64_t(bytes) - 1) / 4;
      for (uint64_t word = to.address[lane] / 4; word <= last; ++word) {
        uint64_t* const bank = words[word % kLanes];
        int& known = count[word % kLanes];
        if (std::find(bank, bank + known, word) == bank + known && known < kLanes)
          bank[known++] = word;
        most = std::max(most, known);
      }
    }
    waves += uint64_t(most);
  }
  return waves;
}

Places resolve(Context& x, const Instruction& i, uint32_t lanes, bool writes) {
  const Places to = Resolver(x, i, writes)(lanes);
  if (x.count != nullptr) {
    const int bytes = i.size * i.count;
    if (to.in_global) x.count->sectors += sectors_of(to, lanes, bytes);
    if (to.in_shared) x.count->waves += waves_of(to, lanes, bytes);
    // A lane's local memory is interleaved with the others': words of one warp are adjacent.
    if (to.in_local) x.count->sectors += uint64_t(std::popcount(lanes) * bytes + 31) / 32;
  }
  return to;
}

// ---- loads and stores

template <class Stored, class Register>
void load_as(Context& x, const Instruction& i, uint32_t lanes, const Places& from) {
  for (int k = 0; k < i.count; ++k)
    each(lanes, [&](int lane) {
      Stored value;
      std::memcpy(&value, from.at[lane] + k * int(sizeof value), sizeof value);
      auto* const to = reinterpret_cast<Word<Register>*>(x.registers + i.more[k]);
      to[lane] = Word<Register>(Register(value));
    });
}
template <class Whole, class Sign>
void load_sized(Context& x, const Instruction& i, uint32_t lanes, const Places& from) {
  if (i.wide_result)
    return i.is_signed ? load_as<Sign, int64_t>(x, i, lanes, from)
                       : load_as<Whole, uint64_t>(x, i, lanes, from);
  return i.is_signed ? load_as<Sign, int32_t>(x, i, lanes, from)
                     : load_as<Whole, uint32_t>(x, i, lanes, from);
}

template <class T>
T changed(uint8_t how, T old, T by, T other) {
  switch (how) {
    case kAdd:
      return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(by));
    case kMin:
      return std::min(old, by);
    case kMax:
      return std::max(old, by);
    case kAnd:
      return T(old & by);
    case kOr:
      return T(old | by);
    case kXor:
      return T(old ^ by);
    case kInc:
      return old >= by ? T(0) : T(old + 1);
    case kDec:
      return old == 0 || old > by ? by : T(old - 1);
    case kExchange:
      return by;
    default:  // compare and swap
      return old == by ? other : old;
  }
}
template <class T>
void change_as(Context& x, const Instruction& i, uint32_t lanes, const Places& to) {
  each(lanes, [&](int lane) {  // lane after lane
    T old;
    std::memcpy(&old, to.at[lane], sizeof old);
    const T made = changed<T>(i.variant, old, get<T>(x, i.b, lane), get<T>(x, i.c, lane));
    std::memcpy(to.at[lane], &made, sizeof made);
    put<T>(x, i.d, lane, old);
  });
}

}  // namespace

void load(Context& x, const Instruction& i, uint32_t lanes) {
  const Places from = resolve(x, i, lanes, false);
  switch (i.size) {
    case 1:
      return load_sized<uint8_t, int8_t>(x, i, lanes, from);
    case 2:
      return load_sized<uint16_t, int16_t>(x, i, lanes, from);
    case 4:
      return load_sized<uint32_t, int32_t>(x, i, lanes, from);
    default:
      return load_as<uint64_t, uint64_t>(x, i, lanes, from);
  }
}
void store(Context& x, const Instruction& i, uint32_t lanes) {
  const Places to = resolve(x, i, lanes, true);
  for (int k = 0; k < i.count; ++k)
    each(lanes, [&](int lane) {
      const uint64_t value =
          i.wide_result ? get<uint64_t>(x, i.more[k], lane) : get<uint32_t>(x, i.more[k], lane);
      std::memcpy(to.at[lane] + k * i.size, &value, i.size);
    });
}
void change_atomically(Context& x, const Instruction& i, uint32_t lanes) {
  const Places to = resolve(x, i, lanes, true);
  if (i.size == 8)
    return i.is_signed ? change_as<int64_t>(x, i, lanes, to) : change_as<uint64_t>(x, i, lanes, to);
  return i.is_signed ? change_as<int32_t>(x, i, lanes, to) : change_as<uint32_t>(x, i, lanes, to);
}

/// An address in its own space becomes generic, or the other way round where `variant` is 1.
void change_space(Context& x, const Instruction& i, uint32_t lanes) {
  uint64_t by = i.space == Space::shared  ? kSharedWindow
                : i.space == Space::local ? kLocalWindow
                                          : 0;
  if (i.variant == 1) by = uint64_t{0} - by;
  each(lanes, [&](int lane) {
    put_whole(x, i, lane, get<uint64_t>(x, i.a, lane) + uint64_t(i.constant) + by);
  });
}

}  // namespace ge::ptx
