// Walks through furnished houses: bodies keep their distance from what stands there, and distances
// are those of a slow solver in double precision, from wherever a body gets to.
#include <algorithm>
#include <cmath>

#include "houses/furniture.hpp"
#include "houses/make_ground.hpp"
#include "test.hpp"

namespace ge::houses {
namespace {

using test::rounds;

/// The walkable floor of a furnished house.
struct Site {
  std::vector<Rect> things;
  GroundData data;
  Ground ground;

  explicit Site(uint64_t seed, const Knobs& knobs = {}) {
    const Plan plan = make_plan(knobs, seed);
    const Shell shell = make_shell(plan, seed, 0.5f);
    things = walls_of(shell);
    for (const Piece& piece : furnish(plan, shell, knobs, seed))
      if (piece.stands) things.push_back(piece.floor);
    data = make_ground(shell, things);
    ground = data.view();
  }
  Point drawn(Dice& dice) const {
    const float area = dice.share() * data.area();
    size_t k = 0;
    while (k + 1 < data.spots.size() && data.spots[k].area <= area) ++k;
    const Spot& spot = data.spots[k];
    const float x = dice.within(spot.low_x, spot.high_x);
    return {x, dice.within(spot.low_y, spot.high_y)};
  }
};

float walk_between(const Ground& ground, Point a, Point b) {
  if (is_free(ground, a, b)) return distance(a, b);
  float best = kUnreachable;
  each_bend(ground, a, [&](int i, float first) {
    if (!is_free(ground, a, ground.corners[i].point())) return;
    each_bend(ground, b, [&](int j, float last) {
      const float length = first + ground.distances[i * ground.corner_count + j] + last;
      if (length < best && is_free(ground, b, ground.corners[j].point())) best = length;
    });
  });
  return best;
}

/// In double precision, over all blocks and corners. Bodies and corners may be a little deep.
class Slow {
 public:
  explicit Slow(const Site& site) : data_(site.data) {
    const size_t count = data_.corners.size();
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < count; ++j)
        between_.push_back(i == j ? 0
                                  : straight(data_.corners[i].point(), data_.corners[j].point()));
  }
  double walk(Point from, Point to) const {
    const size_t count = data_.corners.size();
    std::vector<double> far(count);
    std::vector<bool> done(count);
    for (size_t k = 0; k < count; ++k) far[k] = straight(from, data_.corners[k].point());
    double best = straight(from, to);
    for (size_t round = 0; round < count; ++round) {
      size_t next = count;
      for (size_t k = 0; k < count; ++k)
        if (!done[k] && (next == count || far[k] < far[next])) next = k;
      done[next] = true;
      if (far[next] >= best) break;
      best = std::min(best, far[next] + straight(data_.corners[next].point(), to));
      for (size_t k = 0; k < count; ++k)
        far[k] = std::min(far[k], far[next] + between_[next * count + k]);
    }
    return best;
  }

 private:
  /// The distance where nothing is between, else kUnreachable.
  double straight(Point a, Point b) const {
    constexpr double kDeep = 1.5e-3;
    const double p[2] = {double(a.x), double(a.y)},
                 v[2] = {double(b.x) - double(a.x), double(b.y) - double(a.y)};
    for (const Block& block : data_.blocks) {
      const double low[2] = {double(block.low_x) + kDeep, double(block.low_y) + kDeep},
                   high[2] = {double(block.high_x) - kDeep, double(block.high_y) - kDeep};
      double enter = 0, leave = 1;
      bool meets = true;
      for (int k = 0; k < 2; ++k) {
        if (v[k] == 0) {
          meets = meets && low[k] < p[k] && p[k] < high[k];
          continue;
        }
        const double one = (low[k] - p[k]) / v[k], other = (high[k] - p[k]) / v[k];
        enter = std::max(enter, std::min(one, other)),
        leave = std::min(leave, std::max(one, other));
      }
      if (meets && enter < leave) return double(kUnreachable);
    }
    return std::hypot(v[0], v[1]);
  }

  const GroundData& data_;
  std::vector<double> between_;
};

Point stepped(const Ground& ground, Point at, float yaw, float step) {
  return moved(ground, at, -std::sin(yaw) * step, std::cos(yaw) * step);
}

GE_TEST(distances_are_those_of_a_slow_solver) {
  double worst = 0;
  for (uint64_t seed = 0; seed < uint64_t(rounds(100)); ++seed) {
    const Site site(seed);
    const Slow slow(site);
    Dice dice(seed, 5);
    for (int k = 0; k < 100; ++k) {
      const Point a = site.drawn(dice), b = site.drawn(dice);
      const double ours = double(walk_between(site.ground, a, b)), meant = slow.walk(a, b);
      worst = std::max(worst, std::abs(ours - meant));
      CHECK(std::abs(ours - double(walk_between(site.ground, b, a))) < 1e-4);
      if (std::abs(ours - meant) > 4e-3)
        test::fail(__FILE__, __LINE__,
                   "house " + std::to_string(seed) + ": " + std::to_string(ours) + " for " +
                       std::to_string(meant) + " m");
    }
  }
  CHECK(worst < 4e-3);
}

GE_TEST(no_detour_is_shorter) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Site site(seed);
    Dice dice(seed, 8);
    for (int k = 0; k < 500; ++k) {
      const Point a = site.drawn(dice), b = site.drawn(dice), c = site.drawn(dice);
      const float straight = walk_between(site.ground, a, c);
      CHECK(straight < kUnreachable && straight >= distance(a, c) - 1e-4f);
      CHECK(straight <= walk_between(site.ground, a, b) + walk_between(site.ground, b, c) + 2e-3f);
    }
  }
}

GE_TEST(bodies_at_walls_are_as_far_as_they_are) {
  int walks = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Site site(seed);
    const Slow slow(site);
    Dice dice(seed, 6);
    for (int walk = 0; walk < 40; ++walk) {
      Point at = site.drawn(dice);
      const Point goal = site.drawn(dice);
      float yaw = dice.within(-3.14f, 3.14f), before = walk_between(site.ground, at, goal);
      for (int k = 0; k < 100; ++k) {
        if (dice.chance(0.4f)) yaw += dice.chance(0.5f) ? 0.17453293f : -0.17453293f;
        const Point now = stepped(site.ground, at, yaw, 0.25f);
        const float far = walk_between(site.ground, now, goal);
        // No step comes nearer, or gets farther away, by more than its length; a body that slides
        // around a corner walks farther than from place to place.
        if (!(std::abs(far - before) < 0.254f)) {
          test::fail(__FILE__, __LINE__,
                     "house " + std::to_string(seed) + ": from " + std::to_string(at.x) + ", " +
                         std::to_string(at.y) + " to " + std::to_string(now.x) + ", " +
                         std::to_string(now.y) + ", goal " + std::to_string(goal.x) + ", " +
                         std::to_string(goal.y) + ": " + std::to_string(before) + ", then " +
                         std::to_string(far) + " m");
          break;
        }
        at = now, before = far;
        ++walks;
      }
      const double meant = slow.walk(at, goal);
      if (!(std::abs(double(before) - meant) < 6e-3))
        test::fail(__FILE__, __LINE__,
                   "house " + std::to_string(seed) + ": from " + std::to_string(at.x) + ", " +
                       std::to_string(at.y) + " to " + std::to_string(goal.x) + ", " +
                       std::to_string(goal.y) + ": " + std::to_string(before) + " for " +
                       std::to_string(meant) + " m");
    }
  }
  CHECK(walks > 50000);
}

GE_TEST(bodies_stay_clear_of_what_stands_there) {
  for (uint64_t seed = 0; seed < uint64_t(rounds(100)); ++seed) {
    const Site site(seed);
    Dice dice(seed, 7);
    Point at = site.drawn(dice);
    for (int k = 0; k < 10'000; ++k) {
      const float step = dice.chance(0.1f) ? dice.within(0.0f, 3.0f) : 0.25f;
      const Point now = stepped(site.ground, at, dice.within(-3.14f, 3.14f), step);
      CHECK(distance(at, now) <= step * 1.0001f + 2.0f * kTouch);
      at = now;
      for (const Rect& thing : site.things) {
        const float x = std::max({thing.low_x - at.x, at.x - thing.high_x, 0.0f}),
                    y = std::max({thing.low_y - at.y, at.y - thing.high_y, 0.0f});
        CHECK(std::max(x, y) > kClearance - 2.0f * kTouch);
      }
    }
  }
}

}  // namespace
}  // namespace ge::houses
