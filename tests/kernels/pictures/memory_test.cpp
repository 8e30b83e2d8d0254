// Pictures drawn one after the other with a memory, against the same ones drawn without.
#include "pictures/memory.hpp"

#include <functional>
#include <vector>

#include "test.hpp"

namespace ge::pictures {
namespace {

std::vector<uint8_t> drawn(const Scene& scene, const Request& request, Memory* memory) {
  std::vector<uint8_t> bytes(size_t(request.width * request.height * 3));
  draw(scene, request, bytes.data(), memory);
  return bytes;
}

Solid box(float x, float y, float half) {
  Solid solid;
  solid.colour = palette::kBox;
  solid.position[0] = x, solid.position[1] = y, solid.position[2] = half;
  solid.half[0] = solid.half[1] = solid.half[2] = half;
  return solid;
}

/// Twenty metres square, so that most blocks are far from any one thing.
Scene field() {
  Scene scene;
  scene.low[0] = scene.low[1] = -10, scene.high[0] = scene.high[1] = 10, scene.high[2] = 2;
  Solid floor;
  floor.shape = Solid::kFloor, floor.half[0] = 1, floor.colour = palette::kFloor;
  Solid ball = box(5, -5, 1), leaning = box(-5, 5, 0.8f), fallen = box(-7, -1, 1);
  ball.shape = Solid::kSphere;
  leaning.orientation[0] = 0.995f, leaning.orientation[1] = 0.09987f;
  fallen.orientation[0] = 0.9f, fallen.orientation[2] = 0.43589f;  // shades, and hides no sky
  scene.solids = {floor, box(-4, -4, 1), box(4, 4, 1.5f), ball, leaning, fallen};
  scene.viewpoints = {{{0, -9, 1}, {0, 1, 0}}};
  return scene;
}

/// Each changes one thing of the picture before.
std::vector<std::function<void(Scene&)>> changes() {
  const Fan fan{{-6, -6, 0.02f}, {-2, -6, -3, -3}, palette::kBlue, 0.4f, 5};
  const Line line{{-8, 0, 1}, {8, 1, 0.5f}, palette::kRed, 0.5f, 1};
  return {
      [](Scene&) {},
      [](Scene& s) { s.solids[1].position[0] += 0.4f; },
      [](Scene& s) { s.solids[2].colour = palette::kRamp; },
      [](Scene& s) { s.solids[3].position[2] += 2.5f; },
      [](Scene& s) { s.solids[4].position[1] -= 7; },
      [](Scene& s) { s.solids[5].position[2] += 3; },
      [](Scene& s) { s.solids[5].position[2] -= 3; },
      [fan](Scene& s) { s.fans = {fan}; },
      [](Scene& s) { s.fans[0].rim[0] += 1; },
      [](Scene& s) { s.fans.clear(); },
      [line](Scene& s) { s.lines = {line}; },
      [](Scene& s) { s.lines[0].to[1] = 7, s.lines[0].width = 3; },
      [](Scene& s) { s.lines[0].from[0] = 8, s.lines[0].to[0] = 8.01f; },
      [](Scene& s) { s.lines.clear(); },
      [](Scene& s) { s.solids[0].half[0] = 2; },
      [](Scene& s) { s.solids.push_back(box(0, 0, 0.5f)); },
      [](Scene& s) { s.solids[6].marks = Solid::kBanded; },
      [](Scene& s) { s.look[0] = -0.3f; },
      [](Scene& s) { s.viewpoints[0].position[0] = 1; },
      [](Scene& s) { s.high[0] = 12; },
      [](Scene& s) { s.solids.erase(s.solids.begin() + 1); },
      [](Scene& s) { s.solids.clear(); },
  };
}

GE_TEST(picture_after_picture_has_the_bytes_of_each_alone) {
  for (const char* view : {"perspective", "top", "both", "agent:0"})
    for (const Request& request : {Request{203, 77, view, 2}, Request{160, 120, view, 3}}) {
      Scene scene = field();
      Memory memory;
      drawn(scene, request, &memory);
      for (const auto& change : changes()) {
        change(scene);
        CHECK(drawn(scene, request, &memory) == drawn(scene, request, nullptr));
      }
    }
}

GE_TEST(another_size_view_or_scene_is_drawn_anew) {
  const Scene scene = field();
  Scene other = field();
  other.solids[1] = box(3, 3, 1);
  Memory memory;
  for (const Request& request :
       {Request{120, 90, "both", 2}, Request{90, 120, "both", 2}, Request{90, 120, "both", 3},
        Request{90, 120, "top", 3}, Request{90, 120, "perspective", 3}})
    for (const Scene& each : {scene, other, scene})
      CHECK(drawn(each, request, &memory) == drawn(each, request, nullptr));
}

GE_TEST(after_a_picture_that_was_refused_the_next_is_whole) {
  const Scene scene = field();
  const Request request{120, 90, "both", 2};
  Memory memory;
  drawn(scene, request, &memory);
  CHECK_THROWS(drawn(scene, {120, 90, "below", 2}, &memory), Error, "view must be");
  CHECK(drawn(scene, request, &memory) == drawn(scene, request, nullptr));
}

}  // namespace
}  // namespace ge::pictures
