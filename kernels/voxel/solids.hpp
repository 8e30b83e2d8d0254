// Solids that cameras draw for the things of voxel games: one or two for each.
#pragma once

#include "cameras/draw.hpp"
#include "voxel/body.hpp"
#include "voxel/colours.hpp"
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
/// upper one in its cell.
struct DiamondForm {
  float radius, height, lift;
};
template <class M>
GE_FN Solid solid_of(const Diamond& diamond, const DiamondForm& form, bool lower) {
  const float z = form.lift - (lower ? form.height : 0.0f);
  return cameras::solid(geometry::kCone, {form.radius, form.radius, 0.5f * form.height},
                        corner_of<M>(cell(diamond.cell)) + Vec3{0.5f, 0.5f, z}, diamond.colour,
                        lower ? geometry::Quat{0.0f, 1.0f, 0.0f, 0.0f} : cameras::upright());
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

// ---- all of a world: statics, marks, boxes, two cones a diamond, body and eyes an agent

enum class Part { statics, marks, crates, diamonds, agents };
/// Which of them number i is: a row, and of two of a row the second or the first.
struct Which {
  Part part;
  int row;
  bool second;
};
template <class M>
GE_FN int solid_count(const WorldOf<M>& w) {
  return count_of<typename M::Statics>(w) + count_of<typename M::Marks>(w) +
         count_of<typename M::Crates>(w) + 2 * count_of<typename M::Diamonds>(w) +
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
  const bool second = ((i -= crates) & 1) != 0;
  if (i < cones) return {Part::diamonds, i / 2, second};
  return {Part::agents, (i - cones) / 2, second};
}
template <class M>
GE_FN bool is_seen(const WorldOf<M>& w, int i) {
  const Which which = which_solid<M>(w, i);
  if (which.part == Part::statics) return get<typename M::Statics, Static>(w, which.row).shown != 0;
  if constexpr (kExists<typename M::Diamonds>)
    if (which.part == Part::diamonds)
      return get<typename M::Diamonds, Diamond>(w, which.row).left != 0;
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
  else if (which.part == Part::crates)
    solid = crate_solid<M>(w, which.row);
  else if (which.part == Part::agents)
    solid = agent_solid<M>(w, which.row, which.second);
  if constexpr (kExists<typename M::Marks>)
    if (which.part == Part::marks) solid = solid_of<M>(get<typename M::Marks, Mark>(w, which.row));
  if constexpr (kExists<typename M::Diamonds>)
    if (which.part == Part::diamonds)
      solid = solid_of<M>(get<typename M::Diamonds, Diamond>(w, which.row), M::diamond_form(),
                          which.second);
}

/// Solids of a world, all that can be seen.
template <int N>
struct Solids : List<N, Solid> {
  static constexpr const char* name = "solids";
  static constexpr bool scratch = true;
};

/// Hills need no row of solids.
template <class M, bool = HasHills<M>>
struct FixedSolids {};
template <class M>
struct FixedSolids<M, true> {
  static constexpr int kFixed = M::Hills::capacity;
  static GE_FN int fixed_count(const WorldOf<M>& w) { return row_count<typename M::Hills>(w); }
  static GE_FN Solid fixed(const WorldOf<M>& w, int k) {
    return solid_of(get<typename M::Hills, Hill>(w, k), M::hill_colour(w));
  }
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
/// The stages that draw what every agent sees.
template <class M>
using DrawSights = Stages<Emit<&solid_count<M>, &is_seen<M>, &make_solid<M>, typename M::Solids>,
                          Observe<&cameras::draw<Sight<M>, WorldOf<M>>>>;

}  // namespace ge::voxel
