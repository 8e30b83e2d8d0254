// A kitchen of Overcooked for tests of its rules: things are put by x and y, chefs act by letters.
#pragma once

#include <string>
#include <vector>

#include "simulation.hpp"

namespace ge::test {

enum Item { kNothing, kOnion, kTomato, kDish, kOpen = 16, kSoup = 32 };  // + 4 * onions + tomatoes
enum Facing { kNorth, kSouth, kEast, kWest };

inline Config config_of(const Values& parameters, int64_t worlds = 1, int64_t max_steps = -1) {
  Config config;
  config.worlds = worlds;
  config.parameters = parameters;
  config.max_episode_steps = max_steps;
  return config;
}

/// One kitchen, spoken of in x and y.
class Kitchen {
 public:
  explicit Kitchen(const Values& parameters, int64_t max_steps = -1)
      : world("Overcooked-v0", config_of(parameters, 1, max_steps)) {
    const auto& row = world->output(kObservation).row;
    width = int(row[0]), height = int(row[1]), planes = int(row[2]);
    chefs = int(world->agents());
    world.reset(1);
  }

  void place(int chef, int x, int y, Facing facing, int held = kNothing) {
    change("chefs.cell", chef, x * height + y);
    change("chefs.facing", chef, facing);
    change("chefs.held", chef, held);
  }
  void put(int x, int y, int item, int left = 0) {
    change("cells.item", x * height + y, item);
    change("cells.left", x * height + y, left);
  }
  /// One letter per chef: N S E W, I interacts, . stays.
  void step(const std::string& letters) {
    std::vector<int32_t> actions;
    for (const char letter : letters)
      actions.push_back(int32_t(std::string("NSEW.I").find(letter)));
    world.step(actions);
  }
  void steps(int count, const std::string& letters) {
    for (int k = 0; k < count; ++k) step(letters);
  }

  int held(int chef) const { return at("chefs.held", chef); }
  int facing(int chef) const { return at("chefs.facing", chef); }
  bool stands(int chef, int x, int y) const { return at("chefs.cell", chef) == x * height + y; }
  int item(int x, int y) const { return at("cells.item", x * height + y); }
  int left(int x, int y) const { return at("cells.left", x * height + y); }
  float sparse(int chef = 0) const { return world.out<float>(kRewardParts)[size_t(2 * chef)]; }
  float shaped(int chef) const { return world.out<float>(kRewardParts)[size_t(2 * chef + 1)]; }
  float reward(int chef) const { return world.reward()[size_t(chef)]; }
  /// Plane k behind the chefs' planes.
  int seen(int observer, int x, int y, int k) const { return plane(observer, x, y, 5 * chefs + k); }
  int plane(int observer, int x, int y, int k) const {
    const auto all = world.out<uint8_t>(kObservation);
    return all[size_t(((observer * width + x) * height + y) * planes + k)];
  }

  Simulation world;
  int width, height, planes, chefs;

 private:
  void change(const std::string& column, int row, int value) {
    auto values = world.get<uint8_t>(column);
    values[size_t(row)] = uint8_t(value);
    world.set(column, values);
  }
  int at(const std::string& column, int row) const {
    return world.get<uint8_t>(column)[size_t(row)];
  }
};

// Everything within reach of two chefs in the middle.
inline const std::string kSmall =
    "XXPXX\n"
    "O1 2T\n"
    "D   S\n"
    "XXXXX\n";

inline Values small(Values more = {}) {
  more.emplace("layout", kSmall);
  return more;
}

}  // namespace ge::test
