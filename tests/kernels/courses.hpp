// Worlds of the obstacle courses, laid out by hand, for tests of their rules and of kernels/voxel.
#pragma once

#include "playground.hpp"

namespace ge::test {

class Course : public Playground {
 public:
  explicit Course(const Values& parameters = {}, const std::string& layout = "",
                  const char* id = "ObstaclesEasy-v0", Autoreset autoreset = Autoreset::disabled)
      : Playground(id, parameters, layout, autoreset) {}
  /// One of the four parts of the reward: exit, all_exit, diamond, box.
  float part(int agent, int which) const {
    return out<float>(kRewardParts)[size_t(4 * agent + which)];
  }
  /// 1: all agents stood on the pad at once.
  int solved() const { return word("course.solved"); }
};

}  // namespace ge::test
