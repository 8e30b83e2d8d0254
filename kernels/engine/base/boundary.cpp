// See boundary.hpp.
#include "engine/base/boundary.hpp"

namespace ge {

const char* name_of(Autoreset mode) {
  switch (mode) {
    case Autoreset::next_step:
      return "NextStep";
    case Autoreset::same_step:
      return "SameStep";
    default:
      return "Disabled";
  }
}

const char* name_of(Type type) {
  switch (type) {
    case Type::uint8:
      return "uint8";
    case Type::int32:
      return "int32";
    case Type::int64:
      return "int64";
    case Type::float32:
      return "float32";
    case Type::float64:
      return "float64";
    case Type::boolean:
      return "bool";
    case Type::uint32:
      return "uint32";
    case Type::int8:
      return "int8";
    case Type::text:
      return "string";
    default:
      return "uint64";
  }
}

const char* name_of(Elements elements) {
  static const char* const names[] = {"own", "uint8", "float32", "bits"};
  return names[int(elements)];
}

int bytes_of(Type type) {
  switch (type) {
    case Type::uint8:
    case Type::int8:
    case Type::boolean:
      return 1;
    case Type::int32:
    case Type::uint32:
    case Type::float32:
      return 4;
    default:
      return 8;
  }
}

const char* name_of(Output output) {
  static const char* const names[kOutputCount] = {
      "obs",         "reward",       "terminated",     "truncated",
      "final_obs",   "ended",        "episode_return", "episode_length",
      "action_mask", "agent_active", "state",          "reward_parts"};
  return names[output];
}

}  // namespace ge
