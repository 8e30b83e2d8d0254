// What a painter leaves out, tile by tile, against pictures in which every ray meets everything.
#include "pictures/painter.hpp"

#include <vector>

#include "split_mix.hpp"
#include "test.hpp"

namespace ge::pictures {
namespace {

constexpr int kWidth = 160, kHeight = 96, kSamples = 4;
constexpr int kColumns = kWidth * kSamples, kRows = kHeight * kSamples;
static_assert(kColumns % kPack == 0);

/// Everything may shade and hide everything.
class Plain {
 public:
  Plain(const Scene& scene, const Camera& camera)
      : things_(prepared(scene)),
        camera_(camera),
        light_(light_of(camera, things_.low, things_.high)) {
    for (int k = 0; k < int(things_.bodies.size()); ++k) {
      const Body& body = things_.bodies[size_t(k)];
      all_.push_back(k);
      if (!body.is_endless) shading_.push_back(k);
      if (foot_of(body, light_).low_x < kFar) standing_.push_back(k);
    }
  }

  std::vector<uint8_t> picture() const {
    std::vector<float> samples[3];
    for (auto& each : samples) each.resize(size_t(kColumns * kRows));
    for (int row = 0; row < kRows; ++row)
      for (int column = 0; column < kColumns; column += kPack) {
        const Vecs colour = colour_of(row, column);
        store_pack(&samples[0][size_t(row * kColumns + column)], colour.x);
        store_pack(&samples[1][size_t(row * kColumns + column)], colour.y);
        store_pack(&samples[2][size_t(row * kColumns + column)], colour.z);
      }
    std::vector<uint8_t> bytes;
    const Display display;
    for (int row = 0; row < kHeight; ++row)
      for (int column = 0; column < kWidth; ++column)
        for (const auto& plane : samples) bytes.push_back(display(mean_of(plane, row, column)));
    return bytes;
  }

 private:
  static float jitter(int k) { return (2.0f * float(k % kSamples) + 1.0f) / kSamples - 1.0f; }

  static float mean_of(const std::vector<float>& plane, int row, int column) {
    float sum = 0;
    for (int k = 0; k < kSamples; ++k)
      for (int j = 0; j < kSamples; ++j)
        sum += plane[size_t((row * kSamples + k) * kColumns + column * kSamples + j)];
    return sum * (1.0f / (kSamples * kSamples));
  }

  Vecs colour_of(int row, int column) const {
    Floats x{}, side{};
    for (int k = 0; k < kPack; ++k) {
      set_lane(x, k, (2.0f * (float(column + k) + 0.5f) - float(kColumns)) / float(kRows));
      set_lane(side, k, jitter(column + k));
    }
    const float y = 1.0f - 2.0f * (float(row) + 0.5f) / float(kRows);
    const Rays rays = rays_of(camera_, x, spread(y));
    Hits hits{spread(kFar), spread(-1.0f)};
    for (const int k : all_) meet(things_.bodies[size_t(k)], k, rays, hits);
    const Mask hit = hits.body >= 0.0f;
    const Vecs p = rays.origin + rays.direction * select(hit, hits.depth, spread(0.0f));
    const Vecs sun = light_.sun + light_.side * (side * light_.softness) +
                     light_.rise * (spread(jitter(row)) * light_.softness);
    const Vecs white = spread(Vec3{1, 1, 1});
    Vecs colour = choose(hit, lit_colour(hits, p, sun), white);
    for (const Sector& sector : things_.sectors) {
      std::vector<int> parts;
      for (size_t k = 0; k < sector.parts.size(); ++k) parts.push_back(int(k));
      lay_over(sector, parts, rays, hits.depth, colour);
    }
    return colour;
  }

  Vecs lit_colour(const Hits& hits, const Vecs& p, const Vecs& sun) const {
    const float line = 2.0f * camera_.spread / float(kHeight) * 0.8f;
    const Floats pixel = camera_.is_flat ? spread(line) : hits.depth * line;
    Surface s{};
    for (const int k : all_) {
      const Mask here = hits.body == float(k);
      const Surface one = surface_of(things_.bodies[size_t(k)], p, pixel);
      s.normal = choose(here, one.normal, s.normal);
      s.colour = choose(here, one.colour, s.colour);
      s.line = select(here, one.line, s.line);
    }
    const Floats free = lit(things_.bodies, shading_, {p + s.normal * light_.lift, sun});
    return shaded(s, light_, p.z, sky(things_.bodies, standing_, p, hits), free);
  }

  const Prepared things_;
  const Camera camera_;
  const Light light_;
  Numbers all_, shading_, standing_;
};

/// A level ground and a crowd of things on it, above it and leaning, some of them tall.
Scene crowd(test::SplitMix& numbers) {
  const auto number = [&numbers](float low, float high) {
    return low + (high - low) * float(numbers.next() >> 40) / float(1 << 24);
  };
  Scene scene;
  scene.low[0] = scene.low[1] = -8, scene.high[0] = scene.high[1] = 8, scene.high[2] = 3;
  Solid ground;
  ground.half[0] = ground.half[1] = 30, ground.half[2] = 0.5f, ground.position[2] = -0.5f;
  scene.solids = {ground};
  constexpr int32_t kShapes[] = {Solid::kBox, Solid::kBox, Solid::kWedge, Solid::kSphere,
                                 Solid::kCapsule};
  for (int k = 0; k < 14; ++k) {
    Solid solid;
    solid.shape = kShapes[k % 5];
    solid.colour = palette::of_heading(float(k));
    for (float& half : solid.half) half = number(0.3f, 1.2f);
    if (k % 7 == 0) solid.half[2] = number(3, 9);
    for (int i = 0; i < 2; ++i) solid.position[i] = number(-7, 7);
    solid.position[2] = solid.half[2] + (k % 4 == 0 ? number(0, 2) : 0.0f);
    const float lean = k % 3 == 0 ? number(-0.15f, 0.15f) : 0.0f, yaw = number(-1, 1);
    const float w = ge::sqrt(1.0f - 0.25f * yaw * yaw - lean * lean);
    solid.orientation[0] = w, solid.orientation[1] = lean, solid.orientation[3] = 0.5f * yaw;
    scene.solids.push_back(solid);
  }
  for (int k = 0; k < 3; ++k) {
    Fan fan;
    fan.apex[0] = number(-7, 7), fan.apex[1] = number(-7, 7), fan.apex[2] = 0.05f;
    for (int i = 0; i < 24; ++i) fan.rim.push_back(number(-7, 7));
    scene.fans.push_back(fan);
  }
  return scene;
}

std::vector<uint8_t> drawn(const Scene& scene, const char* view) {
  std::vector<uint8_t> bytes(size_t(kWidth * kHeight * 3));
  draw(scene, {kWidth, kHeight, view, kSamples}, bytes.data());
  return bytes;
}

GE_TEST(what_tiles_leave_out_changes_no_byte) {
  test::SplitMix numbers{1};
  const float aspect = float(kWidth) / float(kHeight);
  for (int round = 0; round < test::rounds(8); ++round) {
    Scene scene = crowd(numbers);
    // From the edge, and from among things that reach behind the eye.
    scene.viewpoints = {{{0.5f, round % 2 == 0 ? -7.0f : 0.5f, 0.9f}, {0.2f, 1, -0.1f}}};
    const Vec3 low = vec(scene.low), high = vec(scene.high);
    const Viewpoint& eye = scene.viewpoints[0];
    CHECK(drawn(scene, "top") == Plain(scene, above(low, high, aspect)).picture());
    CHECK(drawn(scene, "perspective") ==
          Plain(scene, framed(low, high, vec(scene.look), aspect)).picture());
    CHECK(drawn(scene, "agent:0") ==
          Plain(scene, look_along(vec(eye.position), vec(eye.forward), {0, 0, 1}, 0.7f, false))
              .picture());
  }
}

}  // namespace
}  // namespace ge::pictures
