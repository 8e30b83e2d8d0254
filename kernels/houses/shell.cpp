// See shell.hpp.
#include "houses/shell.hpp"

#include <algorithm>

namespace ge::houses {

namespace {

constexpr float kDoorHeight = 2.0625f, kWideHeight = 2.25f;  // [m]

/// The ceilings of houses: most are low, some are high, none above 4 m. The cube of a uniform
/// number stands for a beta distribution with a long tail.
float ceiling_of(uint64_t seed) {
  Dice dice(seed, Name("ceiling").hash());
  const float share = dice.share();
  return snapped(2.5f + 1.5f * share * share * share);
}

/// Sorted, each once, and enough of them that gaps are at most `finest`.
void finish(std::vector<float>& lines, float finest) {
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::vector<float> all;
  for (size_t k = 0; k + 1 < lines.size(); ++k) {
    const float gap = lines[k + 1] - lines[k];
    const int parts = std::max(1, int(gap / finest + 0.999f));
    for (int part = 0; part < parts; ++part)
      all.push_back(snapped(lines[k] + gap * (float(part) / float(parts))));
  }
  all.push_back(lines.back());
  lines = std::move(all);
}

/// Faces of the walls along grid lines, and the ends of openings, across `x`.
std::vector<float> lines_of(const Plan& plan, bool along_x, float finest) {
  std::vector<float> lines;
  const int count = along_x ? plan.columns : plan.rows;
  for (int k = 0; k <= count; ++k)
    for (const float side : {-kHalfWall, kHalfWall}) lines.push_back(float(k) * plan.side + side);
  for (const Door& door : plan.doors)
    if (door.along_x == along_x) lines.push_back(door.begin), lines.push_back(door.end);
  finish(lines, finest);
  return lines;
}

/// The door in whose opening a point lies.
const Door* door_at(const Plan& plan, float x, float y) {
  for (const Door& door : plan.doors) {
    const float along = door.along_x ? x : y, across = door.along_x ? y : x;
    if (door.begin < along && along < door.end && abs(across - door.line) < kHalfWall) return &door;
  }
  return nullptr;
}

/// What stands at a point off all lines.
Patch patch_at(const Plan& plan, float x, float y, float ceiling) {
  if (const Door* door = door_at(plan, x, y))
    return {door->rooms[0], door->is_wide ? kWideHeight : kDoorHeight, false};
  // The rooms of all squares within half a wall: a wall stands where they differ.
  int32_t room = -2;
  bool differs = false, any_inside = false;
  for (const float dx : {-kHalfWall, kHalfWall})
    for (const float dy : {-kHalfWall, kHalfWall}) {
      const float px = (x + dx) / plan.side, py = (y + dy) / plan.side;
      const int32_t here = plan.room_at(px < 0.0f ? -1 : int(px), py < 0.0f ? -1 : int(py));
      differs = differs || (room != -2 && here != room);
      any_inside = any_inside || here >= 0;
      room = here;
    }
  if (differs) return {-1, 0.0f, any_inside};
  return {room, room < 0 ? 0.0f : ceiling, false};
}

}  // namespace

Shell make_shell(const Plan& plan, uint64_t seed, float finest) {
  Shell shell;
  shell.ceiling = ceiling_of(seed);
  shell.xs = lines_of(plan, true, finest), shell.ys = lines_of(plan, false, finest);
  for (int y = 0; y < shell.rows(); ++y)
    for (int x = 0; x < shell.columns(); ++x) {
      const Rect rect = shell.rect(x, y);
      shell.patches.push_back(patch_at(plan, 0.5f * (rect.low_x + rect.high_x),
                                       0.5f * (rect.low_y + rect.high_y), shell.ceiling));
    }
  return shell;
}

std::vector<Rect> walls_of(const Shell& shell) {
  std::vector<Rect> walls;
  std::vector<bool> taken(shell.patches.size());
  const auto is_open = [&](int x, int y) {
    return shell.at(x, y).is_wall && !taken[size_t(y * shell.columns() + x)];
  };
  for (int y = 0; y < shell.rows(); ++y)
    for (int x = 0; x < shell.columns(); ++x) {
      if (!is_open(x, y)) continue;
      // The longer of a strip along x and one along y.
      int wide = 1, deep = 1;
      while (x + wide < shell.columns() && is_open(x + wide, y)) ++wide;
      while (y + deep < shell.rows() && is_open(x, y + deep)) ++deep;
      const float along_x = shell.xs[size_t(x + wide)] - shell.xs[size_t(x)];
      const float along_y = shell.ys[size_t(y + deep)] - shell.ys[size_t(y)];
      if (along_x >= along_y) deep = 1;
      if (along_x < along_y) wide = 1;
      for (int j = 0; j < deep; ++j)
        for (int i = 0; i < wide; ++i) taken[size_t((y + j) * shell.columns() + x + i)] = true;
      walls.push_back({shell.xs[size_t(x)], shell.ys[size_t(y)], shell.xs[size_t(x + wide)],
                       shell.ys[size_t(y + deep)]});
    }
  return walls;
}

}  // namespace ge::houses
