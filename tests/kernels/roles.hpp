// Rows of roles in both forms, on whichever executor: what is padded in the one is the same, role
// after role, in the other, whatever actions and endings come.
#pragma once

#include "simulation.hpp"

namespace ge::test {

/// One environment with roles whose rows lie padded, and one whose rows lie role after role.
class RolesTrial {
 public:
  RolesTrial(const std::string& id, Config config)
      : id_(id), padded_(id, config), split_(id, split(config)) {}

  void run(int steps) {
    padded_.reset(5), split_.reset(5);
    judge(-1);
    for (int step = 0; step < steps; ++step) {
      const std::vector<int32_t> actions = padded_.random_actions(9, uint32_t(step));
      padded_.step_words(actions), split_.step_words(split_.split_words(actions));
      CHECK_EQ(int64_t(split_.split_words(actions).size()), split_->action_count());
      judge(step);
      const std::vector<uint8_t> ended = padded_.ended();
      ends_ += int(std::count(ended.begin(), ended.end(), 1));
    }
    CHECK(ends_ > 0);
  }

 private:
  static Config split(Config config) {
    config.roles = RoleForm::split;
    return config;
  }
  /// Each row of the one output is that of the other, with zeros behind it where it is padded.
  void compare(int step, Output output, int64_t RoleShape::* elements) {
    const OutputShape& shape = padded_->output(output);
    if (!shape.exists) return;
    const int64_t each = bytes_of(shape.type), longest = shape.row[0] * each;
    const std::vector<char> wide = padded_.out<char>(output), narrow = split_.out<char>(output);
    size_t at = 0;
    for (const RoleShape& role : padded_->roles())
      for (int64_t world = 0; world < padded_->worlds(); ++world)
        for (int64_t agent = role.first; agent < role.first + role.count; ++agent) {
          const size_t bytes = size_t(role.*elements * each);
          const char* const row = wide.data() + (world * padded_->agents() + agent) * longest;
          const bool is_equal = std::memcmp(row, narrow.data() + at, bytes) == 0;
          const bool is_empty =
              std::all_of(row + bytes, row + longest, [](char c) { return c == 0; });
          if (!is_equal || !is_empty)
            fail(id_.c_str(), step,
                 std::string(name_of(output)) + " of " + role.name + " in world " +
                     std::to_string(world) + (is_equal ? " has no zeros behind it" : " differs"));
          at += bytes;
        }
    CHECK_EQ(at, narrow.size());
  }
  void judge(int step) {
    compare(step, kObservation, &RoleShape::elements);
    compare(step, kFinalObservation, &RoleShape::elements);
    compare(step, kActionMask, &RoleShape::mask_elements);
    for (const Output output :
         {kReward, kTerminated, kTruncated, kEnded, kEpisodeReturn, kEpisodeLength, kAgentActive})
      CHECK(padded_.out<char>(output) == split_.out<char>(output));
    CHECK_EQ(padded_.records(), split_.records());
  }

  std::string id_;
  Simulation padded_, split_;
  int ends_ = 0;
};

/// In every mode, and where agents end with their world; `change` says how it is run.
template <class F>
void check_roles(F&& change) {
  for (const char* const id : {"Troupe-v0", "Band-v0"}) {
    const auto run = [&](Autoreset mode, Ends ends) {
      Config config;
      config.worlds = 37;
      config.autoreset = mode;
      config.ends = ends;
      config.max_episode_steps = 6;
      change(config);
      RolesTrial(id, config).run(15);
    };
    for (const Autoreset mode : kModes) run(mode, Ends::agent);
    run(Autoreset::same_step, Ends::world);
  }
}

/// Padded, an action of another role is one that the mask forbids: it is the first category, and
/// counted, unless the agent has no action left.
template <class F>
void check_actions_of_other_roles(F&& change) {
  for (const Autoreset mode : kModes) {
    Config config;
    config.worlds = 37;
    config.autoreset = mode;
    config.max_episode_steps = 6;
    change(config);
    Simulation strange("Troupe-v0", config), plain("Troupe-v0", config);
    strange.reset(5), plain.reset(5);
    int64_t count = 0;
    for (int step = 0; step < 15; ++step) {
      std::vector<int32_t> actions = plain.random_actions(9, uint32_t(step));
      const std::vector<uint8_t> active = plain.out<uint8_t>(kAgentActive);
      for (size_t agent = 0; agent < actions.size(); ++agent)
        if (agent % 6 < 3) actions[agent] = 0;  // dancers, who may not make a move again
      plain.step_words(actions);
      for (size_t agent = 0; agent < actions.size(); agent += 6)
        actions[agent] = 3 + step % 2, count += active[agent];  // drummers have 5, dancers 3
      strange.step_words(actions);
      CHECK_EQ(strange.records(), plain.records());
    }
    const FaultReport report = strange->faults();
    CHECK(count > 0);
    CHECK_EQ(report.illegal_actions, count);
    CHECK_EQ(report.bad_actions, 0);
    CHECK_EQ(report.first_illegal_agent, 0);
    CHECK_EQ(plain->faults().illegal_actions, 0);
  }
}

}  // namespace ge::test
