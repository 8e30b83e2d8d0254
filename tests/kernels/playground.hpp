// Worlds of voxel games, laid out by hand: agents are spoken to by letters.
#pragma once

#include <cmath>

#include "simulation.hpp"

namespace ge::test {

inline constexpr double kHalfPi = 1.5707963;
/// Height of a standing body's middle above its feet [m].
inline constexpr float kStanding = 0.855f;

/// What one agent does: f forward, b backward, l and r strafe, L and R turn, u and d look up and
/// down, j jumps, i interacts; any of them at once.
inline void append_action(std::vector<int32_t>& actions, const std::string& letters) {
  const auto head = [&](const char* values) {
    for (int k = 0; values[k] != 0; ++k)
      if (letters.find(values[k]) != std::string::npos) return k + 1;
    return 0;
  };
  for (const char* const values : {"fb", "lr", "LR", "ud", "j", "i"})
    actions.push_back(head(values));
}

class Playground : public Simulation {
 public:
  explicit Playground(const char* id, const Values& parameters = {}, const std::string& layout = "",
                      Autoreset autoreset = Autoreset::disabled)
      : Simulation(id, config_of(parameters, autoreset)) {
    lay(layout);
  }
  void lay(const std::string& layout) {
    const uint64_t seed[1] = {1};
    ResetRequest request;
    request.seeds = seed;
    if (!layout.empty()) request.options = {{"layout", layout}};
    reset(request);
  }

  /// Everybody by words between blanks, "-" for who does nothing; one word: all the same.
  void act(const std::string& words, int times = 1) {
    std::vector<std::string> each;
    std::istringstream in(words);
    for (std::string word; in >> word;) each.push_back(word);
    std::vector<int32_t> actions;
    for (size_t agent = 0; agent < size_t(rows()); ++agent)
      append_action(actions, each[each.size() == 1 ? 0 : agent]);
    for (int k = 0; k < times; ++k) step(actions);
  }

  float at(int agent, int axis) const {
    return get<float>("agents.position")[size_t(3 * agent + axis)];
  }
  /// Height of the feet.
  float feet(int agent = 0) const { return at(agent, 2) - kStanding; }
  float yaw(int agent = 0) const { return get<float>("agents.yaw")[size_t(agent)]; }
  float pitch(int agent = 0) const { return get<float>("agents.pitch")[size_t(agent)]; }
  bool stands(int agent = 0) const { return get<int32_t>("agents.grounded")[size_t(agent)] != 0; }
  int carries(int agent = 0) const { return get<int32_t>("agents.carries")[size_t(agent)]; }
  bool box_is_at(int box, int x, int y, int z) const {
    const auto cells = get<int32_t>("crates.cell");
    return get<int32_t>("crates.carrier")[size_t(box)] < 0 && cells[size_t(3 * box)] == x &&
           cells[size_t(3 * box + 1)] == y && cells[size_t(3 * box + 2)] == z;
  }
  float paid(int agent = 0) const { return reward()[size_t(agent)]; }
  bool done() const { return terminated()[0] != 0; }
  int word(const char* column) const { return get<int32_t>(column)[0]; }
  /// Sets the first rows of a column.
  template <class T>
  void write(const char* column, const std::vector<T>& values) {
    std::vector<T> all = get<T>(column);
    std::copy(values.begin(), values.end(), all.begin());
    set(column, all);
  }
  /// Puts agent 0 somewhere, at rest.
  void stand(float x, float y, float feet, float yaw = 0) {
    write<float>("agents.position", {x, y, feet + kStanding});
    write<float>("agents.velocity", {0, 0});
    write<float>("agents.climb", {0});
    write<float>("agents.yaw", {yaw});
    write<int32_t>("agents.grounded", {1});
  }

 private:
  static Config config_of(const Values& parameters, Autoreset autoreset) {
    Config config;
    config.parameters = parameters;
    config.parameters.insert({"resolution", "1x1"});  // nobody looks
    config.autoreset = autoreset;
    return config;
  }
};

inline void check_near(const std::string& what, double found, double wanted, double tolerance) {
  if (std::fabs(found - wanted) <= tolerance) return;
  fail("voxel", 0, what + ": " + std::to_string(found) + " against " + std::to_string(wanted));
}

}  // namespace ge::test
