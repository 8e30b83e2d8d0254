// Boxes that have a turn of their View in common, against the same boxes met one by one.
#include <cmath>

#include "cameras/draw.hpp"
#include "engine/maths/random.hpp"
#include "test.hpp"

namespace ge::test {
namespace {

using namespace cameras;

struct Turns {
  static constexpr int kTurns = 2;
  static GE_FN Turn turn(int k) { return {0x1.bb67aep-1f, k == 0 ? -0.5f : 0.5f}; }
};
struct NoTurns {};

struct Source {
  uint32_t number = 0;
  float between(float low, float high) {
    return low + (high - low) * draw(7, 0, 0, 0, 0, 0, number++, 0).uniform(0);
  }
  Vec3 point(float reach) {
    return {between(-reach, reach), between(-reach, reach), between(-reach, reach)};
  }
};
Quat turned_by(double degrees) {
  const double half = degrees * 3.14159265358979 / 360;
  return {float(std::cos(half)), 0, 0, float(std::sin(half))};
}
Solid box_at(Source& source, const Quat& turn) {
  return solid(kBox, {source.between(0.1f, 2), source.between(0.1f, 2), source.between(0.1f, 2)},
               source.point(5), 0xffffff, turn);
}
Eye eye_of(Source& source) {
  return eye_at(source.point(5), source.between(-3, 3), source.between(-1, 1));
}

GE_TEST(frames_are_those_of_the_turns) {
  Source source;
  const Eye eye = eye_of(source);
  const auto frame = [&](const Quat& turn) {
    return cameras::detail::target_of<Turns>(box_at(source, turn), eye).frame;
  };
  CHECK_EQ(frame(upright()), 0);
  CHECK_EQ(frame(turned_by(-30)), 1);
  CHECK_EQ(frame(turned_by(30)), 2);
  CHECK_EQ(frame(turned_by(29)), -1);
  CHECK_EQ(frame({0.0f, 1.0f, 0.0f, 0.0f}), -1);  // upside down
  const Quat tilted = {float(std::cos(0.25)), float(std::sin(0.25)), 0, 0};
  CHECK_EQ(frame(tilted), -1);
  CHECK_EQ(cameras::detail::target_of<NoTurns>(box_at(source, turned_by(30)), eye).frame, -1);
  Solid ball = box_at(source, turned_by(30));
  ball.shape = kSphere;
  CHECK_EQ(cameras::detail::target_of<Turns>(ball, eye).frame, -1);
}

GE_TEST(turned_boxes_are_met_as_any_others) {
  Source source;
  int met = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Eye eye = eye_of(source);
    const Solid box = box_at(source, turned_by(trial % 2 == 0 ? -30 : 30));
    const Lens lens = {9, 16, 0.08f};
    const Vecs ways = directions(eye, lens, lane_numbers() * 2.0f + source.between(0, 20), 9.0f);
    const cameras::detail::Target quick = cameras::detail::target_of<Turns>(box, eye);
    const cameras::detail::Target slow = cameras::detail::target_of<NoTurns>(box, eye);
    cameras::detail::Casting<Turns> quickly;
    cameras::detail::Casting<NoTurns> slowly;
    quickly.begin(ways), slowly.begin(ways);
    quickly.meet(quick, eye.at, 0), slowly.meet(slow, eye.at, 0);
    const Vecs normal = cameras::detail::normal_of(quick, quickly, eye.at);
    const Vecs wanted = cameras::detail::normal_of(slow, slowly, eye.at);
    for (int k = 0; k < kPack; ++k) {
      const bool hit = lane(slowly.number, k) >= 0;
      if (!hit || lane(quickly.number, k) < 0) continue;  // past an edge, by rounding: seldom
      const float distance = lane(slowly.distance, k);
      CHECK(std::fabs(lane(quickly.distance, k) - distance) < 1e-4f * (1 + distance));
      const float alike = lane(normal.x, k) * lane(wanted.x, k) +
                          lane(normal.y, k) * lane(wanted.y, k) +
                          lane(normal.z, k) * lane(wanted.z, k);
      met += alike > 0.999f ? 1 : 0;  // at an edge either face will do
      CHECK(alike > 0.999f || std::fabs(alike) < 1e-3f);
    }
  }
  CHECK(met > 30 * kPack);
}

}  // namespace
}  // namespace ge::test
