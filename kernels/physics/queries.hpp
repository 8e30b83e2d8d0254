// Queries of a whole world: the first hit of a ray, or of a moving shape. Sleeping and locked
// bodies are hit like any others; one row can be left out, usually the caller's. For many rays of
// one origin cast hit_distance over packs instead (geometry/ray_cast.hpp).
#pragma once

#include "geometry/ray_cast.hpp"
#include "physics/broad_phase.hpp"
#include "physics/shape_cast.hpp"

namespace ge::physics {

/// Rows of Hit other than bodies: nothing, the floor; a static is kBodies + its row.
enum HitRow : int { kNothing = -1, kFloorRow = -2 };

struct Hit {
  float distance;  // of a ray in lengths of its direction, of a shape the fraction of its path
  int row;
};

/// The minimum of `distance_of(placed, limit)` over every static, the floor and every body but
/// `skip`; ties go to the first in this order. What lies in a box (centre and half extents) that is
/// not `in_reach` is passed over, which costs less than to place a shape and ask for its distance.
template <class M, class N, class F>
GE_FN Hit nearest_of(const WorldOf<M>& w, float limit, int skip, const N& in_reach,
                     const F& distance_of) {
  using T = BodiesOf<M>;
  using U = typename M::Physics::Statics;
  const Setup& s = common_setup_of<M>(w);
  Hit hit = {limit, kNothing};
  const auto meet = [&](const Placed& shape, int row) GE_LAMBDA {
    // The nearest so far is the limit, which a shape that is not nearer gives back.
    const float distance = distance_of(shape, hit.distance);
    // Strictly less: ties keep the first, on every machine.
    hit.row = select(distance < hit.distance, row, hit.row);
    hit.distance = min(hit.distance, distance);
  };
  const int statics = row_count<U>(w);
  for (int k = 0; k < statics; ++k) {
    const Static wall = get<U, Static>(w, k);
    const Kind& kind = s.kinds[wall.kind];
    if (kind.shape != kPlane && !in_reach(vec(wall.centre), vec(wall.half))) continue;
    meet(placed(kind, wall), T::capacity + k);
  }
  meet(placed(s.kinds[0], Vec3{0, 0, 0}, identity()), int(kFloorRow));
  for (int row = 0; row < T::capacity; ++row) {
    const Body body = get<T, Body>(w, row);
    if (row == skip || !present(body)) continue;
    const Pose pose = get<T, Pose>(w, row);
    const Kind& kind = s.kinds[body.kind];
    if (!in_reach(vec(pose.position), Vec3{kind.bound, kind.bound, kind.bound})) continue;
    meet(placed(kind, vec(pose.position), matrix(quat(pose.orientation))), row);
  }
  return hit;
}

/// The first hit of a ray within `limit`. A ray that begins inside a shape does not hit it.
template <class M>
GE_FN Hit first_hit(const WorldOf<M>& w, const Rays<float>& ray, float limit, int skip) {
  // A hit lies on the shape up to rounding, and no farther along the ray than the limit.
  const float reach = 1.001f * limit * length(ray.direction) + 0.01f;
  const auto in_reach = [&](Vec3 centre, Vec3 half) GE_LAMBDA {
    const Vec3 away = abs(centre - ray.origin) - half;
    return (away.x <= reach) & (away.y <= reach) & (away.z <= reach);
  };
  return nearest_of<M>(w, limit, skip, in_reach, [&](const Placed& shape, float nearest) GE_LAMBDA {
    return hit_distance(ray, shape, nearest);
  });
}
/// The first hit of a shape along its path; at 0, a shape that it overlaps at the start, so lift a
/// shape that stands on something a little.
template <class M>
GE_FN Hit first_touch(const WorldOf<M>& w, const Placed& moving, Vec3 path, int skip) {
  // cast() returns 1 for a miss, which is not nearer than the limit.
  const auto anywhere = [](Vec3, Vec3) GE_LAMBDA { return true; };
  return nearest_of<M>(w, 1.0f, skip, anywhere, [&](const Placed& shape, float) GE_LAMBDA {
    return cast(moving, path, shape);
  });
}

}  // namespace ge::physics
