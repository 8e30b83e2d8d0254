// Broad phase: which bodies may touch which within this round of substeps. All pairs of bounds,
// without a tree: for the tens of bodies of a world the test of six numbers is cheaper than keeping
// one up to date.
#pragma once

#include "engine/graph/tables.hpp"
#include "physics/shapes.hpp"
#include "physics/tables.hpp"

namespace ge::physics {

/// How fast any point of a body may move by turning; turning a ball moves none. Only the torque
/// about z counts: a walker cannot turn otherwise. [m/s]
GE_FN float sweep_speed(const Kind& kind, const Velocity& v, const Load& load, float time) {
  const float arm = select(kind.shape == kSphere, 0.0f, kind.bound);
  return arm * (length(vec(v.angular)) + abs(load.torque[2]) * kind.inverse_inertia[2] * time);
}

/// Swept bounds of a body in this round; of an immovable one, the bounds of the body.
template <class M>
GE_FN void bound_body(const WorldOf<M>& w, Bounds& bounds, const Pose& pose,
                      const Velocity& velocity, const Body& body, const Load& load) {
  const Setup& s = setup_of<M>(w);
  const Kind& kind = s.kinds[body.kind];
  Bounds3 box =
      ge::physics::bounds(placed(kind, vec(pose.position), matrix(quat(pose.orientation))));
  if (movable(body)) {
    const float t = s.round_time;
    // The way under a constant force, in substeps of which each moves with the speed after it.
    // n = substeps / rounds, t = n h: the sum of h i h F/m, i = 1..n, is (1/2 + 1/(2 n)) F/m t^2.
    const float share = 0.5f + 0.5f * float(s.rounds) / float(s.substeps);
    const float pushed = (length(vec(load.force)) * share * t) * t;
    const float turned = sweep_speed(kind, velocity, load, t);
    const float grown = s.sweep + s.margin + length(vec(velocity.linear)) * t +
                        pushed * kind.inverse_mass + 0.5f * (turned * t);
    // Gravity only moves it down; upward motion is in its velocity, or in `sweep`.
    box.low -= Vec3{grown, grown, grown + 0.5f * s.gravity * t * t};
    box.high += Vec3{grown, grown, grown};
  }
  put(bounds.low, box.low);
  put(bounds.high, box.high);
}

GE_FN bool overlap(const Bounds& a, const Bounds& b) {
  return a.low[0] < b.high[0] && b.low[0] < a.high[0] && a.low[1] < b.high[1] &&
         b.low[1] < a.high[1] && a.low[2] < b.high[2] && b.low[2] < a.high[2];
}
GE_FN bool overlap(const Bounds& a, const Static& b) {
  return a.low[0] < b.centre[0] + b.half[0] && b.centre[0] - b.half[0] < a.high[0] &&
         a.low[1] < b.centre[1] + b.half[1] && b.centre[1] - b.half[1] < a.high[1] &&
         a.low[2] < b.centre[2] + b.half[2] && b.centre[2] - b.half[2] < a.high[2];
}
/// A plane is near where the bounds reach behind it.
/// `half` of a plane is its normal: the corner that reaches farthest against it is asked.
GE_FN bool behind(const Bounds& a, const Static& plane) {
  float lowest = 0.0f;
  for (int k = 0; k < 3; ++k) {
    const float n = plane.half[k];
    lowest += n * (select(n > 0.0f, a.low[k], a.high[k]) - plane.centre[k]);
  }
  return lowest < 0.0f;
}

GE_FN bool meets(const Setup& s, const Bounds& a, const Static& b) {
  return s.kinds[b.kind].shape == kPlane ? behind(a, b) : overlap(a, b);
}

/// Finds the later bodies near this one, asleep or not: sleepers are woken along these pairs. Pairs
/// of two immovable bodies are left out: they neither collide nor wake.
template <class M>
GE_FN void find_bodies(const WorldOf<M>& w, Slot self, typename M::Physics::NearOf& near,
                       const Bounds& bounds, const Body& body) {
  using T = BodiesOf<M>;
  constexpr int kWords = sizeof(near.bodies) / 4;
  near = {};
  if (!present(body)) return;
  for (int other = self.row + 1; other < T::capacity; ++other) {
    if (!overlap(bounds, get<T, Bounds>(w, other))) continue;
    const Body b = get<T, Body>(w, other);
    // With one word the index is a constant, and the bitmap stays in a register.
    if (present(b) && (movable(body) || movable(b)))
      near.bodies[kWords > 1 ? other >> 5 : 0] |= 1u << (other & 31);
  }
}
template <class M>
GE_FN bool is_awake(const WorldOf<M>&, const Body& body) {
  return awake(body);
}
/// For awake bodies only, so it runs after wake(); the bits of the others stay zero from
/// find_bodies().
template <class M>
GE_FN void find_statics(const WorldOf<M>& w, typename M::Physics::NearOf& near,
                        const Bounds& bounds) {
  using T = typename M::Physics::Statics;
  constexpr int kWords = sizeof(near.statics) / 4;
  const Setup& s = common_setup_of<M>(w);
  const int count = row_count<T>(w);
  for (int k = 0; k < count; ++k) {
    const Static wall = get<T, Static>(w, k);
    if (meets(s, bounds, wall)) near.statics[kWords > 1 ? k >> 5 : 0] |= 1u << (k & 31);
  }
}

/// Lists the pairs with an awake body: bodies in order, then what is near each. Pairs beyond the
/// capacity are counted, not listed.
/// One lane does it for a world: the order of this list is the order of contacts and colours, and
/// with it every bit of the result.
template <class M>
GE_FN void list_pairs(const WorldOf<M>& w, Counts& counts,
                      Rows<typename M::Physics::Pairs, Pairing> pairs) {
  using T = BodiesOf<M>;
  using Near = typename M::Physics::NearOf;
  constexpr int kWords = sizeof(Near::bodies) / 4, kStaticWords = sizeof(Near::statics) / 4;
  uint32_t count = 0;
  const auto add = [&](int a, int b) GE_LAMBDA {
    if (count < uint32_t(M::Physics::kPairs)) pairs.set(int(count), {uint32_t(a), uint32_t(b)});
    // Counts on past the capacity: the message names the size that would have sufficed.
    ++count;
  };
  for (int a = 0; a < T::capacity; ++a) {
    const Near near = get<T, Near>(w, a);
    const bool mine = awake(get<T, Body>(w, a));
    GE_UNROLL
    for (int k = 0; k < kWords; ++k)
      for (uint32_t bits = near.bodies[k]; bits != 0; bits &= bits - 1) {
        const int b = 32 * k + lowest_one(bits);
        if (mine || awake(get<T, Body>(w, b))) add(a, b);
      }
    GE_UNROLL
    for (int k = 0; k < kStaticWords; ++k)
      for (uint32_t bits = near.statics[k]; bits != 0; bits &= bits - 1)
        add(a, T::capacity + 32 * k + lowest_one(bits));
  }
  counts.pairs = min(count, uint32_t(M::Physics::kPairs));
  count_overflow<typename M::Physics::Pairs>(w.engine(), int(count), M::Physics::kPairs);
}
template <class M>
GE_FN int pair_count(const WorldOf<M>&, const Counts& counts) {
  return int(counts.pairs);
}

/// Bounds for this substep only. Each body is grown by the margin and its own reach, and `touch`
/// looks as far as the margin and both reaches: bodies that do not overlap here have no contacts
/// there. Setup::reach caps both.
GE_FN void bound_substep(const Setup& s, Bounds& bounds, const Kind& kind, Vec3 at,
                         const Mat3& turn, float reach) {
  const float grown = min(s.reach, s.margin + reach);
  const Bounds3 box = ge::physics::bounds(placed(kind, at, turn));
  put(bounds.low, box.low - Vec3{grown, grown, grown});
  put(bounds.high, box.high + Vec3{grown, grown, grown});
}
/// Rows of pairs and contacts count statics on from the last body.
template <class M>
GE_FN bool is_static(uint32_t row) {
  return row >= uint32_t(M::Physics::kBodies);
}
/// Whether a pair may touch in this substep.
template <class M>
GE_FN bool is_close(const WorldOf<M>& w, int row) {
  using T = BodiesOf<M>;
  const Pairing pair = get<typename M::Physics::Pairs, Pairing>(w, row);
  const Bounds a = get<T, Bounds>(w, int(pair.a));
  if (!is_static<M>(pair.b)) return overlap(a, get<T, Bounds>(w, int(pair.b)));
  using U = typename M::Physics::Statics;
  const Static wall = get<U, Static>(w, int(pair.b) - M::Physics::kBodies);
  return meets(common_setup_of<M>(w), a, wall);
}
template <class M>
GE_FN void bring_close(const WorldOf<M>& w, int row, Pairing& pair) {
  pair = get<typename M::Physics::Pairs, Pairing>(w, row);
}
template <class M>
GE_FN int close_count(const WorldOf<M>& w) {
  return row_count<typename M::Physics::Close>(w);
}

}  // namespace ge::physics
