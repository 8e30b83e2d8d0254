#include "engine/cpu/stage_clock.hpp"

#include <chrono>
#include <mutex>

namespace ge {

namespace {

std::atomic<bool> watched{false};

struct Clocks {
  std::mutex mutex;
  std::vector<StageClock*> all;
};
Clocks& clocks() {
  static Clocks found;
  return found;
}

}  // namespace

StageClock::StageClock(std::string_view name) : name_(name) {
  Clocks& found = clocks();
  const std::lock_guard lock(found.mutex);
  found.all.push_back(this);
}

uint64_t StageClock::now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

bool stages_are_watched() {
  return watched.load(std::memory_order_relaxed);
}

void watch_stages(bool on) {
  Clocks& found = clocks();
  const std::lock_guard lock(found.mutex);
  for (StageClock* clock : found.all) clock->nanoseconds_ = 0;
  watched = on;
}

std::vector<std::pair<std::string, double>> stage_seconds() {
  Clocks& found = clocks();
  const std::lock_guard lock(found.mutex);
  std::vector<std::pair<std::string, double>> seconds;
  for (const StageClock* clock : found.all)
    if (const uint64_t spent = clock->nanoseconds_; spent > 0)
      seconds.emplace_back(clock->name_, double(spent) * 1e-9);
  return seconds;
}

}  // namespace ge
