// What an agent of a swarm sees: its field of view as rays, and along each the distance of the
// nearest disc that the ray meets.
//
// Ray k of n points theta(k) = -beta + 2 beta k / (n - 1) to the right of the heading. A neighbour
// at distance D within range R (the centre counts), in the direction phi, covers the rays strictly
// between delta - w and delta + w, where delta = heading - phi in [-pi, pi] and w = atan(r / D) is
// half of the angle that its disc of radius r fills. A ray shows the minimum of D / R over the
// discs that cover it, or `empty`. Angles do not wrap at +-pi, so that a disc behind is cut there.
// After jumanji's `view`, which floxs uses, in float32 and with its ends.
//
// The rays that a disc covers lie side by side, so that a disc costs two arc tangents and no loop
// over rays: the place of an end among the rays is known to less than half a ray, and the one ray
// that is nearest decides by comparison.
#pragma once

#include "spatial/angles.hpp"
#include "spatial/neighbours.hpp"
#include "spatial/spans.hpp"

namespace ge::spatial {

struct Sectors {
  int32_t count;
  float half_angle;  // beta [rad]
  float range;       // R
  float range_squared;
  float per_range;        // 1 / R
  float radius;           // r, of those that are seen
  float rays_per_radian;  // (n - 1) / (2 beta)
  float spacing;          // the inverse [rad]
  float last;             // n - 1
  float empty;
  float behind;  // discs in view have their centres this far ahead at least; below zero
};

/// At least two rays, and 0.003 rad of view on each side, so that rays stay apart in float32. The
/// angle comes as a share of pi.
inline Sectors make_sectors(int count, double half_angle, double range, double radius,
                            double empty) {
  Sectors s{};
  s.count = count;
  s.half_angle = float(half_angle * 3.14159265358979323846);
  s.range = float(range), s.range_squared = float(range * range);
  s.per_range = float(1 / range);
  s.radius = float(radius);
  s.rays_per_radian = float((count - 1) / (2 * double(s.half_angle)));
  s.spacing = float(2 * double(s.half_angle) / (count - 1));
  s.last = float(count - 1);
  s.empty = float(empty);
  // With D cos(delta) ahead and delta < beta + w: D cos(beta + w) >= D cos(beta) - 1.5 r.
  const float cosine = cos(s.half_angle);
  s.behind = s.range * (cosine < 0.0f ? cosine : 0.0f) - 1.5f * s.radius - 1e-4f * s.range;
  return s;
}

GE_FN float ray_angle(const Sectors& s, int32_t k) {
  return float(k) * s.spacing - s.half_angle;
}
/// The ray whose angle is nearest.
GE_FN int32_t nearest_ray(const Sectors& s, float angle) {
  // Within the view first, so that the integer part is that of a number.
  const float place = (angle + s.half_angle) * s.rays_per_radian + 0.5f;
  return static_cast<int32_t>(clamp(place, 0.0f, s.last + 0.5f));
}

/// The rays that a disc covers, none where first > last, and the distance that they show.
struct Disc {
  int32_t first, last;
  float value;
};
GE_FN Disc disc_of(const Sectors& s, float heading, float dx, float dy) {
  const float distance = sqrt_bounded(dx * dx + dy * dy);
  const float delta = shortest_turn(heading - direction_of(dy, dx));
  const float width = quadrant_angle(s.radius, distance);
  const float left = delta - width, right = delta + width;
  const int32_t a = nearest_ray(s, left), b = nearest_ray(s, right);
  return {a + select(ray_angle(s, a) > left, 0, 1), b - select(ray_angle(s, b) < right, 0, 1),
          min(distance * s.per_range, 1.0f)};
}

using Discs = Spans<Hits::kRoom>;

template <bool kRows>
GE_FN void find_discs(const Sectors& s, float heading, const HitsOf<kRows>& hits, Discs& discs) {
  discs.count = hits.count;
  for (int base = 0; base < hits.known(); base += kPack) {
    GE_INDEPENDENT
    for (int k = base; k < base + kPack; ++k) {
      const int at = room_of_hit(k);
      const Disc disc = disc_of(s, heading, hits.dx[at], hits.dy[at]);
      discs.first[at] = disc.first, discs.last[at] = disc.last, discs.value[at] = disc.value;
    }
  }
}

/// The half-plane that contains the centres of all discs in view: not far behind. Where the view is
/// wider than a half circle, it lies further behind.
GE_FN HalfPlane view_plane(const Sectors& s, float heading) {
  float sine, cosine;
  sincos_bounded(heading, sine, cosine);
  return {cosine, sine, s.behind};
}

/// Lowers what an agent sees into a view; `channel` is where the elements of a neighbour's kind
/// begin, a function of its row.
template <class M, class View, class F>
GE_FN void see(const WorldOf<M>& w, View& view, const Squad& squad, int me, const Position& at,
               float heading, const Sectors& s, const F& channel) {
  Look<M, kOneSide> look(w, squad, me, at.x, at.y, s.range, s.range_squared,
                         view_plane(s, heading));
  Discs discs;
  look.template each<true>([&](const Hits& hits) GE_LAMBDA {
    find_discs(s, heading, hits, discs);
    for (int k = 0; k < hits.known(); ++k) {
      const int to = channel(hits.row(k));
      discs.first[room_of_hit(k)] += to, discs.last[room_of_hit(k)] += to;
    }
    view.lower(discs);
  });
}
/// Lowers what an agent sees into a view of one channel, where there is one kind of neighbours.
template <class M, class View>
GE_FN void see(const WorldOf<M>& w, View& view, const Squad& squad, int me, const Position& at,
               float heading, const Sectors& s) {
  Look<M, kOneSide> look(w, squad, me, at.x, at.y, s.range, s.range_squared,
                         view_plane(s, heading));
  Discs discs;
  look.template each<false>([&](const Offsets& hits) GE_LAMBDA {
    find_discs(s, heading, hits, discs);
    view.lower(discs);
  });
}

}  // namespace ge::spatial
