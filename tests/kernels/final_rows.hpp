// The rows of final observations in which no episode ended: zero, as they were, or cleared where
// the step before has filled them. And last states, beside those of worlds that stay as they ended.
#pragma once

#include "golden.hpp"

namespace ge::test {

/// Steps one environment in each of the three ways, and once with nothing to go by.
class FinalRowsTrial {
 public:
  FinalRowsTrial(const std::string& id, Config config)
      : id_(id),
        zero_(id, config),
        marked_(id, config),
        blind_(id, config),
        kept_(id, keeping(config)),
        rows_(zero_.rows()) {
    marked_.bound().final_rows = blind_.bound().final_rows = FinalRows::clear_ended;
    blind_.bound().at[kEnded] = nullptr;
  }

  void run(int steps) {
    bool mixed = false;
    for (Simulation* one : all()) one->reset(3);
    for (int step = 0; step < steps; ++step) {
      if (step == 1) reset_odd_worlds();  // from here on the worlds end at different steps
      const std::vector<uint8_t> before = marked_.ended();
      // Where nobody is to write, what is there stays: planted, and looked for behind the step.
      planted_.assign(size_t(rows_), false);
      for (int64_t row = step % 3; row < rows_; row += 3)
        if (before[size_t(row)] == 0) plant(marked_, row), planted_[size_t(row)] = true;
      for (int64_t row = 0; row < rows_; ++row) plant(kept_, row), plant(blind_, row);
      for (Simulation* one : all()) one->step_random(8, uint32_t(step));
      const std::vector<uint8_t> ended = zero_.ended();
      for (int64_t row = 0; row < rows_; ++row) judge(step, row, ended[size_t(row)] != 0);
      mixed = mixed || (std::count(ended.begin(), ended.end(), 0) > 0 &&
                        std::count(ended.begin(), ended.end(), 1) > 0);
      CHECK_EQ(zero_.outputs(), marked_.outputs());
    }
    CHECK(mixed);
  }

 private:
  static constexpr char kPlant = 0x5a;
  static Config keeping(Config config) {
    config.final_rows = FinalRows::keep;
    return config;
  }
  std::array<Simulation*, 4> all() { return {&zero_, &marked_, &blind_, &kept_}; }
  static std::string row_of(Simulation& of, int64_t row) {
    const std::span<char> bytes = of.row_of(kFinalObservation, row);
    return {bytes.data(), bytes.size()};
  }
  static void plant(Simulation& in, int64_t row) {
    std::ranges::fill(in.row_of(kFinalObservation, row), kPlant);
  }
  void reset_odd_worlds() {
    std::vector<uint8_t> mask(size_t(zero_->worlds()));
    for (size_t world = 1; world < mask.size(); world += 2) mask[world] = 1;
    ResetRequest request;
    request.mask = mask.data();
    for (Simulation* one : all()) one->reset(request);
  }
  void judge(int step, int64_t row, bool ended) {
    const std::string shown = row_of(zero_, row), plant(shown.size(), kPlant);
    const std::string nothing(shown.size(), '\0');
    const auto want = [&](Simulation& of, const char* name, const std::string& expected) {
      if (row_of(of, row) != expected)
        fail(id_.c_str(), 0,
             "row " + std::to_string(row) + " of step " + std::to_string(step) +
                 (ended ? ", which ends an episode" : "") + ": final_obs is wrong (" + name + ")");
    };
    if (!ended) want(zero_, "zero", nothing);
    want(blind_, "clear_ended without ended", shown);
    want(kept_, "keep", ended ? shown : plant);
    want(marked_, "clear_ended", ended || !planted_[size_t(row)] ? shown : plant);
    if (!ended) std::ranges::fill(marked_.row_of(kFinalObservation, row), '\0');
  }

  std::string id_;
  Simulation zero_, marked_, blind_, kept_;
  int64_t rows_;
  std::vector<bool> planted_;
};

/// Steps one environment whose worlds autoreset at once, and one whose worlds are reset by hand.
class FinalStatesTrial {
 public:
  FinalStatesTrial(const std::string& id, const Config& config)
      : id_(id),
        anew_(id, config),
        kept_(id, keeping(config)),
        staying_(id, staying(config)),
        agents_(anew_.rows() / anew_->worlds()),
        bytes_(size_t(anew_->output(kState).bytes / anew_->worlds())) {
    CHECK_EQ(anew_->output(kFinalState).bytes, anew_->output(kState).bytes);
    CHECK(!staying_->output(kFinalState).exists);
  }

  void run(int steps) {
    for (Simulation* one : {&anew_, &kept_, &staying_}) one->reset(3);
    const size_t worlds = size_t(anew_->worlds());
    std::vector<uint8_t> gone(size_t(anew_.rows()));
    for (int step = 0; step < steps; ++step) {
      std::vector<uint8_t> over(worlds), odd(worlds);
      for (size_t world = 1; world < worlds; world += 2) odd[world] = step == 1;
      for (Simulation* one : {&anew_, &kept_, &staying_})
        if (step == 1) restart(*one, odd, gone);
      std::memset(row_of(kept_, kFinalState, 0), kPlant, bytes_ * worlds);
      for (Simulation* one : {&anew_, &kept_, &staying_}) one->step_random(8, uint32_t(step));
      const std::vector<uint8_t> ended = staying_.ended();
      for (size_t world = 0; world < worlds; ++world) {
        int left = 0, ends = 0;
        for (size_t row = world * size_t(agents_); row < (world + 1) * size_t(agents_); ++row) {
          gone[row] = gone[row] | ended[row];
          left += gone[row] == 0, ends += ended[row];
        }
        over[world] = left == 0;
        ends_ += ends > 0, goes_on_ += ends == 0;
        judge(step, world, ends > 0);
      }
      restart(staying_, over, gone);
    }
    CHECK(ends_ > 0 && goes_on_ > 0);
  }

 private:
  static constexpr char kPlant = 0x5a;
  static Config keeping(Config config) {
    config.final_rows = FinalRows::keep;
    return config;
  }
  static Config staying(Config config) {
    config.autoreset = Autoreset::disabled;
    return config;
  }
  char* row_of(Simulation& of, Output output, size_t world) const {
    return static_cast<char*>(of.bound().at[output]) + world * bytes_;
  }
  void restart(Simulation& one, const std::vector<uint8_t>& worlds, std::vector<uint8_t>& gone) {
    if (std::count(worlds.begin(), worlds.end(), 1) == 0) return;
    for (size_t row = 0; row < gone.size(); ++row)
      if (worlds[row / size_t(agents_)] != 0) gone[row] = 0;
    ResetRequest request;
    request.mask = worlds.data();
    one.reset(request);
  }
  void judge(int step, size_t world, bool ends) {
    const std::string last(row_of(staying_, kState, world), bytes_);
    const auto want = [&](Simulation& of, const std::string& expected) {
      if (std::string(row_of(of, kFinalState, world), bytes_) != expected)
        fail(id_.c_str(), 0,
             "world " + std::to_string(world) + " of step " + std::to_string(step) +
                 (ends ? ", which ends an episode" : "") + ": final_state is wrong");
    };
    want(anew_, ends ? last : std::string(bytes_, '\0'));
    want(kept_, ends ? last : std::string(bytes_, kPlant));
  }

  std::string id_;
  Simulation anew_, kept_, staying_;
  int64_t agents_;
  size_t bytes_;
  int ends_ = 0, goes_on_ = 0;
};

/// On every environment of this binary, its worlds small; `change` says how they are run.
template <class F>
void check_final_rows(F&& change) {
  for (const auto& [id, parameters] : small_runs()) {
    Config config;
    config.worlds = 37;
    config.max_episode_steps = 3;
    config.parameters = parameters;
    change(config);
    FinalRowsTrial(id, config).run(8);
    if (make_simulator(id, config)->output(kState).exists) FinalStatesTrial(id, config).run(8);
  }
  // With agents that end before their world, whose last rows are zeros, and absent ones.
  Config config;
  config.worlds = 37;
  config.ends = Ends::world;
  config.max_episode_steps = 9;
  change(config);
  for (const auto& [id, parameters] : small_runs())
    if (id == "Arena-v0" || id == "Troupe-v0" || id == "Fair-v0")
      FinalRowsTrial(id, config).run(11);
}

}  // namespace ge::test
