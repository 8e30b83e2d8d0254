// See stage_clock.hpp.
#include "engine/cpu/stage_clock.hpp"

#include <pthread.h>

#include <chrono>
#include <map>
#include <mutex>

#include "engine/base/types.hpp"

namespace ge {

std::atomic<bool> stages_watched{false};

namespace {

struct Spent {
  std::mutex mutex;
  std::map<std::string, uint64_t, std::less<>> nanoseconds;  // of each stage
};
Spent& spent() {
  // Never destroyed: threads may still step when the process ends.
  static Spent& found = *new Spent;
  // A child has the sums as they were between two notes, and a lock that it can take.
  static const int registered = pthread_atfork(
      [] { spent().mutex.lock(); }, [] { spent().mutex.unlock(); }, [] { spent().mutex.unlock(); });
  (void)registered;
  return found;
}

}  // namespace

uint64_t StageClock::now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

// The clock is read before the lock is waited for. Nanoseconds of all threads are added up: a stage
// may have more of them than the step took.
void StageClock::note() const {
  const uint64_t end = now();
  Spent& found = spent();
  const std::string_view name = type_in(text_);
  const std::lock_guard lock(found.mutex);
  auto stage = found.nanoseconds.find(name);
  if (stage == found.nanoseconds.end())
    stage = found.nanoseconds.emplace(std::string(name), 0).first;
  stage->second += end - start_;
}

void watch_stages(bool on) {
  Spent& found = spent();
  const std::lock_guard lock(found.mutex);
  found.nanoseconds.clear();
  stages_watched = on;
}

std::vector<std::pair<std::string, double>> stage_seconds() {
  Spent& found = spent();
  const std::lock_guard lock(found.mutex);
  std::vector<std::pair<std::string, double>> seconds;
  for (const auto& [stage, nanoseconds] : found.nanoseconds)
    if (nanoseconds > 0) seconds.emplace_back(stage, double(nanoseconds) * 1e-9);
  return seconds;
}

}  // namespace ge
