// Hills drawn as merged boxes, as a field of columns and as voxels are the same picture, depths and
// colours of every pixel; and the boxes of voxel/hills.hpp are those of the columns.
// environment: hill_views
#include <algorithm>
#include <functional>

#include "envs/hill_views.hpp"
#include "geometry/slow_shapes.hpp"
#include "simulation.hpp"

namespace ge::test {
namespace {

namespace hill_views = gpu_envs::envs::hill_views;
constexpr int kSide = hill_views::kSide, kEyes = 4, kMostEyes = hill_views::kMostEyes;

/// Heights of a world's columns, x by x.
using Field = std::vector<uint8_t>;
Field field_of(const std::function<int(int, int)>& height) {
  Field field;
  for (int x = 0; x < kSide; ++x)
    for (int y = 0; y < kSide; ++y) field.push_back(uint8_t(height(x, y)));
  return field;
}
int height_in(const Field& field, int x, int y) {
  return x < 0 || y < 0 || x >= kSide || y >= kSide ? 0 : field[size_t(x * kSide + y)];
}

/// Where an eye is, and looks to.
struct Look {
  float x, y, z, yaw, pitch;
};

class HillViews : public Simulation {
 public:
  HillViews(const char* way, int64_t worlds) : Simulation("HillViews-v0", config(way, worlds)) {
    reset(1);
  }
  /// A field and the eyes of each world; then a step, in which nobody turns.
  void look(const std::vector<Field>& fields, const std::vector<Look>& looks) {
    std::vector<uint8_t> heights;
    for (const Field& field : fields) heights.insert(heights.end(), field.begin(), field.end());
    std::vector<float> places, yaws, pitches;
    for (size_t world = 0; world < fields.size(); ++world)
      for (int k = 0; k < kMostEyes; ++k) {
        const Look& look = looks[world * kEyes + size_t(k % kEyes)];
        const float middle = look.z - voxel::kPlaceAbove - voxel::kEyesAbove;
        places.insert(places.end(), {look.x, look.y, middle});
        yaws.push_back(look.yaw), pitches.push_back(look.pitch);
      }
    set("columns.height", heights), set("agents.position", places);
    set("agents.yaw", yaws), set("agents.pitch", pitches);
    set("land.stale", std::vector<int32_t>(fields.size(), 1));
    step({0});
    CHECK(get<int32_t>("land.stale") == std::vector<int32_t>(fields.size(), 0));
    CHECK((*this)->faults().tables.empty());  // nothing was dropped
  }

 private:
  static Config config(const char* way, int64_t worlds) {
    Config config;
    config.worlds = worlds;
    config.parameters = {{"way", std::string(way)},
                         {"agent_count", int64_t{kEyes}},
                         {"resolution", std::string("27x48")},
                         {"observation", std::string("rgb+depth+segmentation")}};
    return config;
  }
};

/// Eyes outside of hills: on a top, between hills, above all of them, and far away.
std::vector<Look> looks_at(const Field& field, Source& source) {
  std::vector<Look> looks;
  for (int k = 0; k < kEyes; ++k) {
    const float away = k < 3 ? 0.0f : 30.0f;
    Look look = {source.within(-away, float(kSide) + away),
                 source.within(-away, float(kSide) + away), 0, source.within(-3.1f, 3.1f),
                 source.within(-0.6f, 0.4f)};
    if (k == 1) look.x = float(int(look.x)), look.y = float(int(look.y));  // where columns meet
    // Corners belong to four columns.
    int ground = 0;
    for (const int i : {-1, 0})
      for (const int j : {-1, 0})
        ground = std::max(ground, height_in(field, int(look.x + 0.5f) + i, int(look.y + 0.5f) + j));
    ground = std::max(ground, height_in(field, int(look.x), int(look.y)));
    look.z = voxel::kGround + float(ground) + (k == 2 ? 9.5f : 0.865f);
    if (k == 1) look.yaw = 1.5707964f * float(int(look.yaw)), look.pitch = 0;  // along columns
    if (k >= 2) look.pitch -= 0.4f;
    looks.push_back(look);
  }
  return looks;
}

std::vector<Field> odd_fields(Source& source) {
  const auto spike = [](int x, int y) { return x == 20 && y == 20 ? 20 : 0; };
  const auto border = [](int x, int y) {
    return x == 0 || y == 0 || x == kSide - 1 || y == kSide - 1 ? 5 : 0;
  };
  std::vector<Field> fields = {
      field_of([](int, int) { return 0; }),
      field_of([](int, int) { return 4; }),
      field_of([](int x, int y) { return (x + y) % 2 * 8; }),
      field_of([](int x, int y) { return 1 + (x + y) % 2; }),
      field_of(spike),
      field_of(border),
      field_of([](int x, int y) { return x >= 37 && y >= 37 ? 20 : 0; }),
      field_of([](int x, int y) { return std::min(7, std::min(x, kSide - 1 - x) * y / 40); }),
      field_of([](int x, int y) { return (x ^ y) & 7 ? 0 : 3; })};
  for (const int highest : {1, 3, 12})
    for (const int width : {1, 2, 5}) {
      const Field rough = field_of([&](int, int) {
        return source.within(0, 1) < 0.3f ? int(source.within(0, float(highest) + 0.99f)) : 0;
      });
      fields.push_back(field_of(
          [&](int x, int y) { return height_in(rough, x / width * width, y / width * width); }));
    }
  return fields;
}

std::vector<Field> smooth_fields(int count, Source& source) {
  std::vector<Field> fields;
  for (int k = 0; k < count; ++k) {
    Field field(size_t(kSide * kSide), 0);
    for (int hill = 0; hill < 12; ++hill) {
      const float x = source.within(0, kSide), y = source.within(0, kSide),
                  high = source.within(1, 9), slope = source.within(0.4f, 2);
      for (int i = 0; i < kSide; ++i)
        for (int j = 0; j < kSide; ++j) {
          const float dx = float(i) + 0.5f - x, dy = float(j) + 0.5f - y;
          const int top = int(high - slope * 0.25f * (dx * dx + dy * dy));
          uint8_t& height = field[size_t(i * kSide + j)];
          height = uint8_t(std::max(int(height), top));
        }
    }
    fields.push_back(field);
  }
  return fields;
}

std::vector<Field> all_fields(uint64_t seed) {
  Source source{seed};
  std::vector<Field> fields = odd_fields(source);
  for (const Field& field : smooth_fields(rounds(32), source)) fields.push_back(field);
  return fields;
}

template <class T>
size_t differences(const std::vector<T>& one, const std::vector<T>& other) {
  size_t count = one.size() == other.size() ? 0 : 1;
  for (size_t k = 0; k < std::min(one.size(), other.size()); ++k) count += one[k] != other[k];
  return count;
}

GE_TEST(hills_are_the_same_picture_as_boxes_columns_and_voxels) {
  for (const uint64_t seed : {1, 2}) {
    const std::vector<Field> fields = all_fields(seed);
    Source source{seed + 100};
    std::vector<Look> looks;
    for (const Field& field : fields)
      for (const Look& look : looks_at(field, source)) looks.push_back(look);
    const auto worlds = int64_t(fields.size());
    HillViews boxes("boxes", worlds), columns("columns", worlds), voxels("voxels", worlds);
    for (HillViews* way : {&boxes, &columns, &voxels}) way->look(fields, looks);
    const auto depths = boxes.out<float>(kDepth);
    const auto colours = boxes.out<uint8_t>(kObservation);
    for (HillViews* other : {&columns, &voxels}) {
      CHECK_EQ(differences(depths, other->out<float>(kDepth)), size_t{0});
      CHECK_EQ(differences(colours, other->out<uint8_t>(kObservation)), size_t{0});
    }
    // Segment 1 is the floor, others are boxes of hills.
    const auto segments = boxes.out<uint16_t>(kSegmentation);
    const auto of_hills = std::count_if(segments.begin(), segments.end(),
                                        [](uint16_t segment) { return segment > 1; });
    CHECK(size_t(of_hills) > segments.size() / 10);
  }
}

GE_TEST(boxes_of_hills_reach_every_top_and_rise_above_no_column) {
  for (const uint64_t seed : {1, 2, 3}) {
    const std::vector<Field> fields = all_fields(seed);
    HillViews views("boxes", int64_t(fields.size()));
    views.look(fields, std::vector<Look>(fields.size() * kEyes, {0, 0, 30, 0, 0}));
    const auto counts = views.get<int32_t>("land.hill_count");
    const auto lows = views.get<uint8_t>("hills.low"), highs = views.get<uint8_t>("hills.high"),
               heights = views.get<uint8_t>("hills.height");
    const size_t room = heights.size() / fields.size();
    for (size_t world = 0; world < fields.size(); ++world) {
      const Field& field = fields[world];
      Field drawn(field.size(), 0);
      int boxes_on_no_hill = 0;
      for (size_t k = world * room; k < world * room + size_t(counts[world]); ++k) {
        for (int x = lows[2 * k]; x < highs[2 * k]; ++x)
          for (int y = lows[2 * k + 1]; y < highs[2 * k + 1]; ++y) {
            uint8_t& top = drawn[size_t(x * kSide + y)];
            top = std::max(top, heights[k]);
          }
        boxes_on_no_hill += heights[k] == 0;
      }
      CHECK(drawn == field);
      CHECK_EQ(boxes_on_no_hill, 0);
      CHECK(counts[world] <= int(field.size() - size_t(std::count(field.begin(), field.end(), 0))));
    }
    CHECK_EQ(counts[0], 0);  // flat land
    CHECK_EQ(counts[1], 1);  // a plateau
    CHECK_EQ(counts[2], kSide * kSide / 2);
    CHECK_EQ(counts[4], 1);
    CHECK_EQ(counts[5], 4);
  }
}

GE_TEST(voxels_are_all_cells_of_the_columns) {
  const std::vector<Field> fields = all_fields(4);
  HillViews views("voxels", int64_t(fields.size()));
  views.look(fields, std::vector<Look>(fields.size() * kEyes, {0, 0, 30, 0, 0}));
  const auto xs = views.get<uint8_t>("voxels.x"), ys = views.get<uint8_t>("voxels.y");
  const auto counts = views.get<uint32_t>("voxels.count");
  const size_t room = xs.size() / fields.size();
  for (size_t world = 0; world < fields.size(); ++world) {
    Field found(fields[world].size(), 0);
    for (size_t k = world * room; k < world * room + size_t(counts[world]); ++k)
      ++found[size_t(xs[k] * kSide + ys[k])];
    CHECK(found == fields[world]);
  }
}

GE_TEST(boxes_stay_as_they_are_until_columns_are_stale) {
  HillViews views("boxes", 1);
  const Field hills = field_of([](int x, int y) { return x == y ? 3 : 0; });
  views.look({hills}, std::vector<Look>(kEyes, {20, 10, 9, 0, 0}));
  CHECK_EQ(views.get<int32_t>("land.hill_count")[0], kSide);
  const std::string before = views.outputs();
  views.set("columns.height", std::vector<uint8_t>(size_t(kSide * kSide), 2));
  views.step({0});
  CHECK(views.outputs() == before);
  views.set("land.stale", std::vector<int32_t>{1}), views.step({0});
  CHECK_EQ(views.get<int32_t>("land.hill_count")[0], 1);
  CHECK(views.outputs() != before);
}

}  // namespace
}  // namespace ge::test
