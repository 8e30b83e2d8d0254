// A world as text for a terminal: the cart on its track and the pole, seen from the side, and the
// numbers of both. Host only.
#pragma once

#include <string>

#include "envs/cartpole/picture.hpp"
#include "pictures/text.hpp"

namespace gpu_envs::envs::cartpole {

/// Ten columns and five rows a metre, since characters are twice as high as wide. The pole,
/// drawn one metre long, stands on the lowest row, which is the track.
GE_COLD inline std::string drawing(float x, float angle) {
  constexpr int kWidth = 57, kPole = 5, kMiddle = kWidth / 2;
  constexpr int kLimit = int(10 * Physics<float>::x_limit);  // columns from the middle
  ge::MapText map(kWidth, 1 + kPole);
  const auto column = [](float at) {
    return ge::MapText::within(10.0f * at + (0.5f + kMiddle), kWidth - 1);
  };
  const Lean lean = lean_of(angle);
  const char piece = lean.sine > 0.1f ? '/' : lean.sine < -0.1f ? '\\' : '|';
  for (int k = 0; k < kPole; ++k) {
    const float along = (float(k) + 0.5f) / kPole;
    const int row = ge::MapText::within(1.0f + kPole * along * lean.cosine, kPole);
    map.put(column(x + along * lean.sine), row, piece);
  }
  for (int k = 0; k < kWidth; ++k) {
    const int off = k < kMiddle ? kMiddle - k : k - kMiddle;
    map.put(k, 0, off < kLimit ? '-' : off == kLimit ? '|' : ' ');
  }
  for (int k = 0; k < 5; ++k) map.put(column(x) + k - 2, 0, "[===]"[k]);
  return map.text();
}

/// `knows_speeds`: whether velocities are told.
template <class Motion>
GE_COLD std::string cart_text(const Motion& m, bool knows_speeds, int64_t step, int64_t limit) {
  using ge::add_number, ge::degrees;
  std::string text = drawing(float(m.x), float(m.angle));
  add_number(text, "cart: position ", double(m.x), 2, " m");
  if (knows_speeds) add_number(text, ", velocity ", double(m.velocity), 2, " m/s");
  add_number(text, "\npole: angle ", degrees(double(m.angle)), 1, " degrees");
  if (knows_speeds)
    add_number(text, ", angular velocity ", degrees(double(m.spin)), 1, " degrees/s");
  text += "\npositive is to the right; limits are";
  add_number(text, " ", Physics<double>::x_limit, 1, " m and");
  add_number(text, " ", degrees(Physics<double>::angle_limit), 0, " degrees\n");
  ge::add_steps(text, step, limit);
  return text + "\n";
}

}  // namespace gpu_envs::envs::cartpole
