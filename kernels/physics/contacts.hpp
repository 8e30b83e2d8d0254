// Contacts in a substep: geometry by the narrow phase, matching of the last substep's impulses,
// colours, and the memory for the next substep.
//
//   colours  contacts of movable bodies get the lowest colour that neither body has yet, in the
//            order of the pairs; contacts with immovable sides follow those of their body, one
//            after the other. Rows of one colour touch different bodies, so they run at once.
#pragma once

#include "physics/broad_phase.hpp"
#include "physics/constraint.hpp"
#include "physics/narrow_phase.hpp"

namespace ge::physics {

/// A body's shape in place, and how it takes part.
/// A static is a side that does not move: zero velocities, zero inverse mass, no reach.
struct Side {
  Placed shape;
  uint32_t kind;
  Moving moving;
  float reach;
};
template <class M>
GE_FN Side side_of(const WorldOf<M>& w, uint32_t row) {
  using T = BodiesOf<M>;
  const Setup& s = common_setup_of<M>(w);
  if (is_static<M>(row)) {
    using U = typename M::Physics::Statics;
    const Static wall = get<U, Static>(w, int(row) - M::Physics::kBodies);
    return {placed(s.kinds[wall.kind], wall), wall.kind, Moving{}, 0.0f};
  }
  const Frame frame = get<T, Frame>(w, int(row));
  const Pose pose = get<T, Pose>(w, int(row));
  const uint32_t kind = get<T, Body>(w, int(row)).kind;
  return {placed(s.kinds[kind], vec(pose.position), turn_of(frame)), kind,
          moving(get<T, Velocity>(w, int(row)), frame), get<T, Stride>(w, int(row)).reach};
}

/// The row of Kept that remembers the pair, or -1. Mostly it is the pair's own row.
template <class M>
GE_FN int find_kept(const WorldOf<M>& w, int row, uint32_t a, uint32_t b) {
  using K = typename M::Physics::Kept;
  const int count = row_count<K>(w);
  const auto same = [&](int k) GE_LAMBDA {
    const Memory old = get<K, Memory>(w, k);
    return old.a == a && old.b == b;
  };
  // Both lists follow the order of the pairs: a row shifts only when one before it comes or goes.
  if (row < count && same(row)) return row;
  for (int k = 0; k < count; ++k)
    if (same(k)) return k;
  return -1;
}

/// Impulses of the last substep: a point takes those of the point with its features, else of the
/// nearest that no other has taken. A manifold whose four points are chosen from more changes some
/// of them now and then; losing their impulses each time would make stacks sway.
template <class M>
GE_FN void recall(const WorldOf<M>& w, int row, const Manifold& m, const Feature& feature,
                  Vec3 second, Impulse& impulse) {
  const int kept = find_kept<M>(w, row, m.a, m.b);
  if (kept < 0) return;
  const Memory old = get<typename M::Physics::Kept, Memory>(w, kept);
  const Vec3 first = vec(m.tangent);
  // Bits: old points that gave their impulses, new points that got some. No impulse is given twice,
  // or the warm start would push harder than the last substep did.
  uint32_t taken = 0, served = 0;
  const auto take = [&](int k, int j) GE_LAMBDA {
    const Vec3 slip = point(old.slip, j);
    impulse.normal[k] = old.normal[j];
    impulse.first[k] = dot(slip, first);
    impulse.second[k] = dot(slip, second);
    taken |= 1u << j;
    served |= 1u << k;
  };
  GE_UNROLL
  for (int k = 0; k < 4; ++k) GE_UNROLL
  for (int j = 0; j < 4; ++j)
    if (uint32_t(k) < m.count && uint32_t(j) < old.count && feature.key[k] == old.key[j] &&
        (taken >> j & 1u) == 0 && (served >> k & 1u) == 0)
      take(k, j);
  // The second search is by place in the frame of a, where the pair's common motion does not show.
  const float match = common_setup_of<M>(w).match;
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (uint32_t(k) >= m.count || (served >> k & 1u) != 0) continue;
    int best = -1;
    float nearest = match * match;
    GE_UNROLL
    for (int j = 0; j < 4; ++j) {
      const Vec3 away = point(old.local, j) - point(feature.local, k);
      const float distance = dot(away, away);
      const bool nearer = uint32_t(j) < old.count && (taken >> j & 1u) == 0 && distance < nearest;
      nearest = select(nearer, distance, nearest);
      best = select(nearer, j, best);
    }
    // `best` as an index into registers would send `old` to memory: the loop names each j.
    GE_UNROLL
    for (int j = 0; j < 4; ++j)
      if (best == j) take(k, j);
  }
}

/// Effective masses and approach of each point, as constraint.hpp has them:
///
///   mass     1 / K along n
///   slide    K_11, K_12, K_22 in the tangents; the masses are not in K_12, for t1 . t2 = 0
///   approach u0 . n, the slip before gravity and loads: what lies at rest does not count as a hit
GE_FN void prepare(Manifold& m, const Moving& a, const Moving& b, Vec3 second) {
  const Vec3 n = vec(m.normal), first = vec(m.tangent);
  const float masses = a.inverse_mass + b.inverse_mass;
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (uint32_t(k) >= m.count) break;
    const Vec3 arm_a = point(m.arm_a, k), arm_b = point(m.arm_b, k);
    const Vec3 a0 = cross(arm_a, n), a1 = cross(arm_a, first), a2 = cross(arm_a, second);
    const Vec3 b0 = cross(arm_b, n), b1 = cross(arm_b, first), b2 = cross(arm_b, second);
    const Vec3 ia1 = a.inverse_inertia * a1, ib1 = b.inverse_inertia * b1;
    m.mass[k] =
        inverse_or_zero(masses + turning(a.inverse_inertia, a0) + turning(b.inverse_inertia, b0));
    m.slide[3 * k] = masses + dot(a1, ia1) + dot(b1, ib1);
    m.slide[3 * k + 1] = dot(a2, ia1) + dot(b2, ib1);
    m.slide[3 * k + 2] = masses + turning(a.inverse_inertia, a2) + turning(b.inverse_inertia, b2);
    m.approach[k] = dot(b.at(arm_b) - a.at(arm_a), n);
  }
}

/// True of upright bodies and of everything immovable.
GE_FN bool cannot_tilt(const Moving& m) {
  return m.inverse_inertia.xx + m.inverse_inertia.yy == 0.0f;
}

/// Row i of Contacts: close pair i.
template <class M>
GE_FN void touch(const WorldOf<M>& w, int row, Manifold& m, Impulse& impulse, Feature& feature,
                 Colour& colour) {
  const Setup& s = common_setup_of<M>(w);
  const Pairing pair = get<typename M::Physics::Close, Pairing>(w, row);
  m.a = pair.a, m.b = pair.b;
  colour.value = kNoColour;
  const Side a = side_of<M>(w, pair.a), b = side_of<M>(w, pair.b);
  const CollideOptions options = {min(s.reach, s.margin + a.reach + b.reach), s.edge_margin,
                                  s.step_height, s.kinds[a.kind].upright == 1,
                                  s.kinds[b.kind].upright == 1};
  // Its points are where the bodies are now; all sweeps of the substep use them, moved along.
  ContactSet found;
  collide<kBodyShapes<M> | kStaticShapes>(a.shape, b.shape, options, found);
  m.count = uint32_t(found.count);
  if (found.count == 0) return;
  const Tangents across = tangents(found.normal);
  put(m.normal, found.normal);
  put(m.tangent, across.first);
  const Setup& own = setup_of<M>(w);
  m.friction = own.friction[pair_of(a.kind, b.kind)];
  m.restitution = own.restitution[pair_of(a.kind, b.kind)];
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (k >= found.count) break;
    const ContactPoint& p = found.at[k];
    const Vec3 arm = p.on_a - a.shape.at;
    set_point(m.arm_a, k, arm);
    set_point(m.arm_b, k, p.on_b - b.shape.at);
    m.gap[k] = p.gap;
    feature.key[k] = p.key;
    set_point(feature.local, k, to_body(a.shape.turn, arm));
  }
  prepare(m, a.moving, b.moving, across.second);
  recall<M>(w, row, m, feature, across.second, impulse);
  // One upright body on another, or on what is fixed: the points press along z and none can tilt.
  if (abs(found.normal.z) > 0.999f && cannot_tilt(a.moving) && cannot_tilt(b.moving))
    share_load(impulse.normal, found.count);
}

/// The lowest turn after all colours of a body.
GE_FN uint32_t turn_after(uint32_t colours) {
  return uint32_t(63 - ge::detail::leading_zeros(uint64_t{colours} << 1 | 1u));
}
/// Assigns each contact its turn.
template <class M>
GE_FN void colour_contacts(const WorldOf<M>& w, Counts& counts,
                           Rows<typename M::Physics::Contacts, Colour> colours,
                           Rows<BodiesOf<M>, Used> used) {
  using C = typename M::Physics::Contacts;
  const int rows = row_count<C>(w);
  for (int k = 0; k < M::Physics::kBodies; ++k) used.set(k, Used{0});
  int last = 0;
  // No sweep moves a static, a locked body or a sleeper. Many contacts of one colour may read its
  // row, since `Couple::store` does not write it.
  const auto heavy = [&](uint32_t row) GE_LAMBDA {
    return is_static<M>(row) || get<BodiesOf<M>, Frame>(w, int(row)).inverse_mass == 0.0f;
  };
  for (int k = 0; k < rows; ++k) {
    const Manifold m = get<C, Manifold>(w, k);
    if (m.count == 0 || heavy(m.a) || heavy(m.b)) continue;
    const uint32_t a = used.get(int(m.a)).colours, b = used.get(int(m.b)).colours;
    const int colour = lowest_one(~uint64_t{a | b});
    // Contacts of a body with more than 31 others are left to the next substep.
    if (colour >= 31) continue;
    used.set(int(m.a), {a | 1u << colour});
    used.set(int(m.b), {b | 1u << colour});
    colours.set(k, {uint32_t(colour)});
    last = max(last, colour + 1);
  }
  // Contacts with one heavy side need no bits, only a turn after those of their body: they run last
  // of all that move it, so that immovable sides overrule movable ones, and no body waits for the
  // contacts of others.
  for (int k = 0; k < M::Physics::kBodies; ++k) used.set(k, {turn_after(used.get(k).colours)});
  for (int k = 0; k < rows; ++k) {
    const Manifold m = get<C, Manifold>(w, k);
    const bool still_a = m.count == 0 || heavy(m.a), still_b = m.count == 0 || heavy(m.b);
    if (still_a == still_b) continue;
    const int body = int(still_a ? m.b : m.a);
    const uint32_t turn = used.get(body).colours;
    used.set(body, {turn + 1});
    colours.set(k, {turn});
    last = max(last, int(turn) + 1);
  }
  counts.colours = uint32_t(last);
}
template <class M>
GE_FN int colour_count(const WorldOf<M>&, const Counts& counts) {
  return int(counts.colours);
}

/// Row i of Kept: contact i after this substep.
/// After the bounce, so that the warm start of the next substep knows its impulses too.
template <class M>
GE_FN void keep(const WorldOf<M>& w, int row, Memory& memory) {
  using C = typename M::Physics::Contacts;
  const Manifold m = get<C, Manifold>(w, row);
  memory.a = m.a, memory.b = m.b, memory.count = m.count;
  if (m.count == 0) return;
  const Impulse impulse = get<C, Impulse>(w, row);
  const Feature feature = get<C, Feature>(w, row);
  const Vec3 first = vec(m.tangent), second = cross(vec(m.normal), first);
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (uint32_t(k) >= m.count) break;
    memory.key[k] = feature.key[k];
    set_point(memory.local, k, point(feature.local, k));
    memory.normal[k] = impulse.normal[k];
    set_point(memory.slip, k, first * impulse.first[k] + second * impulse.second[k]);
  }
}

}  // namespace ge::physics
