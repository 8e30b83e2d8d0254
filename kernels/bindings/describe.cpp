// Prints the description of every environment of this build as JSON: what
// gpu_envs/_environments.json holds.
#include <cstdio>

#include "bindings/catalogue.hpp"

int main() {
  std::puts(ge::catalogue().c_str());
  return 0;
}
