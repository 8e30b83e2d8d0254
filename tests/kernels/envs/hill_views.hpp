// Hill views: a test-only environment that draws the same hills in three ways: as the merged boxes
// of voxel/hills.hpp, as a field of columns, and as a box per voxel. Agents are eyes that turn in
// place; nobody is meant to learn it. Tests and scripts write columns of their own into
// `columns.height` and 1 into `land.stale`; the next step makes boxes and voxels of them.
#pragma once

#include "engine/environment.hpp"
#include "voxel/game.hpp"

namespace gpu_envs::envs::hill_views {

using namespace ge;

inline constexpr int kSide = 41, kHighest = 20, kMostEyes = 8;
/// Voxels of a world: 512 levels of Collect-v0 had at most 4,945.
inline constexpr int kMostVoxels = 7000;

enum Way : int32_t { kBoxes, kColumns, kVoxels };

struct Settings : cameras::Settings {
  int32_t agent_count = 1;
  int32_t way = kBoxes;
  static constexpr auto describe() {
    return std::tuple_cat(
        fields(field("agent_count", &Settings::agent_count, "eyes of a world").within(1, kMostEyes),
               field("way", &Settings::way, "how hills are drawn")
                   .named("boxes", "columns", "voxels")),
        cameras::picture_fields<Settings>());
  }
};
struct Params {
  int32_t agent_count = 1, way = kBoxes;
  cameras::Picture picture{};
};
inline Params resolve(Settings& s) {
  return {s.agent_count, s.way, cameras::picture_of(s)};
}

struct Turn {
  int32_t way;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("way", &Turn::way, "0 rest, 1 left, 2 right").one_of(3));
  }
};
struct Land {
  int32_t side_x, side_y;
  int32_t stale;
  int32_t hills, highest;
  static constexpr auto describe() {
    return fields(
        field("side_x", &Land::side_x, "cells of the floor along x").within(0, kSide),
        field("side_y", &Land::side_y, "cells of the floor along y").within(0, kSide),
        field("stale", &Land::stale, "1: the next step makes boxes and voxels again").within(0, 1),
        field("hill_count", &Land::hills, "boxes that the hills are merged into")
            .within(0, kSide * kSide),
        field("highest", &Land::highest, "cells of the highest column").within(0, 255));
  }
};
/// The cell of a voxel.
struct Voxel {
  uint8_t x, y, z;
  static constexpr auto describe() {
    return fields(field("x", &Voxel::x, "cell along x").any_value(),
                  field("y", &Voxel::y, "cell along y").any_value(),
                  field("z", &Voxel::z, "cells below it, above the floor").any_value());
  }
};

struct Eyes : Agents<kMostEyes, Turn, voxel::Body> {
  static constexpr const char* name = "agents";
  static GE_FN constexpr int count(const Params& p) { return p.agent_count; }
};
struct LandRow : Single<Land> {
  static constexpr const char* name = "land";
};
template <int N>
struct Voxels : List<N, Voxel> {
  static constexpr const char* name = "voxels";
};
struct Solids : List<1, cameras::Solid> {
  static constexpr const char* name = "solids";
  static constexpr bool scratch = true;
};

template <int kWay>
struct Schema;
template <int kWay>
using W = World<Schema<kWay>>;

template <int kWay>
struct Model {
  using Schema = hill_views::Schema<kWay>;
  using Columns = voxel::Columns<kSide>;
  static constexpr int kMostHills = kWay == kBoxes ? kSide * kSide : 1;
  using Hills = voxel::Hills<kMostHills>;
  using RawHills = voxel::RawHills<kMostHills>;
  using Cover = voxel::Cover<kSide>;
  using Voxels = hill_views::Voxels<kWay == kVoxels ? kMostVoxels : 1>;
};
template <int kWay>
struct Schema {
  using Settings = hill_views::Settings;
  using Params = hill_views::Params;
  using Action = Turn;
  using Agent = Eyes;
  using M = Model<kWay>;
  using tables = Types<Eyes, LandRow, typename M::Columns, typename M::Hills, typename M::Voxels,
                       typename M::RawHills, typename M::Cover, Solids>;
  static constexpr Tuning tuning = voxel::kTuning;
  static Params resolve(Settings& settings) { return hill_views::resolve(settings); }
};

// ---- a new episode: blunt hills, and eyes above them

template <int kWay>
GE_FN void begin(const W<kWay>&, Land& land) {
  land = {kSide, kSide, 1, 0, 0};
}
template <int kWay>
GE_FN void raise(const W<kWay>& w, Slot slot, voxel::Column& column) {
  const int x = slot.row / kSide, y = slot.row % kSide;
  const Draw d = draw<"hill_views">(w, (x / 4) * kSide + y / 4);  // the same for 4 x 4 columns
  column.height = d.below(0, 3) == 0 ? uint8_t(1 + d.below(1, 5)) : uint8_t{0};
}
template <int kWay>
GE_FN void enter(const W<kWay>& w, Slot slot, voxel::Body& body) {
  const Draw d = draw<"hill_views_eyes">(w, slot.row);
  const auto within = [&](int k) GE_LAMBDA { return float(kSide) * d.uniform(k); };
  body = {{within(0), within(1), 7.0f}, {0.0f, 0.0f}, 0.0f, 6.0f * d.uniform(2) - 3.0f, -0.4f, 0};
}
template <int kWay>
GE_FN void turn(const W<kWay>&, voxel::Body& body, const Turn& turn) {
  constexpr float kSteepest = 1.5f;  // [rad]
  voxel::Act act{};
  act.turn = turn.way;
  voxel::turn(body, act, kSteepest);
}
template <int kWay>
GE_FN void pay(const W<kWay>&, Slot, Reward& reward, const Turn&) {
  reward.value = 0.0f;
}

// ---- boxes and voxels of the columns

template <int kWay>
GE_FN bool is_stale(const W<kWay>&, const Land& land) {
  return land.stale != 0;
}
template <int kWay>
GE_FN void merge(const W<kWay>& w, Land& land,
                 Rows<typename Model<kWay>::RawHills, voxel::Hill> hills,
                 Rows<typename Model<kWay>::Cover, voxel::Covered> cover) {
  land.hills = voxel::HillMerger<Model<kWay>>(w, cover).merge(hills);
}
template <int kWay>
GE_FN int hill_count(const W<kWay>&, const Land& land) {
  return land.hills;
}
template <int kWay>
GE_FN void copy_hill(const W<kWay>& w, int k, voxel::Hill& hill) {
  hill = get<typename Model<kWay>::RawHills, voxel::Hill>(w, k);
}
template <int kWay>
GE_FN void find_highest(const W<kWay>& w, Land& land) {
  land.highest = 0;
  for (int x = 0; x < kSide; ++x)
    for (int y = 0; y < kSide; ++y)
      land.highest = max(land.highest, voxel::height_at<Model<kWay>>(w, x, y));
}
GE_FN constexpr Voxel voxel_of(int i) {
  return {uint8_t(i / (kSide * kHighest)), uint8_t(i / kHighest % kSide), uint8_t(i % kHighest)};
}
template <int kWay>
GE_FN bool is_filled(const W<kWay>& w, int i) {
  const Voxel at = voxel_of(i);
  return at.z < voxel::height_at<Model<kWay>>(w, at.x, at.y);
}
template <int kWay>
GE_FN void make_voxel(const W<kWay>&, int i, Voxel& made) {
  made = voxel_of(i);
}
template <int kWay>
GE_FN void finish(const W<kWay>&, Land& land) {
  land.stale = 0;
}
template <int kWay>
struct Making;
template <>
struct Making<kColumns> {
  using type = Stages<EachWorld<&find_highest<kColumns>>>;
};
template <>
struct Making<kBoxes> {
  using type = Stages<EachWorld<&merge<kBoxes>>,
                      For<&hill_count<kBoxes>, &copy_hill<kBoxes>, Model<kBoxes>::Hills>>;
};
template <>
struct Making<kVoxels> {
  using type = Stages<Emit<kSide * kSide * kHighest, &is_filled<kVoxels>, &make_voxel<kVoxels>,
                           Model<kVoxels>::Voxels>>;
};
template <int kWay, class S>
struct WhenStale;
template <int kWay, class... S>
struct WhenStale<kWay, Stages<S...>> {
  using type = Stages<When<&is_stale<kWay>, S..., EachWorld<&finish<kWay>>>>;
};
template <int kWay>
using MakeHills = typename WhenStale<kWay, typename Making<kWay>::type>::type;

// ---- what is seen

inline constexpr uint32_t kHillColour = 0xcce8c8, kFloorColour = 0x5a5a5a;

template <int kWay>
GE_FN void make_floor(const W<kWay>& w, int, cameras::Solid& solid) {
  const Land land = get<Land>(w);
  solid = voxel::box_between(
      {0.0f, 0.0f, 0.0f}, {float(land.side_x), float(land.side_y), voxel::kGround}, kFloorColour);
}
template <int kWay>
struct Looking {
  using Solids = hill_views::Solids;
  static GE_FN cameras::Eye eye(const W<kWay>& w, Slot me) {
    const voxel::View eyes = voxel::eyes_of(get<Eyes, voxel::Body>(w, me.row));
    return {eyes.at, eyes.turn.x, eyes.turn.z, eyes.turn.y};
  }
};
template <int kWay>
struct View;
template <>
struct View<kBoxes> : Looking<kBoxes> {
  using Hills = Model<kBoxes>::Hills;
  static constexpr int kFixed = Hills::capacity;
  static GE_FN int fixed_count(const W<kBoxes>& w) { return row_count<Hills>(w); }
  static GE_FN cameras::Solid fixed(const W<kBoxes>& w, int k) {
    return voxel::solid_of(get<Hills, voxel::Hill>(w, k), kHillColour);
  }
};
template <>
struct View<kVoxels> : Looking<kVoxels> {
  using Voxels = Model<kVoxels>::Voxels;
  static constexpr int kFixed = Voxels::capacity;
  static GE_FN int fixed_count(const W<kVoxels>& w) { return row_count<Voxels>(w); }
  static GE_FN cameras::Solid fixed(const W<kVoxels>& w, int k) {
    const Voxel at = get<Voxels, Voxel>(w, k);
    const geometry::Vec3 low = {float(at.x), float(at.y), voxel::kGround + float(at.z)};
    return voxel::box_between(low, low + geometry::Vec3{1.0f, 1.0f, 1.0f}, kHillColour);
  }
};
template <>
struct View<kColumns> : Looking<kColumns> {
  /// A grid that is as wide and as high as this land: rays walk on above it through a larger one,
  /// which on a CPU takes 2.7 times as long with all of 41 x 41 x 20 cells.
  static GE_FN cameras::Hills hills(const W<kColumns>& w) {
    const Land land = get<Land>(w);
    return {{{0.0f, 0.0f, voxel::kGround}, 1.0f, land.side_x, land.side_y, land.highest},
            kHillColour};
  }
  static GE_FN int height(const W<kColumns>& w, int x, int y) {
    return voxel::height_at<Model<kColumns>>(w, x, y);
  }
};

template <int kWay>
struct Environment {
  using Schema = hill_views::Schema<kWay>;
  using Observation = voxel::Picture;
  using Reset = chain<Stages<EachWorld<&begin<kWay>>, Each<&raise<kWay>>, Each<&enter<kWay>>>,
                      MakeHills<kWay>>;
  using Step = chain<Stages<Each<&turn<kWay>>, Each<&pay<kWay>>>, MakeHills<kWay>>;
  using Observe =
      Stages<For<1, &make_floor<kWay>, Solids>, ge::Observe<&cameras::draw<View<kWay>, W<kWay>>>>;
  static constexpr Hooks<Schema> hooks{.fits = [](const Params& p) { return p.way == kWay; }};
  static constexpr Card card{.doc = "A test: hills drawn in three ways.", .agents = "agent_count"};
};
using Builds = ge::Builds<
    Build<"HillViews-v0", Environment<kBoxes>, Environment<kColumns>, Environment<kVoxels>>>;

}  // namespace gpu_envs::envs::hill_views
