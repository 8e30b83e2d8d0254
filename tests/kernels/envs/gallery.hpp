// Gallery: a test-only environment of pictures, with numbers beside them. Visitors turn and walk
// among solids of every shape, redrawn each episode; nobody is meant to learn it. Tests lay out
// rooms of their own through the columns of `things`.
#pragma once

#include "cameras/draw.hpp"
#include "engine/environment.hpp"

namespace gpu_envs::envs::gallery {

using namespace ge;

inline constexpr int kFewThings = 48, kMostThings = 2000, kMostVisitors = 3;
inline constexpr int kSide = 14, kHighest = 5;  // of hills, in cells

struct Settings : cameras::Settings {
  int32_t visitors = 2;
  int32_t thing_count = 24;
  int32_t fixed_count = 0;
  bool hills = false;
  static constexpr auto describe() {
    return std::tuple_cat(
        fields(field("visitors", &Settings::visitors, "of a world").within(1, kMostVisitors),
               field("thing_count", &Settings::thing_count, "of a world").within(0, kMostThings),
               field("fixed_count", &Settings::fixed_count,
                     "last things of a world, drawn without rows of solids; at most all")
                   .within(0, kMostThings),
               field("hills", &Settings::hills, "a field of columns, else a flat one")),
        cameras::picture_fields<Settings>());
  }
};
struct Params {
  int32_t visitors = 2, thing_count = 24, fixed_count = 0, hills = 0;
  cameras::Picture picture{};
};
/// Beside a picture.
struct Numbers {
  float gaze[2], steps;
  static constexpr auto describe() {
    return fields(field("gaze", &Numbers::gaze, "yaw and pitch").in("rad"),
                  field("steps", &Numbers::steps, "of the episode").within(0, 1e9));
  }
};
inline Params resolve(Settings& s) {
  s.fixed_count = min(s.fixed_count, s.thing_count);
  return {s.visitors, s.thing_count, s.fixed_count, s.hills ? 1 : 0,
          cameras::picture_of(s, RowShape<Numbers>::elements)};
}

struct Move {
  int32_t way;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("way", &Move::way, "0 rest, 1 left, 2 right, 3 up, 4 down, 5 forward").one_of(6));
  }
};
struct Pose {
  float at[3], yaw, pitch;
  static constexpr auto describe() {
    return fields(field("at", &Pose::at, "of the eye"), field("yaw", &Pose::yaw, "to the left"),
                  field("pitch", &Pose::pitch, "upwards"));
  }
};
/// As a solid, but it lasts.
struct Thing {
  int32_t shape;
  float half[3], at[3], turn[4];
  uint32_t colour;
  int32_t owner;
  static constexpr auto describe() {
    return fields(
        field("shape", &Thing::shape, "which").within(0, geometry::kCone),
        field("half", &Thing::half, "measures"), field("at", &Thing::at, "place"),
        field("turn", &Thing::turn, "orientation"),
        field("colour", &Thing::colour, "and whether it is unlit").any_value(),
        field("owner", &Thing::owner, "visitor that does not see it").row_of("visitors", -1));
  }
};

struct Hill {
  int32_t cells;
  static constexpr auto describe() {
    return fields(field("cells", &Hill::cells, "height of a column").within(0, kHighest));
  }
};

struct Visitors : Agents<kMostVisitors, Move, Pose> {
  static constexpr const char* name = "visitors";
  static GE_FN constexpr int count(const Params& p) { return p.visitors; }
};
template <int N>
struct Things : Fixed<N, Thing> {
  static constexpr const char* name = "things";
  static GE_FN constexpr int count(const Params& p) { return p.thing_count; }
};
struct Hills : Fixed<kSide * kSide, Hill> {
  static constexpr const char* name = "hills";
};
template <int N>
struct Solids : List<N + kMostVisitors, cameras::Solid> {
  static constexpr const char* name = "solids";
  static constexpr bool scratch = true;
};
template <int N>
struct Schema {
  using Settings = gallery::Settings;
  using Params = gallery::Params;
  using Action = Move;
  using Agent = Visitors;
  using tables = Types<Visitors, Things<N>, Hills, Solids<N>>;
  static constexpr Tuning tuning{
      .cpu_block = 1, .cuda_block = 1, .rare_resets = true, .flat = true};
  static Params resolve(Settings& settings) { return gallery::resolve(settings); }
};
template <int N>
using W = World<Schema<N>>;

template <int N>
GE_FN void place_thing(const W<N>& w, Slot slot, Thing& thing) {
  constexpr int32_t kShapes[] = {geometry::kBox,  geometry::kBox,       geometry::kSphere,
                                 geometry::kPill, geometry::kCylinder,  geometry::kCone,
                                 geometry::kBox,  geometry::kEllipsoid, geometry::kCapsule};
  const Draw sizes = draw<"thing">(w, slot.row, 0), places = draw<"thing">(w, slot.row, 1),
             turns = draw<"thing">(w, slot.row, 2);
  const int which = slot.row % 9;
  thing.shape = kShapes[which];
  for (int k = 0; k < 3; ++k) {
    thing.half[k] = 0.1f + 0.9f * sizes.uniform(k);
    thing.at[k] = (k == 2 ? 3.0f : 12.0f) * (places.uniform(k) - 0.5f);
  }
  geometry::Quat turn = {1.0f, 0.0f, 0.0f, 0.0f};  // boxes along the axes
  if (which == 1) turn = geometry::yaw_quat(6.0f * turns.uniform(0));
  if (which > 1)
    turn = geometry::normalized(geometry::Quat{turns.uniform(0) - 0.5f, turns.uniform(1) - 0.5f,
                                               turns.uniform(2) - 0.5f, turns.uniform(3) - 0.5f});
  geometry::put(thing.turn, turn);
  thing.colour = sizes.below(3, 1u << 24) | (places.below(3, 8) == 0 ? cameras::Solid::kUnlit : 0u);
  thing.owner = -1;
}
template <int N>
GE_FN void raise(const W<N>& w, Slot slot, Hill& hill) {
  const Draw d = draw<"hill">(w, slot.row);
  hill.cells = w.params().hills != 0 && d.below(0, 3) == 0 ? int32_t(d.below(1, kHighest + 1)) : 0;
}
template <int N>
GE_FN void enter(const W<N>& w, Slot visitor, Pose& pose) {
  const Draw d = draw<"visitor">(w, visitor.row);
  pose = {{6.0f * (d.uniform(0) - 0.5f), 6.0f * (d.uniform(1) - 0.5f), 0.0f},
          6.28f * d.uniform(2),
          d.uniform(3) - 0.5f};
}
template <int N>
GE_FN void move(const W<N>&, Pose& pose, const Move& move) {
  pose.yaw += (move.way == 1 ? 0.2f : 0.0f) - (move.way == 2 ? 0.2f : 0.0f);
  pose.pitch += (move.way == 3 ? 0.1f : 0.0f) - (move.way == 4 ? 0.1f : 0.0f);
  const cameras::Eye eye = cameras::eye_at(geometry::vec(pose.at), pose.yaw, pose.pitch);
  const float step = move.way == 5 ? 0.4f : 0.0f;
  geometry::put(pose.at, eye.at + eye.forward * step);
}
template <int N>
GE_FN void judge(const W<N>& w, Slot visitor, Reward& reward, Ending& ending, const Move& move) {
  reward.value = float(move.way);
  ending.terminated = (w.step() >= 5u + uint32_t(visitor.row)) & (move.way == 4) ? 1u : 0u;
}

// ---- what is seen

/// Around the middle, below the visitors' eyes.
GE_FN geometry::HeightGrid hill_grid() {
  return {{-5.25f, -5.25f, -2.0f}, 0.75f, kSide, kSide, kHighest};
}

template <int N>
GE_FN int listed_things(const W<N>& w) {
  return w.params().thing_count - w.params().fixed_count;
}
template <int N>
GE_FN int solid_count(const W<N>& w) {
  return listed_things(w) + w.params().visitors;
}
template <int N>
GE_FN cameras::Solid thing_solid(const W<N>& w, int row) {
  const Thing thing = get<Things<N>, Thing>(w, row);
  return cameras::solid(thing.shape, geometry::vec(thing.half), geometry::vec(thing.at),
                        thing.colour, geometry::quat(thing.turn), thing.owner);
}
template <int N>
GE_FN void make_solid(const W<N>& w, int row, cameras::Solid& solid) {
  if (row < listed_things(w)) {
    solid = thing_solid(w, row);
    return;
  }
  const int visitor = row - listed_things(w);
  const Pose pose = get<Visitors, Pose>(w, visitor);
  solid = cameras::solid(geometry::kPill, {0.35f, 0.35f, 0.36f}, geometry::vec(pose.at), 0x2eb5d0u,
                         cameras::upright(), visitor);
}
template <int N>
struct View {
  using Solids = gallery::Solids<N>;
  static GE_FN cameras::Eye eye(const W<N>& w, Slot me) {
    const Pose pose = get<Visitors, Pose>(w, me.row);
    return cameras::eye_at(geometry::vec(pose.at), pose.yaw, pose.pitch);
  }
  static GE_FN cameras::Bar bar(const W<N>& w, Slot) {
    return {1.0f - float(w.step()) * 0.05f, 0x1a6574u};
  }
  static constexpr int kFixed = N;
  static GE_FN int fixed_count(const W<N>& w) { return w.params().fixed_count; }
  static GE_FN cameras::Solid fixed(const W<N>& w, int k) {
    return thing_solid(w, listed_things(w) + k);
  }
  static GE_FN cameras::Hills hills(const W<N>&) { return {hill_grid(), 0xb9a37cu}; }
  static GE_FN int height(const W<N>& w, int x, int y) {
    return get<gallery::Hills, Hill>(w, y * kSide + x).cells;
  }
};

struct Observation : Image {
  static GE_FN const ImageForm& form(const Params& p) { return p.picture.form; }
};
template <int N>
GE_FN void tell(const W<N>& w, Numbers& numbers, const Pose& pose) {
  numbers = {{pose.yaw, pose.pitch}, float(w.step())};
}
/// What an episode has come to.
struct Measures {
  float steps, height;
  static constexpr auto describe() {
    return fields(field("walked", &Measures::steps, "steps of the episode"),
                  field("height", &Measures::height, "of the eye").in("m"));
  }
  template <class World>
  static GE_FN Measures of(const World& w, int agent) {
    return {float(w.step()), get<Visitors, Pose>(w, agent).at[2]};
  }
};

template <int N>
struct Environment {
  using Schema = gallery::Schema<N>;
  using Observation = gallery::Observation;
  using Numbers = gallery::Numbers;
  using Measures = gallery::Measures;
  using Reset = Stages<Each<&place_thing<N>>, Each<&raise<N>>, Each<&enter<N>>>;
  using Step = Stages<Each<&move<N>>, Each<&judge<N>>>;
  using Observe = Stages<For<&solid_count<N>, &make_solid<N>, Solids<N>>,
                         ge::Observe<&cameras::draw<View<N>, W<N>>>, ObserveNumbers<&tell<N>>>;
  static constexpr Hooks<Schema> hooks{.fits = [](const Params& p) { return p.thing_count <= N; }};
  static constexpr Card card{
      .doc = "A test: pictures of solids.", .max_episode_steps = 20, .agents = "visitors"};
};
using Builds = ge::Builds<Build<"Gallery-v0", Environment<kFewThings>, Environment<kMostThings>>>;

}  // namespace gpu_envs::envs::gallery
