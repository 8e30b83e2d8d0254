// Colours in linear light, in which they are mixed, and in sRGB, for displays.
#pragma once

#include <vector>

#include "pictures/rays.hpp"
#include "pictures/scene.hpp"

namespace ge::pictures {

/// The curve of sRGB (IEC 61966-2-1): a straight foot, then a power of 2.4.
inline float linear(float shown) {
  if (shown <= 0.04045f) return shown / 12.92f;
  return ge::exp(2.4f * ge::log((shown + 0.055f) / 1.055f));
}
inline Vec3 linear(const Rgb& shown) {
  return {linear(shown.red), linear(shown.green), linear(shown.blue)};
}

/// From light to bytes of sRGB.
/// A table, since the power costs more than the rest of a pixel; of 8,192 steps, which keep the
/// darkest bytes apart.
class Display {
 public:
  Display() : bytes_(kSteps + 1) {
    for (int k = 0; k <= kSteps; ++k) {
      const float light = float(k) / float(kSteps);
      const float shown =
          light <= 0.0031308f ? 12.92f * light : 1.055f * ge::exp(ge::log(light) / 2.4f) - 0.055f;
      bytes_[size_t(k)] = uint8_t(ge::clamp(shown * 255.0f + 0.5f, 0.0f, 255.0f));
    }
  }
  uint8_t operator()(float light) const {
    return bytes_[size_t(ge::clamp(light, 0.0f, 1.0f) * float(kSteps) + 0.5f)];
  }

 private:
  static constexpr int kSteps = 8192;
  std::vector<uint8_t> bytes_;
};

}  // namespace ge::pictures
