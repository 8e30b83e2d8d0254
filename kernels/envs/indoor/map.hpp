// A house from above, for people: the floor that one can walk on, what stands there, where the
// agent is, what it looks at and how it came. Host only.
#pragma once

#include <array>
#include <vector>

#include "envs/indoor/indoor.hpp"
#include "pictures/scene.hpp"
#include "pictures/text.hpp"

namespace gpu_envs::envs::indoor {

/// The corners of a walk from a point; `next(point)` is the one that follows a point, itself at the
/// end.
template <class Next>
std::vector<hs::Point> walk_of(const hs::Ground& ground, hs::Point from, const Next& next) {
  std::vector<hs::Point> corners = {from};
  for (int k = 0; k < ground.corner_count + 1; ++k) {
    const hs::Point to = next(corners.back());
    if (to.x == corners.back().x && to.y == corners.back().y) break;
    corners.push_back(to);
  }
  return corners;
}

/// The rectangle that the floor of a house lies in.
struct Extent {
  hs::Point low = {1e9f, 1e9f}, high = {-1e9f, -1e9f};
  Extent(const hs::HouseAssets& assets, int house) {
    constexpr float kMargin = 0.5f;  // [m], for walls
    const hs::HouseAt at = assets.houses[house];
    for (int k = 0; k < at.spot_count; ++k) {
      const hs::Spot spot = assets.spots[at.spots + k];
      low = {min(low.x, spot.low_x - kMargin), min(low.y, spot.low_y - kMargin)};
      high = {max(high.x, spot.high_x + kMargin), max(high.y, spot.high_y + kMargin)};
    }
  }
};
/// Calls f(rectangle, whether it is a wall) for walls and furniture: what bodies keep away from,
/// less the distance that they keep.
template <class F>
void each_thing(const hs::HouseAssets& assets, int house, const F& f) {
  const hs::HouseAt at = assets.houses[house];
  for (int k = 0; k < at.thing_count; ++k) {
    const hs::Block b = assets.blocks[at.blocks + k];
    f(hs::Rect{b.low_x, b.low_y, b.high_x, b.high_y}.grown(-hs::kClearance), k < at.wall_count);
  }
}

class Map {
 public:
  template <class W>
  Map(const W& w, const Body& body) {
    const Site site = get<Site>(w);
    lay_floor(w.assets(), house_of(w));
    spot(site.start(), palette::kRamp);
    see(body, w.params().picture);
    std::vector<hs::Point> trail = {site.start()};
    for (int k = 0; k < min(int(w.step()) / kTrailStep, kTrail); ++k) {
      const Print print = get<Trail, Print>(w, k);
      trail.push_back({print.x, print.y});
    }
    // Longer walks are not kept: the line ends where they went on.
    if (int(w.step()) < kTrailStep * (kTrail + 1)) trail.push_back(body.point());
    lines(trail, palette::kBlue, 0.9f, 2.0f);
  }

  /// The shortest walk.
  void path(const std::vector<hs::Point>& corners) { lines(corners, palette::kRed, 0.7f, 1.5f); }
  void spot(hs::Point at, Rgb colour) {
    Piece piece;
    piece.x = at.x, piece.y = at.y, piece.radius = 0.15f, piece.colour = colour;
    board_.pieces.push_back(piece);
  }
  void outline(const std::array<hs::Point, 4>& corners) {
    lines({corners[0], corners[1], corners[2], corners[3], corners[0]}, palette::kLongBox, 0.8f,
          1.0f);
  }
  Scene finish() {
    board_.pieces.push_back(agent_);
    Scene scene;
    scene.board = std::move(board_);
    return scene;
  }

 private:
  void plate(hs::Point low, hs::Point high, Rgb colour) {
    Plate made;
    made.low[0] = low.x, made.low[1] = low.y, made.high[0] = high.x, made.high[1] = high.y;
    made.colour = colour;
    board_.plates.push_back(made);
  }
  void lay_floor(const hs::HouseAssets& assets, int house) {
    const Extent extent(assets, house);
    board_.low[0] = extent.low.x, board_.low[1] = extent.low.y;
    board_.high[0] = extent.high.x, board_.high[1] = extent.high.y;
    const hs::HouseAt at = assets.houses[house];
    for (int k = 0; k < at.block_count; ++k) {
      const hs::Block b = assets.blocks[at.blocks + k];
      plate({b.low_x, b.low_y}, {b.high_x, b.high_y}, palette::kFaded);
    }
    for (int k = 0; k < at.spot_count; ++k) {
      const hs::Spot spot = assets.spots[at.spots + k];
      plate({spot.low_x, spot.low_y}, {spot.high_x, spot.high_y}, palette::kPale);
    }
    each_thing(assets, house, [&](const hs::Rect& r, bool is_wall) {
      plate({r.low_x, r.low_y}, {r.high_x, r.high_y}, is_wall ? palette::kDark : palette::kBox);
    });
  }
  void see(const Body& body, const cameras::Picture& picture) {
    constexpr float kQuarter = 0.25f * kTwoPi;
    agent_.x = body.x, agent_.y = body.y, agent_.heading = body.yaw + kQuarter;
    agent_.kind = Piece::kArrow, agent_.radius = 0.25f;
    FieldOfView view;
    view.x = body.x, view.y = body.y, view.heading = agent_.heading;
    view.half_angle = atan2(picture.slope * float(picture.form.columns), 1.0f);
    view.radius = 3.0f;
    board_.views.push_back(view);
  }
  void lines(const std::vector<hs::Point>& corners, Rgb colour, float opacity, float width) {
    for (size_t k = 0; k + 1 < corners.size(); ++k) {
      Line line;
      line.from[0] = corners[k].x, line.from[1] = corners[k].y;
      line.to[0] = corners[k + 1].x, line.to[1] = corners[k + 1].y;
      line.colour = colour, line.opacity = opacity, line.width = width;
      board_.lines.push_back(line);
    }
  }

  Board board_;
  Piece agent_;
};

/// A house from above as text. `goal`: where the agent is to go, null if nowhere; `more`: what the
/// line of the agent says at its end.
template <class W>
std::string house_text(const W& w, const Body& body, const hs::Point* goal,
                       const std::string& more) {
  constexpr float kWide = 0.25f, kHigh = 0.5f;  // of a letter [m]
  constexpr int kMost = 96;
  const Extent extent(w.assets(), house_of(w));
  const auto letters = [](float metres, float each) {
    return max(1, min(int(metres / each), kMost));
  };
  PlaneText map(letters(extent.high.x - extent.low.x, kWide),
                letters(extent.high.y - extent.low.y, kHigh), {extent.low.x, extent.low.y},
                {extent.high.x, extent.high.y});
  for (const bool walls : {false, true})  // walls over what stands at them
    each_thing(w.assets(), house_of(w), [&](const hs::Rect& r, bool is_wall) {
      if (is_wall == walls)
        map.cover({r.low_x, r.low_y}, {r.high_x, r.high_y}, is_wall ? '#' : 'o');
    });
  const hs::Point start = get<Site>(w).start();
  map.mark(start.x, start.y, 'S');
  if (goal != nullptr) map.mark(goal->x, goal->y, 'G');
  float sine, cosine;
  sincos_bounded(body.yaw, sine, cosine);
  const bool along_y = abs(cosine) >= abs(sine);
  map.mark(body.x, body.y, along_y ? (cosine > 0 ? '^' : 'v') : (sine < 0 ? '>' : '<'));
  std::string text = map.text() + "# wall, o furniture, S start, ";
  if (goal != nullptr) text += "G goal, ";
  text += "^ > v < agent, by where it looks\nagent at";
  add_number(text, " ", double(body.x), 2);
  add_number(text, " ", double(body.y), 2);
  add_number(text, ", turned by ", degrees(double(body.yaw)), 0, " degrees");
  text += more + "\n";
  add_steps(text, w.step(), step_limit(w));
  return text + "\n";
}

}  // namespace gpu_envs::envs::indoor
