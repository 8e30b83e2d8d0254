// Worlds of bodies laid out by hand, for tests of the solver: one world of Sandbox-v0, whose
// columns are read and written by row.
#pragma once

#include <cmath>

#include "envs/sandbox.hpp"
#include "simulation.hpp"

namespace ge::test {

namespace sandbox = gpu_envs::envs::sandbox;
namespace ph = ge::physics;
using sandbox::kCube;
using sandbox::kLong;
using sandbox::kPlaneKind;
using sandbox::kPlayer;
using sandbox::kRamp;
using sandbox::kRound;
using sandbox::kWall;

inline constexpr float kHalfTurn = 3.14159265f;

struct Options {
  Values parameters;
  int threads = 0;
};

class Yard : public Simulation {
 public:
  explicit Yard(Values parameters = {}) : Simulation("Sandbox-v0", config(parameters)) { reset(1); }

  /// Puts a body in the next free row and says which.
  int body(int kind, ph::Vec3 at, ph::Quat q = {1, 0, 0, 0}) {
    auto kinds = get<uint32_t>("bodies.kind"), states = get<uint32_t>("bodies.state");
    kinds[size_t(count_)] = uint32_t(kind), states[size_t(count_)] = ph::kPresent;
    set("bodies.kind", kinds), set("bodies.state", states);
    const int row = count_++;
    move(row, at, q);
    return row;
  }
  /// The same turned about z; its centre `z` above the floor.
  int upright(int kind, float x, float y, float z, float yaw = 0) {
    return body(kind, {x, y, z}, ph::yaw_quat(yaw));
  }
  void move(int row, ph::Vec3 at, ph::Quat q) {
    write("bodies.position", row, {at.x, at.y, at.z});
    write("bodies.orientation", row, {q.w, q.x, q.y, q.z});
  }
  void throw_body(int row, ph::Vec3 v, ph::Vec3 spin = {0, 0, 0}) {
    write("bodies.velocity", row, {v.x, v.y, v.z});
    write("bodies.spin", row, {spin.x, spin.y, spin.z});
  }
  void pull(int row, ph::Vec3 force, ph::Vec3 torque = {0, 0, 0}) {
    write("bodies.tow", row, {force.x, force.y, force.z});
    write("bodies.tow_torque", row, {torque.x, torque.y, torque.z});
  }
  void lock(int row, bool on = true) {
    auto states = get<uint32_t>("bodies.state");
    states[size_t(row)] = ph::kPresent | (on ? ph::kLocked : 0u);
    set("bodies.state", states);
    auto quiet = get<uint32_t>("bodies.quiet");
    quiet[size_t(row)] = 0;
    set("bodies.quiet", quiet);
  }
  void wall(float x, float y, float half_x, float half_y, float height) {
    box({x, y, height / 2}, {half_x, half_y, height / 2}, kWall);
  }
  void plane(ph::Vec3 at, ph::Vec3 normal) { box(at, normal, kPlaneKind); }
  void join(int row, uint32_t type, int a, int b, ph::Vec3 at) {
    const ph::Joint j = ph::joint_between(type, uint32_t(a), uint32_t(b), pose(a), pose(b), at);
    word("joints.type", row, j.type), word("joints.a", row, j.a), word("joints.b", row, j.b);
    write("joints.anchor_a", row, {j.anchor_a[0], j.anchor_a[1], j.anchor_a[2]});
    write("joints.anchor_b", row, {j.anchor_b[0], j.anchor_b[1], j.anchor_b[2]});
    write("joints.relative", row, {j.relative[0], j.relative[1], j.relative[2], j.relative[3]});
  }

  void run(int steps, int direction = 0) {
    for (int k = 0; k < steps; ++k) step({direction});
  }
  /// Steps with a push per player.
  void play(std::vector<int32_t> directions) {
    directions.resize(4, 0);
    step(directions);
  }

  ph::Pose pose(int row) const {
    const ph::Vec3 p = at(row);
    const auto q = read<4>("bodies.orientation", row);
    return {{p.x, p.y, p.z}, {q[0], q[1], q[2], q[3]}};
  }
  ph::Vec3 at(int row) const { return vector("bodies.position", row); }
  ph::Vec3 velocity(int row) const { return vector("bodies.velocity", row); }
  ph::Vec3 spin(int row) const { return vector("bodies.spin", row); }
  float speed(int row) const { return ph::length(velocity(row)); }
  ph::Quat turn(int row) const { return ph::quat(pose(row).orientation); }
  float yaw(int row) const {
    const ph::Quat q = turn(row);
    return std::atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z));
  }
  /// Angle between the body's z axis and the vertical.
  float tilt(int row) const {
    const float up = ph::matrix(turn(row)).z.z;
    return std::acos(up > 1 ? 1.0f : up < -1 ? -1.0f : up);
  }
  bool asleep(int row) const {
    return (get<uint32_t>("bodies.state")[size_t(row)] & ph::kAsleep) != 0;
  }
  int bodies() const { return count_; }

 private:
  static Config config(const Values& parameters) {
    Config config;
    config.autoreset = Autoreset::disabled;
    config.max_episode_steps = 0;
    config.threads = 1;
    config.parameters = parameters;
    return config;
  }
  void write(const char* column, int row, std::vector<float> values) {
    auto all = get<float>(column);
    std::copy(values.begin(), values.end(), all.begin() + long(row) * long(values.size()));
    set(column, all);
  }
  void word(const char* column, int row, uint32_t value) {
    auto all = get<uint32_t>(column);
    all[size_t(row)] = value;
    set(column, all);
  }
  void box(ph::Vec3 at, ph::Vec3 half, int kind) {
    write("statics.centre", statics_, {at.x, at.y, at.z});
    write("statics.half", statics_, {half.x, half.y, half.z});
    word("statics.kind", statics_, uint32_t(kind));
    set("statics.count", std::vector<uint32_t>{uint32_t(++statics_)});
  }
  template <int N>
  std::vector<float> read(const char* column, int row) const {
    const auto all = get<float>(column);
    return {all.begin() + long(row) * N, all.begin() + long(row + 1) * N};
  }
  ph::Vec3 vector(const char* column, int row) const {
    const auto v = read<3>(column, row);
    return {v[0], v[1], v[2]};
  }
  int count_ = 0, statics_ = 0;
};

}  // namespace ge::test
