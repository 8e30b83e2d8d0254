// Pictures of a mesh against rays in double precision at every triangle and solid: depths, parts
// and colours, away from the edges where rounding decides.
// environment: statue
#include <cmath>
#include <map>

#include "envs/statue.hpp"
#include "simulation.hpp"

namespace ge::test {
namespace {

namespace statue = gpu_envs::envs::statue;
using geometry::Vec3;

struct Double3 {
  double x, y, z;
};
Double3 wide(Vec3 v) {
  return {double(v.x), double(v.y), double(v.z)};
}
Double3 wide(const float* v) {
  return {double(v[0]), double(v[1]), double(v[2])};
}
Double3 minus(Double3 a, Double3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
Double3 cross(Double3 a, Double3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
double dot(Double3 a, Double3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// Where a ray meets a triangle (Moller and Trumbore 1997).
struct Met {
  double at = 1e30;        // along the ray
  double weights[3] = {};  // of the corners
  double margin = 0;       // the least of them
  double facing = 0;       // below 0: from outside
};
Met met(Double3 eye, Double3 ray, const statue::Triangle& t) {
  const Double3 ab = minus(wide(t.b), wide(t.a)), ac = minus(wide(t.c), wide(t.a));
  const Double3 p = cross(ray, ac), from = minus(eye, wide(t.a)), q = cross(from, ab);
  const double det = dot(ab, p);
  Met met;
  if (det == 0) return met;
  const double u = dot(from, p) / det, v = dot(ray, q) / det;
  met.weights[0] = 1 - u - v, met.weights[1] = u, met.weights[2] = v;
  met.margin = std::min({u, v, 1 - u - v});
  met.at = dot(ac, q) / det;
  met.facing = dot(ray, cross(ab, ac));
  return met;
}

class Statue : public Simulation {
 public:
  Statue(const Values& parameters, int64_t worlds)
      : Simulation("Statue-v0", config(parameters, worlds)) {
    set_fields(&settings_, field_infos<statue::Settings>(true), parameters, "parameter");
    picture_ = cameras::picture_of(settings_);
    made_ = statue::made(settings_.detail);
  }
  /// Compares every pixel of every visitor; returns how many show the mesh.
  int64_t check();
  int64_t seen_part(int part) { return parts_[part]; }

 private:
  static Config config(const Values& parameters, int64_t worlds) {
    Config made;
    made.worlds = worlds;
    made.parameters = parameters;
    return made;
  }
  int64_t check(int64_t row, const cameras::Eye& eye);

  statue::Settings settings_;
  cameras::Picture picture_{};
  statue::Made made_;
  std::map<int, int64_t> parts_;
};

int64_t Statue::check() {
  const auto at = get<float>("visitors.at"), yaw = get<float>("visitors.yaw"),
             pitch = get<float>("visitors.pitch");
  const auto worlds = size_t((*this)->worlds()), agents = size_t((*this)->agents());
  const size_t each = yaw.size() / worlds;
  int64_t seen = 0;
  for (size_t world = 0; world < worlds; ++world)
    for (size_t me = 0; me < agents; ++me) {
      const size_t k = world * each + me;
      const Vec3 place = {at[3 * k], at[3 * k + 1], at[3 * k + 2]};
      seen += check(int64_t(world * agents + me), cameras::eye_at(place, yaw[k], pitch[k]));
    }
  return seen;
}

int64_t Statue::check(int64_t row, const cameras::Eye& eye) {
  const ImageForm& form = picture_.form;
  const auto colours = out<uint8_t>(kObservation);
  const auto depths = out<float>(kDepth);
  const auto segments = out<uint16_t>(kSegmentation);
  const int first = settings_.boxes + settings_.visitors;
  const double slope = double(picture_.slope);
  int64_t seen = 0;
  for (int y = 0; y < form.rows; ++y)
    for (int x = 0; x < form.columns; ++x) {
      const int64_t pixel = int64_t{y} * form.columns + x;
      const auto at = size_t(row * form.pixels() + pixel);
      // Nothing is beyond the room: it is closed.
      if (!settings_.two_sided) CHECK(segments[at] > 0 && depths[at] > 0);
      if (segments[at] <= first) continue;  // a solid, which other tests are about
      const double right = double(2 * x + 1 - form.columns) * slope,
                   up = double(form.rows - 2 * y - 1) * slope;
      const Double3 f = wide(eye.forward), r = wide(eye.right), u = wide(eye.up);
      const Double3 ray = {f.x + right * r.x + up * u.x, f.y + right * r.y + up * u.y,
                           f.z + right * r.z + up * u.z};
      Met best;
      const statue::Skin* skin = nullptr;
      double edge = 1;  // how near to an edge any triangle in front is met
      for (size_t k = 0; k < made_.triangles.size(); ++k) {
        const Met one = met(wide(eye.at), ray, made_.triangles[k]);
        if (one.at < 1e-3 || one.at >= 1e30 || (!settings_.two_sided && one.facing > 0)) continue;
        if (one.at < best.at + 1e-3) edge = std::min(edge, std::abs(one.margin));
        if (one.margin >= 0 && one.at < best.at) best = one, skin = &made_.skins[k];
      }
      ++seen;
      if (edge < 1e-4 || skin == nullptr) continue;
      ++parts_[skin->part];
      CHECK(std::abs(double(depths[at]) - best.at) < 1e-5 * (1 + best.at));
      CHECK_EQ(int(segments[at]), first + 1 + skin->part);
      for (int c = 0; c < 3; ++c) {
        double meant = 0;
        for (int corner = 0; corner < 3; ++corner)
          meant += best.weights[corner] * double(skin->colour[corner] >> (16 - 8 * c) & 255u);
        const size_t byte = size_t(row * 3 * form.pixels() + c * form.pixels() + pixel);
        CHECK(std::abs(double(colours[byte]) - meant) < 1.0);
      }
    }
  return seen;
}

Values layers(int64_t detail, bool two_sided) {
  return {{"observation", std::string("rgb+depth+segmentation")},
          {"resolution", std::string("21x35")},
          {"visitors", int64_t{2}},
          {"detail", detail},
          {"two_sided", two_sided}};
}

GE_TEST(a_mesh_is_seen_where_double_precision_sees_it) {
  for (const int64_t detail : {0, 2, 4})
    for (const bool two_sided : {false, true}) {
      Statue rooms(layers(detail, two_sided), 12);
      rooms.reset(uint64_t(detail) + 3);
      int64_t seen = rooms.check();
      for (int step = 0; step < 3; ++step) {
        rooms.step_random(5, uint64_t(step));
        seen += rooms.check();
      }
      CHECK(seen > 40000);
      for (int part = 0; part < 3; ++part) CHECK(rooms.seen_part(part) > 300);
    }
}
// A wall in front of a box hides it, and a box in front of a wall is seen: both are met.
GE_TEST(solids_and_a_mesh_hide_each_other) {
  Statue rooms(layers(3, false), 8);
  rooms.reset(9);
  std::vector<int64_t> counts(16);
  for (const uint16_t segment : rooms.out<uint16_t>(kSegmentation)) ++counts[segment];
  for (const int solid : {1, 2, 3}) CHECK(counts[size_t(solid)] > 0);
  for (const int part : {6, 7, 8}) CHECK(counts[size_t(part)] > 0);
}

}  // namespace
}  // namespace ge::test
