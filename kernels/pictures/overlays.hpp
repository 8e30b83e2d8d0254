// Overlays over the solids: translucent fans, occluded by solids in front of them, and anti-aliased
// lines, tested against the depth of each sample.
#pragma once

#include <vector>

#include "pictures/camera.hpp"
#include "pictures/colours.hpp"

namespace ge::pictures {

/// A fan, ready for rays.
/// It refers to the scene's fan, which outlives the picture.
struct Sector {
  const Fan* fan;
  Vec3 colour;
  Rectangle bounds;
  std::vector<Rectangle> parts;  // of its triangles
};

inline Sector sector_of(const Fan& fan) {
  Sector sector{&fan, linear(fan.colour), {}, {}};
  for (size_t k = 0; k + 3 < fan.rim.size(); k += 2) {
    Rectangle part;
    part.add(fan.apex[0], fan.apex[1]);
    part.add(fan.rim[k], fan.rim[k + 1]), part.add(fan.rim[k + 2], fan.rim[k + 3]);
    sector.parts.push_back(part);
    sector.bounds.add(part.low_x, part.low_y), sector.bounds.add(part.high_x, part.high_y);
  }
  return sector;
}

namespace detail {

/// Positive to the left of the line from a to b.
GE_FN Floats left_of(const float* a, const float* b, const Floats& x, const Floats& y) {
  return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
}
/// Inside or on the border, whichever way round the corners are.
GE_FN Mask in_triangle(const float* a, const float* b, const float* c, const Floats& x,
                       const Floats& y) {
  const Floats p = left_of(a, b, x, y), q = left_of(b, c, x, y), r = left_of(c, a, x, y);
  return either(both(both(p >= 0.0f, q >= 0.0f), r >= 0.0f),
                both(both(p <= 0.0f, q <= 0.0f), r <= 0.0f));
}

}  // namespace detail

/// The triangles of a sector that may be visible, where `ground` is the visible part of their
/// plane.
inline void list_parts(const Sector& sector, const Rectangle& ground, std::vector<int>& out) {
  out.clear();
  if (!ground.meets(sector.bounds)) return;
  for (size_t k = 0; k < sector.parts.size(); ++k)
    if (ground.meets(sector.parts[k])) out.push_back(int(k));
}

/// Blends these triangles of a fan over the hits of rays at `depth`.
template <class R>
GE_FN void lay_over(const Sector& sector, const std::vector<int>& listed, const R& rays,
                    const Floats& depth, Vecs& colour) {
  const Fan& fan = *sector.fan;
  // Where a ray crosses the fan's height; infinite or NaN for a level ray, so not `seen`.
  const Floats at = (fan.apex[2] - rays.origin.z) / rays.direction.z;
  const Mask seen = both(at > 0.0f, at < depth * 1.0005f);
  const Floats x = rays.origin.x + rays.direction.x * at;
  const Floats y = rays.origin.y + rays.direction.y * at;
  Mask inside = at < at;
  for (const int k : listed) {
    const float* const rim = fan.rim.data() + 2 * k;
    inside = either(inside, detail::in_triangle(fan.apex, rim, rim + 2, x, y));
  }
  inside = both(inside, seen);
  if (!any_of(inside)) return;
  const Floats u = (x - fan.apex[0]) / fan.fade, v = (y - fan.apex[1]) / fan.fade;
  const Floats share = fan.opacity / (1.0f + u * u + v * v);
  colour = mix(colour, spread(sector.colour), select(inside, share, spread(0.0f)));
}

/// Rows of samples of one part of a picture: light, and the depth of its source.
struct Samples {
  int width, rows;       // of samples
  int left, right, top;  // columns [left, right), the first row within the whole picture
  float* red;
  float* green;
  float* blue;
  float* depth;
};

/// An end of a line in samples, y downwards; depth as in Camera.
struct End {
  float x, y, depth;
};

/// The ends of a line in samples, clipped at the near plane; false if it lies behind the eye.
inline bool ends_of(const Camera& camera, const Line& line, End (&ends)[2], float unit_y,
                    float middle_x, float middle_y) {
  Vec3 points[2] = {vec(line.from), vec(line.to)};
  float ahead[2];
  for (int k = 0; k < 2; ++k) ahead[k] = dot(points[k] - camera.eye, camera.forward);
  if (ahead[0] < kNear && ahead[1] < kNear) return false;
  for (int k = 0; k < 2; ++k)
    if (ahead[k] < kNear)
      // Clipped at depth kNear: nearer, the projection would send it to the far side.
      points[k] = points[1 - k] + (points[k] - points[1 - k]) *
                                      ((ahead[1 - k] - kNear) / (ahead[1 - k] - ahead[k]));
  for (int k = 0; k < 2; ++k) {
    const Vec3 p = projected(camera, points[k]);
    ends[k] = {middle_x + p.x * unit_y, middle_y - p.y * unit_y, ge::max(p.z, kNear)};
  }
  return true;
}

/// A line `width` samples wide.
struct Stroke {
  End from, to;
  float width, opacity;
  Vec3 colour;
  bool is_flat;  // depth changes linearly along it
};

namespace detail {

inline void paint(const Samples& to, int at, const Vec3& colour, float share) {
  to.red[at] += (colour.x - to.red[at]) * share;
  to.green[at] += (colour.y - to.green[at]) * share;
  to.blue[at] += (colour.z - to.blue[at]) * share;
}

inline float half_of(const Stroke& s) {
  return ge::max(0.5f * s.width, 0.5f) + 0.5f;
}

inline float depth_at(const Stroke& s, float along) {
  // In perspective 1 / depth is what changes linearly along the picture.
  if (s.is_flat) return s.from.depth + (s.to.depth - s.from.depth) * along;
  return 1.0f / (1.0f / s.from.depth + (1.0f / s.to.depth - 1.0f / s.from.depth) * along);
}

}  // namespace detail

/// Columns of samples from which on and up to which a stroke may be drawn in some rows.
struct Stretch {
  float begin = 1, end = 0;  // empty
};
inline Stretch stretch_of(const Stroke& s, int top, int rows) {
  const float half = detail::half_of(s) + 1.0f;  // rounding
  const float above = float(top), below = float(top + rows);
  const float dx = s.to.x - s.from.x, dy = s.to.y - s.from.y;
  if (ge::min(s.from.y, s.to.y) - half > below || ge::max(s.from.y, s.to.y) + half < above)
    return {};
  Stretch out{ge::min(s.from.x, s.to.x) - half, ge::max(s.from.x, s.to.x) + half + 1.0f};
  if (ge::abs(dy) > 0.01f) {
    const float first = s.from.x + (above - s.from.y) * dx / dy;
    const float last = s.from.x + (below - s.from.y) * dx / dy;
    const float reach = half * ge::sqrt(dx * dx + dy * dy) / ge::abs(dy);
    out.begin = ge::max(out.begin, ge::min(first, last) - reach);
    out.end = ge::min(out.end, ge::max(first, last) + reach + 1.0f);
  }
  return out;
}

/// Draws the part of a stroke that lies in these rows.
inline void draw(const Stroke& s, const Samples& to) {
  const float half = detail::half_of(s);
  const float strength = s.opacity * ge::min(1.0f, s.width);
  const float dx = s.to.x - s.from.x, dy = s.to.y - s.from.y, square = dx * dx + dy * dy;
  const float low = ge::min(s.from.y, s.to.y) - half, high = ge::max(s.from.y, s.to.y) + half;
  const float first = ge::clamp(low - float(to.top), 0.0f, float(to.rows));
  const float last = ge::clamp(high - float(to.top), -1.0f, float(to.rows - 1));
  for (int row = int(first); row <= int(last) && last >= 0.0f; ++row) {
    const float y = float(row + to.top) + 0.5f;
    float begin = ge::min(s.from.x, s.to.x) - half, end = ge::max(s.from.x, s.to.x) + half;
    // For a steep line only the columns near it are visited in each row.
    if (ge::abs(dy) > 0.01f) {
      const float x = s.from.x + (y - s.from.y) * dx / dy;
      const float reach = half * ge::sqrt(square) / ge::abs(dy);
      begin = ge::max(begin, x - reach), end = ge::min(end, x + reach);
    }
    const int stop = int(ge::clamp(end + 1.0f, float(to.left), float(to.right)));
    for (int column = int(ge::clamp(begin, float(to.left), float(to.right))); column < stop;
         ++column) {
      const float x = float(column) + 0.5f - s.from.x, down = y - s.from.y;
      const float along =
          square > 0.0f ? ge::clamp((x * dx + down * dy) / square, 0.0f, 1.0f) : 0.0f;
      const float u = x - along * dx, v = down - along * dy;
      const float cover = ge::clamp(half - ge::sqrt(u * u + v * v), 0.0f, 1.0f);
      const int at = row * to.width + column;
      // Slightly in front of its depth, so that lines that end at surfaces stay visible.
      if (cover > 0.0f && detail::depth_at(s, along) * 0.998f < to.depth[at] + 0.02f)
        detail::paint(to, at, s.colour, cover * strength);
    }
  }
}

}  // namespace ge::pictures
