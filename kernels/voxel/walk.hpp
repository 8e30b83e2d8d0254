// How a body moves in one step: accelerate, jump and fall, then up, across, down, and out of any
// remaining overlap. A kinematic character among static boxes and other characters.
//
//   up      a body that stands or falls is raised by kStepUp, so that low steps are no obstacle
//   across  the way is cut short where it meets something; the rest of it slides along
//   down    by what it was raised, and by its fall. A walkable surface grounds it; from a steep
//           edge it slips off sideways
//   out     of whatever it is deeper in than kPress
//
// After "Quake III Arena"'s way of walking: full acceleration on the ground, little in the air.
#pragma once

#include "voxel/around.hpp"

namespace ge::voxel {

inline constexpr float kGravity = 13.72f;      // [m/s^2]
inline constexpr float kJump = 6.2f;           // [m/s]
inline constexpr float kFastestFall = 55.0f;   // [m/s]
inline constexpr float kGroundPush = 50.0f;    // acceleration on the ground [m/s^2]
inline constexpr float kFriction = 15.0f;      // [m/s^2]
inline constexpr float kWalk = 4.5f;           // highest speed of walking [m/s]
inline constexpr float kBrake = 100.0f;        // how quickly more than that is lost [m/s^2]
inline constexpr float kAirPush = 3.0f;        // acceleration in the air [m/s^2]
inline constexpr float kAirSpeed = 1.0f;       // up to which one can accelerate there [m/s]
inline constexpr float kStepUp = 0.2f;         // [m]
inline constexpr float kWalkable = 0.707107f;  // least z of the normal of a ground: 45 degrees
inline constexpr float kPress = 0.041f;        // depth that is left as it is [m]
inline constexpr int kPushes = 5, kSlides = 10;
inline constexpr float kShortest = 0.01f;  // the rest of a way is dropped below this [m]
/// Kept between a body and what it walks against, so that rounding never puts it inside [m].
inline constexpr float kSkin = 1e-4f;
/// Into the top of what one stands on, or a ceiling: no obstacle for a level way [m].
inline constexpr float kSlack = 1e-3f;

// ---- speeds

GE_FN float speed_of(Flat v) {
  return sqrt(dot(v, v));
}
/// A velocity slowed by `loss`, down to `least`; slower ones are kept.
GE_FN Flat slowed(Flat v, float loss, float least) {
  const float speed = speed_of(v);
  if (speed <= least) return v;
  return v * (max(speed - loss, least) / speed);
}
/// The wished direction, of length 1 or 0.
GE_FN Flat wish_of(const Act& act, float yaw) {
  const float ahead = sign_of(act.move), left = sign_of(act.strafe);
  const float scale = select((ahead != 0.0f) & (left != 0.0f), 0x1.6a09e6p-1f, 1.0f);
  float sine, cosine;
  sincos_bounded(yaw, sine, cosine);
  return Flat{-sine * ahead - cosine * left, cosine * ahead - sine * left} * scale;
}
GE_FN void accelerate(Body& body, const Act& act) {
  const Flat wish = wish_of(act, body.yaw);
  const Flat v = {body.velocity[0], body.velocity[1]};
  const float push = select(body.grounded != 0, kGroundPush, kAirPush) * kStep;
  Flat next = {v.x + wish.x * push, v.y + wish.y * push};
  if (body.grounded != 0) {
    next = slowed(next, kBrake * kStep, kWalk);
  } else {
    const float speed = speed_of(next);
    if ((speed > kAirSpeed) & (speed >= speed_of(v))) next = v;
  }
  body.velocity[0] = next.x, body.velocity[1] = next.y;
  if ((act.jump != 0) & (body.grounded != 0)) body.climb = kJump;
  body.climb = clamp(body.climb - kGravity * kStep, -kFastestFall, kJump);
}

// ---- ways

/// The part of a path up by `way` that is free.
template <class A>
GE_FN float rise(const A& around, Vec3 at, float way) {
  float free = way;
  around.visit([&](const auto& r) {
    const float round = cap(r, at), under = r.at.z - r.half.z - round - at.z;
    if ((round >= 0.0f) & (under > -kPress)) free = min(free, max(under, 0.0f));
  });
  return free;
}

/// The surface on which a body that goes down by `way` comes to rest.
struct Ground {
  float z;    // height at which it touches, else the end of the way
  float cap;  // of the rounding above the edge; negative: nothing is met
  float radius;
  Flat out;  // from the edge to the body
};
template <class A>
GE_FN Ground ground_below(const A& around, Vec3 at, float way) {
  Ground ground = {at.z - way, -1.0f, 1.0f, {0.0f, 0.0f}};
  around.visit([&](const auto& r) {
    const float round = cap(r, at), top = r.at.z + r.half.z + round;
    // A surface whose top the body has already passed holds nothing up: the body stands beside it.
    if ((round < 0.0f) | (at.z < top - kPress) | (top < ground.z)) return;
    ground = {top, round, r.radius, beside(r, at)};
  });
  return ground;
}

/// Moves `at` along a level path; returns whether it met something.
template <class A>
GE_FN bool slide(const A& around, Vec3& at, Flat way, int slides) {
  const Flat wanted = way;
  bool met = false;
  for (int k = 0; k < slides; ++k) {
    Meeting first = {2.0f, {0.0f, 0.0f}};
    around.visit([&](auto r) {
      // A body that touches the top of something lower by the skin is free of it.
      r.radius += kSkin;
      const Meeting now = meet(r, at, way, kSlack + kSkin);
      if (now.time < first.time) first = now;
    });
    const float share = min(first.time, 1.0f);
    at.x += way.x * share, at.y += way.y * share;
    if (first.time > 1.0f) return met;
    met = true;
    way = way * (1.0f - share);
    way = way - first.normal * min(dot(way, first.normal), 0.0f);
    if ((dot(way, way) < kShortest * kShortest) | (dot(way, wanted) <= 0.0f)) return met;
  }
  return met;
}

/// Moves down by `way`; returns whether it met a walkable surface.
template <class A>
GE_FN bool fall(const A& around, Vec3& at, float way) {
  constexpr int kSlips = 2;
  for (int k = 0; k < kSlips; ++k) {
    const Ground ground = ground_below(around, at, way);
    const float rest = ground.z - (at.z - way);
    at.z = ground.z;
    if (ground.cap < 0.0f) return false;
    if (ground.cap >= kWalkable * ground.radius) return true;
    // Off the edge, as far aside as the rest of the fall needs.
    const float aside = speed_of(ground.out), height = max(ground.cap - rest, 0.0f);
    const float away = sqrt(ground.radius * ground.radius - height * height) - aside + kSkin;
    slide(around, at, ground.out * (away / aside), 1);
    way = rest;
  }
  return false;
}

template <class A>
GE_FN void push_out(const A& around, Vec3& at) {
  for (int k = 0; k < kPushes; ++k) {
    bool moved = false;
    around.visit([&](const auto& r) {
      const Depth inside = depth_of(r, at);
      if (inside.depth <= kPress) return;
      at += inside.out * inside.depth;
      moved = true;
    });
    if (!moved) return;
  }
}

// ---- a step

/// The bounds of all that a step may touch: the way, the rounding that a slip adds, and a push,
/// which is longest out of another body.
GE_FN Reach reach_of(const Body& body) {
  const Vec3 at = geometry::vec(body.position);
  const float across = speed_of({body.velocity[0], body.velocity[1]}) * kStep;
  const float side = across + 3.0f * kRadius, fallen = max(-body.climb, 0.0f) * kStep;
  const float up = kStepUp + max(body.climb, 0.0f) * kStep;
  return {at - Vec3{side, side, kTall + kPress + fallen},
          at + Vec3{side, side, kTall + kPress + up}};
}

template <class A>
GE_FN void move(const A& around, Body& body) {
  Vec3 at = geometry::vec(body.position);
  const float begin = at.z, fallen = max(-body.climb, 0.0f) * kStep;
  const float up = select(body.climb < 0.0f, kStepUp, max(body.climb, 0.0f) * kStep);
  const float raised = rise(around, at, up);
  at.z += raised;
  if ((body.climb > 0.0f) & (raised < up)) body.climb = 0.0f;  // a bumped head

  const Vec3 before = at;
  if (slide(around, at, Flat{body.velocity[0], body.velocity[1]} * kStep, kSlides)) {
    body.velocity[0] = (at.x - before.x) * float(kStepsPerSecond);
    body.velocity[1] = (at.y - before.y) * float(kStepsPerSecond);
  }
  body.grounded = 0;
  if (body.climb < 0.0f && fall(around, at, raised + fallen)) {
    body.grounded = 1;
    body.climb = 0.0f;
  }
  const float landed = at.z;
  push_out(around, at);
  // A body that a push holds up does not fall: its speed would grow until it passed a floor.
  if ((body.climb < 0.0f) & (at.z > landed))
    body.climb = max(body.climb, min((at.z - begin) * float(kStepsPerSecond), 0.0f));
  if (body.grounded != 0) {
    const Flat v = slowed({body.velocity[0], body.velocity[1]}, kFriction * kStep, 0.0f);
    body.velocity[0] = v.x, body.velocity[1] = v.y;
  }
  geometry::put(body.position, at);
}

/// One after the other, in the order of agents: first all wishes, then all ways.
template <class M>
GE_FN void move_agents(const WorldOf<M>& w, BodyRows<M> bodies) {
  const int agents = team_size<M>(w);
  for (int row = 0; row < agents; ++row) {
    const Act act = get<typename M::Agents, Act>(w, row);
    Body body = bodies.get(row);
    turn(body, act, w.params().look_limit);
    accelerate(body, act);
    bodies.set(row, body);
  }
  for (int row = 0; row < agents; ++row) {
    Body body = bodies.get(row);
    const Around<M> around(w, bodies, row, reach_of(body));
    move(around, body);
    bodies.set(row, body);
  }
}

}  // namespace ge::voxel
