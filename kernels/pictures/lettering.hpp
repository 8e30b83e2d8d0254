// Letters as strokes of a pen over a grid, straight or round, so that words are as sharp at any
// size as the rest of a board, and the same everywhere. Host only.
#pragma once

#include <iterator>
#include <string>
#include <vector>

#include "engine/maths/math.hpp"
#include "pictures/scene.hpp"

namespace ge::pictures {

/// A straight piece of a pen's way, in metres of the board, y upwards.
struct PenLine {
  float from[2], to[2];
};

namespace detail {

/// Units of the grid: a capital letter is six high, a small one four; descenders hang two below.
inline constexpr float kCapital = 6.0f, kPen = 0.42f, kGap = 1.7f, kBlank = 2.6f;

/// Strokes of the printable characters of ASCII, from the blank on, a blank between two strokes. A
/// point is a digit, to the right, and a letter, upwards: a is -2, c the line that letters stand
/// on, i the height of a capital. "~": a round stroke between its ends; "@": a closed round one.
inline constexpr const char* kStrokes[] = {
    "",
    "0i0e 0c0c",
    "0i0h 2i2h",
    "1c1i 3c3i 0e4e 0g4g",
    "~4h3i1i0h0g1f3f4e4d3c1c0d 2b2j",
    "@0i2i2g0g @3e5e5c3c 5i0c",
    "4c1g ~1g0h1i2i3h2g0e0d1c2c4e",
    "0i0h",
    "~2j0i0c2b",
    "~0j2i2c0b",
    "2h2d 0g4e 0e4g",
    "0e4e 2c2g",
    "1c0b",
    "0e3e",
    "0c0c",
    "0c3i",
    "@1i3i4h4d3c1c0d0h",
    "1h2i2c",
    "~0h1i3i4h4g3f1e0d0c 0c4c",
    "~0h1i3i4h4g3f2f ~2f3f4e4d3c1c0d",
    "3c3i0e4e",
    "4i0i0f ~0f1g3g4f4d3c1c0d",
    "~4h3i1i0h0d1c3c4d4e3f1f0e",
    "0i4i1c",
    "@1i3i4h4g3f1f0g0h @1f3f4e4d3c1c0d0e",
    "~0d1c3c4d4h3i1i0h0g1f3f4g",
    "0c0c 0f0f",
    "0f0f 1c0b",
    "3g0e3c",
    "0d3d 0f3f",
    "0g3e0c",
    "~0h1i3i4h4g2f2e 2c2c",
    "~4d3c1c0d0h1i3i4h4e3e2f3g4g",
    "0c2i4c 1e3e",
    "0c0i ~0i2i4h4g2f0f ~0f3f4e4d3c0c",
    "~4h3i1i0h0d1c3c4d",
    "0c0i ~0i2i4h4d2c0c",
    "4i0i0c4c 0f3f",
    "4i0i0c 0f3f",
    "~4h3i1i0h0d1c3c4d 4d4f2f",
    "0c0i 4c4i 0f4f",
    "0i2i 1i1c 0c2c",
    "3i3e ~3e3c1c0c0d",
    "0c0i 4i0e 1f4c",
    "0i0c4c",
    "0c0i2e4i4c",
    "0c0i4c4i",
    "@1i4i5h5d4c1c0d0h",
    "0c0i ~0i2i4i4f2f0f",
    "@1i4i5h5d4c1c0d0h 3e5c",
    "0c0i ~0i2i4i4f2f0f 2f4c",
    "~4h3i1i0h0g1f3f4e4d3c1c0d",
    "2c2i 0i4i",
    "0i0e ~0e0d1c3c4d4e 4e4i",
    "0i2c4i",
    "0i1c3h5c6i",
    "0i4c 4i0c",
    "0i2f4i 2f2c",
    "0i4i0c4c",
    "2j0j0b2b",
    "0i3c",
    "0j2j2b0b",
    "0g2i4g",
    "0b4b",
    "0i1h",
    "@1g2g3f3d2c1c0d0f 3g3c",
    "0i0c @1g2g3f3d2c1c0d0f",
    "~3f2g1g0f0d1c2c3d",
    "3i3c @1g2g3f3d2c1c0d0f",
    "0e3e ~3e3f2g1g0f0d1c2c3d",
    "~3i1i1g 1g1c 0g3g",
    "3g3d @1g2g3f3d2c1c0d0f ~3d3a0a0b",
    "0i0c ~0f1g2g3f3e 3e3c",
    "0c0g 0i0i",
    "~1d1a0a 1g1d 1i1i",
    "0i0c 3g0d 1e3c",
    "0i0c",
    "0g0c ~0f0g2g2f 2f2c ~2f2g4g4f 4f4c",
    "0g0c ~0f1g2g3f3e 3e3c",
    "@1g2g3f3d2c1c0d0f",
    "0g0a @1g2g3f3d2c1c0d0f",
    "3g3a @1g2g3f3d2c1c0d0f",
    "0g0c ~0e0g2g",
    "~3f2g1g0f1e2e3d2c1c0d",
    "1h1d ~1d1c2c3c 0g3g",
    "0g0e ~0e0d1c2c3d 3g3c",
    "0g2c4g",
    "0g1c2f3c4g",
    "0g3c 3g0c",
    "0g2c 4g1a",
    "0g3g0c3c",
    "~2j1i1g0f 0f1e ~1e1c2b",
    "0b0j",
    "~0j1i1g2f 2f1e ~1e1c0b",
    "~0e1f2f2e3e4f",
};
/// A frame, drawn for any other character.
inline constexpr const char* kFrame = "0c0i3i3c0c";

inline const char* strokes_of(char letter) {
  const size_t number = size_t(uint8_t(letter)) - 32;
  return number < std::size(kStrokes) ? kStrokes[number] : kFrame;
}

struct PenPoint {
  float x, y;
};
inline PenPoint between(PenPoint a, PenPoint b) {
  return {0.5f * (a.x + b.x), 0.5f * (a.y + b.y)};
}

/// One stroke's points; returns where the next one begins.
inline const char* read_stroke(const char* at, std::vector<PenPoint>& points) {
  points.clear();
  for (; *at != 0 && *at != ' '; at += 2)
    points.push_back({float(at[0] - '0'), float(at[1] - 'c')});
  return *at == ' ' ? at + 1 : at;
}

/// Calls f(from, to) along a curve that leaves a towards b and arrives at c.
template <class F>
inline void bend(PenPoint a, PenPoint b, PenPoint c, F&& f) {
  constexpr int kParts = 4;
  PenPoint last = a;
  for (int k = 1; k <= kParts; ++k) {
    const float t = float(k) / float(kParts), s = 1 - t;
    const PenPoint next{s * s * a.x + 2 * s * t * b.x + t * t * c.x,
                        s * s * a.y + 2 * s * t * b.y + t * t * c.y};
    f(last, next), last = next;
  }
}

/// Calls f(from, to) along the strokes of a character, in units of the grid.
template <class F>
inline void each_pen_line(char letter, F&& f) {
  std::vector<PenPoint> p;
  for (const char* at = strokes_of(letter); *at != 0;) {
    const char kind = *at;
    at = read_stroke(kind == '~' || kind == '@' ? at + 1 : at, p);
    const size_t count = p.size();
    if (kind == '@') {
      // Through the middles of the sides of its polygon.
      for (size_t k = 0; k < count; ++k) {
        const PenPoint corner = p[(k + 1) % count];
        bend(between(p[k], corner), corner, between(corner, p[(k + 2) % count]), f);
      }
    } else if (kind == '~') {
      for (size_t k = 1; k + 1 < count; ++k)
        bend(k == 1 ? p[0] : between(p[k - 1], p[k]), p[k],
             k + 2 == count ? p[k + 1] : between(p[k], p[k + 1]), f);
    } else {
      for (size_t k = 0; k + 1 < count; ++k) f(p[k], p[k + 1]);
    }
  }
}

/// Advance width of a character, in units of the grid.
inline float advance_of(char letter) {
  if (letter == ' ') return kBlank;
  float wide = 0;
  each_pen_line(letter, [&](PenPoint a, PenPoint b) { wide = ge::max(wide, ge::max(a.x, b.x)); });
  return wide + kGap;
}

}  // namespace detail

/// Width of a text [m] whose letters are `height` high.
inline float width_of(const std::string& text, float height) {
  float units = 0;
  for (const char letter : text) units += detail::advance_of(letter);
  return text.empty() ? 0.0f : (units - detail::kGap) * height / detail::kCapital;
}
/// Half the width of the pen [m].
inline float pen_of(const Caption& caption) {
  return detail::kPen * caption.weight * caption.height / detail::kCapital;
}
/// The strokes of a text.
inline std::vector<PenLine> pen_lines_of(const Caption& caption) {
  const float unit = caption.height / detail::kCapital,
              wide = width_of(caption.text, caption.height);
  float x = caption.x;
  if (caption.anchor == Caption::kMiddle) x -= 0.5f * wide;
  if (caption.anchor == Caption::kRight) x -= wide;
  std::vector<PenLine> lines;
  for (const char letter : caption.text) {
    detail::each_pen_line(letter, [&](detail::PenPoint a, detail::PenPoint b) {
      lines.push_back(
          {{x + unit * a.x, caption.y + unit * a.y}, {x + unit * b.x, caption.y + unit * b.y}});
    });
    x += unit * detail::advance_of(letter);
  }
  return lines;
}

}  // namespace ge::pictures
