// What indoor navigation's tasks share: houses as assets, a body that walks and turns, what it
// sees, and how far it is from somewhere.
#pragma once

#include "cameras/draw.hpp"
#include "engine/described/text_lines.hpp"
#include "engine/environment.hpp"
#include "houses/house_assets.hpp"

namespace gpu_envs::envs::indoor {

using namespace ge;
namespace hs = ge::houses;

inline constexpr float kEyeHeight = 1.25f;   // [m]
inline constexpr float kStep = 0.25f;        // [m]
inline constexpr float kTurn = 0.17453293f;  // [rad], 10 degrees
inline constexpr float kTwoPi = 0x1.921fb6p+2f;

// ---- what is described

enum Split { kTrain, kValidation, kTest };
inline constexpr int kSplitHouses = 1'000'000;
/// Houses, and how they are seen.
struct HouseSettings : cameras::Settings {
  int32_t house_count = 64, first_house = 0, split = kTrain;
  int32_t rooms_low = 3, rooms_high = 8;
  float clutter_low = 0.1f, clutter_high = 0.35f, door_low = 0.9f, door_high = 1.1f;
  float depth_limit = 0.0f;
  bool normalize_depth = false, bps_compatible = false;

  HouseSettings() {
    observation = "depth+numbers";
    resolution = "64x64";
    hfov = 90.0f;
  }
};
template <class S>
constexpr auto house_fields() {
  return fields(
      field("house_count", &S::house_count, "houses of a simulator, of which episodes draw one")
          .within(1, hs::kMostHouses),
      field("first_house", &S::first_house, "number of the first of them in its split")
          .within(0, kSplitHouses - 1),
      field("split", &S::split, "which houses: none is in two of these")
          .named("train", "validation", "test"),
      field("rooms_low", &S::rooms_low, "fewest rooms of a house").within(1, hs::kMostRooms),
      field("rooms_high", &S::rooms_high, "most rooms of a house").within(1, hs::kMostRooms),
      field("clutter_low", &S::clutter_low,
            "least share of the floor that furniture covers, as far as it fits")
          .within(0, 0.5),
      field("clutter_high", &S::clutter_high,
            "greatest share of the floor that furniture covers, as far as it fits")
          .within(0, 0.5),
      field("door_low", &S::door_low, "least width of doors, where the wall is long enough")
          .in("m")
          .within(0.8, 1.2),
      field("door_high", &S::door_high, "greatest width of doors").in("m").within(0.8, 1.2),
      field("depth_limit", &S::depth_limit, "greatest depth of pictures; 0: no limit")
          .in("m")
          .within(0, 100),
      field("normalize_depth", &S::normalize_depth, "depths are shares of depth_limit"));
}
/// What rules read of them.
struct HouseParams {
  cameras::Picture picture;
  float depth_limit, depth_scale;
  int32_t house_count, bps_compatible;
};
[[noreturn]] inline void refuse(const std::string& what) {
  throw Error(Fault::value, what);
}
inline HouseParams params_of(HouseSettings& s, int numbers) {
  const bool limited = s.depth_limit > 0.0f;
  if (s.normalize_depth && !limited) refuse("normalize_depth needs a depth_limit above 0");
  if (limited && s.depth_limit < 0.01f) refuse("depth_limit must be 0, or at least 0.01");
  const cameras::Picture picture = cameras::picture_of(s, numbers);
  // What bodies may be near to must not be nearer than what cameras see.
  constexpr float kSteepest = 9.0f;
  if (picture.slope * float(max(picture.form.rows, picture.form.columns)) > kSteepest)
    refuse("hfov and resolution: the picture reaches farther to a side than 83 degrees");
  return {picture, limited ? s.depth_limit : cameras::kFar,
          s.normalize_depth ? 1.0f / s.depth_limit : 1.0f, s.house_count, s.bps_compatible ? 1 : 0};
}
inline hs::Range houses_of(const HouseSettings& s) {
  if (s.rooms_low > s.rooms_high)
    refuse("rooms_low=" + std::to_string(s.rooms_low) +
           " is above rooms_high=" + std::to_string(s.rooms_high));
  if (s.first_house + s.house_count > kSplitHouses)
    refuse("house_count=" + std::to_string(s.house_count) + " from first_house=" +
           std::to_string(s.first_house) + " on: a split has " + std::to_string(kSplitHouses));
  const auto short_text = [](float x) {
    return shortest(double(int(double(x) * 1e4 + 0.5)) / 1e4);
  };
  const auto in_order = [&](const char* what, float low, float high) {
    if (low > high)
      refuse(std::string(what) + "_low=" + short_text(low) + " is above " + what +
             "_high=" + short_text(high));
  };
  in_order("clutter", s.clutter_low, s.clutter_high);
  in_order("door", s.door_low, s.door_high);
  return {{s.rooms_low, s.rooms_high, s.clutter_low, s.clutter_high, s.door_low, s.door_high},
          s.split,
          s.first_house,
          s.house_count};
}

// ---- episodes by hand

/// Options of reset().
struct ResetSettings {
  std::string layout;
  static constexpr auto describe() {
    return fields(field("layout", &ResetSettings::layout,
                        "an episode by hand, a line each: house N, start X Y [YAW], goal X Y; "
                        "what is not said is drawn"));
  }
};
struct Options {
  int32_t house = -1, has_start = 0, has_yaw = 0, has_goal = 0;
  float start_x = 0, start_y = 0, start_yaw = 0, goal_x = 0, goal_y = 0;

  GE_FN hs::Point start() const { return {start_x, start_y}; }
  GE_FN hs::Point goal() const { return {goal_x, goal_y}; }
};
/// A place on the floor of a house, which a line says.
inline hs::Point read_place(TextLine& line, const hs::HouseAssets& assets, int house) {
  constexpr double kWide = 1000.0;  // [m]
  if (house < 0) line.wrong("a line before it must say which house");
  const hs::Point at = {line.number<float>("x", -kWide, kWide),
                        line.number<float>("y", -kWide, kWide)};
  if (!hs::is_floor(assets, house, at))
    line.wrong("nobody can stand at " + shortest(double(at.x)) + " " + shortest(double(at.y)) +
               " in house " + std::to_string(house));
  return at;
}
inline Options read_episode(const ResetSettings& settings, const hs::HouseAssets& assets,
                            int house_count, bool with_goal) {
  Options o;
  for (TextLine& line : text_lines(settings.layout)) {
    const std::string word = line.take("a word");
    const auto once = [&](bool said) {
      if (said) line.wrong(word + " is said twice");
    };
    if (word == "house") {
      once(o.house >= 0);
      o.house = line.number<int32_t>("number", 0, house_count - 1);
    } else if (word == "start") {
      once(o.has_start != 0);
      const hs::Point at = read_place(line, assets, o.house);
      o.has_start = 1, o.start_x = at.x, o.start_y = at.y;
      if (!line.done()) {
        constexpr double kHalfTurn = 3.1415927;
        o.has_yaw = 1, o.start_yaw = line.number<float>("yaw", -kHalfTurn, kHalfTurn);
      }
    } else if (word == "goal" && with_goal) {
      once(o.has_goal != 0);
      const hs::Point at = read_place(line, assets, o.house);
      o.has_goal = 1, o.goal_x = at.x, o.goal_y = at.y;
    } else {
      line.wrong("a line begins with house" +
                 std::string(with_goal ? ", start or goal" : " or start") + ", not " +
                 quoted(word));
    }
    line.end();
  }
  return o;
}

// ---- what is described of a world

struct Act {
  int32_t way;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("way", &Act::way, "0 stop, 1 forward, 2 turn left, 3 turn right").one_of(4));
  }
};
inline constexpr int kActs = 4;
template <class P>
std::string act_name(const P&, int k) {
  constexpr const char* kNames[kActs] = {"stop", "forward", "turn left", "turn right"};
  return kNames[k];
}
template <class P>
std::string act_key(const P&, int k) {
  constexpr const char* kKeys[kActs] = {" ", "up", "left", "right"};
  return kKeys[k];
}
/// What the tasks' Schemas have in common. P: HouseParams, and what a task adds to them; N: the
/// numbers beside a picture.
template <class S, class P, class N, bool kHasGoal>
struct HouseSchema {
  using Settings = S;
  using Params = P;
  using Options = indoor::Options;
  using ResetSettings = indoor::ResetSettings;
  using Assets = hs::HouseAssets;
  using Action = Act;
  static constexpr Tuning tuning{.cpu_block = 1, .cuda_block = 1, .rare_resets = true};
  static Params resolve(Settings& s) {
    (void)houses_of(s);
    Params params{};
    static_cast<HouseParams&>(params) = params_of(s, RowShape<N>::elements);
    return params;
  }
  static Assets make_assets(const Settings& s, const Params&, AssetMaker& make) {
    return hs::make_houses(houses_of(s), make);
  }
  static Options resolve_options(const ResetSettings& settings, const Params& params,
                                 const Assets& assets) {
    return read_episode(settings, assets, params.house_count, kHasGoal);
  }
};

/// Places, headings and lengths have bounds, so that whatever is set stays a number.
inline constexpr float kFarOff = 10000.0f;  // [m]
template <class T>
constexpr auto place_field(const char* name, float T::* of, const char* doc) {
  return field(name, of, doc).in("m").within(-kFarOff, kFarOff);
}
template <class T>
constexpr auto yaw_field(const char* name, float T::* of, const char* doc) {
  return field(name, of, doc).in("rad").within(-kTwoPi, kTwoPi);
}
template <class T>
constexpr auto length_field(const char* name, float T::* of, const char* doc) {
  return field(name, of, doc).in("m").within(0, hs::kUnreachable);
}
struct Body {
  float x, y, yaw;
  static constexpr auto describe() {
    return fields(place_field("x", &Body::x, "place"), place_field("y", &Body::y, "place"),
                  yaw_field("yaw", &Body::yaw, "heading; 0 looks along +y, grows to the left"));
  }
  GE_FN hs::Point point() const { return {x, y}; }
};
/// Where the agent has been, every fourth step, for people.
inline constexpr int kTrailStep = 4, kTrail = 125;
struct Print {
  float x, y;
  static constexpr auto describe() {
    return fields(place_field("x", &Print::x, "place"), place_field("y", &Print::y, "place"));
  }
};
struct Trail : Fixed<kTrail, Print> {
  static constexpr const char* name = "trail";
};
/// Where an episode takes place.
struct Site {
  int32_t house;
  float start_x, start_y, start_yaw;
  static constexpr auto describe() {
    return fields(field("house", &Site::house, "number of the house among those of the simulator")
                      .within(0, hs::kMostHouses - 1),
                  place_field("start_x", &Site::start_x, "where the agent began"),
                  place_field("start_y", &Site::start_y, "where the agent began"),
                  yaw_field("start_yaw", &Site::start_yaw, "how it stood then"));
  }
  GE_FN hs::Point start() const { return {start_x, start_y}; }
};
/// How far a corner of the house is from where distances are measured.
struct Far {
  float metres;
  static constexpr auto describe() {
    return fields(length_field("metres", &Far::metres, "shortest walk from this corner"));
  }
};
struct Field : Fixed<hs::kMostCorners, Far> {
  static constexpr const char* name = "field";
};

// ---- walks

/// The house of the episode; whatever its column holds, one that was made.
template <class W>
GE_FN int house_of(const W& w) {
  return max(0, min(get<Site>(w).house, w.params().house_count - 1));
}
template <class W>
GE_FN hs::Ground ground_of(const W& w) {
  return hs::ground_of(w.assets(), house_of(w));
}

/// The shortest walk from a point over a corner that it sees; rest(corner): from there on. Corners
/// are looked at in the order of lengths, since most often the first one is seen.
template <class Rest>
GE_FN float walk_over_corners(const hs::Ground& ground, hs::Point from, const Rest& rest) {
  float length = -1.0f;
  int corner = -1;
  for (;;) {
    float next_length = hs::kUnreachable;
    int next = -1;
    hs::each_bend(ground, from, [&](int other, float first) GE_LAMBDA {
      const float over = first + rest(other);
      const bool is_left = (over > length) | ((over == length) & (other > corner));
      if (is_left & (over < next_length)) next_length = over, next = other;
    });
    if (next < 0) return hs::kUnreachable;
    if (hs::is_free(ground, from, ground.corners[next].point())) return next_length;
    length = next_length, corner = next;
  }
}
/// The shortest walk between two points; rest(corner): from a corner to the second.
template <class Rest>
GE_FN float walk_over(const hs::Ground& ground, hs::Point from, hs::Point to, const Rest& rest) {
  if (hs::is_free(ground, from, to)) return hs::distance(from, to);
  return walk_over_corners(ground, from, rest);
}
/// The point that this walk leads to first: of corners on it, the farthest that is seen.
template <class Rest>
GE_FN hs::Point next_over(const hs::Ground& ground, hs::Point from, hs::Point to,
                          const Rest& rest) {
  if (hs::is_free(ground, from, to)) return to;
  constexpr float kAlike = 1e-3f;  // [m]
  const float limit = walk_over(ground, from, to, rest) + kAlike;
  hs::Point next = from;
  float farthest = kAlike;
  hs::each_bend(ground, from, [&](int corner, float first) GE_LAMBDA {
    const hs::Point at = ground.corners[corner].point();
    if (first + rest(corner) > limit || !(first > farthest) || !hs::is_free(ground, from, at))
      return;
    farthest = first, next = at;
  });
  return next;
}

/// From a corner to where the field leads.
template <class W>
struct RestOfField {
  const W& w;
  GE_FN float operator()(int corner) const { return get<Field, Far>(w, corner).metres; }
};
/// From a corner to an end.
struct RestToEnd {
  const hs::Ground& ground;
  int end;
  GE_FN float operator()(int corner) const {
    float rest = hs::kUnreachable;
    for (int k = ground.ends[end].first; k < ground.ends[end + 1].first; ++k) {
      const hs::Bend bend = ground.bends[k];
      rest = min(rest, ground.distances[corner * ground.corner_count + bend.corner] + bend.metres);
    }
    return rest;
  }
};
/// The shortest walk to where the field leads, and the point that it leads to first.
template <class W>
GE_FN float walk_between(const W& w, const hs::Ground& ground, hs::Point from, hs::Point to) {
  return walk_over(ground, from, to, RestOfField<W>{w});
}
template <class W>
GE_FN hs::Point next_between(const W& w, const hs::Ground& ground, hs::Point from, hs::Point to) {
  return next_over(ground, from, to, RestOfField<W>{w});
}
/// The point that the shortest walk to an end leads to first.
GE_FN hs::Point next_to_end(const hs::Ground& ground, hs::Point from, int end) {
  return next_over(ground, from, ground.ends[end].point(), RestToEnd{ground, end});
}

/// Turns or walks; returns how far it came.
template <class W>
GE_FN float act(const W& w, const Act& act, Body& body) {
  if (act.way == 1) {
    float sine, cosine;
    sincos_bounded(body.yaw, sine, cosine);
    const hs::Point before = body.point();
    const hs::Point now = hs::moved(ground_of(w), before, -sine * kStep, cosine * kStep);
    body.x = min(max(now.x, -kFarOff), kFarOff), body.y = min(max(now.y, -kFarOff), kFarOff);
    return hs::distance(before, now);
  }
  const float turn = act.way == 2 ? kTurn : act.way == 3 ? -kTurn : 0.0f;
  const float yaw = body.yaw + turn;
  // Within a turn, where the sines of the engine are exact enough.
  body.yaw = yaw > 0.5f * kTwoPi ? yaw - kTwoPi : yaw < -0.5f * kTwoPi ? yaw + kTwoPi : yaw;
  return 0.0f;
}

/// A point of the floor, all alike, from two numbers in [0, 1) and one that chooses the rectangle.
template <class W>
GE_FN hs::Point point_of_floor(const W& w, int house, const Draw& d) {
  return hs::point_of_floor(w.assets(), house, d.uniform(0), d.uniform(1), d.uniform(2));
}

/// The house that an episode by hand takes place in, or a drawn one.
template <class W>
GE_FN int32_t begun_house(const W& w, const Draw& d) {
  const int32_t laid = w.options().house;
  return laid >= 0 ? laid : int32_t(d.below(3, uint32_t(w.params().house_count)));
}
template <class W>
GE_FN float begun_yaw(const W& w) {
  if (w.options().has_yaw != 0) return w.options().start_yaw;
  return (draw<"nav_yaw">(w, 0).uniform(0) - 0.5f) * kTwoPi;
}
/// A house, a place and a heading, all alike.
template <class W>
GE_FN Site begun_site(const W& w) {
  const Draw d = draw<"nav_start">(w, 0);
  const int32_t house = begun_house(w, d);
  const hs::Point at =
      w.options().has_start != 0 ? w.options().start() : point_of_floor(w, house, d);
  return {house, at.x, at.y, begun_yaw(w)};
}
template <class W>
GE_FN void wipe(const W&, Print& print) {
  print = {0.0f, 0.0f};
}
/// Leaves a print of the agent.
template <class Walker, class W>
GE_FN void trace(const W& w, Rows<Walker, Body> bodies, Rows<Trail, Print> prints) {
  const int step = int(w.step()), place = step / kTrailStep - 1;
  if ((step % kTrailStep != 0) | (place < 0) | (place >= kTrail)) return;
  const Body body = bodies.get(0);
  prints.set(place, {body.x, body.y});
}
template <class W>
GE_FN float field_of_corner(const W& w, int corner, hs::Point to) {
  const hs::Ground ground = ground_of(w);
  if (corner >= ground.corner_count) return 0.0f;
  const float* const row = ground.distances + corner * ground.corner_count;
  return walk_over_corners(ground, to, [&](int other) GE_LAMBDA { return row[other]; });
}

/// Steps of an episode; 0: no limit. BPS counts from 1.
template <class W>
GE_FN uint32_t step_limit(const W& w) {
  const uint32_t most = w.max_steps(), counted = 499u;
  return w.params().bps_compatible != 0 && (most == 0 || most > counted) ? counted : most;
}
template <class W>
GE_FN bool is_late(const W& w) {
  const uint32_t limit = step_limit(w);
  return limit != 0 && w.step() >= limit;
}
GE_FN void end_at(bool late, int stopped, Ending& ending) {
  ending.terminated = stopped != 0 ? 1u : 0u;
  ending.truncated = late ? 1u : 0u;
}

/// Share of an episode's steps that is left.
template <class W>
GE_FN float time_left(const W& w) {
  const uint32_t limit = step_limit(w);
  return limit == 0 ? 1.0f : max(0.0f, 1.0f - float(w.step()) / float(limit));
}
/// Where a body is, as it stood at the start.
struct Offset {
  float ahead, right, turned;
};
GE_FN Offset offset_of(const Site& site, const Body& body) {
  float sine, cosine;
  sincos_bounded(site.start_yaw, sine, cosine);
  const float dx = body.x - site.start_x, dy = body.y - site.start_y;
  const float turned = body.yaw - site.start_yaw;
  return {dy * cosine - dx * sine, dx * cosine + dy * sine,
          turned > 0.5f * kTwoPi    ? turned - kTwoPi
          : turned < -0.5f * kTwoPi ? turned + kTwoPi
                                    : turned};
}

/// Where the agent is, for who is told no goal.
struct PlaceNumbers {
  float gps[2], compass;
  static constexpr auto describe() {
    return fields(
        field("gps", &PlaceNumbers::gps,
              "how far ahead and to the right of the start the agent is, as it stood then")
            .in("m"),
        field("compass", &PlaceNumbers::compass, "how far it has turned to the left since")
            .in("rad"));
  }
};
template <class W>
GE_FN void tell_place(const W& w, PlaceNumbers& numbers, const Body& body) {
  const Offset offset = offset_of(get<Site>(w), body);
  numbers = {{offset.ahead, offset.right}, offset.turned};
}

// ---- what is seen

struct Observation : Image {
  static GE_FN const ImageForm& form(const HouseParams& p) { return p.picture.form; }
};
/// There are no solids beside the house.
struct Solids : List<1, cameras::Solid> {
  static constexpr const char* name = "solids";
  static constexpr bool scratch = true;
};
template <class S, class Walker>
struct Sight {
  using W = World<S>;
  using Solids = indoor::Solids;
  static GE_FN cameras::Eye eye(const W& w, Slot me) {
    const Body body = get<Walker, Body>(w, me.row);
    return cameras::eye_at({body.x, body.y, kEyeHeight}, body.yaw, 0.0f);
  }
  static GE_FN geometry::Mesh mesh(const W& w) { return hs::mesh_of(w.assets(), house_of(w)); }
  static GE_FN cameras::Paint paint(const W& w, int triangle) {
    const hs::Skin skin = hs::skin_of(w.assets(), house_of(w), triangle);
    return {skin.a, skin.b, skin.c, skin.part, skin.pattern};
  }
  static GE_FN Floats depth(const W& w, const Floats& metres) {
    return min(metres, spread(w.params().depth_limit)) * w.params().depth_scale;
  }
};

}  // namespace gpu_envs::envs::indoor
