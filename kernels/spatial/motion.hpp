// How an agent of a swarm moves: it turns, changes its speed, and goes along its heading over the
// edges of a torus. All agents move at once, each by only its own state. In float32 and in the
// order of jumanji's `update_state`, which floxs uses.
#pragma once

#include "spatial/neighbours.hpp"

namespace ge::spatial {

struct Course {
  float heading, speed;
  static constexpr auto describe() {
    return fields(
        field("heading", &Course::heading, "counter-clockwise from +x, in [0, 2 pi)").in("rad"),
        field("speed", &Course::speed, "along the heading").in("length/step"));
  }
};

/// Limits of a kind of agents.
struct Abilities {
  float turn;        // most rotation [pi rad/step]
  float accelerate;  // most change of speed [length/step^2]
  float min_speed, max_speed;
};

/// Steers as in floxs: the action is (rotation, acceleration), both in [-1, 1].
GE_FN void steer(const Abilities& can, Course& course, float rotation, float acceleration) {
  const float turn = rotation * can.turn * kPi;
  course.heading = wrapped_angle(course.heading + turn);
  course.speed = clamp(course.speed + acceleration * can.accelerate, can.min_speed, can.max_speed);
}
/// Steers by speed: the action sets the speed itself; negative speeds stand still.
GE_FN void steer_directly(const Abilities& can, Course& course, float rotation, float speed) {
  const float turn = rotation * can.turn * kPi;
  course.heading = wrapped_angle(course.heading + turn);
  course.speed = max(can.min_speed, clamp(speed, 0.0f, 1.0f) * can.max_speed);
}

GE_FN void advance(const Square& square, Position& at, const Course& course) {
  float sine, cosine;
  sincos_bounded(course.heading, sine, cosine);
  at.x = wrapped(square, at.x + course.speed * cosine);
  at.y = wrapped(square, at.y + course.speed * sine);
}

/// A random start, a function of only four random words: uniform place, heading and speed.
GE_FN void start(const Square& square, const Abilities& can, const Draw& draw, Position& at,
                 Course& course) {
  at = {draw.uniform(0) * square.side, draw.uniform(1) * square.side};
  course.heading = wrapped_angle(draw.uniform(2) * kTurn);
  const float spread = can.max_speed - can.min_speed;
  course.speed = clamp(can.min_speed + draw.uniform(3) * spread, can.min_speed, can.max_speed);
  at = {wrapped(square, at.x), wrapped(square, at.y)};
}

}  // namespace ge::spatial
