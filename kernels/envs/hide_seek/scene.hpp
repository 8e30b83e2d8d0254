// The picture of a world for people: walls, boxes and ramps with their locks, agents with their
// cones of sight, cut where the view ends, and their lidar. Host only.
#pragma once

#include "envs/hide_seek/sight.hpp"
#include "physics/queries.hpp"
#include "pictures/scene.hpp"

namespace gpu_envs::envs::hide_seek {

inline Rgb team_colour(const Params& p, int agent) {
  return is_hider(p, agent) ? palette::kBlue : palette::kRed;
}

inline void set_point(float (&to)[3], Vec3 at) {
  physics::put(to, at);
}

/// Pictures in a build with room for T.
template <class T>
struct Scenes {
  using W = World<Schema<T>>;
  using Bodies = typename Tables<T>::Bodies;
  using Joints = typename Tables<T>::Joints;
  using Statics = typename Tables<T>::Statics;

  /// From a point along a horizontal direction to the first surface, at most `range`.
  static float first_surface(const W& w, int agent, Vec3 from, Vec3 direction, float range) {
    return physics::first_hit<Model<T>>(w, {from, direction}, range, agent).distance;
  }

  static void add_walls(const W& w, Scene& scene) {
    for (int k = 0; k < row_count<Statics>(w); ++k) {
      const physics::Static wall = get<Statics, physics::Static>(w, k);
      if (wall.kind == kPlaneKind) continue;
      Solid solid;
      for (int i = 0; i < 3; ++i) solid.position[i] = wall.centre[i], solid.half[i] = wall.half[i];
      // A border far higher than the rest is drawn low, or it would hide the arena.
      const float top = wall.centre[2] + wall.half[2], bottom = wall.centre[2] - wall.half[2];
      const float shown = min(top, max(bottom, 1.5f * w.params().wall_height));
      solid.position[2] = 0.5f * (shown + bottom), solid.half[2] = 0.5f * (shown - bottom);
      for (int i = 0; i < 3; ++i) {
        scene.low[i] = min(scene.low[i], solid.position[i] - solid.half[i]);
        scene.high[i] = max(scene.high[i], solid.position[i] + solid.half[i]);
      }
      scene.solids.push_back(solid);
    }
  }

  static void add_body(const W& w, int row, Scene& scene) {
    const Params& p = w.params();
    const Body body = get<Bodies, Body>(w, row);
    const Pose pose = get<Bodies, Pose>(w, row);
    const physics::Kind& kind = shape_of(p, body);
    Solid solid;
    solid.shape = kind.shape;
    for (int i = 0; i < 3; ++i) solid.half[i] = kind.half[i], solid.position[i] = pose.position[i];
    for (int i = 0; i < 4; ++i) solid.orientation[i] = pose.orientation[i];
    if (row < p.agent_count) {
      // Rounder than it is for physics, so that nobody takes an agent for a box.
      const float size = kind.half[0];
      if (kind.shape == physics::kBox) {
        solid.shape = Solid::kCapsule;
        solid.half[0] = 0.8f * size, solid.half[1] = 0, solid.half[2] = 0.35f * size;
        solid.position[2] += 0.15f * size;
      }
      solid.colour = team_colour(p, row);
      solid.marks = Solid::kEyes;
    } else {
      solid.colour = body.kind == kRampKind   ? palette::kRamp
                     : body.kind == kLongKind ? palette::kLongBox
                                              : palette::kBox;
      if ((body.state & physics::kLocked) != 0) {
        const uint32_t team = get<Bodies, Owner>(w, row).team;
        solid.marks = Solid::kBanded | Solid::kPadlock;
        solid.second = team == kHiders    ? palette::kBlue
                       : team == kSeekers ? palette::kRed
                                          : palette::kDark;
      }
    }
    scene.solids.push_back(solid);
  }

  /// The part of the floor in an agent's cone, up to the first surface.
  static void add_cone(const W& w, int agent, Scene& scene) {
    const Params& p = w.params();
    constexpr int kRim = 96;
    const Pose pose = get<Bodies, Pose>(w, agent);
    const Vec3 from = physics::vec(pose.position), ahead = facing(pose);
    const float bound = cone_of(p, w.varied_in_place(), agent);
    const float half = atan2(sqrt(max(0.0f, 1.0f - bound * bound)), bound);
    const float range = 0.7f * p.arena_half;
    Fan fan;
    set_point(fan.apex, {from.x, from.y, 0.015f * agent_half(p)});
    fan.colour = team_colour(p, agent);
    fan.opacity = 0.45f;
    fan.fade = 0.6f * range;
    for (int k = 0; k <= kRim; ++k) {
      float sine, cosine;
      sincos(half * (2.0f * float(k) / float(kRim) - 1.0f), sine, cosine);
      const Vec3 along = {ahead.x * cosine - ahead.y * sine, ahead.y * cosine + ahead.x * sine, 0};
      const float reach = first_surface(w, agent, from, along, range);
      fan.rim.push_back(from.x + along.x * reach);
      fan.rim.push_back(from.y + along.y * reach);
    }
    scene.fans.push_back(fan);
  }

  static void add_rays(const W& w, int agent, Scene& scene) {
    const Params& p = w.params();
    const Pose pose = get<Bodies, Pose>(w, agent);
    const Vec3 from = physics::vec(pose.position);
    const Vec3 ahead = p.world_lidar != 0 ? Vec3{1, 0, 0} : facing(pose);
    const float range = w.varied_in_place().lidar_range;
    for (int ray = 0; ray < kRays; ++ray) {
      const float cosine = p.ray_cos[ray], sine = p.ray_sin[ray];
      const Vec3 along = {ahead.x * cosine - ahead.y * sine, ahead.y * cosine + ahead.x * sine, 0};
      const float reach = first_surface(w, agent, from, along, range);
      if (reach >= range) continue;
      Line line;
      set_point(line.from, from + along * agent_half(p));
      set_point(line.to, from + along * reach);
      line.colour = team_colour(p, agent);
      line.opacity = 0.35f, line.width = 0.7f;
      scene.lines.push_back(line);
      set_point(line.from, from + along * reach);
      line.opacity = 0.8f, line.width = 2.2f;
      scene.lines.push_back(line);
    }
  }

  /// A grip, from hand to hand.
  static void add_grip(const W& w, int agent, Scene& scene) {
    const Joint joint = get<Joints, Joint>(w, agent);
    if (joint.type == physics::kNoJoint) return;
    const Pose mine = get<Bodies, Pose>(w, agent);
    const Pose its = get<Bodies, Pose>(w, int(joint.b));
    Line line;
    set_point(line.from, physics::vec(mine.position));
    set_point(line.to,
              physics::vec(its.position) +
                  physics::matrix(physics::quat(its.orientation)) * physics::vec(joint.anchor_b));
    line.opacity = 0.9f, line.width = 4.0f;
    scene.lines.push_back(line);
  }

  static Scene world_scene(const W& w) {
    const Params& p = w.params();
    Scene scene;
    Solid floor;
    floor.shape = Solid::kFloor;
    floor.half[0] = agent_half(p) * 2.0f;
    floor.colour = palette::kFloor, floor.second = palette::kFloorSquare;
    scene.solids.push_back(floor);
    for (int i = 0; i < 2; ++i) scene.low[i] = -p.arena_half, scene.high[i] = p.arena_half;
    scene.high[2] = p.wall_height;
    add_walls(w, scene);
    scene.high[2] = min(scene.high[2], 1.5f * p.wall_height);
    for (int row = 0; row < p.body_count; ++row)
      if (Senses<T>::is_there(w, row)) add_body(w, row, scene);
    for (int agent = 0; agent < p.agent_count; ++agent) {
      if (!Senses<T>::is_there(w, agent)) continue;
      add_cone(w, agent, scene);
      add_rays(w, agent, scene);
      add_grip(w, agent, scene);
      const Pose pose = get<Bodies, Pose>(w, agent);
      const Vec3 ahead = facing(pose);
      Viewpoint view;
      set_point(view.position, physics::vec(pose.position) + Vec3{0, 0, 0.6f * agent_half(p)});
      set_point(view.forward, {ahead.x, ahead.y, -0.1f});
      scene.viewpoints.push_back(view);
    }
    return scene;
  }
};

}  // namespace gpu_envs::envs::hide_seek
