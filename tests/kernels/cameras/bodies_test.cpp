// Who sees whom: nobody sees his own body, and from inside of another's one sees out.
// environment: gallery
#include "gallery_room.hpp"

namespace ge::test {
namespace {

using namespace geometry;

constexpr int kWall = 1, kFirstVisitor = 25;  // as segments: of 24 things, and what follows

struct Meeting {
  Gallery gallery{{{"resolution", std::string("18x32")},
                   {"observation", std::string("rgb+segmentation")},
                   {"visitors", int64_t{2}}}};

  Meeting(const std::vector<Solid>& solids, const Stand& first, const Stand& second) {
    gallery.reset(1);
    std::vector<Stand> stands(gallery.get<float>("visitors.yaw").size(), second);
    stands[0] = first;
    gallery.lay(solids), gallery.stand_each(stands), gallery.look();
  }
  int count(int visitor, int segment) {
    const std::vector<int> seen = gallery.segments(visitor);
    return int(std::count(seen.begin(), seen.end(), segment));
  }
};
Solid wall(int32_t owner = cameras::kNobody) {
  return cameras::solid(kBox, {20, 0.5f, 20}, {0, 4.5f, 0}, 0xffffff, cameras::upright(), owner);
}
constexpr int kAll = 18 * 32;

GE_TEST(visitors_see_out_of_their_own_bodies) {
  Meeting far({wall()}, {{0, 0, 0}, 0, 0}, {{9, -50, 0}, 3, 0});
  CHECK_EQ(far.count(0, kWall), kAll);
}
GE_TEST(visitors_inside_of_one_another_see_out_of_both) {
  // In the middle, off it, and in the end of the pill.
  for (const Vec3 by : {Vec3{0, 0, 0}, Vec3{0.2f, -0.1f, 0.1f}, Vec3{0, 0.05f, -0.6f}}) {
    Meeting same({wall()}, {{0, 0, 0}, 0, 0}, {by, 0, 0});
    CHECK_EQ(same.count(0, kWall), kAll);
    CHECK_EQ(same.count(1, kWall), kAll);
  }
}
GE_TEST(visitors_see_each_other_and_not_themselves) {
  Meeting apart({wall()}, {{-1, 2, 0}, -1.5707963f, 0}, {{1, 2, 0}, 1.5707963f, 0});
  for (const int me : {0, 1}) {
    CHECK(apart.count(me, kFirstVisitor + 1 - me) > 30);
    CHECK_EQ(apart.count(me, kFirstVisitor + me), 0);
  }
  const std::vector<int> colour = apart.gallery.colour(0, 9, 16);
  CHECK(colour[0] < colour[1] && colour[1] < colour[2]);  // of 2e b5 d0
}
GE_TEST(solids_of_an_owner_are_seen_by_all_but_him) {
  for (const int owner : {0, 1}) {
    Meeting owned({wall(owner)}, {{0, 0, 0}, 0, 0}, {{0, 0, 0}, 0, 0});
    CHECK_EQ(owned.count(owner, kWall), 0);
    CHECK_EQ(owned.count(1 - owner, kWall), kAll);
  }
}
GE_TEST(eyes_inside_of_a_solid_see_out_of_it) {
  for (int32_t shape = kBox; shape <= kCone; ++shape) {
    if (shape == kWedge) continue;
    for (const Quat& turn : {cameras::upright(), yaw_quat(0.5f), normalized(Quat{1, 1, 0, 0.5f})}) {
      const auto around = cameras::solid(shape, {1, 1.5f, 1}, {0, 0, 0}, 0xff0000, turn);
      Meeting inside({wall(), around}, {{0.1f, 0.05f, -0.1f}, 0, 0}, {{9, -50, 0}, 3, 0});
      CHECK_EQ(inside.count(0, kWall), kAll);
    }
  }
}

}  // namespace
}  // namespace ge::test
