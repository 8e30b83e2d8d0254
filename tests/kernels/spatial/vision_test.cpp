// Angles, views and the minima behind them against plain double precision.
#include "spatial/vision.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "test.hpp"

namespace {

using namespace ge;
using namespace ge::spatial;

constexpr double kTau = 6.283185307179586;

Draw words(uint32_t k) {
  return draw(7, 0, 0, 0, 0, 5, k, 0);
}
float between(const Draw& d, int word, float low, float high) {
  return low + d.uniform(word) * (high - low);
}

GE_TEST(directions_are_arc_tangents_to_the_last_places) {
  double worst = 0;
  for (uint32_t k = 0; k < 200'000; ++k) {
    const Draw d = words(k);
    const float scale = k % 3 == 0 ? 1.0f : (k % 3 == 1 ? 1e-6f : 1e-12f);
    const float x = between(d, 0, -1, 1) * scale, y = between(d, 1, -1, 1);
    double wanted = std::atan2(double(y), double(x));
    if (wanted < 0) wanted += kTau;
    worst = std::max(worst, std::abs(double(direction_of(y, x)) - wanted));
  }
  CHECK(worst < 6e-7);
  CHECK(quadrant_angle(0.0f, 1.0f) == 0.0f);
  CHECK(quadrant_angle(1.0f, 0.0f) == 0.5f * kPi);
  CHECK(quadrant_angle(0.0f, 0.0f) == 0.0f);
  CHECK(direction_of(0.0f, -1.0f) == kPi);
  CHECK(direction_of(0.0f, 0.0f) == kPi);  // as jumanji's agents see who stands on them
  CHECK(direction_of(0.0f, 1.0f) == 0.0f);
  CHECK(std::abs(direction_of(-1.0f, 0.0f) - 1.5f * kPi) < 1e-6f);
}

/// Rays that a disc covers, each ray asked; `edge` is how near any came to an end.
std::pair<int, int> covered(const Sectors& s, double beta, float heading, float dx, float dy,
                            double& edge) {
  double delta = double(heading) - std::atan2(double(dy), double(dx));
  delta -= kTau * std::floor(delta / kTau + 0.5);
  const double w = std::atan2(double(s.radius), std::hypot(double(dx), double(dy)));
  int first = s.count, last = -1;
  edge = 1;
  for (int k = 0; k < s.count; ++k) {
    const double ray = -beta + 2 * beta * k / (s.count - 1);
    edge = std::min({edge, std::abs(ray - delta + w), std::abs(ray - delta - w)});
    if (delta - w < ray && ray < delta + w) first = std::min(first, k), last = k;
  }
  return {first, last};
}

GE_TEST(discs_cover_the_rays_that_meet_them) {
  int asked = 0;
  for (uint32_t k = 0; k < 20'000; ++k) {
    const Draw d = words(k), e = words(k + 1'000'000);
    const int counts[] = {2, 3, 37, 128, 1024};
    const double share = k % 4 == 0 ? 1.0 : double(between(d, 0, 0.01f, 1.0f));
    const Sectors s =
        make_sectors(counts[k % 5], share, 0.2, double(between(d, 1, 0.0f, 0.1f)), -1);
    const float heading = between(d, 2, 0, kTurn), dx = between(d, 3, -0.2f, 0.2f);
    const float dy = between(e, 0, -0.2f, 0.2f);
    double edge;
    const auto [first, last] = covered(s, share * kTau / 2, heading, dx, dy, edge);
    if (edge < 2e-6) continue;  // float32 may decide otherwise
    ++asked;
    const Disc disc = disc_of(s, heading, dx, dy);
    if (last < 0)
      CHECK(disc.first > disc.last);
    else
      CHECK(disc.first == first && disc.last == last);
    const double value = std::hypot(double(dx), double(dy)) / 0.2;
    CHECK(std::abs(disc.value - std::min(1.0, value)) < 1e-6);
  }
  CHECK(asked > 15'000);
}

GE_TEST(no_disc_in_view_is_behind_the_plane_that_looks_pass_over) {
  for (uint32_t k = 0; k < 100'000; ++k) {
    const Draw d = words(k), e = words(k + 1'000'000);
    const Sectors s = make_sectors(64, double(between(d, 0, 0.001f, 1.0f)), 0.1,
                                   double(between(d, 1, 0.0f, 0.2f)), -1);
    const float heading = between(d, 2, 0, kTurn), dx = between(d, 3, -0.1f, 0.1f);
    const float dy = between(e, 0, -0.1f, 0.1f);
    if (dx * dx + dy * dy > s.range_squared) continue;
    const Disc disc = disc_of(s, heading, dx, dy);
    const HalfPlane plane = view_plane(s, heading);
    if (disc.first <= disc.last) CHECK(dx * plane.x + dy * plane.y >= plane.least);
  }
}

GE_TEST(disc_that_touches_a_ray_exactly_does_not_cover_it) {
  // Rays at -1/2, 0 and 1/2 of the half angle, in numbers that float32 holds exactly.
  Sectors s{};
  s.count = 3, s.half_angle = 1, s.rays_per_radian = 1, s.spacing = 1, s.last = 2, s.range = 1;
  s.per_range = 1;
  const Disc disc = disc_of(s, 1.0f, 0.5f, 0.0f);  // straight at ray 2, without any width
  CHECK(disc.first > disc.last);
  s.radius = 1e-4f;
  const Disc wide = disc_of(s, 1.0f, 0.5f, 0.0f);
  CHECK(wide.first == 2 && wide.last == 2);
}

GE_TEST(span_minima_are_those_of_plain_loops) {
  constexpr int kRoom = 64, kMost = 300;
  for (uint32_t k = 0; k < 300; ++k) {
    const int count = 1 + int(words(k).below(0, kMost));
    std::vector<float> plain(size_t(count), -1.0f), row(size_t(count), 7.0f);
    FloatRow writer(row.data(), 0, count);
    const Squad alone(0, 1);
    SpanMinima<kMost> minima(writer, count);
    for (uint32_t batch = 0; batch < 3; ++batch) {
      Spans<kRoom> spans;
      spans.count = int(words(k + 1000 * batch).below(1, kRoom + 1));
      for (int i = 0; i < spans.count; ++i) {
        const Draw d = words(k * 64 + uint32_t(i) + 100'000 * (batch + 1));
        spans.first[i] = int(d.below(0, uint32_t(count)));
        spans.last[i] = std::min(count - 1, spans.first[i] - 2 + int(d.below(1, 40)));
        spans.value[i] = d.uniform(2);
        for (int at = spans.first[i]; at <= spans.last[i]; ++at)
          if (plain[size_t(at)] < 0 || spans.value[i] < plain[size_t(at)])
            plain[size_t(at)] = spans.value[i];
      }
      minima.lower(spans);
    }
    minima.finish(-1.0f);
    CHECK(row == plain);
  }
}

}  // namespace
