// The environments of this build, as one JSON list.
#pragma once

#include <string>

#include "engine/registry.hpp"

namespace ge {

inline std::string catalogue() {
  std::string out = "[";
  for (const Entry* entry : registry()) out += (out.size() > 1 ? ",\n " : "") + entry->describe();
  return out + "]";
}

}  // namespace ge
