// A world as terminal text: the level from above, +y up, and what each agent does. Host only. A game
// may say more of an agent: `static std::string note(const W& w, int agent)` in Notes.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "pictures/text.hpp"
#include "voxel/hands.hpp"
#include "voxel/timing.hpp"

namespace ge::voxel {

/// Longest side of a map [cells]; levels are shorter.
inline constexpr float kWidestMap = 512.0f;

/// Texts of game M.
template <class M, class Notes>
struct Texts {
  using W = WorldOf<M>;

  static char height_mark(int top) { return top > 9 ? '#' : char('0' + top); }
  /// Floors and walls, the higher over the lower.
  static MapText ground_text(const W& w) {
    std::vector<Static> boxes;
    float width = 0, depth = 0;
    for (int k = 0; k < row_count<typename M::Statics>(w); ++k) {
      boxes.push_back(get<typename M::Statics, Static>(w, k));
      width = max(width, boxes.back().high[0]), depth = max(depth, boxes.back().high[1]);
    }
    std::stable_sort(boxes.begin(), boxes.end(),
                     [](const Static& a, const Static& b) { return a.high[2] < b.high[2]; });
    MapText map{MapText::within(width, int(kWidestMap)), MapText::within(depth, int(kWidestMap))};
    for (const Static& box : boxes) {
      const int top = max(to_int(box.high[2]), 1) - 1;
      map.fill(box, box.high[2] - box.low[2] >= 4.0f ? '#' : height_mark(top));
    }
    if constexpr (kHasColumns<M>)
      for (int x = 0; x < M::Columns::kSide; ++x)
        for (int y = 0; y < M::Columns::kSide; ++y)
          if (const int height = height_at<M>(w, x, y)) map.put(x, y, height_mark(height));
    return map;
  }
  static void add_things(const W& w, MapText& map) {
    constexpr char kMarks[] = {'~', 'E', '='};  // by MarkKind
    if constexpr (kExists<typename M::Marks>)
      for (int k = 0; k < row_count<typename M::Marks>(w); ++k) {
        const auto mark = get<typename M::Marks, Mark>(w, k);
        map.fill(mark, kMarks[mark.kind]);
      }
    for (int k = 0; k < row_count<typename M::Crates>(w); ++k) {
      const auto crate = get<typename M::Crates, Crate>(w, k);
      if (crate.carrier == kEmpty) map.put(crate.cell[0], crate.cell[1], 'b');
    }
    if constexpr (kExists<typename M::Diamonds>)
      for (int k = 0; k < row_count<typename M::Diamonds>(w); ++k) {
        const auto diamond = get<typename M::Diamonds, Diamond>(w, k);
        const bool bad = M::kDiamondColours && diamond.colour == kRed;
        if (diamond.left != 0) map.put(diamond.cell[0], diamond.cell[1], bad ? '!' : '*');
      }
  }
  static std::string legend() {
    std::string text = "0 to 9: height of floors, # of walls and more; ";
    text += Notes::legend;
    if (M::kDiamondColours)
      text += "b box, * diamond, ! bad diamond; ";
    else
      text += kExists<typename M::Diamonds> ? "b box, * diamond; " : "b box; ";
    return text + "^ > v < agents, by where they look\n";
  }

  static std::string world_text(const W& w, int viewer) {
    MapText map = ground_text(w);
    add_things(w, map);
    std::string agents;
    for (int k = 0; k < team_size<M>(w); ++k) {
      const auto body = get<typename M::Agents, Body>(w, k);
      const Cell at = cell_of<M>(body);
      const Vec3 ahead = eyes_of(body).turn.y;
      const bool along_y = abs(ahead.y) >= abs(ahead.x);
      map.put(at.x, at.y, along_y ? (ahead.y > 0 ? '^' : 'v') : (ahead.x > 0 ? '>' : '<'));
      const bool carries = get<typename M::Agents, Hands>(w, k).crate != kEmpty;
      agents += "agent " + std::to_string(k) + (k == viewer ? " (you)" : "") + " in cell " +
                std::to_string(at.x) + " " + std::to_string(at.y) + " " + std::to_string(at.z) +
                (carries ? ", carries a box" : "") + Notes::note(w, k) + "\n";
    }
    const auto timer = get<Timer>(w);
    return map.text() + legend() + agents + "step " + std::to_string(w.step()) + ", " +
           std::to_string(timer.length - timer.passed) + " left" +
           (timer.solved != 0 ? ", solved" : "") + Notes::summary(w) + "\n";
  }
};

}  // namespace ge::voxel
