// Both forms of Ends side by side: everything but flags, last observations and statistics is equal,
// and what Ends::world reports of these follows from what Ends::agent has reported before.
#pragma once

#include "golden.hpp"

namespace ge::test {

/// What the steps of a trial have met.
struct EndsMet {
  int early = 0, absent = 0, last = 0, frozen = 0;
};

class EndsTrial {
 public:
  EndsTrial(const std::string& id, const Config& config, EndsMet& met)
      : id_(id),
        mode_(config.autoreset),
        met_(met),
        agent_(id, made_with(config, Ends::agent)),
        world_(id, made_with(config, Ends::world)),
        agents_(size_t(agent_->agents())),
        rows_(size_t(agent_.rows())),
        worlds_(size_t(agent_->worlds())) {}

  void run(int steps) {
    agent_.reset(5), world_.reset(5);
    begin_all();
    for (int step = 0; step < steps; ++step) {
      agent_.step_random(8, uint32_t(step)), world_.step_random(8, uint32_t(step));
      step_ = step;
      judge();
      // Worlds that are over are frozen for some steps first.
      if (mode_ == Autoreset::disabled && step % 5 == 4) reset_worlds_that_are_over();
    }
  }

 private:
  struct Row {
    bool has_ended = false;
    uint8_t terminated = 0, truncated = 0;  // with its world
    float total = 0;
  };
  struct World {
    bool is_over = false;
    int length = 0;
  };
  static Config made_with(Config config, Ends ends) {
    config.ends = ends;
    return config;
  }

  void judge() {
    CHECK(agent_.records() == world_.records());
    for (int o = 0; o < kOutputCount; ++o)
      if (is_same_in_both(Output(o)))
        expect(agent_.out<char>(Output(o)) == world_.out<char>(Output(o)), name_of(Output(o)), 0);
    const auto over = agent_.get<uint32_t>("world.over"),
               clock = agent_.get<uint32_t>("world.step");
    for (size_t w = 0; w < worlds_; ++w) {
      const bool was_over = at_[w].is_over;
      const bool is_over = over[w] != 0 || (mode_ == Autoreset::same_step && clock[w] == 0);
      if (was_over && mode_ == Autoreset::next_step)
        judge_renewed(w);
      else if (was_over)
        judge_frozen(w);
      else
        judge_world(w, is_over);
      at_[w].is_over = is_over && mode_ != Autoreset::same_step;
    }
  }
  static bool is_same_in_both(Output output) {
    return output != kTerminated && output != kTruncated && output != kEnded &&
           output != kObjective && !has_trait(output, kWhereEnded);
  }

  /// A step that a world has played.
  void judge_world(size_t w, bool is_over) {
    const auto reward = agent_.reward();
    const auto ended = agent_.ended(), terminated = agent_.terminated(),
               truncated = agent_.truncated();
    at_[w].length += 1;
    bool any = false;
    for (size_t row = w * agents_; row < (w + 1) * agents_; ++row) {
      Row& one = row_[row];
      one.total += reward[row];
      one.has_ended = one.has_ended || ended[row] != 0;
      one.terminated = ended[row] != 0 ? terminated[row] : 1;
      one.truncated = ended[row] != 0 ? truncated[row] : 0;
      any = any || ended[row] != 0;
      met_.last += is_over && ended[row] != 0;
      met_.early += !is_over && ended[row] != 0;
      met_.absent += is_over && !one.has_ended;
      judge_row(row, is_over, ended[row] != 0, at_[w].length);
    }
    judge_state(w, is_over && any);
    if (is_over && mode_ == Autoreset::same_step) begin(w);
  }
  void judge_row(size_t row, bool is_over, bool ends_now, int length) {
    const Row& one = row_[row];
    const bool ends = is_over && one.has_ended;
    expect(world_.terminated()[row] == (is_over ? one.terminated : 0), "terminated", row);
    expect(world_.truncated()[row] == (is_over ? one.truncated : 0), "truncated", row);
    expect(world_.ended()[row] == uint8_t(ends), "ended", row);
    expect(world_.out<float>(kEpisodeReturn)[row] == (ends ? one.total : 0.0f), "return", row);
    expect(world_.out<int32_t>(kEpisodeLength)[row] == (ends ? length : 0), "length", row);
    for (const Output output : {kFinalObservation, kFinalDepth, kFinalSegmentation})
      if (agent_->output(output).exists)
        expect(row_of(world_, output, row) ==
                   (is_over && ends_now
                        ? row_of(agent_, output, row)
                        : std::string(agent_.row_of(output, int64_t(row)).size(), '\0')),
               name_of(output), row);
    judge_objective(row, ends, ends_now);
  }
  void judge_objective(size_t row, bool ends, bool ends_now) {
    if (!agent_->output(kObjective).exists) return;
    const float seen = world_.out<float>(kObjective)[row];
    if (!ends) expect(seen == 0.0f, "objective", row);
    if (ends && ends_now) expect(seen == agent_.out<float>(kObjective)[row], "objective", row);
  }
  void judge_state(size_t w, bool ends) {
    if (!agent_->output(kFinalState).exists) return;
    const std::string nothing(bytes_of_part(kFinalState, worlds_), '\0');
    expect(part(world_, kFinalState, w, worlds_) ==
               (ends ? part(agent_, kFinalState, w, worlds_) : nothing),
           "final_state of world", w);
  }
  /// A step of a world that waits for its reset repeats the flags of its end.
  void judge_frozen(size_t w) {
    for (size_t row = w * agents_; row < (w + 1) * agents_; ++row) {
      expect(world_.terminated()[row] == row_[row].terminated, "frozen terminated", row);
      expect(world_.truncated()[row] == row_[row].truncated, "frozen truncated", row);
      expect(world_.ended()[row] == 0, "frozen ended", row);
      met_.frozen += 1;
    }
  }

  /// The step of NextStep that only resets.
  void judge_renewed(size_t w) {
    begin(w);
    for (size_t row = w * agents_; row < (w + 1) * agents_; ++row)
      expect((world_.terminated()[row] | world_.truncated()[row] | world_.ended()[row]) == 0,
             "flags of a reset", row);
  }

  void begin_all() { row_.assign(rows_, {}), at_.assign(worlds_, {}); }
  void begin(size_t w) {
    at_[w] = {};
    for (size_t row = w * agents_; row < (w + 1) * agents_; ++row) row_[row] = {};
  }
  void reset_worlds_that_are_over() {
    std::vector<uint8_t> mask(worlds_);
    for (size_t w = 0; w < worlds_; ++w)
      if (at_[w].is_over) mask[w] = 1, begin(w);
    ResetRequest request;
    request.mask = mask.data();
    agent_.reset(request), world_.reset(request);
  }

  static std::string row_of(Simulation& of, Output output, size_t row) {
    const std::span<char> bytes = of.row_of(output, int64_t(row));
    return {bytes.data(), bytes.size()};
  }
  size_t bytes_of_part(Output output, size_t count) {
    return size_t(agent_->output(output).bytes) / count;
  }
  std::string part(const Simulation& of, Output output, size_t number, size_t count) {
    const size_t bytes = bytes_of_part(output, count);
    const auto all = of.out<char>(output);
    return {all.data() + number * bytes, bytes};
  }
  void expect(bool holds, const std::string& what, size_t number) {
    if (!holds)
      fail(id_.c_str(), step_,
           std::string(name_of(mode_)) + ": " + what + " " + std::to_string(number) + " is wrong");
  }

  std::string id_;
  Autoreset mode_;
  EndsMet& met_;
  Simulation agent_, world_;
  size_t agents_, rows_, worlds_;
  std::vector<Row> row_;
  std::vector<World> at_;
  int step_ = 0;
};

/// On every environment of this binary, in every mode; `change` says how they are run.
template <class F>
void check_ends(F&& change) {
  EndsMet met;
  bool has_absent = false;
  for (const auto& [id, parameters] : small_runs())
    for (const Autoreset mode : kModes) {
      Config config;
      config.worlds = 3;
      config.autoreset = mode;
      config.max_episode_steps = 12;
      config.parameters = parameters;
      change(config);
      EndsTrial(id, config, met).run(16);
      has_absent = has_absent || id == "Troupe-v0" || id == "Fair-v0";
    }
  CHECK(met.last > 0 && met.frozen > 0);
  // Sanitized binaries lack the environment in which agents end early.
  CHECK(met.early > 0 || !has_absent);
  CHECK_EQ(met.absent > 0, has_absent);
}

}  // namespace ge::test
