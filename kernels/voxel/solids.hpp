// Solids that cameras draw for the things of voxel games: one or two for each.
#pragma once

#include "cameras/draw.hpp"
#include "voxel/body.hpp"
#include "voxel/colours.hpp"
#include "voxel/fences.hpp"
#include "voxel/hands.hpp"
#include "voxel/hills.hpp"
#include "voxel/timing.hpp"

namespace ge::voxel {

using cameras::Solid;

/// Axes of these eyes, as an orientation.
GE_FN geometry::Quat turn_of(const Body& body) {
  float sine, cosine;
  sincos_bounded(0.5f * body.pitch, sine, cosine);
  return geometry::yaw_quat(body.yaw) * geometry::Quat{cosine, sine, 0.0f, 0.0f};
}

GE_FN Solid box_between(Vec3 low, Vec3 high, uint32_t colour) {
  const Vec3 half = (high - low) * 0.5f;
  return cameras::solid(geometry::kBox, half, low + half, colour);
}
GE_FN Solid solid_of(const Static& box) {
  return box_between(geometry::vec(box.low), geometry::vec(box.high), box.colour);
}
/// In a game with `kKerb` only so much of a wall is drawn, so that one sees over it [m].
template <class M>
GE_FN Solid static_solid(Static box) {
  if constexpr (requires { M::kKerb; })
    if (box.low[2] > 0.0f) box.high[2] = min(box.high[2], box.low[2] + M::kKerb);
  return solid_of(box);
}
template <class M>
GE_FN Solid solid_of(const Mark& mark) {
  constexpr float kThick = 0.05f;  // [m]
  const Vec3 low = corner_of<M>(cell(mark.low)), high = corner_of<M>(cell(mark.high));
  const uint32_t colour = mark.kind == kLavaMark  ? kRed
                          : mark.kind == kPadMark ? kLightGreen
                                                  : kDarkGrey;
  return box_between(low, {high.x, high.y, low.z + kThick}, colour);
}
template <class M>
GE_FN Solid solid_of(const Crate& crate, const Look& look) {
  const FormOf form = form_of(look.form);
  return cameras::solid(form.shape, geometry::vec(form.drawn),
                        middle_of<M>(cell(crate.cell)) - Vec3{0.0f, 0.0f, form.sunk}, look.colour);
}
/// A carried crate, which its carrier sees too.
GE_FN Solid carried_solid(const Body& body, const Look& look) {
  const FormOf form = form_of(look.form);
  const float scale = kCarriedScale;  // device code has no address of a constant
  return cameras::solid(form.shape, geometry::vec(form.drawn) * scale,
                        spot_of(eyes_of(body), kCarriedBelow), look.colour, turn_of(body));
}
/// Two cones that share their base, each `height` high. `lift` is the height of the middle of the
/// upper one above the floor.
struct DiamondForm {
  float radius, height, lift;
};
GE_FN Solid diamond_cone(const DiamondForm& form, Vec3 floor, uint32_t colour, bool lower) {
  const float z = form.lift - (lower ? form.height : 0.0f);
  return cameras::solid(geometry::kCone, {form.radius, form.radius, 0.5f * form.height},
                        floor + Vec3{0.0f, 0.0f, z}, colour,
                        lower ? geometry::Quat{0.0f, 1.0f, 0.0f, 0.0f} : cameras::upright());
}
template <class M>
GE_FN Solid solid_of(const Diamond& diamond, const DiamondForm& form, bool lower) {
  const Vec3 floor = corner_of<M>(cell(diamond.cell)) + Vec3{0.5f, 0.5f, 0.0f};
  return diamond_cone(form, floor, diamond.colour, lower);
}
GE_FN Solid body_solid(const Body& body, int agent) {
  return cameras::solid(geometry::kPill, {0.35f, 0.35f, 0.36f},
                        place_of(body) + Vec3{0.0f, 0.0f, 0.09f}, agent_colour(agent),
                        cameras::upright(), agent);
}
/// The dark box in front of the face, by which one sees where an agent looks.
GE_FN Solid eyes_solid(const Body& body, int agent) {
  const View eyes = eyes_of(body);
  return cameras::solid(geometry::kBox, {0.25f, 0.20f, 0.12f}, eyes.at + eyes.turn.y * 0.19f,
                        kDarkNavy, turn_of(body), agent);
}

// ---- all of a world: statics, marks, boxes, two cones a diamond, things of the game's own, body and
// eyes an agent

/// Things that one game alone has, in a model with `int own_count(w)`, `bool is_own_seen(w, k)` and
/// `Solid own_solid(w, k)`.
template <class M>
concept HasOwnSolids = requires(const WorldOf<M>& w) { M::own_solid(w, 0); };
template <class M>
GE_FN int own_count([[maybe_unused]] const WorldOf<M>& w) {
  if constexpr (HasOwnSolids<M>)
    return M::own_count(w);
  else
    return 0;
}

enum class Part { statics, marks, crates, diamonds, own, agents };
/// Which of them number i is: a row, and of two of a row the second or the first.
struct Which {
  Part part;
  int row;
  bool second;
};
template <class M>
GE_FN int solid_count(const WorldOf<M>& w) {
  return count_of<typename M::Statics>(w) + count_of<typename M::Marks>(w) +
         count_of<typename M::Crates>(w) + 2 * count_of<typename M::Diamonds>(w) + own_count<M>(w) +
         2 * team_size<M>(w);
}
template <class M>
GE_FN Which which_solid(const WorldOf<M>& w, int i) {
  const int statics = count_of<typename M::Statics>(w);
  const int marks = count_of<typename M::Marks>(w);
  const int crates = count_of<typename M::Crates>(w);
  const int cones = 2 * count_of<typename M::Diamonds>(w);
  if (i < statics) return {Part::statics, i, false};
  if ((i -= statics) < marks) return {Part::marks, i, false};
  if ((i -= marks) < crates) return {Part::crates, i, false};
  if ((i -= crates) < cones) return {Part::diamonds, i / 2, (i & 1) != 0};
  if ((i -= cones) < own_count<M>(w)) return {Part::own, i, false};
  i -= own_count<M>(w);
  return {Part::agents, i / 2, (i & 1) != 0};
}
template <class M>
GE_FN bool is_seen(const WorldOf<M>& w, int i) {
  const Which which = which_solid<M>(w, i);
  if (which.part == Part::statics) return get<typename M::Statics, Static>(w, which.row).shown != 0;
  if constexpr (kExists<typename M::Diamonds>)
    if (which.part == Part::diamonds)
      return get<typename M::Diamonds, Diamond>(w, which.row).left != 0;
  if constexpr (HasOwnSolids<M>)
    if (which.part == Part::own) return M::is_own_seen(w, which.row);
  return true;
}
template <class M>
GE_FN Solid crate_solid(const WorldOf<M>& w, int row) {
  const Crate crate = get<typename M::Crates, Crate>(w, row);
  const Look look = look_of<M>(w, row);
  if (crate.carrier == kEmpty) return solid_of<M>(crate, look);
  return carried_solid(get<typename M::Agents, Body>(w, crate.carrier), look);
}
template <class M>
GE_FN Solid agent_solid(const WorldOf<M>& w, int agent, bool eyes) {
  const Body body = get<typename M::Agents, Body>(w, agent);
  return eyes ? eyes_solid(body, agent) : body_solid(body, agent);
}
template <class M>
GE_FN void make_solid(const WorldOf<M>& w, int i, Solid& solid) {
  const Which which = which_solid<M>(w, i);
  if (which.part == Part::statics)
    solid = static_solid<M>(get<typename M::Statics, Static>(w, which.row));
  else if (which.part == Part::agents)
    solid = agent_solid<M>(w, which.row, which.second);
  if constexpr (kExists<typename M::Crates>)
    if (which.part == Part::crates) solid = crate_solid<M>(w, which.row);
  if constexpr (kExists<typename M::Marks>)
    if (which.part == Part::marks) solid = solid_of<M>(get<typename M::Marks, Mark>(w, which.row));
  if constexpr (kExists<typename M::Diamonds>)
    if (which.part == Part::diamonds)
      solid = solid_of<M>(get<typename M::Diamonds, Diamond>(w, which.row), M::diamond_form(),
                          which.second);
  if constexpr (HasOwnSolids<M>)
    if (which.part == Part::own) solid = M::own_solid(w, which.row);
}

/// Solids of a world, all that can be seen.
template <int N>
struct Solids : List<N, Solid> {
  static constexpr const char* name = "solids";
  static constexpr bool scratch = true;
};

/// Hills and fences need no row of solids.
template <class M>
struct FixedSolids {};
template <HasHills M>
struct FixedSolids<M> {
  static constexpr int kFixed = M::Hills::capacity;
  static GE_FN int fixed_count(const WorldOf<M>& w) { return row_count<typename M::Hills>(w); }
  static GE_FN Solid fixed(const WorldOf<M>& w, int k) {
    return solid_of(get<typename M::Hills, Hill>(w, k), M::hill_colour(w));
  }
};
template <HasFences M>
struct FixedSolids<M> {
  static constexpr int kFixed = M::Shown::capacity;
  static GE_FN int fixed_count(const WorldOf<M>& w) { return row_count<typename M::Shown>(w); }
  static GE_FN Solid fixed(const WorldOf<M>& w, int k) {
    return M::piece(w, get<typename M::Shown, Piece>(w, k).number);
  }
  static constexpr int kTurns = M::kTurns;
  static GE_FN cameras::Turn turn(int k) { return M::turn(k); }
};
/// An agent's picture: the world from its eyes, and how much of the episode is left.
template <class M>
struct Sight : FixedSolids<M> {
  using Solids = typename M::Solids;
  static GE_FN cameras::Eye eye(const WorldOf<M>& w, Slot me) {
    const View eyes = eyes_of(get<typename M::Agents, Body>(w, me.row));
    return {eyes.at, eyes.turn.x, eyes.turn.z, eyes.turn.y};
  }
  static GE_FN cameras::Bar bar(const WorldOf<M>& w, Slot) {
    constexpr uint32_t kDimmedBlue = 0x1a6574;  // as the light leaves it that close to the eye
    return {time_left(get<Timer>(w)), kDimmedBlue};
  }
};
struct Picture : Image {
  template <class Params>
  static GE_FN const ImageForm& form(const Params& params) {
    return params.picture.form;
  }
};
/// Stages that find which pieces of fences are seen; nothing in a game without.
template <class M>
struct ShowFences {
  using type = Stages<>;
};
template <HasFences M>
struct ShowFences<M> {
  static GE_FN int count(const WorldOf<M>& w) { return M::piece_count(w); }
  static GE_FN bool is_seen(const WorldOf<M>& w, int k) { return M::is_piece_seen(w, k); }
  static GE_FN void note(const WorldOf<M>&, int k, Piece& piece) { piece.number = k; }
  using type = Stages<Emit<&count, &is_seen, &note, typename M::Shown>>;
};
/// The stages that draw what every agent sees.
template <class M>
using DrawSights =
    chain<typename ShowFences<M>::type,
          Stages<Emit<&solid_count<M>, &is_seen<M>, &make_solid<M>, typename M::Solids>,
                 Observe<&cameras::draw<Sight<M>, WorldOf<M>>>>>;

}  // namespace ge::voxel
