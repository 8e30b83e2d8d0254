// Maze: a test-only family. Its tasks share this header and its assets: mazes from a data file, and
// what a cell is worth, made of the parameters. Nobody is meant to learn them.
//
//   data/mazes.bin   twelve mazes of 8 x 8 cells: a byte per row, bit x of it a wall at x; the
//                    corners are free
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::maze {

using namespace ge;

inline constexpr int kSide = 8, kCells = kSide * kSide;

struct Params {
  int32_t maze_count = 12;
  int32_t richness = 3;
  static constexpr auto describe() {
    return fields(
        field("maze_count", &Params::maze_count, "mazes of the file that are drawn from")
            .within(1, 100),
        field("richness", &Params::richness, "what the first cell is worth").within(1, 1000));
  }
};
struct Go {
  int32_t way;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("way", &Go::way, "0 right, 1 left, 2 up, 3 down").one_of(4));
  }
};
struct Place {
  int32_t x, y;
  static constexpr auto describe() {
    return fields(field("x", &Place::x, "column").within(0, kSide - 1),
                  field("y", &Place::y, "row").within(0, kSide - 1));
  }
};
/// The maze of an episode. Beyond those that there are it is the last.
struct Chosen {
  uint32_t maze;
  static constexpr auto describe() {
    return fields(field("maze", &Chosen::maze, "number of the maze").any_value());
  }
};

// ---- assets

struct Maze {
  uint8_t rows[kSide];
  static constexpr auto describe() {
    return fields(field("rows", &Maze::rows, "walls of each row, by bits"));
  }
};
struct Assets {
  Asset<Maze> mazes;
  Asset<float> worth;  // of each cell
};
inline Assets make_assets(const Params& p, AssetMaker& make) {
  const auto file = make.file("mazes.bin");
  if (file.size() < size_t(p.maze_count * kSide))
    make.refuse("mazes.bin has " + std::to_string(file.size() / kSide) +
                " mazes, maze_count=" + std::to_string(p.maze_count));
  const auto mazes = make.array<Maze>("mazes", p.maze_count);
  for (size_t k = 0; k < mazes.size() * kSide; ++k)
    mazes[k / kSide].rows[k % kSide] = uint8_t(file[k]);
  const auto worth = make.array<float>("worth", kCells);
  for (int cell = 0; cell < kCells; ++cell)
    worth[size_t(cell)] = float(p.richness) / float(1 + cell % kSide + cell / kSide);
  return {mazes, worth};
}

// ---- rules that the tasks share

template <class S>
GE_FN bool is_wall(const World<S>& w, int x, int y) {
  const Maze maze = w.assets().mazes[get<Chosen>(w).maze];
  const bool inside = (x >= 0) & (x < kSide) & (y >= 0) & (y < kSide);
  const int row = inside ? maze.rows[y & (kSide - 1)] : 0xff;
  return (row >> (x & (kSide - 1)) & 1) != 0;
}
template <class S>
GE_FN float worth_of(const World<S>& w, const Place& at) {
  return w.assets().worth[at.y * kSide + at.x];
}

template <class S>
GE_FN void choose(const World<S>& w, Chosen& chosen) {
  chosen.maze = draw<"maze">(w, 0).below(0, uint32_t(w.params().maze_count));
}
template <class S>
GE_FN void begin(const World<S>&, Place& at) {
  at = {0, 0};
}
template <class S>
GE_FN void walk(const World<S>& w, Place& at, const Go& go) {
  const int x = at.x + (go.way == 0) - (go.way == 1), y = at.y + (go.way == 2) - (go.way == 3);
  const bool free = !is_wall(w, x, y);
  at = {select(free, x, at.x), select(free, y, at.y)};
}

struct View {
  float x, y, walls[4];
  static constexpr auto describe() {
    return fields(field("x", &View::x, "column"), field("y", &View::y, "row"),
                  field("walls", &View::walls, "right, left, above, below"));
  }
};
template <class S>
GE_FN void look(const World<S>& w, View& view, const Place& at) {
  view = {float(at.x),
          float(at.y),
          {is_wall(w, at.x + 1, at.y) ? 1.0f : 0.0f, is_wall(w, at.x - 1, at.y) ? 1.0f : 0.0f,
           is_wall(w, at.x, at.y + 1) ? 1.0f : 0.0f, is_wall(w, at.x, at.y - 1) ? 1.0f : 0.0f}};
}

}  // namespace gpu_envs::envs::maze
