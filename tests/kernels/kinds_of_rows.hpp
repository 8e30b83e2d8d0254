// Roles whose rows are of several kinds, on whichever executor: every row is held against what the
// columns of its agent say, in a batch and alone.
#pragma once

#include "simulation.hpp"

namespace ge::test {

/// Holds the rows of Fair-v0 and Hall-v0 against closed forms.
class KindsTrial {
 public:
  KindsTrial(const std::string& id, const Config& config)
      : id_(id), is_bytes_(id == "Fair-v0"), simulation_(id, config) {
    painter_ = &simulation_->roles().at(0), reader_ = &simulation_->roles().at(1);
    judge_ = &simulation_->roles().at(2);
  }

  void run(int steps) {
    simulation_.reset(3);
    judge(0);
    for (int step = 1; step <= steps; ++step) {
      actions_ = split_actions(step);
      simulation_.step_words(actions_);
      judge(step);
    }
    CHECK(seen_ > 0);
  }
  Simulation& simulation() { return simulation_; }

 private:
  /// Painters add 0 to 4, readers turn 0 to 4 pages, the judge praises by quarters.
  std::vector<int32_t> split_actions(int step) {
    std::vector<int32_t> words;
    const int64_t first = simulation_->config().first_world;
    for (const RoleShape& role : simulation_->roles())
      for (int64_t world = 0; world < simulation_->worlds(); ++world)
        for (int k = 0; k < role.count; ++k) {
          const int drawn = int(first + world + 3 * step + k) % 5;
          if (!role.is_float) words.push_back(drawn);
          if (role.is_float) words.push_back(__builtin_bit_cast(int32_t, 0.25f * float(drawn)));
          if (role.is_float) words.push_back(__builtin_bit_cast(int32_t, -0.5f));
        }
    CHECK_EQ(int64_t(words.size()), simulation_->action_count());
    return words;
  }
  template <class T>
  T element(Output which, const RoleShape& role, int64_t world, int k, size_t at) const {
    const std::string row = simulation_.row_of(which, role, world, k);
    T value;
    std::memcpy(&value, row.data() + at * sizeof value, sizeof value);
    return value;
  }
  void judge(int step) {
    const auto active = simulation_.out<uint8_t>(kAgentActive);
    const auto clock = simulation_.get<uint32_t>("world.step");
    for (int64_t world = 0; world < simulation_->worlds(); ++world)
      for (const RoleShape* role : {painter_, reader_, judge_})
        for (int k = 0; k < role->count; ++k) {
          const bool is_active =
              active[size_t(world * simulation_->agents() + role->first + k)] != 0;
          if (is_active && !is_right(*role, world, k, float(clock[size_t(world)])))
            fail(id_.c_str(), step,
                 role->name + "_" + std::to_string(k) + " of world " + std::to_string(world) +
                     " sees something else");
          if (!is_active && step == 0 && is_shown(*role, world, k))
            fail(id_.c_str(), step, role->name + " is absent and sees something");
          seen_ += is_active ? 1 : 0;
        }
    if (step > 0) judge_parts();
    if (step > 0) judge_measures();
  }
  bool is_right(const RoleShape& role, int64_t world, int k, float time) {
    const size_t row = size_t(world * 3 + k);
    if (&role == painter_)
      return is_picture(world, k, simulation_.get<int32_t>("painters.shade")[row], time);
    if (&role == judge_)
      return element<float>(kObservation, role, world, k, 0) == time &&
             element<float>(kObservation, role, world, k, 1) ==
                 simulation_.get<float>("judges.sum")[size_t(world)] &&
             element<uint8_t>(kActionMask, role, world, k, 0) == 1;
    const int at = simulation_.get<int32_t>("readers.at")[row];
    const int choices = int(role.rows[kActionMask].shape[0]);
    bool right = true;
    for (int choice = 0; choice < choices; ++choice)
      right = right && element<uint8_t>(kActionMask, role, world, k, size_t(choice)) ==
                           (choice == 1 + at % 2 ? 0 : 1);
    return right && is_book(world, k, at);
  }
  bool is_picture(int64_t world, int k, int shade, float time) {
    const bool only_numbers = painter_->rows[kObservation].type == Type::float32;
    const auto layers = simulation_->output(kDepth).exists ? 3 : 1;
    bool right = true;
    if (only_numbers || simulation_->output(kNumbers).exists) {
      const Output numbers = only_numbers ? kObservation : kNumbers;
      right = right && element<float>(numbers, *painter_, world, k, 0) == float(shade);
      right = right && element<float>(numbers, *painter_, world, k, 1) == float(k);
      right = right && element<float>(numbers, *painter_, world, k, 2) == time;
    }
    for (int row = 0; row < (only_numbers ? 0 : 13); ++row)
      for (int column = 0; column < 37; ++column) {
        const size_t at = size_t(row * 37 + column);
        right = right && element<uint8_t>(kObservation, *painter_, world, k, 3 * at) == shade + row;
        right = right && element<uint8_t>(kObservation, *painter_, world, k, 3 * at + 1) == column;
        right =
            right && float(element<uint8_t>(kObservation, *painter_, world, k, 3 * at + 2)) == time;
        if (layers == 1) continue;
        right = right && element<float>(kDepth, *painter_, world, k, at) == float(column);
        right = right && element<uint16_t>(kSegmentation, *painter_, world, k, at) == 1 + k;
      }
    for (size_t choice = 0; choice < 5; ++choice)
      right = right && element<uint8_t>(kActionMask, *painter_, world, k, choice) ==
                           ((int(choice) + shade + k) % 3 == 0 ? 0 : 1);
    return right;
  }
  bool is_book(int64_t world, int k, int at) {
    const int length = int(reader_->rows[kObservation].shape[0]);
    bool right = true;
    for (int i = 0; i < length; ++i) {
      if (is_bytes_) {
        const int paper = i == length - 1 ? k : i == at ? 253 : i % 251;
        right = right && element<uint8_t>(kObservation, *reader_, world, k, size_t(i)) == paper;
      } else {
        right = right &&
                element<float>(kObservation, *reader_, world, k, size_t(i)) == float(at + i % 200);
      }
    }
    return right;
  }
  bool is_shown(const RoleShape& role, int64_t world, int k) {
    const std::string row = simulation_.row_of(kObservation, role, world, k);
    return std::any_of(row.begin(), row.end(), [](char c) { return c != 0; });
  }
  /// The parts of an agent's reward add up to it, each role's in rows of its own length.
  void judge_parts() {
    const auto rewards = simulation_.reward();
    CHECK_EQ(painter_->rows[kRewardParts].bytes(), 8);
    CHECK_EQ(reader_->rows[kRewardParts].bytes(), 4);
    for (int64_t world = 0; world < simulation_->worlds(); ++world)
      for (const RoleShape* role : {painter_, reader_, judge_})
        for (int k = 0; k < role->count; ++k) {
          float sum = element<float>(kRewardParts, *role, world, k, 0);
          if (role == painter_) sum += element<float>(kRewardParts, *role, world, k, 1);
          CHECK_EQ(sum, rewards[size_t(world * simulation_->agents() + role->first + k)]);
        }
  }

  /// Painters alone have measures, where their episodes end; the others a zero.
  void judge_measures() {
    CHECK_EQ(painter_->rows[kMeasures].bytes(), 8);
    CHECK_EQ(reader_->rows[kMeasures].bytes(), 4);
    CHECK_EQ(judge_->rows[kMeasures].bytes(), 4);
    const auto ended = simulation_.out<uint8_t>(kEnded);
    const auto shade = simulation_.get<int32_t>("painters.shade");
    const auto left = simulation_.get<int32_t>("painters.left");
    for (int64_t world = 0; world < simulation_->worlds(); ++world)
      for (int k = 0; k < painter_->count; ++k) {
        if (ended[size_t(world * simulation_->agents() + painter_->first + k)] == 0) continue;
        const size_t row = size_t(world * 3 + k);
        CHECK_EQ(element<float>(kMeasures, *painter_, world, k, 0), float(shade[row]));
        CHECK_EQ(element<float>(kMeasures, *painter_, world, k, 1), float(left[row]));
      }
  }

  std::string id_;
  bool is_bytes_;
  Simulation simulation_;
  const RoleShape *painter_, *reader_, *judge_;
  std::vector<int32_t> actions_;
  int64_t seen_ = 0;
};

/// At one world and several, with one layer and more, rows are those of the columns. Then, in
/// every mode, a world of a batch is the world alone.
template <class F>
void check_kinds_of_rows(int64_t worlds, F&& change) {
  for (const char* const id : {"Fair-v0", "Hall-v0"}) {
    for (const int64_t count : {int64_t{1}, worlds})
      for (const int64_t layers : {1, 7, 8, 9, 15}) {
        Config config;
        config.worlds = count;
        config.autoreset = Autoreset::disabled;
        config.parameters["layers"] = layers;
        config.parameters["length"] = int64_t{layers == 1 ? 701 : 5003};
        change(config);
        KindsTrial(id, config).run(7);
      }
    for (const Autoreset mode : kModes) {
      Config config;
      config.worlds = worlds;
      config.autoreset = mode;
      config.max_episode_steps = 6;
      config.parameters["layers"] = int64_t{15};
      change(config);
      Simulation batch(id, config);
      config.worlds = 1, config.first_world = worlds - 1;
      Simulation alone(id, config);
      batch.reset(8), alone.reset(8);
      for (int step = 0; step < 14; ++step) {
        CHECK(alone.outputs_of(0) == batch.outputs_of(worlds - 1));
        CHECK_EQ(alone.record(0), batch.record(worlds - 1));
        batch.step_random(9, uint32_t(step)), alone.step_random(9, uint32_t(step));
      }
    }
  }
}

}  // namespace ge::test
