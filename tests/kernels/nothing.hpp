// What an environment made for a test of stages has to have as well: an action that nobody reads,
// and a row of one number.
#pragma once

#include "engine/environment.hpp"

namespace ge::test {

struct Nothing {
  int32_t value;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("value", &Nothing::value, "ignored").one_of(2));
  }
};
struct Row {
  float value;
  static constexpr auto describe() {
    return fields(field("value", &Row::value, "of the observation"));
  }
};

}  // namespace ge::test
