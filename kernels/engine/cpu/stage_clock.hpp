// Where a step's time goes: seconds per stage, over all simulators and threads of this process. Off
// by default; when on, a stage costs two clock reads and one update by its name per tile.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ge {

/// Turns the clocks on (from zero) or off.
void watch_stages(bool on);
/// Set by watch_stages: every stage reads it, so it is not behind a call.
extern std::atomic<bool> stages_watched;
/// Every stage that ran since, with its seconds.
std::vector<std::pair<std::string, double>> stage_seconds();

/// Times a stage for as long as it lives, if stages are watched. `text` is the type_text of the
/// stage: to find the name in it would cost more than a short stage.
class StageClock {
 public:
  explicit StageClock(std::string_view text)
      : text_(text), start_(stages_watched.load(std::memory_order_relaxed) ? now() : 0) {}
  ~StageClock() {
    if (start_ != 0) [[unlikely]]
      note();
  }
  StageClock(const StageClock&) = delete;

 private:
  // Counted from the machine's start, so never 0, which means that the clocks are off.
  static uint64_t now();  // [ns]
  void note() const;

  std::string_view text_;
  uint64_t start_;
};

}  // namespace ge
