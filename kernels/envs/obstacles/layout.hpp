// Levels by hand (voxel/layout.hpp): what a course may have. Host only.
#pragma once

#include "envs/obstacles/settings.hpp"
#include "voxel/layout.hpp"

namespace gpu_envs::envs::obstacles {

inline voxel::Laid read_layout(const std::string& text, const Params& p) {
  const voxel::Grammar grammar{
      .words = {"floor", "wall", "walls", "lava", "pad", "box", "diamond", "agent", "seconds"},
      .marks = {{"lava", voxel::kLavaMark}, {"pad", voxel::kPadMark}},
      .marks_name = "fields of lava and pads",
      .boxes = Small::boxes,
      .diamonds = Small::diamonds};
  return voxel::Layout(grammar, p.agent_count).read(text);
}

}  // namespace gpu_envs::envs::obstacles
