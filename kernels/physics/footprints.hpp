// Bounds of shapes on the floor, for generators of levels: two bodies stand free of each other if
// their footprints do not overlap.
#pragma once

#include "engine/maths/math.hpp"
#include "physics/tables.hpp"

namespace ge::physics {

struct Footprint {
  float low[2], high[2];
  static constexpr auto describe() {
    return fields(field("low_corner", &Footprint::low, "of its bounds on the floor").in("m"),
                  field("high_corner", &Footprint::high, "of its bounds on the floor").in("m"));
  }
};
/// The bounds on the floor of a body of this kind at (x, y), turned by yaw.
GE_FN Footprint footprint_of(const Kind& kind, float x, float y, float yaw) {
  float sine, cosine;
  sincos_bounded(yaw, sine, cosine);
  // The box around a turned rectangle, a little too large.
  const bool wedge = kind.shape == kWedge, sphere = kind.shape == kSphere;
  const float half_x = kind.half[0];
  const float half_y =
      select(wedge, 0.5f * kind.half[1], select(sphere, kind.half[0], kind.half[1]));
  // A wedge's origin, its centre of mass, is a sixth of its run ahead of its middle.
  const float back = select(wedge, kind.half[1] * (1.0f / 6.0f), 0.0f);
  const float c = select(sphere, 1.0f, abs(cosine)), s = select(sphere, 0.0f, abs(sine));
  const float reach_x = c * half_x + s * half_y, reach_y = s * half_x + c * half_y;
  const float middle_x = x + sine * back, middle_y = y - cosine * back;
  return {{middle_x - reach_x, middle_y - reach_y}, {middle_x + reach_x, middle_y + reach_y}};
}
GE_FN bool overlap(const Footprint& a, const Footprint& b) {
  return (a.low[0] < b.high[0]) & (a.high[0] > b.low[0]) & (a.low[1] < b.high[1]) &
         (a.high[1] > b.low[1]);
}
GE_FN Footprint footprint_of(const Static& wall) {
  return {{wall.centre[0] - wall.half[0], wall.centre[1] - wall.half[1]},
          {wall.centre[0] + wall.half[0], wall.centre[1] + wall.half[1]}};
}

}  // namespace ge::physics
