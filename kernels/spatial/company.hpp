// How much company an agent has: exp(-decay D / range) summed over others in range, as a sum that
// does not depend on its order (fixed.hpp), beside the number of those that touch.
#pragma once

#include "spatial/fixed.hpp"
#include "spatial/neighbours.hpp"

namespace ge::spatial {

struct Closeness {
  float range, range_squared;
  float slope;  // -decay / range [1/length], of a decay up to 86
  float touch;  // centres that are closer than this touch, and are no company; 0: none does
};
GE_FN Closeness make_closeness(double range, double decay, double touch) {
  return {float(range), float(range * range), float(-decay / range), float(touch)};
}

struct Company {
  float worth;
  int32_t touches;
};

namespace detail {

GE_FN void add_company(const Closeness& c, const Offsets& hits, int64_t& worth, int32_t& touches) {
  WholeSum worths, touched;
  for (int base = 0; base < hits.known(); base += kPack) {
    alignas(64) float values[kPack], near[kPack];
    GE_INDEPENDENT
    for (int k = base; k < base + kPack; ++k) {
      const float dx = hits.dx[room_of_hit(k)], dy = hits.dy[room_of_hit(k)];
      const float distance = sqrt_bounded(dx * dx + dy * dy);
      const float value = exp_bounded(c.slope * distance);
      const bool touches_me = distance < c.touch;
      values[k - base] = fixed(select(touches_me, 0.0f, value));
      near[k - base] = select(touches_me, 1.0f, 0.0f);
    }
    const Mask there = first_lanes(hits.count - base);
    worths.add(load_pack(values), there);
    touched.add(load_pack(near), there);
  }
  worth += worths.total(), touches += int32_t(touched.total());
}

}  // namespace detail

/// Sums what a look finds, over all lanes of the squad.
template <class M, int32_t kFilter>
GE_FN Company company(Look<M, kFilter>& look, const Squad& squad, const Closeness& c) {
  int64_t worth = 0;
  int32_t touches = 0;
  look.template each<false>([&](const Offsets& hits)
                                GE_LAMBDA { detail::add_company(c, hits, worth, touches); });
  return {from_fixed(squad.sum(worth)), squad.count(touches)};
}

}  // namespace ge::spatial
