// Vectors over floats and over packs are the same arithmetic, and rotations are rotations.
#include "geometry/vectors.hpp"

#include "geometry/slow_shapes.hpp"
#include "test.hpp"

namespace {

using namespace ge::geometry;
using namespace ge::test;

constexpr float kRounding = 1e-5f;  // of sums of a few products near 1

Vecs some_pack(Source& source, Vec3 (&single)[ge::kPack]) {
  Vecs pack = {};
  for (int i = 0; i < ge::kPack; ++i) {
    single[i] = source.point(2.0f);
    ge::set_lane(pack.x, i, single[i].x);
    ge::set_lane(pack.y, i, single[i].y);
    ge::set_lane(pack.z, i, single[i].z);
  }
  return pack;
}
bool same(const Vecs& pack, int i, Vec3 single) {
  return ge::lane(pack.x, i) == single.x && ge::lane(pack.y, i) == single.y &&
         ge::lane(pack.z, i) == single.z;
}

GE_TEST(packs_give_the_bits_of_single_vectors) {
  Source source{1};
  for (int trial = 0; trial < 100; ++trial) {
    Vec3 a[ge::kPack], b[ge::kPack];
    const Vecs pa = some_pack(source, a), pb = some_pack(source, b);
    const Vec3 c = source.point(2.0f);
    const Mat3 turn = matrix(source.turn());
    const ge::Floats inner = dot(pa, c), far = roots(dot(pb, pb));
    for (int i = 0; i < ge::kPack; ++i) {
      CHECK(same(pa + pb, i, a[i] + b[i]) && same(pa - c, i, a[i] - c));
      CHECK(same(c * inner, i, c * dot(a[i], c)) && same(-cross(pa, pb), i, -cross(a[i], b[i])));
      CHECK(same(turn * pa, i, turn * a[i]) && same(to_body(turn, pa), i, to_body(turn, a[i])));
      CHECK(same(choose(inner > 0.0f, pa, spread(c)), i, choose(dot(a[i], c) > 0.0f, a[i], c)));
      CHECK_EQ(ge::lane(far, i), length(b[i]));
    }
  }
}

GE_TEST(rotations_keep_lengths_and_compose) {
  Source source{2};
  for (int trial = 0; trial < 100; ++trial) {
    const Quat p = source.turn(), q = source.turn();
    const Vec3 v = source.point(1.0f);
    const Vec3 turned_twice = matrix(p) * (matrix(q) * v);
    CHECK(length(turned_twice - matrix(p * q) * v) < kRounding);
    CHECK(std::abs(length(turned_twice) - length(v)) < kRounding);
    CHECK(length(to_body(matrix(p), matrix(p) * v) - v) < kRounding);
    CHECK(length(matrix(conjugate(p)) * (matrix(p) * v) - v) < kRounding);
  }
  CHECK(length(matrix(yaw_quat(0.5f)) * Vec3{1, 0, 0} - Vec3{ge::cos(0.5f), ge::sin(0.5f), 0}) <
        kRounding);
}

GE_TEST(solving_undoes_multiplying_and_singular_matrices_give_zero) {
  Source source{3};
  for (int trial = 0; trial < 100; ++trial) {
    const Mat3 m = matrix(source.turn());
    const Vec3 a = m.x * source.within(1, 2), b = m.y + m.x * 0.5f, c = m.z, x = source.point(1.0f);
    CHECK(length(solve(a, b, c, a * x.x + b * x.y + c * x.z) - x) < kRounding);
  }
  CHECK_EQ(length(solve({1, 0, 0}, {0, 1, 0}, {0, 2, 0}, {1, 2, 3})), 0.0f);
  CHECK_EQ(length(normalized(Vec3{0, 0, 0})), 0.0f);
}

}  // namespace
