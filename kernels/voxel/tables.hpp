// Components and tables of voxel worlds: an agent's body and hands, static boxes, crates that can
// be carried, diamonds, marks. Knows no game; a game composes its agents' table of these and more.
//
// Frame: z is up, right-handed, metres; a cell is a cube of side 1 (in some games 2) with whole
// corners, named by its lowest corner. Yaw 0 looks along +y, positive yaw turns left (counter-clockwise from above).
#pragma once

#include "engine/graph/graph.hpp"
#include "engine/world/world.hpp"
#include "geometry/vectors.hpp"
#include "voxel/settings.hpp"

namespace ge::voxel {

using geometry::Mat3;
using geometry::Vec3;

// Steps per second: one action, one picture, one step of motion.
inline constexpr int kStepsPerSecond = 15;
inline constexpr float kStep = 1.0f / float(kStepsPerSecond);  // [s]

/// Largest coordinate of a cell along each axis; points farther away are clamped to it. Levels are
/// a few hundred cells long.
inline constexpr int32_t kFarthestCell = 1 << 20;

// ---- agents

/// One action: six independent heads, in the order of the paper's table. Bring policies of the
/// reference code by permuting its heads, strafe, move, turn, jump, interact, gaze, to ours, and by
/// exchanging 1 and 2 of its gaze, where 1 is down.
struct Act {
  int32_t move, strafe, turn, gaze, jump, interact;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("move", &Act::move, "walk: 1 forward, 2 backward").one_of(3),
        field("strafe", &Act::strafe, "sidestep: 1 left, 2 right").one_of(3),
        field("turn", &Act::turn, "turn: 1 left, 2 right").one_of(3),
        field("gaze", &Act::gaze, "look: 1 up, 2 down").one_of(3),
        field("jump", &Act::jump, "1: jump, if the agent stands").one_of(2),
        field("interact", &Act::interact, "1: pick a box up, or put down the one that is carried")
            .one_of(2));
  }
};

struct Body {
  float position[3];  // the middle of its capsule
  float velocity[2];  // along x and y
  float climb;        // speed along z
  float yaw, pitch;
  int32_t grounded;
  static constexpr auto describe() {
    return fields(
        field("position", &Body::position, "middle of the body").in("m"),
        field("velocity", &Body::velocity, "velocity along x and y").in("m/s"),
        field("climb", &Body::climb, "velocity along z").in("m/s"),
        field("yaw", &Body::yaw, "heading; 0 looks along +y, grows to the left").in("rad"),
        field("pitch", &Body::pitch, "angle of the gaze; positive looks up").in("rad"),
        field("grounded", &Body::grounded, "1: the agent stands on something").within(0, 1));
  }
};
inline constexpr int32_t kEmpty = -1;
/// The crate that an agent carries.
struct Hands {
  int32_t crate;  // row of crates, kEmpty: nothing
  static constexpr auto describe() {
    return fields(field("carries", &Hands::crate, "row of the box that is carried; -1: none")
                      .row_of("crates", kEmpty));
  }
};
/// Where an agent begins, and where it returns to after a fall.
struct Home {
  int32_t cell[3];
  static constexpr auto describe() {
    return fields(field("home", &Home::cell, "cell in which the agent begins")
                      .within(-kFarthestCell, kFarthestCell));
  }
};

// ---- things

/// A box of the level: bodies collide with it, and cameras draw it where it is shown.
struct Static {
  float low[3], high[3];
  uint32_t colour;  // 0xRRGGBB
  uint32_t shown;
  static constexpr auto describe() {
    return fields(
        field("low", &Static::low, "lowest corner").in("m"),
        field("high", &Static::high, "highest corner").in("m"),
        field("colour", &Static::colour, "colour as 0xRRGGBB").any_value(),
        field("shown", &Static::shown, "0: the box cannot be seen, but collides").within(0, 1));
  }
};

enum Form : int32_t {
  kCrateForm,
  kBlockForm,
  kBallForm,
  kPillForm,
  kDrumForm,
  kForms,        // of things to carry
  kPushForm = 8  // a box to push, in a cell of 2 m
};

/// A box that can be carried. While it is carried its cell is where it was lifted.
struct Crate {
  int32_t cell[3];
  int32_t carrier;  // row of an agent, kEmpty: it stands
  static constexpr auto describe() {
    return fields(field("cell", &Crate::cell, "cell in which the box stands")
                      .within(-kFarthestCell, kFarthestCell),
                  field("carrier", &Crate::carrier, "agent that carries the box; -1: none")
                      .row_of("agents", kEmpty));
  }
};

/// What a thing to carry looks like, and whether it can be carried, in games of several forms.
struct Look {
  int32_t form;     // Form
  uint32_t colour;  // 0xRRGGBB
  int32_t fixed;
  static constexpr auto describe() {
    return fields(field("form", &Look::form, "0 crate, 1 block, 2 ball, 3 pill, 4 drum")
                      .within(0, kForms - 1),
                  field("colour", &Look::colour, "colour as 0xRRGGBB").any_value(),
                  field("fixed", &Look::fixed, "1: nobody can lift it").within(0, 1));
  }
};

struct Diamond {
  int32_t cell[3];
  int32_t left;
  uint32_t colour;  // 0xRRGGBB
  static constexpr auto describe() {
    return fields(field("cell", &Diamond::cell, "cell in which the diamond hangs")
                      .within(-kFarthestCell, kFarthestCell),
                  field("left", &Diamond::left, "1: the diamond has not been taken").within(0, 1),
                  field("colour", &Diamond::colour, "colour as 0xRRGGBB").any_value());
  }
};

/// Cells that do something to agents in them; drawn as a slab on the floor below.
struct Mark {
  int32_t low[3], high[3];  // `high` is exclusive
  uint32_t kind;            // MarkKind
  static constexpr auto describe() {
    return fields(
        field("low", &Mark::low, "lowest cell").within(-kFarthestCell, kFarthestCell),
        field("high", &Mark::high, "highest cell + 1").within(-kFarthestCell, kFarthestCell),
        field("kind", &Mark::kind, "0 lava, 1 the exit's pad, 2 a building zone").within(0, 2));
  }
};
enum MarkKind : uint32_t { kLavaMark, kPadMark, kZoneMark };

template <int N>
struct Statics : List<N, Static> {
  static constexpr const char* name = "statics";
};
/// Crates of one form, or with a Look each.
template <int N, class... Looks>
struct Crates : List<N, Crate, Looks...> {
  static constexpr const char* name = "crates";
};
template <int N>
struct Diamonds : List<N, Diamond> {
  static constexpr const char* name = "diamonds";
};
template <int N>
struct Marks : List<N, Mark> {
  static constexpr const char* name = "marks";
};

// Scratch copies of these lists while a level is made. For copies them, and reports a table that is
// too small.
template <int N, class... Looks>
struct Stock : Fixed<N, Crate, Looks...> {
  static constexpr const char* name = "stock";
  static constexpr bool scratch = true;
};
template <int N>
struct Gems : Fixed<N, Diamond> {
  static constexpr const char* name = "gems";
  static constexpr bool scratch = true;
};
template <int N>
struct Fields : Fixed<N, Mark> {
  static constexpr const char* name = "fields";
  static constexpr bool scratch = true;
};

/// A table that a game does without: it has no rows.
struct NoTable {
  using components = Types<>;
  static constexpr int capacity = 0;
};
template <class T>
inline constexpr bool kExists = !std::is_same_v<T, NoTable>;
template <class T, class W>
GE_FN int count_of(const W& w) {
  if constexpr (kExists<T>)
    return row_count<T>(w);
  else
    return 0;
}

/// A game describes itself to the stages here by a model:
///
///   Schema, Agents, Statics           its schema, and tables of the components above
///   Crates, Marks, Diamonds           the same, or NoTable
///   diamond_form()                    a DiamondForm (solids.hpp), where it has diamonds
///
/// Its parameters derive from Params (settings.hpp). Room (game.hpp) has the tables of a size.
template <class M>
using WorldOf = World<typename M::Schema>;
template <class M>
using BodyRows = Rows<typename M::Agents, Body>;
template <class M>
using HandRows = Rows<typename M::Agents, Hands>;
template <class M>
using CrateRows = Rows<typename M::Crates, Crate>;
template <class M>
inline constexpr bool kHasLooks = contains<Look, typename M::Crates::components>;

template <class M>
GE_FN int team_size(const WorldOf<M>& w) {
  return w.params().agent_count;
}

// ---- cells

/// A crate that nothing holds up stops falling here.
inline constexpr int32_t kDeepest = -30;

struct Cell {
  int32_t x, y, z;
};
GE_FN bool operator==(const Cell& a, const Cell& b) {
  return (a.x == b.x) & (a.y == b.y) & (a.z == b.z);
}
/// Whether the column of cells at x, y lies in a box from `low` to `high`, which is exclusive.
GE_FN bool has_column(const auto& box, int x, int y) {
  return (x >= box.low[0]) & (x < box.high[0]) & (y >= box.low[1]) & (y < box.high[1]);
}
GE_FN Cell cell(const int32_t (&at)[3]) {
  return {at[0], at[1], at[2]};
}
GE_FN void put(int32_t (&to)[3], const Cell& at) {
  to[0] = at.x, to[1] = at.y, to[2] = at.z;
}
/// Side of the cells of a game [m]: `kCellSide` of its model, or 1.
template <class M>
consteval float side_of_cells() {
  if constexpr (requires { M::kCellSide; })
    return M::kCellSide;
  else
    return 1.0f;
}
template <class M>
GE_FN Cell cell_of(Vec3 point) {
  constexpr float kScale = 1.0f / side_of_cells<M>();
  const auto within = [](float x) {
    return to_int(clamp(floor(x * kScale), float(-kFarthestCell), float(kFarthestCell)));
  };
  return {within(point.x), within(point.y), within(point.z)};
}
GE_FN Cell above(Cell at, int32_t by = 1) {
  return {at.x, at.y, at.z + by};
}
template <class M>
GE_FN Vec3 corner_of(const Cell& at) {
  constexpr float kSide = side_of_cells<M>();
  return {float(at.x) * kSide, float(at.y) * kSide, float(at.z) * kSide};
}
template <class M>
GE_FN Vec3 middle_of(const Cell& at) {
  constexpr float kHalf = 0.5f * side_of_cells<M>();
  return corner_of<M>(at) + Vec3{kHalf, kHalf, kHalf};
}

}  // namespace ge::voxel
