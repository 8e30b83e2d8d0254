// The world that positions live in: a square, whose opposite edges are one (a torus) or walls.
// Differences and remainders follow floxs (square_test.cpp says where).
#pragma once

#include "engine/maths/math.hpp"
#include "engine/maths/packs.hpp"

namespace ge::spatial {

/// Both coordinates lie in [0, side).
struct Square {
  float side;
  float half;  // from this difference on the way across the edge is shorter; infinity: walls
};

GE_FN bool wraps(const Square& square) {
  return square.half < infinity<float>();
}
inline Square torus(double side) {
  return {float(side), float(0.5 * side)};
}
inline Square walled(double side) {
  return {float(side), infinity<float>()};
}

/// The shorter way between two coordinates whose plain difference is `d`; F is float or Floats.
template <class F>
GE_FN F shortest(const Square& square, F d) {
  const F up = select(d >= square.half, d - square.side, d);
  return select(d <= -square.half, d + square.side, up);
}

/// A coordinate that was written from outside and lies beyond an edge becomes the edge's; NaN stays.
GE_FN float clamped(const Square& square, float x) {
  return select(x < 0.0f, 0.0f, select(x > square.side, square.side, x));
}

/// A coordinate brought back into [0, side) across one of the edges; 0 where it was further away.
GE_FN float wrapped(const Square& square, float x) {
  float inside = select(x >= square.side, x - square.side, x);
  inside = select(x < 0.0f, x + square.side, inside);
  // The sum of a side and a tiny negative number is a side.
  return select((inside >= 0.0f) & (inside < square.side), inside, 0.0f);
}

inline constexpr float kPi = 0x1.921fb6p+1f, kTurn = 0x1.921fb6p+2f;  // [rad]

/// An angle brought into [0, 2 pi).
GE_FN float wrapped_angle(float angle) {
  return wrapped({kTurn, 0.5f * kTurn}, angle);
}
/// The difference of two angles of [0, 2 pi], in [-pi, pi].
template <class F>
GE_FN F shortest_turn(F d) {
  return shortest({kTurn, 0.5f * kTurn}, d);
}

}  // namespace ge::spatial
