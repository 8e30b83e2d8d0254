// Statue: a test-only environment of triangle meshes. In a closed room with a cube stands a bumpy
// stone, both one mesh; visitors look at it, at some boxes and at each other.
//
//   room      12 triangles, turned inwards, part 0
//   cube      12 triangles, turned outwards, part 1
//   stone     8 * 4^detail triangles, part 2
#pragma once

#include <vector>

#include "cameras/draw.hpp"
#include "engine/environment.hpp"
#include "geometry/mesh_tree.hpp"

namespace gpu_envs::envs::statue {

using namespace ge;
using geometry::TreeNode;
using geometry::Triangle;
using geometry::Vec3;

inline constexpr int kMostVisitors = 2, kMostBoxes = 6;

struct Settings : cameras::Settings {
  int32_t visitors = 1;
  int32_t boxes = 3;
  int32_t detail = 2;
  bool two_sided = false;

  static constexpr auto describe() {
    return std::tuple_cat(
        fields(field("visitors", &Settings::visitors, "in a world").within(1, kMostVisitors),
               field("boxes", &Settings::boxes, "in a world").within(0, kMostBoxes),
               field("detail", &Settings::detail, "of the stone").within(0, 9),
               field("two_sided", &Settings::two_sided, "triangles are seen from both sides")),
        cameras::picture_fields<Settings>());
  }
};
struct Params {
  int32_t visitors = 1, boxes = 3, detail = 2, two_sided = 0;
  cameras::Picture picture{};
};
inline Params resolve(Settings& s) {
  return {s.visitors, s.boxes, s.detail, s.two_sided ? 1 : 0, cameras::picture_of(s)};
}

// ---- the mesh

/// How a triangle looks.
struct Skin {
  uint32_t colour[3];
  int32_t part;
  static constexpr auto describe() {
    return fields(field("colour", &Skin::colour, "of each corner").any_value(),
                  field("part", &Skin::part, "0 the room, 1 the cube, 2 the stone").within(0, 2));
  }
};
struct Made {
  std::vector<Triangle> triangles;
  std::vector<Skin> skins;

  void add(Vec3 a, Vec3 b, Vec3 c, int part) {
    Triangle t{};
    geometry::put(t.a, a), geometry::put(t.b, b), geometry::put(t.c, c);
    triangles.push_back(t);
    const auto shade = [](Vec3 at) {
      const auto level = [](float x) { return uint32_t(128.0f + 20.0f * x) & 255u; };
      return level(at.x) << 16 | level(at.y) << 8 | level(at.z);
    };
    skins.push_back({{shade(a), shade(b), shade(c)}, part});
  }
  /// A box of 12 triangles, seen from outside, or from within if `is_turned`.
  void box(Vec3 at, Vec3 half, bool is_turned, int part) {
    for (int axis = 0; axis < 3; ++axis)
      for (int side = -1; side <= 1; side += 2) {
        const auto corner = [&](int u, int v) {
          float p[3];
          p[axis] = float(side), p[(axis + 1) % 3] = float(u), p[(axis + 2) % 3] = float(v);
          return at + Vec3{p[0] * half.x, p[1] * half.y, p[2] * half.z};
        };
        const Vec3 a = corner(-1, -1), b = corner(1, -1), c = corner(1, 1), d = corner(-1, 1);
        if ((side > 0) != is_turned)
          add(a, b, c, part), add(a, c, d, part);
        else
          add(a, c, b, part), add(a, d, c, part);
      }
  }
  /// An octahedron, each of whose faces becomes four, `levels` times; corners go in and out.
  void stone(Vec3 at, int levels, int part) {
    for (int k = 0; k < 8; ++k) {
      const Vec3 x = {(k & 1) != 0 ? 1.0f : -1.0f, 0, 0}, y = {0, (k & 2) != 0 ? 1.0f : -1.0f, 0},
                 z = {0, 0, (k & 4) != 0 ? 1.0f : -1.0f};
      const bool is_turned = x.x * y.y * z.z < 0.0f;
      divide(at, x, is_turned ? z : y, is_turned ? y : z, levels, part);
    }
  }
  void divide(Vec3 at, Vec3 a, Vec3 b, Vec3 c, int levels, int part) {
    if (levels == 0) {
      const auto out = [&](Vec3 p) {
        const float bumps = 8.0f * (p.x * p.y * p.y - p.z * p.x * p.y);
        return at + geometry::normalized(p) * (1.0f + 0.1f * bumps);
      };
      return add(out(a), out(b), out(c), part);
    }
    const Vec3 ab = (a + b) * 0.5f, bc = (b + c) * 0.5f, ca = (c + a) * 0.5f;
    divide(at, a, ab, ca, levels - 1, part), divide(at, ab, b, bc, levels - 1, part);
    divide(at, ca, bc, c, levels - 1, part), divide(at, ab, bc, ca, levels - 1, part);
  }
};
inline Made made(int detail) {
  Made all;
  all.box({0, 0, 0}, {5, 4, 3}, true, 0);
  all.box({2.5f, 1.5f, -2.2f}, {0.7f, 0.6f, 0.8f}, false, 1);
  all.stone({-0.5f, 0, 0}, detail, 2);
  return all;
}

struct Assets {
  Asset<TreeNode> nodes;
  Asset<Triangle> triangles;
  Asset<Skin> skins;
};

// ---- tables

struct Look {
  int32_t way;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("way", &Look::way, "0 left, 1 right, 2 up, 3 down, 4 ahead").one_of(5));
  }
};
struct Pose {
  float at[3], yaw, pitch;
  static constexpr auto describe() {
    return fields(field("at", &Pose::at, "of the eye").in("m"),
                  field("yaw", &Pose::yaw, "to the left").in("rad"),
                  field("pitch", &Pose::pitch, "upwards").in("rad"));
  }
};
struct Visitors : Agents<kMostVisitors, Look, Pose> {
  static constexpr const char* name = "visitors";
  static GE_FN constexpr int count(const Params& p) { return p.visitors; }
};
struct Solids : List<kMostBoxes + kMostVisitors, cameras::Solid> {
  static constexpr const char* name = "solids";
  static constexpr bool scratch = true;
};
struct Schema {
  using Settings = statue::Settings;
  using Params = statue::Params;
  using Action = Look;
  using Agent = Visitors;
  using Assets = statue::Assets;
  using tables = Types<Visitors, Solids>;
  static constexpr Tuning tuning{
      .cpu_block = 1, .cuda_block = 1, .rare_resets = true, .flat = true};
  static Params resolve(Settings& settings) { return statue::resolve(settings); }
  static Assets make_assets(const Params& p, AssetMaker& make) {
    const Made all = made(p.detail);
    const geometry::Tree tree = geometry::make_tree(all.triangles);
    const auto nodes = make.array<TreeNode>("nodes", int64_t(tree.nodes.size()));
    const auto triangles = make.array<Triangle>("triangles", int64_t(tree.order.size()));
    const auto skins = make.array<Skin>("skins", int64_t(tree.order.size()));
    std::copy(tree.nodes.begin(), tree.nodes.end(), nodes.begin());
    for (size_t k = 0; k < tree.order.size(); ++k) {
      triangles[k] = all.triangles[size_t(tree.order[k])];
      skins[k] = all.skins[size_t(tree.order[k])];
    }
    return {nodes, triangles, skins};
  }
};
using W = World<Schema>;

GE_FN void enter(const W& w, Slot visitor, Pose& pose) {
  const Draw d = draw<"visitor">(w, visitor.row);
  const float side = d.below(0, 2) == 0 ? -1.0f : 1.0f;
  pose = {{6.0f * (d.uniform(1) - 0.5f), side * (1.8f + 2.0f * d.uniform(2)),
           2.0f * (d.uniform(3) - 0.5f)},
          -side * 1.57f,
          0.0f};
}
GE_FN void turn(const W&, Pose& pose, const Look& look) {
  pose.yaw += (look.way == 0 ? 0.3f : 0.0f) - (look.way == 1 ? 0.3f : 0.0f);
  const float pitch = pose.pitch + (look.way == 2 ? 0.2f : 0.0f) - (look.way == 3 ? 0.2f : 0.0f);
  pose.pitch = max(-1.4f, min(pitch, 1.4f));
  const cameras::Eye eye = cameras::eye_at(geometry::vec(pose.at), pose.yaw, pose.pitch);
  const Vec3 at = eye.at + eye.forward * (look.way == 4 ? 0.2f : 0.0f);
  const Vec3 inner = {max(-4.8f, min(at.x, 4.8f)), max(-3.8f, min(at.y, 3.8f)),
                      max(-2.8f, min(at.z, 2.8f))};
  geometry::put(pose.at, inner);
}
GE_FN int solid_count(const W& w) {
  return w.params().boxes + w.params().visitors;
}
GE_FN void make_solid(const W& w, int row, cameras::Solid& solid) {
  if (row < w.params().boxes) {
    const float at = float(row);
    solid = cameras::solid(geometry::kBox, {0.2f, 0.3f, 0.25f},
                           {3.0f - at, 2.0f * (0.5f * at - 1.0f), 0.4f * at - 0.5f}, 0x3366ccu,
                           geometry::yaw_quat(0.4f * at), -1);
    return;
  }
  const int visitor = row - w.params().boxes;
  const Pose pose = get<Visitors, Pose>(w, visitor);
  solid = cameras::solid(geometry::kPill, {0.2f, 0.2f, 0.3f}, geometry::vec(pose.at), 0x2eb5d0u,
                         cameras::upright(), visitor);
}
struct View {
  using Solids = statue::Solids;
  static GE_FN cameras::Eye eye(const W& w, Slot me) {
    const Pose pose = get<Visitors, Pose>(w, me.row);
    return cameras::eye_at(geometry::vec(pose.at), pose.yaw, pose.pitch);
  }
  static GE_FN geometry::Mesh mesh(const W& w) {
    return {w.assets().nodes.at, w.assets().triangles.at, w.params().two_sided != 0};
  }
  static GE_FN cameras::Paint paint(const W& w, int k) {
    const Skin skin = w.assets().skins[k];
    return {skin.colour[0], skin.colour[1], skin.colour[2], skin.part};
  }
};
struct Observation : Image {
  static GE_FN const ImageForm& form(const Params& p) { return p.picture.form; }
};

struct Environment {
  using Schema = statue::Schema;
  using Observation = statue::Observation;
  using Reset = Stages<Each<&enter>>;
  using Step = Stages<Each<&turn>>;
  using Observe =
      Stages<For<&solid_count, &make_solid, Solids>, ge::Observe<&cameras::draw<View, W>>>;
  static constexpr Card card{
      .doc = "A test: pictures of a mesh.", .max_episode_steps = 12, .agents = "visitors"};
};
using Builds = ge::Builds<Build<"Statue-v0", Environment>>;

}  // namespace gpu_envs::envs::statue
