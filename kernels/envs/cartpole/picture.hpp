// The picture of a world: a cart on a track between two posts, the pole in front of it. Names and
// keys of the pushes.
#pragma once

#include "envs/cartpole/physics.hpp"

namespace gpu_envs::envs::cartpole {

inline ge::Solid box(float x, float y, float z) {
  ge::Solid solid;
  solid.half[0] = x, solid.half[1] = y, solid.half[2] = z;
  return solid;
}

struct Lean {
  float sine, cosine;
};
/// Not inlined, to keep modules for web pages small.
GE_COLD inline Lean lean_of(float angle) {
  Lean lean{};
  ge::sincos(angle, lean.sine, lean.cosine);
  return lean;
}

/// Lengths beyond the picture are drawn shorter.
inline ge::Scene picture(float x, float angle, float half_length) {
  using namespace ge;
  const float limit = Physics<float>::x_limit;
  const float length = half_length < 0.1f ? 0.1f : half_length < 2.0f ? half_length : 2.0f;
  constexpr float kTrack = 0.30f, kTop = 0.55f;  // heights of the track and of the cart's hinge [m]
  const float top = length > 0.5f ? kTop + 2 * length + 0.15f : 1.7f;
  Scene scene;
  Solid floor = box(0.5f, 0, 0);
  floor.shape = Solid::kFloor, floor.colour = palette::kFloor, floor.second = palette::kFloorSquare;
  Solid track = box(limit + 0.25f, 0.03f, 0.03f);
  track.position[2] = kTrack, track.colour = palette::kDark;
  Solid cart = box(0.25f, 0.16f, 0.12f);
  cart.position[0] = x, cart.position[2] = kTop - 0.12f, cart.colour = palette::kBlue;
  Solid pole = box(0.045f, 0, length - 0.045f);
  const Lean lean = lean_of(angle), half = lean_of(0.5f * angle);
  pole.shape = Solid::kCapsule, pole.colour = palette::kBox;
  pole.position[0] = x + length * lean.sine, pole.position[1] = -0.2f;
  pole.position[2] = kTop - 0.1f + length * lean.cosine;
  pole.orientation[0] = half.cosine, pole.orientation[2] = half.sine;
  scene.solids = {floor, track, cart, pole};
  for (const float side : {-1.0f, 1.0f}) {
    Solid post = box(0.04f, 0.1f, 0.5f * kTrack + 0.06f);
    post.position[0] = side * (limit + 0.29f), post.position[2] = post.half[2];
    scene.solids.push_back(post);
  }
  const float low[3] = {-limit - 0.4f, -0.3f, 0}, high[3] = {limit + 0.4f, 0.3f, top};
  for (int k = 0; k < 3; ++k) scene.low[k] = low[k], scene.high[k] = high[k];
  scene.look[0] = 0, scene.look[1] = 1, scene.look[2] = -0.22f;
  scene.view = "perspective";
  return scene;
}

template <class Params>
std::string push_name(const Params&, int push) {
  return push == 0 ? "left" : "right";
}
template <class Params>
std::string push_key(const Params&, int push) {
  return push == 0 ? "a" : "d";
}

}  // namespace gpu_envs::envs::cartpole
