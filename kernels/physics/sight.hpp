// Many rays of one body at once: a lidar, and which other bodies it sees. Rays are cast by packs
// (engine/maths/packs.hpp): the lanes are rays, and every lane meets the same shape at the same
// time. There is no tree over the bodies: for 30 rays at once, thirty bodies are cheaper than one.
#pragma once

#include "geometry/ray_cast.hpp"
#include "physics/shapes.hpp"
#include "physics/tables.hpp"

namespace ge::physics {

using Directions = geometry::Vector<Floats>;

/// Where a body faces: its own +y.
GE_FN Vec3 facing(const Pose& pose) {
  return matrix(quat(pose.orientation)).y;
}
/// A body's orientation as a matrix, for rays: made once by `stand`, read for every pack. A model
/// names its own, M::Stance, whose lifetime is that of what the rays fill in.
template <int kLifetime>
struct Stance {
  float turn[9];
  static constexpr bool transient = true;
  static constexpr int lifetime = kLifetime;
  static constexpr auto describe() {
    return fields(field("stance", &Stance::turn, "axes of the body in the world"));
  }
};
template <class M>
GE_FN void stand(const WorldOf<M>&, typename M::Stance& stance, const Pose& pose) {
  set_turn(stance, matrix(quat(pose.orientation)));
}
/// A body of this kind, as rays meet it.
template <class M>
GE_FN Placed placed_body(const WorldOf<M>& w, int row, const Kind& kind) {
  return placed(kind, vec(get<BodiesOf<M>, Pose>(w, row).position),
                turn_of(get<BodiesOf<M>, typename M::Stance>(w, row)));
}

// ---- level rays

/// The distance to the upright faces of a wall, `limit` where it is not nearer; 1 / direction is
/// given. Rays from inside see nothing of it.
/// Slabs: a ray is within a wall while it is within both its x and its y range.
GE_FN Floats wall_distance(const Static& wall, Vec3 origin, const Floats& over_x,
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
/// The nearest static, box or plane, that level rays meet before `nearest`.
template <class M>
GE_FN Floats level_to_statics(const WorldOf<M>& w, const Rays<Floats>& rays, Floats nearest) {
  using Statics = typename M::Physics::Statics;
  const Floats over_x = inverse(rays.direction.x), over_y = inverse(rays.direction.y);
  const Setup& s = common_setup_of<M>(w);
  const int walls = row_count<Statics>(w);
  for (int k = 0; k < walls; ++k) {
    const Static wall = get<Statics, Static>(w, k);
    const Kind& kind = s.kinds[wall.kind];
    if (kind.shape == kPlane)
      nearest = min(nearest,
                    hit_distance<false, set_of_shapes(kPlane)>(rays, placed(kind, wall), nearest));
    else if (abs(rays.origin.z - wall.centre[2]) < wall.half[2])
      nearest = wall_distance(wall, rays.origin, over_x, over_y, nearest);
  }
  return nearest;
}
/// The nearest of bodies 0 to `bodies` - 1, but for `skip`, that level rays meet before `nearest`.
template <class M>
GE_FN Floats level_to_bodies(const WorldOf<M>& w, const Rays<Floats>& rays, int bodies, int skip,
                             Floats nearest) {
  for (int row = 0; row < bodies; ++row) {
    const Body body = get<BodiesOf<M>, Body>(w, row);
    if (row == skip || !present(body)) continue;
    const Kind& kind = common_setup_of<M>(w).kinds[body.kind];
    const Placed shape = placed_body<M>(w, row, kind);
    // Every level ray misses a body wholly above or below it.
    if (abs(shape.at.z - rays.origin.z) > kind.bound) continue;
    nearest = min(nearest, hit_distance<true, kBodyShapes<M>>(rays, shape, nearest));
  }
  return nearest;
}

// ---- visibility of bodies

/// Which of the bodies first, first + 1, ... a ray from the eye to their middle meets before
/// anything else. `to` holds the rays, lane by lane. The world has `bodies`; `skip`, the body with
/// the eye, blocks no view.
template <class M>
GE_FN Mask first_met(const WorldOf<M>& w, Vec3 eye, const Directions& to, int first, int bodies,
                     int skip) {
  using Statics = typename M::Physics::Statics;
  const Setup& s = common_setup_of<M>(w);
  // In units of the way to the target, whose middle is at 1.
  const Rays<Floats> rays{eye, to};
  const Floats end = spread(1.0f), rows = lane_numbers() + float(first);
  Floats own = end, others = end;
  for (int row = 0; row < bodies; ++row) {
    const Body body = get<BodiesOf<M>, Body>(w, row);
    if (row == skip || !present(body)) continue;
    const Placed shape = placed_body<M>(w, row, s.kinds[body.kind]);
    const Floats hit = hit_distance<false, kBodyShapes<M>>(rays, shape, end);
    // Each lane has a target of its own: the body that is one lane's target blocks the others'.
    const Mask mine = rows == float(row);
    own = select(mine, hit, own);
    others = select(mine, others, min(others, hit));
  }
  const int walls = row_count<Statics>(w);
  for (int k = 0; k < walls; ++k) {
    const Static wall = get<Statics, Static>(w, k);
    const Placed shape = placed(s.kinds[wall.kind], wall);
    others = min(others, hit_distance<false, kStaticShapes>(rays, shape, end));
  }
  return both(own < end, own <= others);
}

}  // namespace ge::physics
