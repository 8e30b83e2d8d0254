// The parameters (Settings), and the values that the rules read (Params).
#pragma once

#include "engine/environment.hpp"
#include "voxel/settings.hpp"

namespace gpu_envs::envs::tower_building {

using namespace ge;
namespace voxel = ge::voxel;

/// Most boxes of a level, longest side of a room, of a zone and of a field of materials.
inline constexpr int kMostBoxes = 96, kLongest = 48, kLongestZone = 16, kLongestMaterials = 9;
inline constexpr int kMostSpare = 48;

/// What may differ by world.
struct Varied {
  int32_t length_low = 12, length_high = 29, width_low = 12, width_high = 24;
  int32_t wall_low = 5, wall_high = 6;
  int32_t zone_low = 3, zone_high = 8;
  int32_t materials_low = 2, materials_high = 7;
  int32_t spare_boxes_low = 0, spare_boxes_high = 24;
  float hidden_walls = 0.5f;
  float pick_reward = 0.1f, visit_reward = 0.1f, tower_reward = 1.0f;
  float team_spirit = 0.1f;
  float episode_seconds = 60.0f, box_seconds = 4.0f;
  static constexpr auto describe();
};

struct Settings : voxel::Settings, Varied {
  using Self = Settings;
  static constexpr auto describe_room() {
    return fields(
        voxel::agents_field<Self>(),
        field("length_low", &Self::length_low, "shortest room along x, walls included")
            .in("m")
            .within(5, kLongest)
            .from_reset(),
        field("length_high", &Self::length_high,
              "longest room along x; one is longer where zone and materials need 3 m beside them")
            .in("m")
            .within(5, kLongest)
            .from_reset(),
        field("width_low", &Self::width_low, "shortest room along y, walls included")
            .in("m")
            .within(5, kLongest)
            .from_reset(),
        field("width_high", &Self::width_high,
              "longest room along y; one is longer where zone and materials need 3 m beside them")
            .in("m")
            .within(5, kLongest)
            .from_reset(),
        field("wall_low", &Self::wall_low, "lowest walls, the floor's metre included")
            .in("m")
            .within(2, 10)
            .from_reset(),
        field("wall_high", &Self::wall_high, "highest walls, the floor's metre included")
            .in("m")
            .within(2, 10)
            .from_reset(),
        field("hidden_walls", &Self::hidden_walls, "probability that the walls cannot be seen")
            .within(0, 1)
            .from_reset());
  }
  static constexpr auto describe_things() {
    return fields(
        field("zone_low", &Self::zone_low, "shortest side of the building zone")
            .in("m")
            .within(1, kLongestZone)
            .from_reset(),
        field("zone_high", &Self::zone_high, "longest side of the building zone")
            .in("m")
            .within(1, kLongestZone)
            .from_reset(),
        field("materials_low", &Self::materials_low,
              "shortest side of the rectangle of boxes, one high")
            .in("m")
            .within(1, kLongestMaterials)
            .from_reset(),
        field("materials_high", &Self::materials_high,
              "longest side of the rectangle of boxes, one high")
            .in("m")
            .within(1, kLongestMaterials)
            .from_reset(),
        field("spare_boxes_low", &Self::spare_boxes_low, "fewest boxes in cells of their own")
            .within(0, kMostSpare)
            .from_reset(),
        field("spare_boxes_high", &Self::spare_boxes_high, "most boxes in cells of their own")
            .within(0, kMostSpare)
            .from_reset());
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
        voxel::limit_field(&Self::episode_seconds, "time of an episode, without its boxes'"),
        field("box_seconds", &Self::box_seconds, "more time of an episode for each of its boxes")
            .in("s")
            .within(0, 60)
            .from_reset());
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_room(), describe_things(), describe_pay(),
                          voxel::view_fields<Self>());
  }
};

constexpr auto Varied::describe() {
  return fields_of<Varied>(Settings::describe());
}

struct Params : voxel::Params {};

inline constexpr voxel::Ends<Varied> kEnds[] = {
    {"length", &Varied::length_low, &Varied::length_high, "length_low is above length_high"},
    {"width", &Varied::width_low, &Varied::width_high, "width_low is above width_high"},
    {"wall", &Varied::wall_low, &Varied::wall_high, "wall_low is above wall_high"},
    {"zone", &Varied::zone_low, &Varied::zone_high, "zone_low is above zone_high"},
    {"materials", &Varied::materials_low, &Varied::materials_high,
     "materials_low is above materials_high"},
    {"spare_boxes", &Varied::spare_boxes_low, &Varied::spare_boxes_high,
     "spare_boxes_low is above spare_boxes_high"}};

inline int most_boxes(const Varied& v) {
  return v.materials_high * v.materials_high + v.spare_boxes_high;
}
/// What does not go together.
inline const char* problem_of(const Varied& v, const Params&) {
  if (const char* const problem = voxel::problem_of(v, kEnds)) return problem;
  return most_boxes(v) > kMostBoxes
             ? "materials_high and spare_boxes_high can make more boxes than are possible"
             : nullptr;
}
inline Params resolve_settings(Settings& s) {
  voxel::check(s, kEnds);
  if (most_boxes(s) > kMostBoxes)
    voxel::refuse("a level with materials_high=" + std::to_string(s.materials_high) +
                  " and spare_boxes_high=" + std::to_string(s.spare_boxes_high) + " can have " +
                  std::to_string(most_boxes(s)) + " boxes, at most " + std::to_string(kMostBoxes) +
                  " are possible; lower one of them");
  return {voxel::common_of(s)};
}

}  // namespace gpu_envs::envs::tower_building
