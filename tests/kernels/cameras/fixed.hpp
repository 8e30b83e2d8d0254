// Solids that a View has besides its table: drawn and numbered as rows behind it. Run by every
// executor.
#pragma once

#include "ties.hpp"

namespace ge::test {

/// Rooms of the gallery with every share of their things fixed, against brute force.
inline void check_rooms_with_fixed_things(int worlds) {
  const struct {
    const char *resolution, *layers;
    int64_t things, fixed, visitors, supersample;
  } cases[] = {{"12x20", "rgb+depth+segmentation", 24, 24, 3, 1},
               {"9x17", "rgb+depth+segmentation", 40, 11, 2, 2},
               {"10x19", "depth+segmentation", 48, 47, 1, 1},
               // More than can be listed at once.
               {"8x16", "rgb+segmentation", 200, 170, 2, 1}};
  for (const auto& c : cases) {
    Gallery gallery({{"resolution", std::string(c.resolution)},
                     {"observation", std::string(c.layers)},
                     {"thing_count", c.things},
                     {"fixed_count", c.fixed},
                     {"supersample", c.supersample},
                     {"visitors", c.visitors}},
                    worlds);
    gallery.reset(uint64_t(c.things));
    int fixed_seen = 0;
    for (int64_t world = 0; world < worlds; ++world)
      for (int me = 0; me < gallery.visitors(); ++me) {
        const SlowPicture slow = slow_picture(gallery.room(world, me), gallery.picture());
        const int64_t row = world * c.visitors + me;
        if (!gallery.layer(kColours, row).empty())
          CHECK(gallery.layer(kColours, row) == slow.colours);
        if (!gallery.layer(kDepths, row).empty()) CHECK(gallery.layer(kDepths, row) == slow.depths);
        CHECK(gallery.layer(kSegments, row) == slow.segments);
        for (const int segment : gallery.segments(row))
          fixed_seen += segment > int(c.things - c.fixed + c.visitors);
      }
    CHECK(fixed_seen > 0);
  }
}

/// Draws one set of things as rows of solids and as fixed solids: pictures are equal, the numbers
/// of segmentation differ.
inline void check_fixed_things_look_like_listed_ones(int worlds) {
  constexpr int64_t kThings = 24, kFixed = 10;
  std::vector<Gallery> galleries;
  for (const int64_t fixed : {int64_t{0}, kFixed, kThings}) {
    galleries.emplace_back(Values{{"resolution", std::string("13x21")},
                                  {"observation", std::string("rgb+depth+segmentation")},
                                  {"thing_count", kThings},
                                  {"fixed_count", fixed},
                                  {"visitors", int64_t{1}}},
                           worlds);
    galleries.back().reset(3);
  }
  for (int64_t row = 0; row < worlds; ++row) {
    Gallery& listed = galleries[0];
    // The one visitor, whom nobody sees, has the row behind listed things.
    for (int k = 1; k < 3; ++k) {
      Gallery& other = galleries[size_t(k)];
      CHECK(other.layer(kColours, row) == listed.layer(kColours, row));
      CHECK(other.layer(kDepths, row) == listed.layer(kDepths, row));
      std::vector<int> wanted = listed.segments(row);
      for (int& segment : wanted) segment += segment > int(kThings) - other.fixed_count();
      CHECK(other.segments(row) == wanted);
    }
  }
}

/// Two boxes in one place: a row of the table is seen before a fixed one, and of two fixed ones the
/// first. One that the viewer owns is not seen.
inline void check_ties_of_fixed_things() {
  const auto box = [](uint32_t colour, int32_t owner) {
    return cameras::solid(geometry::kBox, {1, 1, 1}, {0, 3, 0}, colour, cameras::upright(), owner);
  };
  constexpr int kVisitor = 1;  // rows of solids that come between listed and fixed things
  for (const int64_t fixed : {1, 2})
    for (const bool owned : {false, true}) {
      Gallery gallery({{"resolution", std::string("8x8")},
                       {"observation", std::string("rgb+segmentation")},
                       {"hfov", 20.0},
                       {"thing_count", int64_t{2}},
                       {"fixed_count", fixed},
                       {"visitors", int64_t{1}}});
      gallery.reset(1);
      gallery.lay({box(kRed, owned ? 0 : cameras::kNobody), box(kBlue, cameras::kNobody)});
      gallery.stand({0, 0, 0}, 0, 0), gallery.look();
      const int first = fixed == 2 ? 1 + kVisitor : 1, second = 2 + kVisitor;
      for (const int segment : gallery.segments(0)) CHECK_EQ(segment, owned ? second : first);
      CHECK(gallery.colour(0, 2, 2) ==
            (owned ? std::vector<int>{0, 0, 255} : std::vector<int>{255, 0, 0}));
    }
}

}  // namespace ge::test
