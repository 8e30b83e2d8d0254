// A world as terminal text: the level from above, +y up, and what each agent does. Host only.
#pragma once

#include <algorithm>

#include "envs/obstacles/observe.hpp"

namespace gpu_envs::envs::obstacles {

inline constexpr const char* kLegend =
    "0 to 9: height of floors, # of walls and more; ~ lava, E the exit's pad, b box, * diamond; "
    "^ > v < agents, by where they look\n";

/// Longest side of a map [cells]; courses are shorter.
inline constexpr float kWidestMap = 512.0f;

/// A drawing of cells; its first line is the highest row.
struct MapText {
  int width = 0, depth = 0;
  std::vector<std::string> rows;
  MapText(int w, int d) : width(w), depth(d), rows(size_t(d), std::string(size_t(w), ' ')) {}
  void put(int x, int y, char mark) {
    if (x >= 0 && x < width && y >= 0 && y < depth) rows[size_t(depth - 1 - y)][size_t(x)] = mark;
  }
  /// Only the part within the map is visited: a box that was set may be of any length.
  void fill(const auto& box, char mark) {
    const int x_end = within(box.high[0], width), y_end = within(box.high[1], depth);
    for (int x = within(box.low[0], width); x < x_end; ++x)
      for (int y = within(box.low[1], depth); y < y_end; ++y) put(x, y, mark);
  }
  static int within(float at, int end) { return to_int(clamp(at, 0.0f, float(end))); }
};

/// Texts of game G.
template <class G>
struct Texts {
  using W = World<typename G::Schema>;

  /// Floors and walls, the higher over the lower.
  static MapText ground_text(const W& w) {
    std::vector<voxel::Static> boxes;
    float width = 0, depth = 0;
    for (int k = 0; k < row_count<typename G::Statics>(w); ++k) {
      boxes.push_back(get<typename G::Statics, voxel::Static>(w, k));
      width = max(width, boxes.back().high[0]), depth = max(depth, boxes.back().high[1]);
    }
    std::stable_sort(
        boxes.begin(), boxes.end(),
        [](const voxel::Static& a, const voxel::Static& b) { return a.high[2] < b.high[2]; });
    MapText map{MapText::within(width, int(kWidestMap)), MapText::within(depth, int(kWidestMap))};
    for (const voxel::Static& box : boxes) {
      const int top = max(to_int(box.high[2]), 1) - 1;
      const bool wall = box.high[2] - box.low[2] >= 4.0f || top > 9;
      map.fill(box, wall ? '#' : char('0' + top));
    }
    return map;
  }
  static void add_things(const W& w, MapText& map) {
    for (int k = 0; k < row_count<typename G::Marks>(w); ++k) {
      const auto mark = get<typename G::Marks, voxel::Mark>(w, k);
      map.fill(mark, mark.kind == voxel::kPadMark ? 'E' : '~');
    }
    for (int k = 0; k < row_count<typename G::Crates>(w); ++k) {
      const auto crate = get<typename G::Crates, voxel::Crate>(w, k);
      if (crate.carrier == voxel::kEmpty) map.put(crate.cell[0], crate.cell[1], 'b');
    }
    for (int k = 0; k < row_count<typename G::Diamonds>(w); ++k) {
      const auto diamond = get<typename G::Diamonds, voxel::Diamond>(w, k);
      if (diamond.left != 0) map.put(diamond.cell[0], diamond.cell[1], '*');
    }
  }

  static std::string world_text(const W& w, int viewer) {
    MapText map = ground_text(w);
    add_things(w, map);
    std::string agents;
    for (int k = 0; k < w.params().agent_count; ++k) {
      const auto body = get<typename G::Agents, voxel::Body>(w, k);
      const voxel::Cell at = voxel::cell_of(body);
      const voxel::Vec3 ahead = voxel::eyes_of(body).turn.y;
      const bool along_y = abs(ahead.y) >= abs(ahead.x);
      map.put(at.x, at.y, along_y ? (ahead.y > 0 ? '^' : 'v') : (ahead.x > 0 ? '>' : '<'));
      const bool carries = get<typename G::Agents, voxel::Hands>(w, k).crate != voxel::kEmpty;
      const Score score = get<typename G::Agents, Score>(w, k);
      agents += "agent " + std::to_string(k) + (k == viewer ? " (you)" : "") + " in cell " +
                std::to_string(at.x) + " " + std::to_string(at.y) + " " + std::to_string(at.z) +
                (carries ? ", carries a box" : "") + (score.at_exit != 0 ? ", on the pad" : "") +
                "\n";
    }
    std::string text;
    for (const std::string& row : map.rows) text += row + "\n";
    const auto timer = get<voxel::Timer>(w);
    return text + kLegend + agents + "step " + std::to_string(w.step()) + ", " +
           std::to_string(timer.length - timer.passed) + " left" +
           (timer.solved != 0 ? ", solved\n" : "\n");
  }
};

}  // namespace gpu_envs::envs::obstacles
