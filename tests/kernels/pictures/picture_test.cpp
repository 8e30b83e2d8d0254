// Pictures of scenes laid out by hand: what is where, what covers what, and equal bytes each time.
#include "pictures/picture.hpp"

#include <vector>

#include "engine/maths/blake2b.hpp"
#include "test.hpp"

namespace ge::pictures {
namespace {

constexpr Rgb kRed = rgb(0xff0000), kGreen = rgb(0x00ff00), kBlue = rgb(0x0000ff);

struct Picture {
  Request request;
  std::vector<uint8_t> bytes;

  /// The strongest of red, green and blue at a place from 0 to 1, 'w' where none is.
  char at(float x, float y) const {
    const int column = int(x * float(request.width)), row = int(y * float(request.height));
    const uint8_t* const p = &bytes[size_t(row * request.width + column) * 3];
    if (p[0] > p[1] + 40 && p[0] > p[2] + 40) return 'r';
    if (p[1] > p[0] + 40 && p[1] > p[2] + 40) return 'g';
    if (p[2] > p[0] + 40 && p[2] > p[1] + 40) return 'b';
    return 'w';
  }
};

Picture drawn(const Scene& scene, const char* view, int width = 120, int height = 120) {
  Picture picture{{width, height, view, 2}, {}};
  picture.bytes.resize(size_t(width * height * 3), 0x5a);
  draw(scene, picture.request, picture.bytes.data());
  return picture;
}

/// Ten metres square, seen from above without a margin worth naming.
Scene empty() {
  Scene scene;
  scene.low[0] = scene.low[1] = -5, scene.high[0] = scene.high[1] = 5, scene.high[2] = 2;
  return scene;
}
Solid box(Rgb colour, float x, float y, float z, float half) {
  Solid solid;
  solid.colour = colour;
  solid.position[0] = x, solid.position[1] = y, solid.position[2] = z;
  solid.half[0] = solid.half[1] = solid.half[2] = half;
  return solid;
}

GE_TEST(from_above_a_box_is_where_it_stands) {
  Scene scene = empty();
  scene.solids = {box(kRed, 2.5f, 2.5f, 1, 1)};
  const Picture picture = drawn(scene, "top");
  CHECK_EQ(picture.at(0.74f, 0.26f), 'r');
  CHECK_EQ(picture.at(0.26f, 0.26f), 'w');
  CHECK_EQ(picture.at(0.74f, 0.74f), 'w');
  CHECK_EQ(picture.at(0.90f, 0.26f), 'w');
}

GE_TEST(nearer_bodies_cover_those_behind_in_any_order) {
  Scene scene = empty();
  scene.look[0] = 0, scene.look[1] = 1, scene.look[2] = -0.01f;
  const Solid front = box(kRed, 0, -3, 1, 0.9f), behind = box(kGreen, 0, 3, 1, 0.9f);
  for (const bool swapped : {false, true}) {
    scene.solids = swapped ? std::vector{front, behind} : std::vector{behind, front};
    CHECK_EQ(drawn(scene, "perspective").at(0.5f, 0.5f), 'r');
  }
}

GE_TEST(wedge_shows_its_slope_from_the_side) {
  Scene scene = empty();
  scene.low[1] = -1, scene.high[1] = 1, scene.low[0] = -1, scene.high[0] = 1;
  scene.look[0] = -1, scene.look[1] = 0, scene.look[2] = -0.01f;  // +y is to the right
  Solid wedge = box(kBlue, 0, 0.33f, 0.67f, 1);
  wedge.shape = Solid::kWedge, wedge.half[1] = 2, wedge.half[2] = 2;
  scene.solids = {wedge};
  const Picture picture = drawn(scene, "perspective");
  CHECK_EQ(picture.at(0.75f, 0.30f), 'b');
  CHECK_EQ(picture.at(0.75f, 0.75f), 'b');
  CHECK_EQ(picture.at(0.25f, 0.30f), 'w');
  CHECK_EQ(picture.at(0.30f, 0.80f), 'b');
}

GE_TEST(shadow_darkens_the_floor_beside_a_box) {
  Scene scene = empty();
  Solid floor;
  floor.shape = Solid::kFloor, floor.colour = rgb(0xdddddd);
  scene.solids = {floor};
  const Picture plain = drawn(scene, "top");
  scene.solids.push_back(box(kRed, 0, 0, 1, 1));
  const Picture shaded = drawn(scene, "top");
  // The sun is at the lower left: right above the box's upper edge the floor lies in its shadow.
  const size_t beside = (size_t(0.37f * 120) * 120 + size_t(0.55f * 120)) * 3;
  CHECK(shaded.bytes[beside] + 30 < plain.bytes[beside]);
  const size_t far = (size_t(0.9f * 120) * 120 + size_t(0.1f * 120)) * 3;
  CHECK_EQ(int(shaded.bytes[far]), int(plain.bytes[far]));
}

GE_TEST(fans_lie_under_bodies_and_end_at_their_rim) {
  Scene scene = empty();
  Fan fan;
  fan.colour = kBlue, fan.opacity = 0.9f, fan.apex[2] = 0.02f, fan.rim = {4, 4, 4, -4};
  scene.fans = {fan};
  scene.solids = {box(kRed, 2, 0, 1, 0.5f)};
  const Picture picture = drawn(scene, "top");
  CHECK_EQ(picture.at(0.61f, 0.48f), 'b');
  CHECK_EQ(picture.at(0.70f, 0.50f), 'r');
  CHECK_EQ(picture.at(0.40f, 0.50f), 'w');
  CHECK_EQ(picture.at(0.95f, 0.50f), 'w');
}

GE_TEST(lines_end_where_something_stands_before_them) {
  Scene scene = empty();
  Line line;
  line.from[0] = -4, line.to[0] = 4, line.from[2] = line.to[2] = 0.5f;
  line.colour = kGreen, line.opacity = 1, line.width = 12;
  scene.lines = {line};
  scene.solids = {box(kRed, 2, 0, 1, 1)};
  const Picture picture = drawn(scene, "top");
  CHECK_EQ(picture.at(0.30f, 0.50f), 'g');
  CHECK_EQ(picture.at(0.70f, 0.50f), 'r');
  CHECK_EQ(picture.at(0.85f, 0.50f), 'g');
  CHECK_EQ(picture.at(0.30f, 0.60f), 'w');
}

GE_TEST(lines_that_pass_behind_the_eye_are_cut) {
  Scene scene = empty();
  scene.viewpoints = {{{0, 0, 1}, {0, 1, 0}}};
  Line line;
  line.from[1] = -40, line.to[1] = 40, line.from[2] = line.to[2] = 0.6f;
  line.colour = kGreen, line.opacity = 1, line.width = 30;
  scene.lines = {line};
  const Picture picture = drawn(scene, "agent:0");
  CHECK_EQ(picture.at(0.5f, 0.9f), 'g');
  CHECK_EQ(picture.at(0.5f, 0.3f), 'w');
}

GE_TEST(from_above_an_agent_has_a_ring_that_nothing_covers) {
  Scene scene = empty();
  scene.solids = {box(kRed, 2.5f, 2.5f, 1, 1)};
  scene.viewpoints.resize(2);
  scene.viewpoints[1].position[0] = 2.5f, scene.viewpoints[1].position[1] = 2.5f;
  for (const int size : {120, 24}) {
    const Picture plain = drawn(scene, "top", size, size);
    const Picture first = drawn(scene, "top:0", size, size);
    const Picture second = drawn(scene, "top:1", size, size);
    // 0.55 m to the right of an agent; the picture is 10.4 m wide.
    const auto darker = [&](const Picture& marked, float x, float y) {
      const int column = int((0.5f + (x + 0.55f) / 10.42f) * float(size));
      const int row = int((0.5f - y / 10.42f) * float(size));
      const size_t at = size_t(row * size + column) * 3;
      return int(plain.bytes[at]) - int(marked.bytes[at]);
    };
    CHECK(darker(first, 0, 0) > 60);
    CHECK_EQ(darker(first, 2.5f, 2.5f), 0);
    CHECK(darker(second, 2.5f, 2.5f) > 60);
    CHECK_EQ(darker(second, 0, 0), 0);
  }
}

GE_TEST(both_is_the_two_views_side_by_side) {
  Scene scene = empty();
  scene.solids = {box(kRed, 2.5f, 2.5f, 1, 1)};
  const Picture both = drawn(scene, "both", 300, 120), top = drawn(scene, "top");
  CHECK_EQ(both.at(0.6f + 0.4f * 0.74f, 0.26f), 'r');
  for (size_t row = 0; row < 120; ++row)
    CHECK(std::memcmp(&both.bytes[(row * 300 + 180) * 3], &top.bytes[row * 120 * 3], 360) == 0);
}

GE_TEST(the_scene_says_which_view_and_unknown_ones_are_refused) {
  Scene scene = empty();
  scene.solids = {box(kRed, 2.5f, 2.5f, 1, 1)};
  scene.view = "top";
  CHECK(drawn(scene, "").bytes == drawn(scene, "top").bytes);
  CHECK_THROWS(drawn(scene, "below"), Error, "view must be 'perspective', 'top', 'both'");
  CHECK_THROWS(drawn(scene, "agent:0"), Error, "has 0 agents");
  CHECK_THROWS(drawn(scene, "agent:x"), Error, "got 'agent:x'");
  CHECK_THROWS(drawn(scene, "top:0"), Error, "has 0 agents");
  CHECK_THROWS(drawn(scene, "top", 4), Error, "size must be from 8 to 8192");
}

/// One of everything, so that each operation is in the hash.
Scene everything() {
  Scene scene = empty();
  Solid floor;
  floor.shape = Solid::kFloor, floor.half[0] = 1, floor.colour = palette::kFloor;
  Solid locked = box(palette::kBox, -2, 2, 1, 1), agent = box(palette::kBlue, 2, 2, 1, 0.6f);
  locked.marks = Solid::kBanded | Solid::kPadlock;
  agent.shape = Solid::kCapsule, agent.half[2] = 0.4f, agent.marks = Solid::kEyes;
  Solid ball = agent, ramp = box(palette::kRamp, -2, -2, 0.67f, 1);
  ball.shape = Solid::kSphere, ball.position[1] = -2;
  ramp.shape = Solid::kWedge, ramp.half[1] = 3, ramp.half[2] = 2;
  ramp.orientation[0] = 0.8f, ramp.orientation[3] = 0.6f;
  scene.solids = {floor, locked, agent, ball, ramp};
  scene.fans = {{{2, 2, 0.02f}, {0, 5, 2, 5, 4, 5}, palette::kBlue, 0.4f, 5}};
  scene.lines = {{{2, 2, 1}, {-1, -4, 1}, palette::kRed, 0.5f, 1}};
  return scene;
}

GE_TEST(bytes_are_the_same_on_every_machine) {
  const Picture picture = drawn(everything(), "both", 203, 77);
  const std::string hash =
      Blake2b(16).update(picture.bytes.data(), picture.bytes.size()).hex_digest();
  CHECK_EQ(hash, std::string("1bce16952b6207d9907b380de57a15b6"));
}

}  // namespace
}  // namespace ge::pictures
