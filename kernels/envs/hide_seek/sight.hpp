// What agents see and measure: cones of sight with a ray to the middle of each body, and lidar.
// Rays are cast by packs (engine/maths/packs.hpp): the lanes are rays of one agent, every lane
// meets the same body at the same time. There is no tree over the bodies: for 30 rays at once,
// thirty bodies are cheaper than walking one.
#pragma once

#include "envs/hide_seek/tables.hpp"
#include "geometry/ray_cast.hpp"
#include "physics/shapes.hpp"

namespace gpu_envs::envs::hide_seek {

using Directions = physics::Vector<Floats>;

/// Where a body faces: its own +y.
GE_FN Vec3 facing(const Pose& pose) {
  return physics::matrix(physics::quat(pose.orientation)).y;
}
template <class T>
GE_FN physics::Placed placed_body(const W<T>& w, int row, const physics::Kind& kind) {
  const Pose pose = w.template get<Bodies<T>, Pose>(row);
  return physics::placed(kind, physics::vec(pose.position),
                         physics::matrix(physics::quat(pose.orientation)));
}
template <class T>
GE_FN bool is_there(const W<T>& w, int row) {
  return row < w.params().body_count && physics::present(w.template get<Bodies<T>, Body>(row));
}

// ---- lidar: row agent * kRaySlots + ray

/// The upright faces of a wall, met by horizontal rays; 1 / direction is given. Rays from inside
/// see nothing of it.
/// Slabs: a ray is within a wall while it is within both its x and its y range.
GE_FN Floats wall_distance(const physics::Static& wall, Vec3 origin, const Floats& over_x,
                           const Floats& over_y, const Floats& limit) {
  const Floats x0 = (wall.centre[0] - wall.half[0] - origin.x) * over_x;
  const Floats x1 = (wall.centre[0] + wall.half[0] - origin.x) * over_x;
  const Floats y0 = (wall.centre[1] - wall.half[1] - origin.y) * over_y;
  const Floats y1 = (wall.centre[1] + wall.half[1] - origin.y) * over_y;
  const Floats enter = max(min(x0, x1), min(y0, y1)), leave = min(max(x0, x1), max(y0, y1));
  const Mask hit = both(both(enter < leave, enter > 0.0f), enter < limit);
  return select(hit, enter, limit);
}
/// 1 / x, finite.
GE_FN Floats inverse(const Floats& x) {
  const Mask tiny = both(-x < 1e-20f, x < 1e-20f);
  return 1.0f / select(tiny, spread(1e-20f), x);
}

template <class T>
GE_FN Floats statics_distance(const W<T>& w, Vec3 origin, const Directions& direction,
                              Floats nearest) {
  const Params& p = w.params();
  const Floats over_x = inverse(direction.x), over_y = inverse(direction.y);
  const int walls = w.template count<Statics<T>>();
  for (int k = 0; k < walls; ++k) {
    const physics::Static wall = w.template get<Statics<T>, physics::Static>(k);
    if (wall.kind == kPlaneKind) {
      const physics::Placed plane = physics::placed(p.physics.kinds[kPlaneKind], wall);
      nearest = min(
          nearest, physics::hit_distance(physics::Rays<Floats>{origin, direction}, plane, nearest));
    } else if (abs(origin.z - wall.centre[2]) < wall.half[2]) {
      nearest = wall_distance(wall, origin, over_x, over_y, nearest);
    }
  }
  return nearest;
}

template <class T>
GE_FN int lidar_rows(const W<T>& w) {
  return w.params().agent_count * kRaySlots;
}
template <class T>
GE_FN void cast_lidar(const W<T>& w, int first, Floats& value) {
  const Params& p = w.params();
  // kRaySlots is a multiple of every pack, so a pack is one agent's; the last slots are spare.
  const int agent = first / kRaySlots, ray = first % kRaySlots;
  const Pose pose = w.template get<Bodies<T>, Pose>(agent);
  const Vec3 origin = physics::vec(pose.position);
  Vec3 ahead = facing(pose);
  if (p.world_lidar != 0) ahead = {1.0f, 0.0f, 0.0f};
  Floats cosine{}, sine{};
  GE_UNROLL
  for (int k = 0; k < kPack; ++k) {
    set_lane(cosine, k, p.ray_cos[ray + k]);
    set_lane(sine, k, p.ray_sin[ray + k]);
  }
  const Directions direction = {ahead.x * cosine - ahead.y * sine,
                                ahead.y * cosine + ahead.x * sine, spread(0.0f)};
  const physics::Rays<Floats> rays{origin, direction};
  Floats nearest = statics_distance<T>(w, origin, direction, spread(p.lidar_range));
  for (int row = 0; row < p.body_count; ++row) {
    if (row == agent || !is_there<T>(w, row)) continue;
    const physics::Kind& kind = kind_of(p, w.template get<Bodies<T>, Body>(row));
    const physics::Placed body = placed_body<T>(w, row, kind);
    // Rays are level: what lies wholly above or below them is missed by all.
    if (abs(body.at.z - origin.z) > kind.bound) continue;
    nearest = min(nearest, physics::hit_distance<true>(rays, body, nearest));
  }
  value = select(nearest < p.lidar_range, nearest, spread(p.lidar_miss));
}

// ---- sight

GE_FN float cone_of(const Params& p, int observer) {
  return is_hider(p, observer) ? p.sight_cosine : p.seeker_cosine;
}
/// Which of the targets are inside the cone of an observer who looks `ahead`.
GE_FN Mask in_cone(const Params& p, int observer, Vec3 ahead, const Directions& to) {
  const float cosine = cone_of(p, observer);
  const Floats rise = p.flat_cone != 0 ? spread(0.0f) : to.z;
  const Floats along = to.x * ahead.x + to.y * ahead.y + rise * ahead.z;
  const Floats square = to.x * to.x + to.y * to.y + rise * rise;
  // along >= cosine * length, without the root: the sign of `along` decides on which side.
  const Floats bound = cosine * cosine * square;
  const Mask forward = along >= 0.0f;
  // Wider than a half turn the cone has all ahead, and behind what is not too straight behind.
  if (cosine > 0.0f) return both(forward, along * along >= bound);
  return either(forward, along * along <= bound);
}

/// Which of the bodies first, first + 1, ... the observer sees: 1 or 0. A body is seen where it is
/// in the cone and is the first that a ray to its middle meets.
template <class T>
GE_FN Floats look(const W<T>& w, int observer, int first) {
  const Params& p = w.params();
  const Pose pose = w.template get<Bodies<T>, Pose>(observer);
  const Vec3 eye = physics::vec(pose.position);
  Directions to = {};
  Floats there = {};
  GE_UNROLL
  for (int k = 0; k < kPack; ++k) {
    const int row = first + k;
    if (row == observer || !is_there<T>(w, row)) continue;
    const Pose target = w.template get<Bodies<T>, Pose>(row);
    set_lane(to.x, k, target.position[0] - eye.x);
    set_lane(to.y, k, target.position[1] - eye.y);
    set_lane(to.z, k, target.position[2] - eye.z);
    set_lane(there, k, 1.0f);
  }
  const Mask wanted = both(in_cone(p, observer, facing(pose), to), there > 0.0f);
  if (!is_there<T>(w, observer) || !any_of(wanted)) return spread(0.0f);
  // In units of the way to the target, whose middle is at 1.
  const physics::Rays<Floats> rays{eye, to};
  const Floats end = spread(1.0f), rows = lane_numbers() + float(first);
  Floats own = end, others = end;
  for (int row = 0; row < p.body_count; ++row) {
    if (row == observer || !is_there<T>(w, row)) continue;
    const physics::Kind& kind = kind_of(p, w.template get<Bodies<T>, Body>(row));
    const Floats hit = physics::hit_distance(rays, placed_body<T>(w, row, kind), end);
    // Each lane has a target of its own: the body that is one lane's target blocks the others'.
    const Mask mine = rows == float(row);
    own = select(mine, hit, own);
    others = select(mine, others, min(others, hit));
  }
  const int walls = w.template count<Statics<T>>();
  for (int k = 0; k < walls; ++k) {
    const physics::Static wall = w.template get<Statics<T>, physics::Static>(k);
    const physics::Placed placed = physics::placed(p.physics.kinds[wall.kind], wall);
    others = min(others, physics::hit_distance(rays, placed, end));
  }
  return select(both(wanted, both(own < end, own <= others)), end, spread(0.0f));
}

template <class T>
GE_FN int sight_rows(const W<T>& w) {
  return w.params().agent_count * w.params().sight_slots;
}
template <class T>
GE_FN void see(const W<T>& w, int first, Floats& value) {
  const int slots = w.params().sight_slots;
  value = look<T>(w, first / slots, first % slots);
}

/// Seekers look for hiders, who are the first bodies: row seeker * kSpots + hider.
template <class T>
GE_FN int spot_rows(const W<T>& w) {
  return w.params().seeker_count * kSpots;
}
template <class T>
GE_FN void spot(const W<T>& w, int first, Floats& value) {
  const Params& p = w.params();
  const int seeker = first / kSpots, hider = first % kSpots;
  value = spread(0.0f);
  if (hider >= p.hider_count) return;
  value = look<T>(w, p.hider_count + seeker, hider);
  // Behind the hiders come others, whom nobody is looking for.
  value = select(lane_numbers() + float(hider) < float(p.hider_count), value, spread(0.0f));
}

}  // namespace gpu_envs::envs::hide_seek
