// SnowPlough, the guide's example, rule by rule on maps laid out by hand.
#include "pictures/scene.hpp"
#include "simulation.hpp"

namespace {

using namespace ge;
using namespace ge::test;

constexpr int kUp = 0, kDown = 1, kLeft = 2, kRight = 3;
const std::string kMap =
    "P#......\n........\n...#....\n........\n........\n........\n........\n.......#";

Config config_of(const std::string& map, double snowfall = 0) {
  Config config;
  config.parameters = {{"map", map}, {"snowfall", snowfall}};
  config.autoreset = Autoreset::disabled;
  return config;
}
/// One world, which begins as its map says.
struct Plough : Simulation {
  explicit Plough(const std::string& map, double snowfall = 0)
      : Simulation("SnowPlough-v0", config_of(map, snowfall)) {
    reset(1);
  }
  float drive(int way) {
    step({way});
    return reward()[0];
  }
  std::string at() const {
    return std::to_string(get<int32_t>("driver.x")[0]) + " " +
           std::to_string(get<int32_t>("driver.y")[0]);
  }
  int left() const { return get<int32_t>("square.left")[0]; }
};

}  // namespace

GE_TEST(snow_is_cleared_once_and_paid_once) {
  Plough plough(kMap);
  CHECK_EQ(plough.left(), 3);
  CHECK_EQ(plough.drive(kRight), 1.0f);
  CHECK_EQ(plough.at(), "1 0");
  CHECK_EQ(plough.drive(kLeft), 0.0f);
  CHECK_EQ(plough.drive(kRight), 0.0f);
  CHECK_EQ(plough.left(), 2);
}

GE_TEST(plough_stays_on_the_square) {
  Plough plough(kMap);
  plough.drive(kUp), plough.drive(kLeft);
  CHECK_EQ(plough.at(), "0 0");
  for (int k = 0; k < 9; ++k) plough.drive(kDown);
  CHECK_EQ(plough.at(), "0 7");
}

GE_TEST(episode_ends_when_no_snow_is_left) {
  Plough plough("P#......" + std::string(56, '.'));
  CHECK(plough.terminated()[0] == 0);
  CHECK_EQ(plough.drive(kRight), 1.0f);
  CHECK(plough.terminated()[0] == 1);
}

GE_TEST(snow_falls_on_one_clear_cell_a_step_and_never_where_all_is_white) {
  Plough plough(kMap, 1.0);
  for (int step = 0; step < 40; ++step) {
    const int before = plough.left();
    const int cleared = int(plough.drive(step % 4));
    CHECK_EQ(plough.left(), before - cleared + 1);
    const auto lies = plough.get<uint8_t>("square.lies");
    CHECK_EQ(int(std::count(lies.begin(), lies.end(), 1)), plough.left());
  }
  Plough white("P" + std::string(63, '#'), 1.0);
  CHECK_EQ(white.drive(kUp), 0.0f);
  CHECK_EQ(white.left(), 64);  // on the plough's own cell, the last clear one
  CHECK_EQ(white.drive(kUp), 1.0f);
}

GE_TEST(observation_shows_snow_and_plough_in_planes) {
  Plough plough(kMap);
  const auto seen = plough.out<uint8_t>(kObservation);
  CHECK_EQ(seen.size(), 128u);
  for (int k = 0; k < 64; ++k) {
    CHECK_EQ(int(seen[size_t(k)]), k == 1 || k == 19 || k == 63 ? 1 : 0);
    CHECK_EQ(int(seen[size_t(64 + k)]), k == 0 ? 1 : 0);
  }
}

GE_TEST(covers_are_drawn_anew_without_a_map) {
  Plough plough("");
  CHECK_EQ(plough.at(), "4 4");
  const auto first = plough.get<uint8_t>("square.lies");
  CHECK(plough.left() > 10 && plough.left() < 54);
  CHECK(first[36] == 0);
  plough.reset(ResetRequest{});
  CHECK(plough.get<uint8_t>("square.lies") != first);
}

GE_TEST(maps_that_are_none_are_refused) {
  for (const std::string& map : {std::string("P#"), std::string(64, '.'),
                                 "PP" + std::string(62, '.'), "P" + std::string(62, '.') + "x"})
    CHECK_THROWS(
        make_simulator("SnowPlough-v0", config_of(map)), Error,
        "map: eight lines of eight characters '#', '.' and one 'P' are wanted, got '" + map);
}

GE_TEST(text_and_scene_show_the_square) {
  Plough plough(kMap);
  CHECK_EQ(plough->text(0, -1), kMap + "\n");
  Scene scene;
  plough->scene(0, scene);
  CHECK(scene.board.has_value());
  CHECK_EQ(scene.board->pieces.size(), 4u);
  CHECK(scene.board->pieces[0].x == 1.5f && scene.board->pieces[0].y == 7.5f);
}
