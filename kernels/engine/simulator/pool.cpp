// See pool.hpp.
#include "engine/simulator/pool.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/base/platform.hpp"
#include "engine/base/platform_float_mode.hpp"

namespace ge {
namespace {

/// Spins briefly, then yields: the awaited thread may need the processor.
template <class F>
void spin_until(F&& done) {
  constexpr int kSpins = 2000;
  for (int spin = 0; !done(); ++spin) spin < kSpins ? relax_processor() : (void)sched_yield();
}

class Pool {
 public:
  ~Pool() {
    {
      std::lock_guard lock(sleep_mutex_);
      stop_.store(true);
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void run(int64_t parts, int helpers, PartFunction fn, void* context) {
    // Another caller's job is running: working alone is faster than waiting.
    std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner.owns_lock() || helpers <= 0) {
      for (int64_t part = 0; part < parts; ++part) fn(context, part, 0);
      return;
    }
    post(parts, helpers, fn, context, false);
  }

  bool crew(int size, PartFunction fn, void* context) {
    std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner.owns_lock()) return false;
    post(size, size - 1, fn, context, true);
    return true;
  }

 private:
  static constexpr int kSpins = 4000;

  // The gate: one word says which job is open, to how many helpers, and how many are inside. A
  // helper enters by counting itself in; the caller shuts the gate when the parts have run out and
  // waits only for those inside, so a helper that wakes late, as it will on a busy machine, costs
  // nobody anything.
  // Bits: 0 to 14 how many are inside, 15 shut, 16 to 31 helpers wanted, 32 on the number of the
  // job. A number of its own for each job, so that a helper that slept through one does not take
  // the next for it.
  static constexpr uint64_t kInside = 0x7fff, kShut = 0x8000;
  static uint64_t job_of(uint64_t gate) { return gate >> 32; }
  static uint64_t helpers_of(uint64_t gate) { return gate >> 16 & 0xffff; }

  void post(int64_t parts, int helpers, PartFunction fn, void* context, bool crew) {
    // Threads are made when first needed and kept; a helper that is not wanted this time sleeps on.
    grow(helpers);
    crew_ = crew;
    // Plain members: no helper is inside, and the store to the gate releases them to all that
    // enter.
    fn_ = fn;
    context_ = context;
    parts_ = parts;
    next_.store(0, std::memory_order_relaxed);
    {
      // Under the lock, so that a helper about to sleep cannot miss it.
      std::lock_guard lock(sleep_mutex_);
      const uint64_t job = job_of(gate_.load(std::memory_order_relaxed)) + 1;
      gate_.store(job << 32 | uint64_t(helpers) << 16, std::memory_order_release);
    }
    if (sleeping_.load() > 0) wake_.notify_all();
    work(0);
    // From here on no helper enters, so the data of the parts may end once those inside have left.
    gate_.fetch_or(kShut, std::memory_order_acq_rel);
    spin_until([&] { return (gate_.load(std::memory_order_acquire) & kInside) == 0; });
    if (failure_) {
      std::exception_ptr failure = nullptr;
      std::swap(failure, failure_);
      std::rethrow_exception(failure);
    }
  }

  void grow(int helpers) {
    while (int(threads_.size()) < helpers) {
      const int worker = int(threads_.size()) + 1;
      const uint64_t seen = job_of(gate_.load());
      threads_.emplace_back([this, worker, seen] { serve(worker, seen); });
    }
  }

  void work(int worker) {
    // Each worker runs the part of its own number: members wait for each other, so none takes two.
    if (crew_) return run_part(worker, worker);
    for (;;) {
      const int64_t part = next_.fetch_add(1, std::memory_order_relaxed);
      if (part >= parts_) return;
      run_part(part, worker);
    }
  }
  void run_part(int64_t part, int worker) {
    try {
      fn_(context_, part, worker);
    } catch (...) {
      std::lock_guard lock(failure_mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  /// Counts the worker in, if the job is open to it.
  bool enter(int worker) {
    uint64_t gate = gate_.load(std::memory_order_acquire);
    while ((gate & kShut) == 0 && uint64_t(worker) <= helpers_of(gate))
      if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        return true;
    return false;
  }

  void serve(int worker, uint64_t seen) {
    const FloatMode standard;
    const auto is_new = [&] { return job_of(gate_.load(std::memory_order_acquire)) != seen; };
    for (;;) {
      // Some microseconds: the next step is likely to come within them, and waking costs more.
      for (int spin = 0; spin < kSpins && !is_new(); ++spin) relax_processor();
      if (!is_new()) {
        std::unique_lock lock(sleep_mutex_);
        sleeping_.fetch_add(1);
        wake_.wait(lock, [&] { return stop_.load() || is_new(); });
        sleeping_.fetch_sub(1);
      }
      if (stop_.load()) return;
      seen = job_of(gate_.load(std::memory_order_acquire));
      if (!enter(worker)) continue;
      // The job may have changed between the two looks; it is the one entered that counts.
      seen = job_of(gate_.load(std::memory_order_acquire));
      work(worker);
      gate_.fetch_sub(1, std::memory_order_acq_rel);
    }
  }

  std::mutex owner_;
  std::vector<std::thread> threads_;
  std::atomic<uint64_t> gate_{kShut};
  std::atomic<int64_t> next_{0};
  std::atomic<int> sleeping_{0};
  std::atomic<bool> stop_{false};
  std::mutex sleep_mutex_;
  std::condition_variable wake_;
  PartFunction fn_ = nullptr;
  void* context_ = nullptr;
  int64_t parts_ = 0;
  bool crew_ = false;  // every worker has the part of its own number
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

std::atomic<Pool*> g_pool{nullptr};
std::mutex g_pool_mutex;

// A forked child has none of the parent's threads and may hold copies of locked mutexes: it drops
// the pool and starts another.
void forget_pool() {
  g_pool.store(nullptr);
  // Not unlocked: the thread that may hold it does not exist in the child.
  new (&g_pool_mutex) std::mutex();
}

Pool& pool() {
  Pool* found = g_pool.load(std::memory_order_acquire);
  if (found != nullptr) return *found;
  std::lock_guard lock(g_pool_mutex);
  if (g_pool.load() == nullptr) {
    static const int registered = pthread_atfork(nullptr, nullptr, forget_pool);
    (void)registered;
    // Never destroyed: helpers may be asleep in it when the process ends.
    g_pool.store(new Pool(), std::memory_order_release);
  }
  return *g_pool.load();
}

}  // namespace

int available_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    const int count = CPU_COUNT(&set);
    if (count > 0) return count;
  }
  const unsigned count = std::thread::hardware_concurrency();
  return count == 0 ? 1 : int(count);
}

void run_parts(int64_t parts, int threads, PartFunction fn, void* context) {
  const int64_t useful = parts < threads ? parts : threads;
  if (useful <= 1) {
    for (int64_t part = 0; part < parts; ++part) fn(context, part, 0);
    return;
  }
  pool().run(parts, int(useful) - 1, fn, context);
}

bool run_crew(int size, PartFunction fn, void* context) {
  return pool().crew(size, fn, context);
}

void CrewBarrier::meet() {
  // Read before arriving: afterwards the last one may begin the next round at any moment.
  const uint32_t round = round_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
    // Before the round: a thread that sees the new round may arrive again.
    arrived_.store(0, std::memory_order_relaxed);
    round_.store(round + 1, std::memory_order_release);
    return;
  }
  spin_until([&] { return round_.load(std::memory_order_acquire) != round; });
}

}  // namespace ge
