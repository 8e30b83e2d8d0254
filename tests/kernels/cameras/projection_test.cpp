// Where things land in pictures: posts at known angles, by the rule of the field of view alone.
// environment: gallery
#include "closed_forms.hpp"
#include "gallery_room.hpp"

namespace ge::test {
namespace {

using namespace geometry;

constexpr double kDegree = 0.017453292519943295;

struct Case {
  int rows, columns;
  double hfov;
};
// Wide, square and upright: what is horizontal taken for vertical would show in the first and last.
constexpr Case kCases[] = {{72, 128, 100}, {64, 64, 90}, {60, 20, 50}, {9, 33, 120}};

/// What is seen of one solid in front of an eye that looks along +y.
std::vector<int> seen_of(const Case& c, const Solid& solid) {
  Gallery gallery({{"resolution", std::to_string(c.rows) + "x" + std::to_string(c.columns)},
                   {"observation", std::string("segmentation")},
                   {"hfov", c.hfov},
                   {"visitors", int64_t{1}}});
  gallery.reset(1);
  gallery.lay({solid}), gallery.stand({0, 0, 0}, 0, 0), gallery.look();
  return gallery.segments(0);
}
double half_width(const Case& c) {
  return std::tan(0.5 * c.hfov * kDegree);
}

/// Posts at angles from the axis of sight, one pixel thick, so each shows in one column alone.
GE_TEST(posts_show_in_the_column_of_their_angle) {
  constexpr float kDistance = 4;
  for (const Case& c : kCases) {
    int shown = 0;
    for (double angle = -0.48 * c.hfov; angle < 0.48 * c.hfov; angle += 3.7) {
      const double slope = std::tan(angle * kDegree), pixel = 2 * half_width(c) / c.columns;
      const double place = 0.5 * c.columns * (1 + slope / half_width(c));
      if (std::abs(place - std::round(place)) < 0.02) continue;
      // A thin sheet, so that its front is all there is of it.
      const auto post = cameras::solid(kBox, {float(0.5 * pixel * kDistance), 1e-4f, 100},
                                       {float(slope * kDistance), kDistance, 0}, 0xffffff);
      const std::vector<int> seen = seen_of(c, post);
      for (int k = 0; k < c.rows * c.columns; ++k)
        CHECK_EQ(seen[size_t(k)], int(k % c.columns == int(place)));
      ++shown;
    }
    CHECK(shown >= 8);
  }
}
GE_TEST(beams_show_in_the_row_of_their_angle) {
  constexpr float kDistance = 4;
  for (const Case& c : kCases) {
    int shown = 0;
    const double half_height = half_width(c) * c.rows / c.columns;
    const double most = std::atan(half_height) / kDegree;
    for (double angle = -0.97 * most; angle < 0.97 * most; angle += 3.1) {
      const double slope = std::tan(angle * kDegree), pixel = 2 * half_width(c) / c.columns;
      const double place = 0.5 * c.rows * (1 - slope / half_height);
      if (std::abs(place - std::round(place)) < 0.02) continue;
      const auto beam = cameras::solid(kBox, {100, 1e-4f, float(0.5 * pixel * kDistance)},
                                       {0, kDistance, float(slope * kDistance)}, 0xffffff);
      const std::vector<int> seen = seen_of(c, beam);
      for (int k = 0; k < c.rows * c.columns; ++k)
        CHECK_EQ(seen[size_t(k)], int(k / c.columns == int(place)));
      ++shown;
    }
    CHECK(shown >= 8);
  }
}

GE_TEST(grid_of_posts_shows_where_tangents_of_100_degrees_put_it) {
  // One after the other, in a picture that has them all.
  std::vector<Solid> posts;
  std::vector<std::pair<double, double>> angles;
  for (const double a : {-48.0, -33.0, -12.5, 0.0, 7.0, 25.0, 44.0})
    for (const double e : {-31.0, -18.0, 0.0, 11.0, 29.0}) {
      const auto x = float(5 * std::tan(a * kDegree)), z = float(5 * std::tan(e * kDegree));
      posts.push_back(cameras::solid(kBox, {0.07f, 1e-3f, 0.07f}, {x, 5, z}, 0xffffff));
      angles.push_back({a, e});
    }
  Gallery gallery({{"observation", std::string("segmentation")},
                   {"visitors", int64_t{1}},
                   {"thing_count", int64_t(posts.size())}});
  gallery.reset(1);
  gallery.lay(posts), gallery.stand({0, 0, 0}, 0, 0), gallery.look();
  const std::vector<int> seen = gallery.segments(0);
  std::vector<int> counts(posts.size());
  for (int k = 0; k < 72 * 128; ++k) {
    const int post = seen[size_t(k)] - 1;
    if (post < 0) continue;
    ++counts[size_t(post)];
    const auto& [a, e] = angles[size_t(post)];
    const double column = 64 + 64 * std::tan(a * kDegree) / std::tan(50 * kDegree);
    const double row = 36 - 36 * std::tan(e * kDegree) / std::tan(33.84 * kDegree);
    CHECK(std::abs(k % 128 + 0.5 - column) <= 1);
    CHECK(std::abs(k / 128 + 0.5 - row) <= 1);
  }
  for (const int count : counts) CHECK(count >= 1);
}

// Signs: a turn to the left shows what is at the left, one upwards what is above.
GE_TEST(eyes_turned_to_something_show_it_in_the_middle) {
  Gallery gallery({{"observation", std::string("segmentation")},
                   {"resolution", std::string("9x15")},
                   {"visitors", int64_t{1}}});
  gallery.reset(1);
  for (const double yaw : {-3.0, -1.2, 0.3, 2.0, 7.5})
    for (const double pitch : {-0.7, 0.0, 0.5}) {
      const Vec3 eye = {0.5f, -2, 0.25f};
      const Vec3 way = {float(-std::sin(yaw) * std::cos(pitch)),
                        float(std::cos(yaw) * std::cos(pitch)), float(std::sin(pitch))};
      gallery.lay({cameras::solid(kSphere, {0.3f, 0.3f, 0.3f}, eye + way * 5.0f, 0xffffff)});
      gallery.stand(eye, float(yaw), float(pitch)), gallery.look();
      const std::vector<int> seen = gallery.segments(0);
      for (int k = 0; k < 9 * 15; ++k) CHECK_EQ(seen[size_t(k)], int(k == 4 * 15 + 7));
    }
}

}  // namespace
}  // namespace ge::test
