// Colours against the formula of the headlamp, in double and from closed forms.
// environment: gallery
#include "closed_forms.hpp"
#include "gallery_room.hpp"
#include "geometry/slow_shapes.hpp"

namespace ge::test {
namespace {

using namespace geometry;

constexpr int kRows = 40, kColumns = 60;
constexpr double kHfov = 70;

struct Look {
  std::vector<Solid> solids;
  Stand stand;
  Gallery gallery{{{"resolution", std::string("40x60")},
                   {"observation", std::string("rgb+segmentation")},
                   {"hfov", kHfov},
                   {"visitors", int64_t{1}}}};
  Look(const std::vector<Solid>& all, const Stand& from) : solids(all), stand(from) {
    gallery.reset(1);
    gallery.lay(solids), gallery.stand(stand.at, stand.yaw, stand.pitch), gallery.look();
  }
  /// By the formula, what pixel k shows of the first solid, and whether it must.
  Real3 expected(int k, RealHit& hit) const {
    const RealEye eye(stand.at, stand.yaw, stand.pitch);
    const Real3 way = eye.direction(k / kColumns + 0.5, k % kColumns + 0.5, kRows, kColumns, kHfov);
    hit = meet(RealSolid(solids[0]), eye.at, way);
    const Real3 point = plus({0, 0, 0}, way, hit.distance);
    return lit_in_double(real_colour(solids[0].colour), in_axes(eye, point),
                         in_axes(eye, hit.normal));
  }
};

/// Within one of 255, where the pixel is far from an edge: its neighbours face much the same way.
int check_colours(Look& look, int first, int step) {
  int checked = 0;
  const std::vector<int> seen = look.gallery.segments(0);
  for (int k = first; k < (kRows - 1) * kColumns; k += step) {
    RealHit hit, beside;
    const Real3 wanted = look.expected(k, hit);
    if (!hit.meets() || seen[size_t(k)] != 1 || hit.slant < 0.1) continue;
    bool smooth = true;
    for (const int by : {-1, 1, -kColumns, kColumns}) {
      look.expected(k + by, beside);
      smooth = smooth && beside.meets() && dot_of(beside.normal, hit.normal) > 0.5;
    }
    if (!smooth) continue;
    const std::vector<int> colour = look.gallery.colour(0, k / kColumns, k % kColumns);
    for (size_t c = 0; c < 3; ++c) CHECK(std::abs(colour[c] - 255 * wanted[c]) <= 1);
    ++checked;
  }
  return checked;
}

GE_TEST(colours_of_every_shape_are_those_of_the_formula) {
  Source source{4};
  for (int32_t shape = kBox; shape <= kCone; ++shape) {
    if (shape == kWedge) continue;
    int checked = 0;
    for (int pose = 0; pose < 12; ++pose) {
      const Vec3 half = {source.within(0.4f, 1), source.within(0.4f, 1), source.within(0.4f, 1)};
      const Quat turn = pose % 3 == 0 ? cameras::upright() : source.turn();
      const float yaw = source.within(-3, 3), pitch = source.within(-1, 1);
      const Eye eye = cameras::eye_at({0, 0, 0}, yaw, pitch);
      Look look({cameras::solid(shape, half, eye.forward * 3.5f + source.point(0.5f),
                                0x202020u + uint32_t(source.below(0xdfdfdf)), turn)},
                {{0, 0, 0}, yaw, pitch});
      checked += check_colours(look, 61 + pose, 13);
    }
    CHECK(checked >= 100);
  }
}

// A dark wall, seen where it mirrors the lamp: the highlight is all that is bright, in every
// strength.
GE_TEST(highlight_of_exponent_300_is_that_of_the_formula) {
  Look look({cameras::solid(kBox, {50, 0.5f, 50}, {0, 2.5f, 0}, 0x303030)}, {{0, 0, 0}, 0, 0.39f});
  CHECK(check_colours(look, 61, 1) > 2000);
  int strengths[4] = {};
  for (int k = 0; k < kRows * kColumns; ++k)
    ++strengths[look.gallery.colour(0, k / kColumns, k % kColumns)[0] / 64];
  for (const int count : strengths) CHECK(count > 0);
}
GE_TEST(highlight_by_squaring_is_the_power) {
  double worst = 0;
  for (int k = 0; k <= 100000; ++k) {
    const float x = 0.75f + 0.25f * float(k) * 1e-5f;
    worst = std::max(worst, std::abs(double(cameras::detail::highlight(x)) - std::pow(x, 300.0)));
  }
  // Each of eight squarings doubles what was lost before it: 300 times half of the last bit.
  CHECK(worst < 300 * 0x1p-24);
  CHECK_EQ(cameras::detail::highlight(1.0f), 1.0f);
  CHECK_EQ(cameras::detail::highlight(0.0f), 0.0f);
  CHECK_EQ(cameras::detail::highlight(0.7f), 0.0f);
}
// What the highlight leaves out changes no byte, even of the darkest colour in the least light.
GE_TEST(highlight_that_counts_as_0_changes_no_byte) {
  const float left_out = float(std::pow(double(cameras::detail::kDimmest), 300.0));
  CHECK(left_out > 0.0f && left_out < 2e-11f);
  CHECK_EQ(cameras::detail::highlight(cameras::detail::kDimmest), 0.0f);
  const cameras::Headlamp lamp;
  for (int byte = 0; byte < 256; ++byte) {
    for (int k = 0; k <= 1000; ++k) {
      const float scale = lamp.ambient + lamp.diffuse * (float(k) * 1e-3f);
      const float colour = cameras::colour_of(uint32_t(byte)).z * scale;
      CHECK_EQ(std::floor((colour + left_out) * 255.0f + 0.5f), std::floor(colour * 255.0f + 0.5f));
    }
  }
}
GE_TEST(white_in_the_highlight_is_cut_at_white) {
  Look look({cameras::solid(kBox, {50, 0.5f, 50}, {0, 2.5f, 0}, 0xffffff)}, {{0, 0, 0}, 0, 0.39f});
  int white = 0;
  for (int k = 0; k < (kRows - 1) * kColumns; ++k) {
    RealHit hit;
    const Real3 wanted = look.expected(k, hit);
    const std::vector<int> colour = look.gallery.colour(0, k / kColumns, k % kColumns);
    if (wanted[0] == 1) CHECK(colour[0] == 255 && colour[1] == 255 && colour[2] == 255), ++white;
  }
  CHECK(white > 10);
}
GE_TEST(solids_that_are_unlit_have_their_colour_everywhere) {
  Source source{5};
  for (int32_t shape = kBox; shape <= kCone; ++shape) {
    if (shape == kWedge) continue;
    Look look({cameras::solid(shape, {0.8f, 0.7f, 0.6f}, {0, 3, 0}, 0x2ec307u | Solid::kUnlit,
                              source.turn())},
              {{0, 0, 0}, 0, 0});
    const std::vector<int> seen = look.gallery.segments(0);
    int shown = 0;
    for (int k = 0; k < (kRows - 1) * kColumns; ++k) {
      const std::vector<int> colour = look.gallery.colour(0, k / kColumns, k % kColumns);
      CHECK(colour == (seen[size_t(k)] == 1 ? std::vector<int>{0x2e, 0xc3, 0x07}
                                            : std::vector<int>{0, 0, 0}));
      shown += seen[size_t(k)] == 1;
    }
    CHECK(shown > 50);
  }
}

GE_TEST(white_wall_2_m_ahead_is_that_of_the_formula_at_every_pixel) {
  Gallery gallery({{"visitors", int64_t{1}}});
  gallery.reset(1);
  gallery.lay({cameras::solid(kBox, {50, 1, 50}, {0, 3, 0}, 0xffffff)});
  gallery.stand({0, 0, 0}, 0, 0), gallery.look();
  const RealEye eye({0, 0, 0}, 0, 0);
  for (int row = 0; row < 71; ++row)
    for (int column = 0; column < 128; ++column) {
      const Real3 point = plus({0, 0, 0}, eye.direction(row + 0.5, column + 0.5, 72, 128, 100), 2);
      const Real3 wanted = lit_in_double({1, 1, 1}, in_axes(eye, point), {0, 0, 1});
      const std::vector<int> colour = gallery.colour(0, row, column);
      for (size_t c = 0; c < 3; ++c) CHECK(std::abs(colour[c] - 255 * wanted[c]) <= 1);
    }
}
GE_TEST(bar_is_the_lowest_row_as_wide_as_what_is_left) {
  // Nothing else: the background is 0.
  Gallery gallery({{"visitors", int64_t{1}}, {"thing_count", int64_t{0}}});
  gallery.reset(1);
  for (int step = 0; step < 19; ++step) {
    const float left = 1.0f - float(step) * 0.05f;
    int width = 0, first = 128;
    for (int row = 0; row < 72; ++row)
      for (int column = 0; column < 128; ++column) {
        const std::vector<int> colour = gallery.colour(0, row, column);
        if (colour == std::vector<int>{0, 0, 0}) continue;
        CHECK_EQ(row, 71);
        CHECK(colour == (std::vector<int>{0x1a, 0x65, 0x74}));
        ++width, first = std::min(first, column);
      }
    CHECK(std::abs(width - std::round(128 * left)) <= 1);
    CHECK(std::abs(first + 0.5 * width - 64) <= 0.5);
    gallery.step({0});
  }
}

}  // namespace
}  // namespace ge::test
