// The same scenes as MuJoCo: tests/oracles/physics/mujoco.txt has them with how MuJoCo moved them
// (record.py beside it wrote it). Each runs with the usual substeps and with eight times as
// many, and then has to be eight times as near.
// environment: sandbox
// reads: tests/oracles/physics/mujoco.txt
#include <fstream>
#include <map>

#include "physics/near.hpp"
#include "physics/yard.hpp"

using namespace ge;
using namespace ge::test;
using ph::Vec3;

namespace {

struct Sample {
  int frame, body;
  ph::Pose pose;
  Vec3 velocity;
};
struct Placed {
  int kind;
  bool locked;
  ph::Pose pose;
  Vec3 velocity, spin;
};
struct Link {
  uint32_t type;
  int a, b;
  Vec3 at;
};
struct Scene {
  Values settings;
  std::vector<std::pair<Vec3, Vec3>> planes;  // a point and the normal
  std::vector<Placed> bodies;
  std::vector<Link> links;
  std::vector<Sample> samples;
};

Vec3 take_vector(std::istream& in) {
  Vec3 v;
  in >> v.x >> v.y >> v.z;
  return v;
}
ph::Pose take_pose(std::istream& in) {
  ph::Pose pose;
  for (float& x : pose.position) in >> x;
  for (float& x : pose.orientation) in >> x;
  return pose;
}

void read_line(Scene& scene, const std::string& word, std::istream& in) {
  if (word == "set") {
    std::string name;
    double value = 0;
    in >> name >> value;
    scene.settings[name] = value;
  } else if (word == "plane") {
    const Vec3 at = take_vector(in), normal = take_vector(in);
    scene.planes.push_back({at, normal});
  } else if (word == "body" || word == "locked") {
    std::string kind;
    in >> kind;
    Placed body{kind == "cube"   ? kCube
                : kind == "long" ? kLong
                                 : kRound,
                word == "locked",
                {},
                {},
                {}};
    body.pose = take_pose(in), body.velocity = take_vector(in), body.spin = take_vector(in);
    scene.bodies.push_back(body);
  } else if (word == "fixed" || word == "ball") {
    Link link{word == "fixed" ? ph::kFixedJoint : ph::kBallJoint, 0, 0, {}};
    in >> link.a >> link.b;
    link.at = take_vector(in);
    scene.links.push_back(link);
  } else if (word == "at") {
    Sample sample;
    in >> sample.frame >> sample.body;
    sample.pose = take_pose(in), sample.velocity = take_vector(in);
    scene.samples.push_back(sample);
  }
}

const std::map<std::string, Scene>& recording() {
  static std::map<std::string, Scene> scenes;
  if (!scenes.empty()) return scenes;
  std::ifstream file("tests/oracles/physics/mujoco.txt");
  std::string line, word, name;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    in >> word;
    if (word == "scene")
      in >> name;
    else if (word != "#")
      read_line(scenes[name], word, in);
    if (!in) throw Error(Fault::value, "mujoco.txt: cannot read: " + line);
  }
  return scenes;
}

Yard lay_out(const Scene& scene, int substeps) {
  Values settings = scene.settings;
  settings["substeps"] = int64_t{substeps};
  Yard yard(settings);
  for (const auto& [at, normal] : scene.planes) yard.plane(at, normal);
  for (const Placed& body : scene.bodies) {
    const int row =
        yard.body(body.kind, ph::vec(body.pose.position), ph::quat(body.pose.orientation));
    yard.throw_body(row, body.velocity, body.spin);
    if (body.locked) yard.lock(row);
  }
  for (size_t k = 0; k < scene.links.size(); ++k) {
    const Link& link = scene.links[k];
    yard.join(int(k), link.type, link.a, link.b, link.at);
  }
  return yard;
}

/// Angle between two orientations.
double angle_between(ph::Quat p, ph::Quat q) {
  const ph::Quat d = ph::conjugate(p) * q;
  return 2 * std::asin(std::min(1.0, std::sqrt(double(d.x * d.x + d.y * d.y + d.z * d.z))));
}

/// How far from MuJoCo a scene may be, with four substeps; all of it shrinks with the substep.
struct Allowed {
  // Semi-implicit Euler is ahead of an acceleration by acceleration * substep * time / 2.
  double acceleration = 0;          // [m/s^2]
  double angular_acceleration = 0;  // [rad/s^2]
  double give = 0;                  // of the springs in contacts [m]
  double start = 0;  // speed won before the first contacts have impulses to begin with [m/s]
};

constexpr double kEuler = 0.55;     // a half, and what the acceleration changes underway
constexpr double kDistance = 3e-4;  // MuJoCo's own springs, and floats near 50 m [m]
constexpr double kAngle = 1.5e-3;   // the same; and ours turns bodies in steps of 0.03 rad [rad]
constexpr double kStepsPerSecond = 30;

void compare(const std::string& name, const Allowed& allowed) {
  const auto found = recording().find(name);
  if (found == recording().end()) throw Error(Fault::value, "mujoco.txt has no scene " + name);
  const Scene& scene = found->second;
  CHECK(scene.samples.size() >= 6);
  for (const int substeps : {4, 32}) {
    Yard yard = lay_out(scene, substeps);
    const double finer = 4.0 / substeps;
    int frame = 0;
    for (const Sample& sample : scene.samples) {
      yard.run(sample.frame - frame);
      frame = sample.frame;
      const double time = frame / kStepsPerSecond;
      const double ahead = kEuler * time / kStepsPerSecond / substeps;
      const double distance =
          double(ph::length(yard.at(sample.body) - ph::vec(sample.pose.position)));
      const double angle = angle_between(yard.turn(sample.body), ph::quat(sample.pose.orientation));
      CHECK_BELOW(distance, ahead * allowed.acceleration +
                                finer * (allowed.give + allowed.start * time) + kDistance);
      CHECK_BELOW(angle, ahead * allowed.angular_acceleration + kAngle);
    }
  }
}

}  // namespace

GE_TEST(free_flight_is_mujocos) {
  compare("throw", {.acceleration = 9.8});
}
GE_TEST(tumbling_is_mujocos) {
  compare("tumble", {.acceleration = 9.8});
  compare("tumble_log", {.acceleration = 9.8});
}
GE_TEST(sliding_down_a_slope_is_mujocos) {
  compare("slide_0.1", {.acceleration = 3.3});
  compare("slide_0.3", {.acceleration = 1.5});
  compare("slide_0.45", {.acceleration = 0.2, .start = 0.008});
}
GE_TEST(holding_on_a_slope_is_mujocos) {
  compare("hold_0.5", {.give = 5e-4});
}
GE_TEST(balls_on_a_slope_are_mujocos) {
  compare("ball_rolls", {2.4, 2.4});
  compare("ball_slips", {4.5, 1.1});
}
GE_TEST(logs_on_a_slope_are_mujocos) {
  compare("log_rolls", {2.3, 4.6});
  compare("log_slides", {3.3, 0});
}
GE_TEST(bowled_ball_is_mujocos) {
  // It slips for 0.58 s at 1.96 m/s^2, and rolls on with what was ahead by then.
  compare("ball_is_bowled", {1.96, 4.9});
}
GE_TEST(cube_that_falls_off_its_edge_is_mujocos) {
  compare("cube_falls_off_its_edge", {3, 3});
}
GE_TEST(stacks_are_mujocos) {
  compare("stack", {.give = 0.003});
  compare("heavy_on_light", {.give = 0.012});  // twenty times the cube's mass
}
GE_TEST(pendulum_is_mujocos) {
  compare("pendulum", {3.5, 1});
}
GE_TEST(thrown_beam_is_mujocos) {
  compare("thrown_beam", {.acceleration = 9.8});
}
