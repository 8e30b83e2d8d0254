// A world as text for a terminal: the cart on its track and the pole, seen from the side, and the
// numbers of both. Host only.
#pragma once

#include <string>

#include "envs/cartpole/physics.hpp"
#include "pictures/text.hpp"

namespace gpu_envs::envs::cartpole {

/// Ten columns and five rows a metre, since characters are twice as high as wide. The pole, one
/// metre long, stands on the lowest row, which is the track.
inline std::string drawing(float x, float angle) {
  constexpr int kWidth = 57, kPole = 5;
  constexpr float kMetre = 10, kSide = 0.5f * kWidth / kMetre;  // half of the width [m]
  const float limit = Physics<float>::x_limit;
  ge::PlaneText map(kWidth, kPole + 1, {-kSide, -1.0f / kPole}, {kSide, 1.0f});
  float sine, cosine;
  ge::sincos(angle, sine, cosine);
  for (int k = 0; k < kPole; ++k) {
    const float along = (float(k) + 0.5f) / kPole;
    const char piece = sine > 0.1f ? '/' : sine < -0.1f ? '\\' : '|';
    map.mark(x + along * sine, along * cosine, piece);
  }
  map.cover({-kSide, -0.1f}, {kSide, -0.1f}, ' ');
  map.cover({-limit, -0.1f}, {limit, -0.1f}, '-');
  for (const float side : {-limit, limit}) map.mark(side, -0.1f, '|');
  const std::string cart = "[===]";
  for (int k = 0; k < 5; ++k) map.put(map.column(x) + k - 2, 0, cart[size_t(k)]);
  return map.text();
}

/// `knows_speeds`: whether velocities are told.
template <class Motion>
std::string cart_text(const Motion& m, bool knows_speeds, int64_t step, int64_t limit) {
  using ge::in_decimals, ge::in_degrees;
  const std::string velocity =
      knows_speeds ? ", velocity " + in_decimals(double(m.velocity), 2) + " m/s" : "";
  const std::string spin =
      knows_speeds ? ", angular velocity " + in_degrees(double(m.spin), 1) + "/s" : "";
  return drawing(float(m.x), float(m.angle)) + "cart: position " + in_decimals(double(m.x), 2) +
         " m" + velocity + "\npole: angle " + in_degrees(double(m.angle), 1) + spin +
         "\npositive is to the right; limits are " + in_decimals(Physics<float>::x_limit, 1) +
         " m and " + in_degrees(Physics<float>::angle_limit, 0) + "\n" +
         ge::step_text(step, limit) + "\n";
}

}  // namespace gpu_envs::envs::cartpole
