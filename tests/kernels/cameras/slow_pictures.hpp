// What a camera must see, the slow way: every pixel by itself, every solid for each of them, one
// float at a time. No tiles, no packs, no lists. The arithmetic of one ray is that of geometry/ and
// of the light, so pictures have to agree in every byte.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "cameras/draw.hpp"
#include "simulation.hpp"

namespace ge::test {

using cameras::Bar;
using cameras::Eye;
using cameras::Headlamp;
using cameras::Picture;
using cameras::Solid;
using geometry::Placed;
using geometry::Vec3;

struct SlowRoom {
  std::vector<Solid> solids;
  // Boxes of columns, which count as one thing behind all solids.
  std::vector<geometry::Bounds3> columns;
  uint32_t hills = 0;  // their colour
  Eye eye{};
  int viewer = 0;
  Bar bar{};
  Headlamp light{};
};

struct SlowHit {
  float distance = cameras::kFar;
  int row = -1;
  int column = -1;  // of hills
};

inline bool slow_along_axes(const Placed& p) {
  return p.shape == geometry::kBox && p.turn.x.x == 1 && p.turn.y.y == 1 && p.turn.z.z == 1;
}

inline Vec3 slow_direction(const SlowRoom& room, const Picture& picture, float right, float down) {
  const Vec3 row =
      room.eye.forward + room.eye.up * ((float(picture.form.rows) - down) * picture.slope);
  const float slope = (right - float(picture.form.columns)) * picture.slope;
  return {slope * room.eye.right.x + row.x, slope * room.eye.right.y + row.y,
          slope * room.eye.right.z + row.z};
}

inline SlowHit slow_cast(const SlowRoom& room, Vec3 direction) {
  SlowHit best;
  for (int k = 0; k < int(room.solids.size()); ++k) {
    if (room.solids[size_t(k)].owner == room.viewer) continue;
    const Placed p = cameras::placed(room.solids[size_t(k)]);
    const geometry::Rays<float> ray{room.eye.at, direction};
    const float hit =
        slow_along_axes(p)
            ? geometry::hit_along_axes(geometry::inverses(direction), (p.at - p.half) - room.eye.at,
                                       (p.at + p.half) - room.eye.at, best.distance)
        : geometry::is_scaled(p) ? geometry::hit_scaled(ray, p, best.distance)
                                 : geometry::hit_distance(ray, p, best.distance);
    if (hit < best.distance && hit > cameras::kNear) best = {hit, k};
  }
  for (int k = 0; k < int(room.columns.size()); ++k) {
    const geometry::Bounds3& box = room.columns[size_t(k)];
    const float hit = geometry::hit_along_axes(geometry::inverses(direction), box.low - room.eye.at,
                                               box.high - room.eye.at, best.distance);
    if (hit < best.distance && hit > cameras::kNear) best = {hit, int(room.solids.size()), k};
  }
  return best;
}

inline Vec3 slow_colour(const SlowRoom& room, Vec3 direction, const SlowHit& hit) {
  if (hit.row < 0) return {0, 0, 0};
  const Vec3 point = direction * hit.distance;
  const auto lit = [&](uint32_t painted, Vec3 normal) -> Vec3 {
    const Vec3 colour = cameras::colour_of(painted);
    const auto light = cameras::lit(room.light, room.light.from(room.eye), point, normal);
    const auto shown = [&](float c) { return min(1.0f, c * light.scale + light.shine); };
    return {shown(colour.x), shown(colour.y), shown(colour.z)};
  };
  if (hit.column >= 0) {
    const geometry::Bounds3& box = room.columns[size_t(hit.column)];
    return lit(room.hills,
               geometry::normal_along_axes(geometry::inverses(direction), box.low - room.eye.at,
                                           box.high - room.eye.at));
  }
  const Solid& solid = room.solids[size_t(hit.row)];
  if ((solid.colour & Solid::kUnlit) != 0) return cameras::colour_of(solid.colour);
  const Placed p = cameras::placed(solid);
  const Vec3 normal = slow_along_axes(p)
                          ? geometry::normal_along_axes(geometry::inverses(direction),
                                                        (p.at - p.half) - room.eye.at,
                                                        (p.at + p.half) - room.eye.at)
                      : geometry::is_scaled(p) ? geometry::normal_of_scaled(p, point + room.eye.at)
                                               : geometry::normal_at(p, point + room.eye.at);
  return lit(solid.colour, normal);
}

/// All layers of a picture, one after the other, as the caller's arrays have them.
struct SlowPicture {
  std::string colours, depths, segments;
};
inline SlowPicture slow_picture(const SlowRoom& room, const Picture& picture) {
  const ImageForm& form = picture.form;
  const int n = picture.supersample;
  SlowPicture made;
  const auto pixels = size_t(form.pixels());
  made.colours.resize(3 * pixels), made.depths.resize(4 * pixels), made.segments.resize(2 * pixels);
  for (int row = 0; row < form.rows; ++row)
    for (int column = 0; column < form.columns; ++column) {
      const size_t at = size_t(row) * size_t(form.columns) + size_t(column);
      const SlowHit middle = slow_cast(
          room, slow_direction(room, picture, float(2 * column) + 1.0f, float(2 * row) + 1.0f));
      const float depth = middle.row < 0 ? 0.0f : middle.distance;
      const auto segment = uint16_t(middle.row + 1);
      std::memcpy(&made.depths[4 * at], &depth, 4);
      std::memcpy(&made.segments[2 * at], &segment, 2);
      Vec3 sum = {0, 0, 0};
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          const float each = 2.0f / float(n);
          const Vec3 direction =
              slow_direction(room, picture, float(2 * column) + (float(j) + 0.5f) * each,
                             float(2 * row) + (float(i) + 0.5f) * each);
          sum += slow_colour(room, direction, slow_cast(room, direction));
        }
      Vec3 colour = n == 1 ? sum : sum * (1.0f / float(n * n));
      const float from_middle = float(2 * column + 1 - form.columns);
      const float reach = room.bar.length * float(form.columns);
      if (row >= form.rows - cameras::bar_rows(form.rows) && from_middle < reach &&
          from_middle > -reach)
        colour = cameras::colour_of(room.bar.colour);
      const float channels[3] = {colour.x, colour.y, colour.z};
      for (size_t c = 0; c < 3; ++c) {
        const size_t to = form.channels_last != 0 ? 3 * at + c : c * pixels + at;
        made.colours[to] = char(uint8_t(channels[c] * 255.0f + 0.5f));
      }
    }
  return made;
}

}  // namespace ge::test
