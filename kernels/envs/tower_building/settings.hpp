// The parameters (Settings), and the values that the rules read (Params).
#pragma once

#include "engine/environment.hpp"
#include "voxel/settings.hpp"

namespace gpu_envs::envs::tower_building {

using namespace ge;
namespace voxel = ge::voxel;
using voxel::Span;

/// Most boxes of a level, longest side of a room, of a zone and of a field of materials.
inline constexpr int kMostBoxes = 96, kLongest = 48, kLongestZone = 16, kLongestMaterials = 9;
inline constexpr int kMostSpare = 48;

struct Settings : voxel::Settings {
  int32_t length_low = 12, length_high = 29, width_low = 12, width_high = 24;
  int32_t wall_low = 5, wall_high = 6;
  int32_t zone_low = 3, zone_high = 8;
  int32_t materials_low = 2, materials_high = 7;
  int32_t spare_boxes_low = 0, spare_boxes_high = 24;
  float hidden_walls = 0.5f;
  float pick_reward = 0.1f, visit_reward = 0.1f, tower_reward = 1.0f;
  float box_seconds = 4.0f;
  Settings() { team_spirit = 0.1f; }

  using Self = Settings;
  static constexpr auto describe_room() {
    return fields(
        voxel::agents_field<Self>(),
        field("length_low", &Self::length_low, "shortest room along x, walls included")
            .in("m")
            .within(5, kLongest),
        field("length_high", &Self::length_high,
              "longest room along x; one is longer where zone and materials need 3 m beside them")
            .in("m")
            .within(5, kLongest),
        field("width_low", &Self::width_low, "shortest room along y, walls included")
            .in("m")
            .within(5, kLongest),
        field("width_high", &Self::width_high,
              "longest room along y; one is longer where zone and materials need 3 m beside them")
            .in("m")
            .within(5, kLongest),
        field("wall_low", &Self::wall_low, "lowest walls, the floor's metre included")
            .in("m")
            .within(2, 10),
        field("wall_high", &Self::wall_high, "highest walls, the floor's metre included")
            .in("m")
            .within(2, 10),
        field("hidden_walls", &Self::hidden_walls, "probability that the walls cannot be seen")
            .within(0, 1));
  }
  static constexpr auto describe_things() {
    return fields(
        field("zone_low", &Self::zone_low, "shortest side of the building zone")
            .in("m")
            .within(1, kLongestZone),
        field("zone_high", &Self::zone_high, "longest side of the building zone")
            .in("m")
            .within(1, kLongestZone),
        field("materials_low", &Self::materials_low,
              "shortest side of the rectangle of boxes, one high")
            .in("m")
            .within(1, kLongestMaterials),
        field("materials_high", &Self::materials_high,
              "longest side of the rectangle of boxes, one high")
            .in("m")
            .within(1, kLongestMaterials),
        field("spare_boxes_low", &Self::spare_boxes_low, "fewest boxes in cells of their own")
            .within(0, kMostSpare),
        field("spare_boxes_high", &Self::spare_boxes_high, "most boxes in cells of their own")
            .within(0, kMostSpare));
  }
  static constexpr auto describe_pay() {
    return fields(
        voxel::reward_field("pick_reward", &Self::pick_reward,
                            "reward for the first box that an agent picks up; not divided"),
        voxel::reward_field("visit_reward", &Self::visit_reward,
                            "reward for an agent's first visit to the zone with a box in hands"),
        voxel::reward_field(
            "tower_reward", &Self::tower_reward,
            "factor of what the zone has gained in value when a box is put down there"),
        voxel::spirit_field<Self>(),
        field("episode_seconds", &Self::episode_seconds, "time of an episode, without its boxes'")
            .in("s")
            .within(1, 3600),
        field("box_seconds", &Self::box_seconds, "more time of an episode for each of its boxes")
            .in("s")
            .within(0, 60));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_room(), describe_things(), describe_pay(),
                          voxel::view_fields<Self>());
  }
};

struct Params : voxel::Params {
  Span length, width, wall, zone, materials, spare_boxes;
  float hidden_walls, pick_reward, visit_reward, tower_reward, box_seconds;
};

inline Params resolve_settings(Settings& s) {
  Params p{};
  static_cast<voxel::Params&>(p) = voxel::common_of(s);
  p.length = voxel::span("length", s.length_low, s.length_high);
  p.width = voxel::span("width", s.width_low, s.width_high);
  p.wall = voxel::span("wall", s.wall_low, s.wall_high);
  p.zone = voxel::span("zone", s.zone_low, s.zone_high);
  p.materials = voxel::span("materials", s.materials_low, s.materials_high);
  p.spare_boxes = voxel::span("spare_boxes", s.spare_boxes_low, s.spare_boxes_high);
  p.hidden_walls = s.hidden_walls;
  p.pick_reward = s.pick_reward, p.visit_reward = s.visit_reward;
  p.tower_reward = s.tower_reward;
  p.box_seconds = s.box_seconds;
  const int most = p.materials.high * p.materials.high + p.spare_boxes.high;
  if (most > kMostBoxes)
    voxel::refuse("a level with materials_high=" + std::to_string(p.materials.high) +
                  " and spare_boxes_high=" + std::to_string(p.spare_boxes.high) + " can have " +
                  std::to_string(most) + " boxes, at most " + std::to_string(kMostBoxes) +
                  " are possible; lower one of them");
  return p;
}

}  // namespace gpu_envs::envs::tower_building
