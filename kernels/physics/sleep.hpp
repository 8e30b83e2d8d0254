// Sleep: bodies at rest are left out of the step until something comes near. Bodies that rest on
// each other sleep and wake as a group, along the pairs of the broad phase, since a sleeper beside
// an awake body would be pushed without the floor that holds it.
#pragma once

#include "physics/broad_phase.hpp"

namespace ge::physics {

/// A bit per body.
template <int N>
struct BodySet {
  uint32_t words[(N + 31) / 32] = {};
  // One word stays in a register, where its number is known.
  static GE_FN int word(int k) { return N <= 32 ? 0 : k >> 5; }
  GE_FN bool has(int k) const { return (words[word(k)] >> (k & 31) & 1u) != 0; }
  GE_FN void add(int k) { words[word(k)] |= 1u << (k & 31); }
  GE_FN void remove(int k) { words[word(k)] &= ~(1u << (k & 31)); }
};

/// Calls f(a, b) for every pair of the broad phase.
template <class M, class F>
GE_FN void each_near(const WorldOf<M>& w, const F& f) {
  using T = BodiesOf<M>;
  using Near = typename M::Physics::NearOf;
  constexpr int kWords = sizeof(Near::bodies) / 4;
  for (int a = 0; a < T::capacity; ++a) {
    const Near near = get<T, Near>(w, a);
    GE_UNROLL
    for (int k = 0; k < kWords; ++k)
      for (uint32_t bits = near.bodies[k]; bits != 0; bits &= bits - 1)
        f(a, 32 * k + lowest_one(bits));
  }
}

/// A load counts even where it moves nothing: a body that leans on a wall must fall when the wall
/// goes.
GE_FN bool at_rest(const Setup& s, const Velocity& v, const Load& load) {
  const float limit = s.quiet_speed * s.quiet_speed;
  const Vec3 force = vec(load.force), torque = vec(load.torque);
  return dot(vec(v.linear), vec(v.linear)) < limit && dot(vec(v.angular), vec(v.angular)) < limit &&
         dot(force, force) == 0.0f && dot(torque, torque) == 0.0f;
}

/// Wakes a body and restarts its counter: it sleeps only after quiet_steps more steps at rest.
GE_FN void rouse(Body& body) {
  body.state &= ~kAsleep;
  body.quiet = 0;
}

/// A sleeper that is pushed or moved by the environment wakes by itself.
template <class M>
GE_FN void stir(const WorldOf<M>& w, Body& body, const Velocity& velocity, const Load& load) {
  if ((body.state & kAsleep) != 0 && !at_rest(setup_of<M>(w), velocity, load)) rouse(body);
}

/// Wakes sleepers near an awake body, and those near them. Bodies that joints hold stay awake.
template <class M>
GE_FN void wake(const WorldOf<M>& w, Rows<BodiesOf<M>, Body> bodies) {
  using P = typename M::Physics;
  BodySet<P::kBodies> up, all;
  bool sleepers = false, moved = false;
  for (int k = 0; k < P::kBodies; ++k) {
    const Body body = bodies.get(k);
    if ((body.state & kAsleep) != 0) {
      const Vec3 at = vec(get<BodiesOf<M>, Pose>(w, k).position), rest = vec(body.rest);
      // To the bit: nothing in a step moves a sleeper, so any difference is the environment's.
      moved = moved || at.x != rest.x || at.y != rest.y || at.z != rest.z;
    }
    if (awake(body)) up.add(k);
    if (movable(body)) all.add(k);
    sleepers = sleepers || (movable(body) && !awake(body));
  }
  // The common case, at the price of one pass over the bodies.
  if (!sleepers) return;
  // Bounds are at the current poses, so no pair knows where the moved body was, nor what rested on
  // it: wake all.
  if (moved) up = all;
  for (int k = 0; k < P::kJoints; ++k) {
    const Joint joint = get<typename P::Joints, Joint>(w, k);
    if (joint.type == kNoJoint) continue;
    if (all.has(int(joint.a))) up.add(int(joint.a));
    if (all.has(int(joint.b))) up.add(int(joint.b));
  }
  for (bool changed = true; changed;) {
    changed = false;
    each_near<M>(w, [&](int a, int b) GE_LAMBDA {
      if (!all.has(a) || !all.has(b) || up.has(a) == up.has(b)) return;
      up.add(a);
      up.add(b);
      changed = true;
    });
  }
  for (int k = 0; k < P::kBodies; ++k) {
    Body body = bodies.get(k);
    if (!up.has(k) || awake(body)) continue;
    rouse(body);
    bodies.set(k, body);
  }
}

/// Counts the steps at rest.
/// Up to kMostQuiet, well above any quiet_steps, so that the counter never wraps.
template <class M>
GE_FN void count_quiet(const WorldOf<M>& w, Body& body, const Velocity& velocity,
                       const Load& load) {
  body.quiet = at_rest(setup_of<M>(w), velocity, load) ? min(body.quiet + 1u, kMostQuiet) : 0u;
}

/// Groups whose bodies have all been at rest for long enough fall asleep.
/// The reverse of wake(): one restless body keeps all that are linked to it awake. Repeated to a
/// fixed point in both, so neither depends on the order of the rows.
template <class M>
GE_FN void sleep(const WorldOf<M>& w, Rows<BodiesOf<M>, Body> bodies,
                 Rows<BodiesOf<M>, Velocity> velocities) {
  using P = typename M::Physics;
  const Setup& s = setup_of<M>(w);
  BodySet<P::kBodies> all, quiet;
  bool candidates = false;
  for (int k = 0; k < P::kBodies; ++k) {
    const Body body = bodies.get(k);
    if (!movable(body)) continue;
    all.add(k);
    const bool rests = !awake(body) || body.quiet >= uint32_t(s.quiet_steps);
    if (rests) quiet.add(k);
    candidates = candidates || (awake(body) && rests);
  }
  if (!candidates) return;
  for (int k = 0; k < P::kJoints; ++k) {
    const Joint joint = get<typename P::Joints, Joint>(w, k);
    if (joint.type == kNoJoint) continue;
    quiet.remove(int(joint.a));
    quiet.remove(int(joint.b));
  }
  for (bool changed = true; changed;) {
    changed = false;
    each_near<M>(w, [&](int a, int b) GE_LAMBDA {
      if (!all.has(a) || !all.has(b) || quiet.has(a) == quiet.has(b)) return;
      quiet.remove(a);
      quiet.remove(b);
      changed = true;
    });
  }
  for (int k = 0; k < P::kBodies; ++k) {
    Body body = bodies.get(k);
    if (!quiet.has(k) || !awake(body)) continue;
    body.state |= kAsleep;
    put(body.rest, vec(get<BodiesOf<M>, Pose>(w, k).position));
    bodies.set(k, body);
    // Below quiet_speed, but not zero: it would move on by itself when it wakes.
    velocities.set(k, Velocity{});
  }
}

}  // namespace ge::physics
