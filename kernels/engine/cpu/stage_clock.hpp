// Where a step's time goes: seconds per stage, over all simulators and threads of this process. Off
// unless somebody asks; a stage then costs two looks at the clock per tile.
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
bool stages_are_watched();
/// Every stage that ran since, with its seconds.
std::vector<std::pair<std::string, double>> stage_seconds();

/// One stage's clock; lives as long as the process.
class StageClock {
 public:
  explicit StageClock(std::string_view name);
  void add(uint64_t nanoseconds) { nanoseconds_.fetch_add(nanoseconds, std::memory_order_relaxed); }
  static uint64_t now();

 private:
  friend void watch_stages(bool);
  friend std::vector<std::pair<std::string, double>> stage_seconds();
  std::string name_;
  std::atomic<uint64_t> nanoseconds_{0};
};

}  // namespace ge
