// The room: a raised floor, and two pedestals with steps up to them. The same in every level.
#pragma once

#include "envs/rearrange/settings.hpp"

namespace gpu_envs::envs::rearrange {

inline constexpr int kFixtures = 9;

/// A box by its middle and half of its sides [m].
GE_FN voxel::Static fixture_box(voxel::Vec3 middle, voxel::Vec3 half, uint32_t colour) {
  voxel::Static box = {};
  geometry::put(box.low, middle - half);
  geometry::put(box.high, middle + half);
  box.colour = colour, box.shown = 1u;
  return box;
}
GE_FN voxel::Static fixture(int k) {
  if (k == 0) return fixture_box({9.5f, 7.0f, 1.0f}, {8.35f, 5.65f, 0.5f}, voxel::kDarkGrey);
  // A pedestal, its plate, which stands out by 5 cm, and two steps, towards the other pedestal and
  // away from the far wall.
  const bool is_model = k < 5;
  const Cell middle = is_model ? model_middle() : work_middle();
  const voxel::Vec3 at = {float(middle.x) + 0.5f, float(middle.y) + 0.5f, float(middle.z)};
  const voxel::Vec3 wide = {3.0f, 3.0f, 0.5f};
  const uint32_t colour = is_model ? voxel::kWhite : voxel::kBlue;
  const float towards = is_model ? 0.5f : -0.5f;
  switch (k - (is_model ? 1 : 5)) {
    case 0:
      return fixture_box(at - voxel::Vec3{0.0f, 0.0f, 0.5f}, wide, colour);
    case 1:
      return fixture_box(at - voxel::Vec3{0.0f, 0.0f, 0.45f}, {1.5f, 1.5f, 0.5f}, voxel::kDarkGrey);
    case 2:
      return fixture_box(at + voxel::Vec3{towards, -0.5f, -0.66f}, wide, colour);
    default:
      return fixture_box(at + voxel::Vec3{2.0f * towards, -1.0f, -0.82f}, wide, colour);
  }
}

}  // namespace gpu_envs::envs::rearrange
