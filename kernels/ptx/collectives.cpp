// Lanes together: barriers of a warp, shuffles, votes, matches, reductions (9.7.9.6, 9.7.13).
#include <cstdio>
#include <cstring>

#include "ptx/lanes.hpp"

namespace ge::ptx {

namespace {

std::string hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}

/// Every lane that a mask names must be here: one that waits elsewhere would never come.
void meet(Context& x, uint32_t lanes, uint32_t mask_at) {
  ++x.meeting;
  const auto first = get<uint32_t>(x, mask_at, std::countr_zero(lanes));
  each(lanes, [&](int lane) {
    const auto named = get<uint32_t>(x, mask_at, lane);
    if ((named >> lane & 1) == 0)
      throw Fault("divergent collective: lane " + std::to_string(lane) + " is not in its mask " +
                  hex(named));
    if (const uint32_t missing = named & x.alive & ~lanes; missing != 0)
      throw Fault("divergent collective: mask " + hex(named) + " names lanes " + hex(missing) +
                  ", which are elsewhere");
    if (named == first && lane != std::countr_zero(lanes)) return;
    each(named & lanes, [&](int other) {
      if (get<uint32_t>(x, mask_at, other) != named)
        throw Fault("divergent collective: lanes " + std::to_string(lane) + " and " +
                    std::to_string(other) + " have different masks");
    });
  });
}

/// Calls f(group) for the lanes of each mask: parts of a warp may run the same collective at once.
template <class F>
void for_each_group(const Context& x, uint32_t lanes, uint32_t mask_at, const F& f) {
  for (uint32_t left = lanes; left != 0;) {
    const uint32_t group = get<uint32_t>(x, mask_at, std::countr_zero(left)) & left;
    f(group);
    left &= ~group;
  }
}

uint32_t joined(const Instruction& i, uint32_t a, uint32_t b) {
  const bool less = i.is_signed ? int32_t(a) < int32_t(b) : a < b;
  switch (i.variant) {
    case kAdd:
      return a + b;
    case kMin:
      return less ? a : b;
    case kMax:
      return less ? b : a;
    case kAnd:
      return a & b;
    case kOr:
      return a | b;
    default:
      return a ^ b;
  }
}

}  // namespace

void nothing(Context&, const Instruction&, uint32_t) {}
void wait_for_grid(Context& x, const Instruction&, uint32_t lanes) {
  x.waited |= lanes;
}
void warp_barrier(Context& x, const Instruction& i, uint32_t lanes) {
  meet(x, lanes, i.a);
}

void shuffle(Context& x, const Instruction& i, uint32_t lanes) {
  meet(x, lanes, i.more[1]);
  uint32_t values[kLanes];  // the result's register may be the source's
  std::memcpy(values, x.registers + i.a, sizeof values);
  uint32_t found = 0;
  each(lanes, [&](int lane) {
    const int by = int(get<uint32_t>(x, i.b, lane) & 31);
    const uint32_t bounds = get<uint32_t>(x, i.c, lane);
    const int clamp = int(bounds & 31), segment = int(bounds >> 8 & 31);
    const int low = lane & segment, high = low | (clamp & ~segment);
    const uint32_t members = get<uint32_t>(x, i.more[1], lane) & lanes;
    int from = 0;
    switch (i.variant) {
      case kShuffleUp:
        from = lane - by;
        break;
      case kShuffleDown:
        from = lane + by;
        break;
      case kShuffleAcross:
        from = lane ^ by;
        break;
      default:
        from = low | (by & ~segment);
    }
    const bool in_range = i.variant == kShuffleUp ? from >= high : from <= high;
    if (!in_range) from = lane;
    if ((members >> from & 1) == 0)
      throw Fault("shuffle from lane " + std::to_string(from) + ", which is not here");
    put<uint32_t>(x, i.d, lane, values[from]);
    found |= in_range ? 1u << lane : 0u;
  });
  put_predicate(x, i.more[0], lanes, found);
}

void vote(Context& x, const Instruction& i, uint32_t lanes) {
  meet(x, lanes, i.b);
  const uint32_t given = predicate_at(x, i.a);
  const uint32_t ayes = (i.is_signed ? ~given : given) & lanes;  // here: the operand is negated
  uint32_t passed = 0;
  for_each_group(x, lanes, i.b, [&](uint32_t group) {
    if (i.variant == kVoteBallot) {
      each(group, [&](int lane) { put<uint32_t>(x, i.d, lane, ayes & group); });
      return;
    }
    const bool any = (ayes & group) != 0, all = (ayes & group) == group;
    const bool passes = i.variant == kVoteAny ? any : i.variant == kVoteAll ? all : all || !any;
    passed |= passes ? group : 0u;
  });
  if (i.variant != kVoteBallot) put_predicate(x, i.d, lanes, passed);
}

/// The lanes with the same value.
void match(Context& x, const Instruction& i, uint32_t lanes) {
  meet(x, lanes, i.b);
  const auto value = [&](int lane) {
    return i.wide_address ? get<uint64_t>(x, i.a, lane) : get<uint32_t>(x, i.a, lane);
  };
  uint32_t same[kLanes] = {};
  for_each_group(x, lanes, i.b, [&](uint32_t group) {
    each(group, [&](int one) {
      each(group, [&](int other) { same[one] |= value(one) == value(other) ? 1u << other : 0u; });
    });
  });
  each(lanes, [&](int lane) { put<uint32_t>(x, i.d, lane, same[lane]); });
}

void reduce(Context& x, const Instruction& i, uint32_t lanes) {
  meet(x, lanes, i.b);
  for_each_group(x, lanes, i.b, [&](uint32_t group) {
    auto made = get<uint32_t>(x, i.a, std::countr_zero(group));
    each(group & (group - 1),
         [&](int lane) { made = joined(i, made, get<uint32_t>(x, i.a, lane)); });
    each(group, [&](int lane) { put<uint32_t>(x, i.d, lane, made); });
  });
}

void active_lanes(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) { put<uint32_t>(x, i.d, lane, lanes); });
}

}  // namespace ge::ptx
