// Mazes of hexagonal cells: a spanning tree of passages, drawn by Kruskal's algorithm, and some
// walls less. A game joins the fields here to its own, the tables to its schema, and derives its
// model from MazeTables.
//
// What may differ by world, its Varied, has these members with the defaults of its own:
//
//   int32_t side_low, side_high;
//   float thinned_low, thinned_high, wall_low, wall_high, landmark_low, landmark_high;
#pragma once

#include "envs/hex/hexagons.hpp"
#include "voxel/draws.hpp"
#include "voxel/game.hpp"
#include "voxel/levels.hpp"
#include "voxel/timing.hpp"

namespace gpu_envs::envs::hex {

inline constexpr int kPatches = 4;         // of a wall, at most
inline constexpr float kThickness = 0.3f;  // of a wall [m]

template <class S>
constexpr auto maze_fields() {
  return fields(
      field("side_low", &S::side_low, "fewest cells along a side of the maze")
          .within(2, kMostSide)
          .from_reset(),
      field("side_high", &S::side_high, "most cells along a side of the maze")
          .within(2, kMostSide)
          .from_reset(),
      field("thinned_low", &S::thinned_low,
            "least number, of which the square is the probability that a wall is left out where "
            "the maze does not need a passage")
          .within(0, 1)
          .from_reset(),
      field("thinned_high", &S::thinned_high, "greatest such number").within(0, 1).from_reset(),
      field("wall_low", &S::wall_low, "least height of walls").in("m").within(1.5, 5).from_reset(),
      field("wall_high", &S::wall_high, "greatest height of walls")
          .in("m")
          .within(1.5, 5)
          .from_reset(),
      field("landmark_low", &S::landmark_low, "least share of walls with coloured patches")
          .within(0, 1)
          .from_reset(),
      field("landmark_high", &S::landmark_high, "greatest share of walls with coloured patches")
          .within(0, 1)
          .from_reset());
}
/// What does not go together.
template <class V>
const char* maze_problem(const V& v) {
  if (v.side_low > v.side_high) return "side_low is above side_high";
  if (v.thinned_low > v.thinned_high) return "thinned_low is above thinned_high";
  if (v.wall_low > v.wall_high) return "wall_low is above wall_high";
  if (v.landmark_low > v.landmark_high) return "landmark_low is above landmark_high";
  return nullptr;
}

// ---- components and tables

/// The numbers of a maze.
struct Maze {
  int32_t side, walls;
  float height;  // of walls [m]
  uint32_t floor_colour, skirt_colour;
  static constexpr auto describe() {
    return fields(
        field("side", &Maze::side, "cells along a side").within(0, kMostSide),
        field("wall_count", &Maze::walls, "walls").within(0, kInnerEdges + kOuterEdges),
        field("wall_height", &Maze::height, "height of walls").in("m"),
        field("floor_colour", &Maze::floor_colour, "colour of the floor as 0xRRGGBB").any_value(),
        field("skirt_colour", &Maze::skirt_colour, "colour of all skirtings as 0xRRGGBB")
            .any_value());
  }
};
/// A wall, and the patches on it.
struct Wall {
  uint8_t cell, way;
  uint8_t colours[kPatches];  // of voxel::any_colour, and 1; 0: there is none
  uint8_t depths[kPatches];   // of patches, from 0, the least, to 255, the most
  static constexpr auto describe() {
    return fields(field("cell", &Wall::cell, "cell that the wall bounds: 13 (u + 6) + v + 6")
                      .within(0, kNumbers - 1),
                  field("way", &Wall::way, "edge of that cell, counter-clockwise from +x")
                      .within(0, kWays - 1),
                  field("patch_colours", &Wall::colours, "colours of patches, from 1; 0: no patch")
                      .within(0, voxel::kAnyColours),
                  field("patch_depths", &Wall::depths,
                        "how far patches stick out, from 0, the least, to 255, the most")
                      .any_value());
  }
};
/// An edge of a maze that is made: cell x 3 + way.
struct Edge {
  uint16_t number;
  static constexpr auto describe() {
    return fields(field("number", &Edge::number, "3 cell + way"));
  }
};
/// A cell: which one, or which one it is joined to.
struct Link {
  uint8_t cell;
  static constexpr auto describe() { return fields(field("cell", &Link::cell, "a cell")); }
};
/// Walls of a maze at most: none on the edges of the tree.
inline constexpr int kWallRows = kInnerEdges - (kMostCells - 1) + kOuterEdges;

struct Walls : List<kWallRows, Wall> {
  static constexpr const char* name = "walls";
};
struct RawWalls : Fixed<kWallRows, Wall> {
  static constexpr const char* name = "raw_walls";
  static constexpr bool scratch = true;
};
struct Edges : Fixed<kInnerEdges, Edge> {
  static constexpr const char* name = "edges";
  static constexpr bool scratch = true;
};
struct Groups : Fixed<kNumbers, Link> {
  static constexpr const char* name = "groups";
  static constexpr bool scratch = true;
};
/// All cells in a random order.
struct Deck : Fixed<kMostCells, Link> {
  static constexpr const char* name = "deck";
  static constexpr bool scratch = true;
};

/// Which walls somebody may see (gaze.hpp).
struct Bits {
  uint32_t word;
  static constexpr auto describe() {
    return fields(field("word", &Bits::word, "32 rows of walls, a bit each"));
  }
};
inline constexpr int kSeenWords = (kWallRows + 31) / 32;
struct Seen : Fixed<kSeenWords, Bits> {
  static constexpr const char* name = "seen";
  static constexpr bool scratch = true;
};

// ---- what is drawn: a wall, its skirting, its patches

inline constexpr int kPiecesOfWall = 2 + kPatches;
enum PieceOf { kWallPiece, kSkirtPiece, kPatchPiece };

GE_FN voxel::Fence fence_of(const Wall& wall, float height) {
  return fence_on(hex_of(wall.cell), wall.way, height, kThickness);
}
GE_FN bool has_piece(const Wall& wall, int piece) {
  return piece < kPatchPiece || wall.colours[piece - kPatchPiece] != 0;
}
GE_FN cameras::Solid turned_box(Vec3 half, Vec3 at, int way, uint32_t colour) {
  if (way % kOwnWays == 0)
    return cameras::solid(geometry::kBox, {half.y, half.x, half.z}, at, colour);
  // Half of 30 degrees, to the left or right; a box looks the same from behind.
  constexpr float kCos = 0x1.ee8dd4p-1f, kSin = 0x1.0907dcp-2f;
  return cameras::solid(geometry::kBox, half, at, colour,
                        {kCos, 0.0f, 0.0f, way % kOwnWays == 1 ? -kSin : kSin});
}
/// The turns of walls that do not stand along y.
GE_FN cameras::Turn wall_turn(int k) {
  return {0.5f * kRoot3, k == 0 ? -0.5f : 0.5f};
}
GE_FN cameras::Solid piece_of(const Wall& wall, const Maze& maze, int piece) {
  constexpr float kPatch = 0.2625f, kApart = 0.525f;  // half of its side; between middles [m]
  const voxel::Fence fence = fence_of(wall, maze.height);
  if (piece == kWallPiece) return turned_box(fence.half, fence.at, wall.way, voxel::kDarkBlue);
  if (piece == kSkirtPiece) {
    const float high = 0.06f * maze.height;
    return turned_box({fence.half.x + 0.035f, fence.half.y + 0.05f, high},
                      {fence.at.x, fence.at.y, high}, wall.way, maze.skirt_colour);
  }
  const int k = piece - kPatchPiece;
  // Aside to the same end of a wall, from whichever cell it is named.
  const float end = wall.way < kOwnWays ? -kApart : kApart;
  const float aside = (k & 1) != 0 ? end : 0.0f, up = (k & 2) != 0 ? kApart : 0.0f;
  const float depth = fence.half.y * (1.5f + 1.2f * (1.0f / 256.0f) * float(wall.depths[k]));
  return turned_box({kPatch, depth, kPatch},
                    {fence.at.x + fence.along.x * aside, fence.at.y + fence.along.y * aside,
                     0.4f * maze.height + up},
                    wall.way, voxel::any_colour(max(int(wall.colours[k]), 1) - 1));
}
/// Twice as large as the maze.
GE_FN voxel::Static floor_of(const Maze& maze) {
  const float side = float(maze.side);
  const Vec3 half = {kSide * kRoot3 * (2.0f * side - 1.0f), kSide * (3.0f * side - 1.0f), 0.0f};
  voxel::Static floor = {};
  geometry::put(floor.low, {-half.x, -half.y, -0.1f});
  geometry::put(floor.high, half);
  floor.colour = maze.floor_colour, floor.shown = 1u;
  return floor;
}

// ---- models

/// What the model of a game in a maze derives from; `Schema` and `Agents` are its own. kOwn: most
/// solids that the game alone has.
template <int kOwn>
struct MazeTables {
  using Statics = voxel::Statics<1>;
  using Crates = voxel::NoTable;
  using Marks = voxel::NoTable;
  using Diamonds = voxel::NoTable;
  using Fences = Walls;
  using Shown = voxel::Shown<kWallRows * kPiecesOfWall>;
  using Solids = voxel::Solids<1 + kOwn + 2 * voxel::kMostAgents>;
  static constexpr int kTurns = 2;
  static GE_FN cameras::Turn turn(int k) { return wall_turn(k); }

  template <class W>
  static GE_FN voxel::Fence fence(const W& w, int row) {
    return fence_of(get<Walls, Wall>(w, row), get<Maze>(w).height);
  }
  template <class W>
  static GE_FN int piece_count(const W& w) {
    return row_count<Walls>(w) * kPiecesOfWall;
  }
  template <class W>
  static GE_FN bool is_piece_seen(const W& w, int k) {
    const int row = k / kPiecesOfWall;
    const bool seen = (get<Seen, Bits>(w, row / 32).word >> (row & 31) & 1u) != 0;
    return seen && has_piece(get<Walls, Wall>(w, row), k % kPiecesOfWall);
  }
  template <class W>
  static GE_FN cameras::Solid piece(const W& w, int k) {
    return piece_of(get<Walls, Wall>(w, k / kPiecesOfWall), get<Maze>(w), k % kPiecesOfWall);
  }
};

// ---- a new maze

template <class M>
struct NewMaze {
  using W = voxel::WorldOf<M>;
  using Links = Rows<Groups, Link>;

  static GE_FN float drawn(float low, float high, float uniform) {
    return low + uniform * (high - low);
  }
  static GE_FN void draw_numbers(const W& w, Maze& maze) {
    const auto v = w.varied();
    const Draw d = draw<"hex_maze">(w, 0);
    maze = {};
    maze.side = voxel::between(d, 0, v.side_low, v.side_high);
    maze.height = drawn(v.wall_low, v.wall_high, d.uniform(1));
    maze.floor_colour = voxel::layout_colour(d, 2);
    maze.skirt_colour = voxel::any_colour(int(d.below(3, voxel::kAnyColours)));
  }
  /// The group of a cell: the end of its links, which become shorter.
  static GE_FN int group_of(const Links& groups, int cell) {
    for (int next = groups.get(cell).cell; next != cell; next = groups.get(cell).cell) {
      const Link over = groups.get(next);
      groups.set(cell, over);
      cell = over.cell;
    }
    return cell;
  }
  static GE_FN int list_edges(int side, const Rows<Edges, Edge>& edges) {
    int count = 0;
    for (int cell = 0; cell < kNumbers; ++cell)
      for (int way = 0; way < kOwnWays; ++way)
        if (is_within(hex_of(cell), side) && is_within(beside(hex_of(cell), way), side))
          edges.set(count++, {uint16_t(kOwnWays * cell + way)});
    return count;
  }
  static GE_FN void add(Maze& maze, const Rows<RawWalls, Wall>& walls, int cell, int way) {
    Wall wall = {};
    wall.cell = uint8_t(cell), wall.way = uint8_t(way);
    if (maze.walls < kWallRows) walls.set(maze.walls, wall);
    ++maze.walls;
  }
  static GE_FN void carve(const W& w, Maze& maze, Rows<Edges, Edge> edges, Links groups,
                          Rows<RawWalls, Wall> walls) {
    const auto v = w.varied();
    const int count = list_edges(maze.side, edges);
    for (int cell = 0; cell < kNumbers; ++cell) groups.set(cell, {uint8_t(cell)});
    const float thinned = drawn(v.thinned_low, v.thinned_high, draw<"hex_shares">(w, 0).uniform(0));
    for (int k = 0; k < count; ++k) {
      const Draw d = draw<"hex_edges">(w, k);
      const int other = k + int(d.below(0, uint32_t(count - k)));
      const Edge edge = edges.get(other);
      edges.set(other, edges.get(k));
      const int cell = edge.number / kOwnWays, way = edge.number % kOwnWays;
      const int a = group_of(groups, cell);
      const int b = group_of(groups, number_of(beside(hex_of(cell), way)));
      if (a != b)
        groups.set(a, {uint8_t(b)});
      else if (!((d.uniform(1) < thinned) & (d.uniform(2) < thinned)))
        add(maze, walls, cell, way);
    }
    for (int cell = 0; cell < kNumbers; ++cell)
      for (int way = 0; way < kWays; ++way)
        if (is_within(hex_of(cell), maze.side) && !is_within(beside(hex_of(cell), way), maze.side))
          add(maze, walls, cell, way);
  }
  static GE_FN void draw_patches(const W& w, const Maze& maze, Rows<RawWalls, Wall> walls) {
    const auto v = w.varied();
    const float share = drawn(v.landmark_low, v.landmark_high, draw<"hex_shares">(w, 0).uniform(1));
    for (int row = 0; row < min(maze.walls, kWallRows); ++row) {
      const Draw d = draw<"hex_landmarks">(w, row);
      if (!(d.uniform(0) < share)) continue;
      const int patches = voxel::between(d, 1, 2, kPatches);
      Wall wall = walls.get(row);
      for (int k = 0; k < patches; ++k) {
        const Draw patch = draw<"hex_patches">(w, kPatches * row + k);
        wall.colours[k] = uint8_t(1u + patch.below(0, voxel::kAnyColours));
        wall.depths[k] = uint8_t(patch.below(1, 256));
      }
      walls.set(row, wall);
    }
  }
  /// All cells in a random order; returns how many there are.
  static GE_FN int shuffle(const W& w, const Maze& maze, const Rows<Deck, Link>& deck) {
    int count = 0;
    for (int cell = 0; cell < kNumbers; ++cell)
      if (is_within(hex_of(cell), maze.side)) deck.set(count++, {uint8_t(cell)});
    for (int k = count - 1; k > 0; --k) {
      const int other = int(draw<"hex_deck">(w, k).below(0, uint32_t(k + 1)));
      const Link link = deck.get(k);
      deck.set(k, deck.get(other));
      deck.set(other, link);
    }
    return count;
  }

  static GE_FN void lay_floor(const W& w, int, voxel::Static& floor) {
    floor = floor_of(get<Maze>(w));
  }
  using type = chain<Stages<EachWorld<&draw_numbers>, EachWorld<&carve>, EachWorld<&draw_patches>,
                            For<1, &lay_floor, typename M::Statics>>,
                     typename voxel::Copied<M, Maze, &Maze::walls, RawWalls, Walls>::type>;
};

// ---- agents

/// The direction of an agent on the circle where its team begins, from +y on clockwise.
template <class W>
GE_FN float angle_of(const W& w, int agent) {
  constexpr float kTwoPi = 0x1.921fb6p+2f;
  return kTwoPi * float(agent) / float(w.params().agent_count);
}
/// Drops an agent onto a circle around a cell, whose middle is half a metre off that of the cell
/// along x and y; `height` is that of the middle of its body.
template <class M>
GE_FN void begin_at(const voxel::WorldOf<M>& w, const Hex& cell, float radius, float height,
                    float yaw, int agent, const voxel::BodyRows<M>& bodies,
                    const Rows<typename M::Agents, voxel::Home>& homes) {
  constexpr float kOff = 0.5f;  // [m]
  float sine, cosine;
  sincos_bounded(angle_of(w, agent), sine, cosine);
  const Vec3 at = middle_of(cell) + Vec3{kOff + radius * sine, kOff + radius * cosine, 0.0f};
  voxel::Body body = {};
  geometry::put(body.position, at + Vec3{0.0f, 0.0f, height});
  body.yaw = yaw;
  bodies.set(agent, body);
  voxel::Home home = {};
  voxel::put(home.cell, voxel::cell_of<M>(at));
  homes.set(agent, home);
}
/// Those who have climbed over the walls, from each other's heads, and fallen off the floor.
template <class M>
GE_FN void return_fallen(const voxel::WorldOf<M>& w, const voxel::BodyRows<M>& bodies) {
  for (int agent = 0; agent < w.params().agent_count; ++agent) {
    if (!(voxel::place_of(bodies.get(agent)).z < voxel::kAbyss)) continue;
    const voxel::Home home = get<typename M::Agents, voxel::Home>(w, agent);
    voxel::Body body = voxel::standing_in<M>(voxel::cell(home.cell), 0.0f);
    body.pitch = bodies.get(agent).pitch;
    bodies.set(agent, body);
  }
}

}  // namespace gpu_envs::envs::hex
