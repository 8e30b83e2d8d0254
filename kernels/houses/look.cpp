// See look.hpp.
#include "houses/look.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace ge::houses {

namespace {

using namespace geometry;
using ge::abs;  // not hidden by those of vectors
using ge::spread;

constexpr float kFinest = 0.75f;                        // of patches of floors and walls [m]
constexpr float kWindowLow = 0.9f, kWindowHigh = 2.1f;  // [m]
constexpr float kWindows = 0.4f;                        // share of outer walls with one
constexpr uint32_t kSky = 0xe4f0ff;

constexpr uint32_t kWallColours[] = {0xe8e2d4, 0xd9e0e6, 0xe6d5c9, 0xd5e2d2, 0xe9dfb8,
                                     0xd8cfe2, 0xc9d8d8, 0xeae6e0, 0xe2c9c0, 0xc7d0c0};
constexpr uint32_t kWoodFloors[] = {0x9a7148, 0xb58a5c, 0x7d5a3c, 0xa68a6a};
constexpr uint32_t kTileFloors[] = {0xb9b6ae, 0x9fa8a8, 0xcbc4b4, 0x8f8c88};

/// A quadrilateral, counter-clockwise as it is seen.
struct Quad {
  std::array<Vec3, 4> at;
  uint32_t colour;
  int32_t part;
  bool glows;
  cameras::Pattern pattern;
};

class Mason {
 public:
  Mason(const Plan& plan, const Shell& shell, std::span<const Piece> pieces, uint64_t seed)
      : plan_(plan), shell_(shell), dice_(seed, Name("look").hash()) {
    for (int room = 0; room < plan.room_count(); ++room) {
      const RoomKind kind = plan.kinds[size_t(room)];
      const bool tiles = kind == kBathroom || kind == kKitchen;
      const uint32_t floor = tiles ? kTileFloors[dice_.below(4)] : kWoodFloors[dice_.below(4)];
      const bool soft = kind == kBedroom && dice_.chance(0.5f);
      floors_.push_back({floor, tiles  ? cameras::kTiles
                                : soft ? cameras::kCarpet
                                       : cameras::kPlanks});
      const uint32_t wall = kWallColours[dice_.below(10)];
      const float drawn = dice_.within(0.0f, 1.0f);
      walls_.push_back({wall, kind == kBathroom ? cameras::kTiles
                              : drawn < 0.15f   ? cameras::kBricks
                              : drawn < 0.45f   ? cameras::kStripes
                                                : cameras::kPlain});
    }
    levels_ = {0.0f, 0.75f, 1.5f, 2.0625f, 2.25f, shell.ceiling};
    if (shell.ceiling > 3.0f) levels_.insert(levels_.end() - 1, 0.5f * (2.25f + shell.ceiling));
    build_shell();
    hang_windows();
    for (size_t k = 0; k < pieces.size(); ++k)
      for (const Part& part : pieces[k].parts) build(part, kFirstPiece + int32_t(k));
  }
  std::vector<Quad> quads;
  struct Lamp {
    Vec3 at, normal;
    float power;
  };
  std::vector<Lamp> lamps;  // windows and ceiling lamps

 private:
  /// What a room's floor or walls are made of.
  struct Material {
    uint32_t colour;
    cameras::Pattern pattern;
  };
  void add(Vec3 a, Vec3 b, Vec3 c, Vec3 d, uint32_t colour, int32_t part, bool glows = false,
           cameras::Pattern pattern = cameras::kPlain) {
    quads.push_back({{a, b, c, d}, colour, part, glows, pattern});
  }
  void add(Vec3 a, Vec3 b, Vec3 c, Vec3 d, const Material& material, int32_t part) {
    add(a, b, c, d, material.colour, part, false, material.pattern);
  }
  void build_shell() {
    for (int y = 0; y < shell_.rows(); ++y)
      for (int x = 0; x < shell_.columns(); ++x) {
        const Patch& here = shell_.at(x, y);
        if (here.room < 0) continue;
        const Rect r = shell_.rect(x, y);
        const float top = here.ceiling;
        const Material& floor = floors_[size_t(here.room)];
        add({r.low_x, r.low_y, 0}, {r.high_x, r.low_y, 0}, {r.high_x, r.high_y, 0},
            {r.low_x, r.high_y, 0}, floor, kFloorPart);
        add({r.low_x, r.low_y, top}, {r.low_x, r.high_y, top}, {r.high_x, r.high_y, top},
            {r.high_x, r.low_y, top}, 0xf2f0ea, kCeilingPart);
        wall_between(here, x + 1, y, {r.high_x, r.high_y}, {r.high_x, r.low_y});
        wall_between(here, x - 1, y, {r.low_x, r.low_y}, {r.low_x, r.high_y});
        wall_between(here, x, y + 1, {r.low_x, r.high_y}, {r.high_x, r.high_y});
        wall_between(here, x, y - 1, {r.high_x, r.low_y}, {r.low_x, r.low_y});
      }
  }
  struct Foot {
    float x, y;
  };
  /// The wall from foot `a` to `b`, as seen from a patch whose neighbour is (x, y).
  void wall_between(const Patch& here, int x, int y, Foot a, Foot b) {
    const bool inside = x >= 0 && x < shell_.columns() && y >= 0 && y < shell_.rows();
    const bool open = inside && shell_.at(x, y).room >= 0;
    const float from = open ? shell_.at(x, y).ceiling : 0.0f;
    for (size_t k = 0; k + 1 < levels_.size(); ++k) {
      const float low = levels_[k], high = levels_[k + 1];
      if (low < from || high > here.ceiling) continue;
      add({a.x, a.y, low}, {b.x, b.y, low}, {b.x, b.y, high}, {a.x, a.y, high},
          walls_[size_t(here.room)], kWallPart);
    }
  }

  /// Windows hang on outer walls, where a square of the plan has one.
  void hang_windows() {
    constexpr int kDx[4] = {1, 0, -1, 0}, kDy[4] = {0, 1, 0, -1};
    for (int y = 0; y < plan_.rows; ++y)
      for (int x = 0; x < plan_.columns; ++x) {
        const int room = plan_.room_at(x, y);
        if (room < 0) continue;
        for (int way = 0; way < 4; ++way) {
          if (plan_.room_at(x + kDx[way], y + kDy[way]) >= 0) continue;
          if (!dice_.chance(kWindows)) continue;
          hang(x, y, way);
        }
      }
    for (int room = 0; room < plan_.room_count(); ++room) light_room(room);
  }
  void hang(int x, int y, int way) {
    const float middle = ((way % 2 == 0 ? float(y) : float(x)) + 0.5f) * plan_.side;
    const float half = snapped(dice_.within(0.4f, 0.5f * plan_.side - 0.25f));
    const float line = (way % 2 == 0 ? float(x) : float(y)) * plan_.side;
    const float face = way < 2 ? line + plan_.side - kHalfWall : line + kHalfWall;
    const float sign = way < 2 ? -1.0f : 1.0f;  // of the normal
    const auto at = [&](float along, float out, float z) {
      const float across = face + sign * out;
      return way % 2 == 0 ? Vec3{across, along, z} : Vec3{along, across, z};
    };
    const float low = kWindowLow, high = min(kWindowHigh, shell_.ceiling - 0.2f);
    const auto panel = [&](float a0, float a1, float z0, float z1, float out, uint32_t colour,
                           bool glows) {
      const Vec3 p = at(a0, out, z0), q = at(a1, out, z0), r = at(a1, out, z1), s = at(a0, out, z1);
      // Counter-clockwise from the room.
      if ((way == 0) | (way == 3))
        add(q, p, s, r, colour, kWindowPart, glows);
      else
        add(p, q, r, s, colour, kWindowPart, glows);
    };
    constexpr float kFrame = 0.05f;
    panel(middle - half, middle + half, low, high, 0.012f, 0xf4f4f0, false);
    const float mid = middle, cross = 0.5f * (low + high);
    for (const float side : {-1.0f, 1.0f})
      for (const float up : {-1.0f, 1.0f}) {
        const float a = mid + side * 0.5f * kFrame, b = mid + side * (half - kFrame);
        const float c = cross + up * 0.5f * kFrame, d = cross + up * (0.5f * (high - low) - kFrame);
        panel(min(a, b), max(a, b), min(c, d), max(c, d), 0.016f, kSky, true);
      }
    const Vec3 inward = way % 2 == 0 ? Vec3{sign, 0, 0} : Vec3{0, sign, 0};
    lamps.push_back({at(middle, 0.1f, cross), inward, 1.1f * half * (high - low)});
  }
  void light_room(int room) {
    float sum_x = 0.0f, sum_y = 0.0f;
    int count = 0;
    for (int y = 0; y < plan_.rows; ++y)
      for (int x = 0; x < plan_.columns; ++x)
        if (plan_.room_at(x, y) == room)
          sum_x += float(x) + 0.5f, sum_y += float(y) + 0.5f, ++count;
    // At the square nearest to the middle.
    const float mean_x = sum_x / float(count), mean_y = sum_y / float(count);
    float best = 1e9f, at_x = 0.0f, at_y = 0.0f;
    for (int y = 0; y < plan_.rows; ++y)
      for (int x = 0; x < plan_.columns; ++x) {
        const float dx = float(x) + 0.5f - mean_x, dy = float(y) + 0.5f - mean_y;
        if (plan_.room_at(x, y) != room || !(dx * dx + dy * dy < best)) continue;
        best = dx * dx + dy * dy, at_x = float(x) + 0.5f, at_y = float(y) + 0.5f;
      }
    const float x = at_x * plan_.side, y = at_y * plan_.side, z = shell_.ceiling;
    build({kRoundPart, {x - 0.2f, y - 0.2f, z - 0.12f}, {x + 0.2f, y + 0.2f, z}, 0xfffbe8},
          kWindowPart, true);
    lamps.push_back({{x, y, z - 0.3f}, {0, 0, -1}, dice_.within(0.5f, 1.6f)});
  }

  void build(const Part& part, int32_t number, bool glows = false) {
    const float x0 = part.low[0], y0 = part.low[1], z0 = part.low[2];
    const float x1 = part.high[0], y1 = part.high[1], z1 = part.high[2];
    const auto face = [&](Vec3 a, Vec3 b, Vec3 c, Vec3 d) {
      add(a, b, c, d, part.colour, number, glows);
    };
    if (part.shape == kBoxPart) {
      face({x0, y0, z1}, {x1, y0, z1}, {x1, y1, z1}, {x0, y1, z1});
      if (z0 > 0.0f) face({x0, y0, z0}, {x0, y1, z0}, {x1, y1, z0}, {x1, y0, z0});
      face({x0, y0, z0}, {x1, y0, z0}, {x1, y0, z1}, {x0, y0, z1});
      face({x1, y0, z0}, {x1, y1, z0}, {x1, y1, z1}, {x1, y0, z1});
      face({x1, y1, z0}, {x0, y1, z0}, {x0, y1, z1}, {x1, y1, z1});
      face({x0, y1, z0}, {x0, y0, z0}, {x0, y0, z1}, {x0, y1, z1});
      return;
    }
    constexpr float kC = 0.9238795f, kS = 0.3826834f;  // of pi / 8
    constexpr float kX[8] = {kC, kS, -kS, -kC, -kC, -kS, kS, kC};
    constexpr float kY[8] = {kS, kC, kC, kS, -kS, -kC, -kC, -kS};
    const float mx = 0.5f * (x0 + x1), my = 0.5f * (y0 + y1), rx = 0.5f * (x1 - x0),
                ry = 0.5f * (y1 - y0);
    const auto at = [&](int k, float z) {
      return Vec3{mx + rx * kX[k % 8], my + ry * kY[k % 8], z};
    };
    for (int k = 0; k < 8; ++k) face(at(k, z0), at(k + 1, z0), at(k + 1, z1), at(k, z1));
    for (const int k : {1, 3, 5}) face(at(0, z1), at(k, z1), at(k + 1, z1), at(k + 2, z1));
    if (z0 > 0.0f)
      for (const int k : {1, 3, 5}) face(at(0, z0), at(k + 2, z0), at(k + 1, z0), at(k, z0));
  }

  const Plan& plan_;
  const Shell& shell_;
  Dice dice_;
  std::vector<Material> floors_, walls_;  // by room
  std::vector<float> levels_;
};

// ---- light

/// Points of a disc, which lifted to the half sphere above it lie as its light falls: on rings.
constexpr int kRays = 32;
struct Ray {
  float x, y;  // slopes against the normal
  float length;
};
std::array<Ray, kRays> make_rays() {
  std::array<Ray, kRays> rays{};
  // The golden angle, turned step by step: no libm.
  constexpr float kCos = -0.73736888f, kSin = 0.67549029f;
  float x = 1.0f, y = 0.0f;
  for (int k = 0; k < kRays; ++k) {
    const float square = (float(k) + 0.5f) / float(kRays), radius = sqrt(square);
    const float up = sqrt(1.0f - square);
    rays[size_t(k)] = {x * radius / up, y * radius / up, 1.0f / up};
    const float turned = x * kCos - y * kSin;
    y = x * kSin + y * kCos;
    x = turned;
  }
  return rays;
}

class Painter {
 public:
  Painter(const Mesh& mesh, std::span<const Mason::Lamp> lamps)
      : mesh_(mesh), lamps_(lamps), rays_(make_rays()) {}

  /// How bright a point is, with what normal it has.
  Vec3 light(Vec3 at, Vec3 normal) const {
    const Tangents sides = tangents(normal);
    const Vec3 right = sides.first, up = cross(normal, sides.first) * -1.0f;
    constexpr float kReach = 2.5f;  // of the shade of things nearby [m]
    float sum = 0.0f;
    for (int first = 0; first < kRays; first += kPack) {
      Floats x{}, y{};
      for (int k = 0; k < kPack; ++k)
        set_lane(x, k, rays_[size_t(first + k)].x), set_lane(y, k, rays_[size_t(first + k)].y);
      const MeshHits hits = cast(at, right, up, normal, x, y, kReach);
      for (int k = 0; k < kPack; ++k)
        sum += min(1.0f, lane(hits.distance, k) * rays_[size_t(first + k)].length / kReach);
    }
    const float open = sum / float(kRays);
    Vec3 total = Vec3{0.5f, 0.5f, 0.52f} * (0.3f + 0.7f * open);
    for (size_t first = 0; first < lamps_.size(); first += kPack) {
      Floats x{}, y{};
      std::array<float, kPack> power{}, deep{};
      float deepest = 0.0f;
      for (size_t k = 0; k < size_t(kPack) && first + k < lamps_.size(); ++k) {
        const Mason::Lamp& lamp = lamps_[first + k];
        const Vec3 to = lamp.at - at;
        const float ahead = dot(to, normal), square = dot(to, to);
        const float away = -dot(to, lamp.normal);
        if (!(ahead > 0.02f) || square > 144.0f) continue;
        const float far = sqrt(square);
        const float facing =
            lamp.normal.z < 0.0f ? 0.6f + 0.4f * max(0.0f, away / far) : max(0.0f, away / far);
        power[k] = lamp.power * facing * (ahead / far) / (0.4f + square);
        if (!(power[k] > 1e-4f)) continue;
        deep[k] = ahead, deepest = max(deepest, ahead);
        set_lane(x, int(k), dot(to, right) / ahead), set_lane(y, int(k), dot(to, up) / ahead);
      }
      if (deepest == 0.0f) continue;
      const MeshHits hits = cast(at, right, up, normal, x, y, deepest);
      for (size_t k = 0; k < size_t(kPack) && first + k < lamps_.size(); ++k) {
        if (deep[k] == 0.0f || lane(hits.distance, int(k)) < deep[k] - 0.02f) continue;
        const bool is_window = lamps_[first + k].normal.z == 0.0f;
        total += (is_window ? Vec3{0.92f, 0.97f, 1.05f} : Vec3{1.05f, 0.98f, 0.86f}) * power[k];
      }
    }
    return total;
  }

 private:
  MeshHits cast(Vec3 at, Vec3 right, Vec3 up, Vec3 normal, const Floats& x, const Floats& y,
                float limit) const {
    const auto along = [&](float r, float u, float f) { return x * r + y * u + f; };
    const Vecs direction = {along(right.x, up.x, normal.x), along(right.y, up.y, normal.y),
                            along(right.z, up.z, normal.z)};
    MeshHits hits{spread(limit), spread(-1.0f)};
    hit_mesh(bundle_of(at, right, up, normal, x, y, inverses(direction)), mesh_, 0.0f, 0, hits);
    return hits;
  }
  const Mesh& mesh_;
  std::span<const Mason::Lamp> lamps_;
  std::array<Ray, kRays> rays_;
};

uint32_t lit(uint32_t colour, Vec3 light) {
  const auto channel = [](uint32_t byte, float by) {
    const float value = float(byte) * by;
    return uint32_t(value > 255.0f ? 255.0f : value + 0.5f);
  };
  return channel(colour >> 16 & 255, light.x) << 16 | channel(colour >> 8 & 255, light.y) << 8 |
         channel(colour & 255, light.z);
}

}  // namespace

std::vector<Rect> House::things() const {
  std::vector<Rect> all = walls_of(shell);
  for (const Piece& piece : pieces)
    if (piece.stands) all.push_back(piece.floor);
  return all;
}

House make_house(const Knobs& knobs, uint64_t seed) {
  House house;
  house.plan = make_plan(knobs, seed);
  house.shell = make_shell(house.plan, seed, kFinest);
  house.pieces = furnish(house.plan, house.shell, knobs, seed);
  Mason mason(house.plan, house.shell, house.pieces, seed);
  std::vector<Triangle> triangles;
  for (const Quad& quad : mason.quads) {
    const auto put_triangle = [&](int a, int b, int c) {
      Triangle t{};
      put(t.a, quad.at[size_t(a)]), put(t.b, quad.at[size_t(b)]), put(t.c, quad.at[size_t(c)]);
      triangles.push_back(t);
    };
    put_triangle(0, 1, 2), put_triangle(0, 2, 3);
  }
  Tree tree = make_tree(triangles);
  house.nodes = std::move(tree.nodes);
  for (const int32_t k : tree.order) house.triangles.push_back(triangles[size_t(k)]);

  const Mesh mesh{house.nodes.data(), house.triangles.data(), false};
  const Painter painter(mesh, mason.lamps);
  // Corners of quadrilaterals that lie together share their light.
  struct Corner4 {
    Vec3 at, normal;
    size_t quad;
    int corner;
  };
  std::vector<Corner4> corners;
  std::vector<std::array<uint32_t, 4>> colours(mason.quads.size());
  for (size_t q = 0; q < mason.quads.size(); ++q) {
    const Quad& quad = mason.quads[q];
    const Vec3 normal = normalized(cross(quad.at[1] - quad.at[0], quad.at[2] - quad.at[0]));
    for (int k = 0; k < 4; ++k) corners.push_back({quad.at[size_t(k)], normal, q, k});
  }
  const auto key = [](const Corner4& c) {
    return std::array{c.at.x, c.at.y, c.at.z, c.normal.x, c.normal.y, c.normal.z};
  };
  std::stable_sort(corners.begin(), corners.end(),
                   [&](const Corner4& a, const Corner4& b) { return key(a) < key(b); });
  Vec3 light{};
  for (size_t k = 0; k < corners.size(); ++k) {
    const Corner4& c = corners[k];
    const Quad& quad = mason.quads[c.quad];
    if (k == 0 || key(c) != key(corners[k - 1])) {
      // A little inwards and off the surface, where neighbours do not hide everything.
      const Vec3 middle = (quad.at[0] + quad.at[1] + quad.at[2] + quad.at[3]) * 0.25f;
      light = painter.light(c.at + (middle - c.at) * 0.04f + c.normal * 0.004f, c.normal);
    }
    colours[c.quad][size_t(c.corner)] = quad.glows ? quad.colour : lit(quad.colour, light);
  }
  for (const int32_t k : tree.order) {
    const size_t quad = size_t(k) / 2;
    const auto& own = colours[quad];
    const int second = k % 2 == 0 ? 1 : 2;
    const Quad& of = mason.quads[quad];
    house.skins.push_back({own[0], own[size_t(second)], own[size_t(second) + 1], uint16_t(of.part),
                           uint16_t(of.pattern)});
  }
  return house;
}

}  // namespace ge::houses
