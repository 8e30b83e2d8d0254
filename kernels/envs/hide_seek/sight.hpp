// Sight, in cones with a ray to the middle of each body, and lidar. The rays themselves:
// physics/sight.hpp.
#pragma once

#include "envs/hide_seek/tables.hpp"
#include "physics/sight.hpp"

namespace gpu_envs::envs::hide_seek {

using physics::facing;

/// Cosine of the angle between axis and rim of an observer's cone.
GE_FN float cone_of(const Params& p, const Derived& v, int observer) {
  return is_hider(p, observer) ? v.sight_cosine : v.seeker_cosine;
}
/// Which of the targets are inside the cone of an observer that looks `ahead`.
GE_FN Mask in_cone(const Params& p, float cosine, Vec3 ahead, const physics::Directions& to) {
  const Floats rise = p.flat_cone != 0 ? spread(0.0f) : to.z;
  const Floats along = to.x * ahead.x + to.y * ahead.y + rise * ahead.z;
  const Floats square = to.x * to.x + to.y * to.y + rise * rise;
  // along >= cosine * length, squared: the sign of `along` decides on which side.
  const Floats bound = cosine * cosine * square;
  const Mask forward = along >= 0.0f;
  // A cone wider than a half turn has all targets ahead, and those behind that are not too straight
  // behind.
  if (cosine > 0.0f) return both(forward, along * along >= bound);
  return either(forward, along * along <= bound);
}

/// Senses in a build with room for T.
template <class T>
struct Senses {
  using W = World<Schema<T>>;
  using M = Model<T>;
  using Bodies = typename Tables<T>::Bodies;

  static GE_FN bool is_there(const W& w, int row) {
    return row < w.params().body_count && physics::present(get<Bodies, Body>(w, row));
  }

  // ---- lidar: row agent * kRaySlots + ray

  static GE_FN int lidar_rows(const W& w) { return w.params().agent_count * kRaySlots; }
  static GE_FN void cast_lidar(const W& w, int first, Floats& value) {
    const Params& p = w.params();
    const Derived& v = w.varied_in_place();
    // kRaySlots is a multiple of every pack, so a pack is one agent's; the last slots are spare.
    const int agent = first / kRaySlots, ray = first % kRaySlots;
    const Pose pose = get<Bodies, Pose>(w, agent);
    Vec3 ahead = facing(pose);
    if (p.world_lidar != 0) ahead = {1.0f, 0.0f, 0.0f};
    Floats cosine{}, sine{};
    GE_UNROLL
    for (int k = 0; k < kPack; ++k) {
      set_lane(cosine, k, p.ray_cos[ray + k]);
      set_lane(sine, k, p.ray_sin[ray + k]);
    }
    const physics::Rays<Floats> rays{
        physics::vec(pose.position),
        {ahead.x * cosine - ahead.y * sine, ahead.y * cosine + ahead.x * sine, spread(0.0f)}};
    Floats nearest = physics::level_to_statics<M>(w, rays, spread(v.lidar_range));
    nearest = physics::level_to_bodies<M>(w, rays, p.body_count, agent, nearest);
    value = select(nearest < v.lidar_range, nearest, spread(v.lidar_miss));
  }

  // ---- sight: row observer * sight_slots + body; for seekers that look for hiders, which are the
  // first bodies, row seeker * kSpots + hider

  /// The way to the bodies first, first + 1, ..., and which of them are in the observer's cone.
  struct View {
    Vec3 eye;
    physics::Directions to;
    Mask wanted;
  };
  static GE_FN View view(const W& w, int observer, int first) {
    const Pose pose = get<Bodies, Pose>(w, observer);
    const Vec3 eye = physics::vec(pose.position);
    physics::Directions to = {};
    Floats there = {};
    const bool looks = is_there(w, observer);
    GE_UNROLL
    for (int k = 0; k < kPack; ++k) {
      const int row = first + k;
      if (!looks || row == observer || !is_there(w, row)) continue;
      const Pose target = get<Bodies, Pose>(w, row);
      set_lane(to.x, k, target.position[0] - eye.x);
      set_lane(to.y, k, target.position[1] - eye.y);
      set_lane(to.z, k, target.position[2] - eye.z);
      set_lane(there, k, 1.0f);
    }
    const float cosine = cone_of(w.params(), w.varied_in_place(), observer);
    return {eye, to, both(in_cone(w.params(), cosine, facing(pose), to), there > 0.0f)};
  }
  /// Which of these bodies the observer sees: 1 or 0. A body is seen if it is in the cone and the
  /// first that a ray to its middle meets.
  static GE_FN Floats look(const W& w, int observer, int first) {
    const View v = view(w, observer, first);
    if (!any_of(v.wanted)) return spread(0.0f);
    const Mask met = physics::first_met<M>(w, v.eye, v.to, first, w.params().body_count, observer);
    return select(both(v.wanted, met), spread(1.0f), spread(0.0f));
  }
  static GE_FN int sight_rows(const W& w) {
    return w.params().agent_count * w.params().sight_slots;
  }
  static GE_FN bool may_see(const W& w, int first) {
    const int slots = w.params().sight_slots;
    return any_of(view(w, first / slots, first % slots).wanted);
  }
  static GE_FN void see(const W& w, int first, Floats& value) {
    const int slots = w.params().sight_slots;
    value = look(w, first / slots, first % slots);
  }
  static GE_FN int spot_rows(const W& w) { return w.params().seeker_count * kSpots; }
  static GE_FN void spot(const W& w, int first, Floats& value) {
    const Params& p = w.params();
    const int seeker = first / kSpots, hider = first % kSpots;
    value = spread(0.0f);
    if (hider >= p.hider_count) return;
    value = look(w, p.hider_count + seeker, hider);
    // Rows after the hiders are other bodies, for which nobody looks.
    value = select(lane_numbers() + float(hider) < float(p.hider_count), value, spread(0.0f));
  }
};

}  // namespace gpu_envs::envs::hide_seek
