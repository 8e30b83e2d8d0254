// The registry of a test program: what the build has listed for it.
#include "engine/simulator/registry.hpp"

#include "recorded.hpp"

namespace ge {

std::vector<const Entry*> registry() {
  std::vector<const Entry*> all;
  for (const test::EntryOf* entry = test::kEntries; *entry != nullptr; ++entry)
    all.push_back(&(*entry)());
  return all;
}

}  // namespace ge
