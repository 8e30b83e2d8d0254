// Pictures against those that are drawn the slow way (slow_pictures.hpp): equal in every byte.
// environment: gallery
#include "gallery_room.hpp"

namespace ge::test {
namespace {

void check_all(Gallery& gallery, int64_t& views) {
  const Picture picture = gallery.picture();
  for (int64_t world = 0; world < gallery->worlds(); ++world)
    for (int me = 0; me < gallery.visitors(); ++me) {
      const SlowPicture slow = slow_picture(gallery.room(world, me), picture);
      const int64_t row = world * gallery.visitors() + me;
      const auto check = [&](Layer layer, const std::string& wanted, const char* name) {
        if ((picture.form.layers & layer) == 0) return;
        const std::string drawn = gallery.layer(layer, row);
        size_t differ = 0, first = drawn.size();
        for (size_t k = 0; k < drawn.size(); ++k)
          if (drawn[k] != wanted[k]) first = std::min(first, k), ++differ;
        if (differ > 0 || drawn.size() != wanted.size())
          fail(__FILE__, __LINE__,
               std::string(name) + " of world " + std::to_string(world) + ", visitor " +
                   std::to_string(me) + " differs in " + std::to_string(differ) + " of " +
                   std::to_string(wanted.size()) + " bytes, first at " + std::to_string(first));
      };
      check(kColours, slow.colours, "rgb");
      check(kDepths, slow.depths, "depth");
      check(kSegments, slow.segments, "segmentation");
      ++views;
    }
}

GE_TEST(pictures_of_a_thousand_views_are_those_of_brute_force) {
  int64_t views = 0;
  const struct {
    const char *resolution, *layers;
    int64_t things, visitors;
  } cases[] = {{"72x128", "rgb+depth+segmentation", 40, 1},
               {"36x64", "rgb+depth+segmentation", 24, 3},
               {"9x33", "rgb+segmentation", 48, 2},
               {"1x1", "rgb+depth", 30, 2}};
  const int counts[] = {20, 100, 200, 150};
  for (int k = 0; k < 4; ++k) {
    Gallery gallery({{"resolution", std::string(cases[k].resolution)},
                     {"observation", std::string(cases[k].layers)},
                     {"thing_count", cases[k].things},
                     {"visitors", cases[k].visitors}},
                    rounds(counts[k]));
    gallery.reset(uint64_t(k) + 1);
    check_all(gallery, views);
  }
  CHECK(views >= rounds(1000));
}

GE_TEST(pictures_supersampled_or_with_channels_last_are_those_of_brute_force) {
  int64_t views = 0;
  Gallery last({{"resolution", std::string("20x37")}, {"channels", std::string("last")}}, 8);
  last.reset(3);
  last.step_random(1, 0);
  check_all(last, views);
  Gallery twice({{"resolution", std::string("20x37")},
                 {"supersample", int64_t{3}},
                 {"observation", std::string("rgb+depth")}},
                8);
  twice.reset(4);
  check_all(twice, views);
}

GE_TEST(pictures_of_hills_are_those_of_a_box_per_column) {
  int64_t views = 0;
  for (const int64_t things : {0, 16}) {
    Gallery gallery({{"resolution", std::string("36x64")},
                     {"observation", std::string("rgb+depth+segmentation")},
                     {"hills", true},
                     {"thing_count", things}},
                    rounds(60));
    gallery.reset(6);
    check_all(gallery, views);
    // The last of all that can be seen: things, and two visitors.
    const std::vector<int> seen = gallery.segments(0);
    CHECK(std::count(seen.begin(), seen.end(), int(things) + 2 + 1) > 20);
  }
  // From within a column, from below, from far away, along the axes.
  Gallery gallery({{"resolution", std::string("27x48")},
                   {"observation", std::string("rgb+depth+segmentation")},
                   {"hills", true},
                   {"visitors", int64_t{1}},
                   {"thing_count", int64_t{0}}},
                  8);
  gallery.reset(7);
  const Stand stands[] = {
      {{0.1f, 0.1f, -1.9f}, 0.3f, 0}, {{1, 2, -4}, 0.3f, 1.2f},  {{0, -60, 0}, 0, 0},
      {{-30, 0, 3}, -1.5707963f, 0},  {{0, -9, -1.25f}, 0, 0},   {{-5.25f, -9, -1}, 0, 0},
      {{0, 0, 8}, 0, -1.5707963f},    {{0.75f, -8, -0.5f}, 0, 0}};
  std::vector<Stand> all;
  const size_t each = gallery.get<float>("visitors.yaw").size() / 8;
  for (const Stand& stand : stands)
    for (size_t k = 0; k < each; ++k) all.push_back(stand);
  gallery.stand_each(all), gallery.look();
  check_all(gallery, views);
}

GE_TEST(pictures_of_crowds_of_solids_are_those_of_brute_force) {
  int64_t views = 0;
  Gallery gallery({{"resolution", std::string("24x48")}, {"thing_count", int64_t{600}}}, 2);
  gallery.reset(5);
  check_all(gallery, views);
}

}  // namespace
}  // namespace ge::test
