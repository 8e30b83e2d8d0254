// Hail, the example of rows that come and go, rule by rule on skies laid out by hand.
#include <algorithm>

#include "engine/simulator/sketch.hpp"
#include "simulation.hpp"

namespace {

using namespace ge;
using namespace ge::test;

constexpr int kWait = 0, kLeft = 1, kRight = 2, kFire = 3;
constexpr int kSmall = 0, kLarge = 1, kShot = 2, kRows = 64, kTop = 0, kGround = 11;

Config disabled(int64_t worlds = 1) {
  Config config;
  config.worlds = worlds;
  config.autoreset = Autoreset::disabled;
  return config;
}
struct Thing {
  int32_t x, y, kind;
  auto operator<=>(const Thing&) const = default;
};
/// One world with these things in it. Stones that appear by chance stand at the top.
struct Sky : Simulation {
  explicit Sky(const std::vector<Thing>& things) : Simulation("Hail-v0", disabled()) {
    reset(1);
    std::vector<int32_t> x(kRows), y(kRows), kind(kRows);
    for (size_t k = 0; k < things.size(); ++k)
      x[k] = things[k].x, y[k] = things[k].y, kind[k] = things[k].kind;
    set("things.x", x), set("things.y", y), set("things.kind", kind);
    set("things.live", std::vector<uint32_t>{(1u << things.size()) - 1, 0});
  }
  /// Plays a step and returns its reward.
  float play(int word) {
    step({word});
    return reward()[0];
  }
  /// What is below the top, in order.
  std::vector<Thing> things() const {
    const auto live = get<uint32_t>("things.live");
    const auto x = get<int32_t>("things.x"), y = get<int32_t>("things.y"),
               kind = get<int32_t>("things.kind");
    std::vector<Thing> found;
    for (size_t k = 0; k < kRows; ++k)
      if ((live[k / 32] >> (k % 32) & 1) != 0 && y[k] > kTop)
        found.push_back({x[k], y[k], kind[k]});
    std::sort(found.begin(), found.end());
    return found;
  }
};
using Things = std::vector<Thing>;

/// Below the lowest stone that no shot is on its way to, fire; else walk there.
int aim(const uint8_t* view) {
  const auto at = [&](int what, int y, int x) { return view[(what * 12 + y) * 8 + x] != 0; };
  int me = 0, nearest = -1;
  for (int x = 0; x < 8; ++x) me = at(3, kGround, x) ? x : me;
  for (int y = kGround; y >= kTop && nearest < 0; --y)
    for (int x = 0; x < 8; ++x) {
      bool wanted = at(kSmall, y, x) || at(kLarge, y, x);
      for (int below = y; below < kGround; ++below) wanted = wanted && !at(kShot, below, x);
      if (wanted && (nearest < 0 || std::abs(x - me) < std::abs(nearest - me))) nearest = x;
    }
  return nearest < 0 ? kWait : nearest == me ? kFire : nearest < me ? kLeft : kRight;
}

}  // namespace

GE_TEST(stones_fall_every_fourth_step_and_shots_rise_in_the_others) {
  Sky sky({{1, 3, kLarge}, {6, 9, kShot}});
  for (int k = 0; k < 3; ++k) sky.play(kWait);
  CHECK((sky.things() == Things{{1, 3, kLarge}, {6, 6, kShot}}));
  sky.play(kWait);
  CHECK((sky.things() == Things{{1, 4, kLarge}, {6, 6, kShot}}));
}
GE_TEST(large_stone_that_is_struck_breaks_in_two) {
  Sky sky({{4, 8, kLarge}});
  CHECK_EQ(sky.play(kFire), 0.0f);
  CHECK((sky.things() == Things{{4, 8, kLarge}, {4, 10, kShot}}));
  CHECK_EQ(sky.play(kWait), 0.0f);
  CHECK_EQ(sky.play(kWait), 1.0f);
  CHECK((sky.things() == Things{{3, 8, kSmall}, {5, 8, kSmall}}));
}
GE_TEST(small_stone_that_is_struck_vanishes) {
  Sky sky({{4, 10, kSmall}});
  CHECK_EQ(sky.play(kFire), 1.0f);
  CHECK(sky.things().empty());
}
GE_TEST(stone_that_falls_onto_a_shot_is_struck) {
  Sky sky({{2, 4, kLarge}, {2, 8, kShot}});
  for (int k = 0; k < 3; ++k) CHECK_EQ(sky.play(kWait), 0.0f);
  CHECK_EQ(sky.play(kWait), 1.0f);
  CHECK((sky.things() == Things{{1, 5, kSmall}, {3, 5, kSmall}}));
}
GE_TEST(pieces_of_several_stones_part_to_their_own_sides_and_stay_on_the_square) {
  Sky sky({{0, 5, kLarge},
           {3, 7, kSmall},
           {7, 6, kLarge},
           {0, 6, kShot},
           {3, 8, kShot},
           {7, 7, kShot}});
  CHECK_EQ(sky.play(kWait), 3.0f);
  CHECK((sky.things() == Things{{0, 5, kSmall}, {1, 5, kSmall}, {6, 6, kSmall}, {7, 6, kSmall}}));
}
GE_TEST(shot_leaves_at_the_top) {
  Sky sky({{6, 1, kShot}});
  sky.play(kWait);
  CHECK_EQ(sky.get<uint32_t>("things.live")[0] & 1u, 0u);
}
GE_TEST(episode_ends_when_a_stone_reaches_the_ground) {
  Sky sky({{1, 10, kSmall}});
  for (int k = 0; k < 3; ++k) sky.play(kWait);
  CHECK(sky.terminated()[0] == 0);
  sky.play(kWait);
  CHECK(sky.terminated()[0] == 1);
}
GE_TEST(gunner_walks_as_far_as_the_walls) {
  Sky sky({});
  for (int k = 0; k < 6; ++k) sky.play(kLeft);
  CHECK_EQ(sky.get<int32_t>("gunner.x")[0], 0);
  sky.play(kRight);
  CHECK_EQ(sky.get<int32_t>("gunner.x")[0], 1);
}
GE_TEST(observation_shows_things_by_kind) {
  Sky sky({{1, 3, kLarge}, {6, 9, kShot}, {2, 5, kSmall}});
  sky.play(kWait);
  const auto view = sky.out<uint8_t>(kObservation);
  const auto at = [&](int what, int y, int x) { return view[size_t((what * 12 + y) * 8 + x)]; };
  CHECK(at(kLarge, 3, 1) == 1 && at(kShot, 8, 6) == 1 && at(kSmall, 5, 2) == 1);
  CHECK(at(3, kGround, 4) == 1 && at(kSmall, 3, 1) == 0);
}
GE_TEST(columns_are_a_grid_that_shows_by_itself) {
  CHECK(find_grid(Sky({})->columns()).has_value());
}
GE_TEST(who_aims_holds_out_and_who_waits_does_not) {
  constexpr int kWorlds = 20;
  for (const bool aims : {true, false}) {
    Simulation worlds("Hail-v0", disabled(kWorlds));
    worlds.reset(5);
    float paid = 0;
    for (int step = 0; step < 80; ++step) {
      const auto view = worlds.out<uint8_t>(kObservation);
      std::vector<int32_t> words;
      for (int w = 0; w < kWorlds; ++w) words.push_back(aims ? aim(&view[size_t(w) * 384]) : kWait);
      worlds.step(words);
      for (const float reward : worlds.reward()) paid += reward;
    }
    int over = 0;
    for (const uint8_t ended : worlds.get<uint8_t>("gunner.fate")) over += ended != 0;
    CHECK(aims ? paid > 100 : paid == 0);
    CHECK(aims ? over < kWorlds / 2 : over == kWorlds);
  }
}
