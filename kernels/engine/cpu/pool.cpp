// See pool.hpp.
#include "engine/cpu/pool.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace ge {
namespace {

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
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
    // Someone else's job is running: alone is better than in line.
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

  void post(int64_t parts, int helpers, PartFunction fn, void* context, bool crew) {
    grow(helpers);
    crew_ = crew;
    fn_ = fn;
    context_ = context;
    parts_ = parts;
    next_.store(0, std::memory_order_relaxed);
    pending_.store(helpers, std::memory_order_relaxed);
    {
      // Under the lock, so that a helper about to sleep cannot miss it.
      std::lock_guard lock(sleep_mutex_);
      // The number of helpers is part of the word: a helper that wakes late for a job that was not its own must not take
      // the next job's number for it.
      const uint64_t count = job_.load(std::memory_order_relaxed) >> 16;
      job_.store((count + 1) << 16 | uint64_t(helpers), std::memory_order_release);
    }
    if (sleeping_.load() > 0) wake_.notify_all();
    work(0);
    while (pending_.load(std::memory_order_acquire) > 0) relax();
    if (failure_) {
      std::exception_ptr failure = nullptr;
      std::swap(failure, failure_);
      std::rethrow_exception(failure);
    }
  }

  void grow(int helpers) {
    while (int(threads_.size()) < helpers) {
      const int worker = int(threads_.size()) + 1;
      const uint64_t seen = job_.load();
      threads_.emplace_back([this, worker, seen] { serve(worker, seen); });
    }
  }

  void work(int worker) {
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

  void serve(int worker, uint64_t seen) {
    for (;;) {
      for (int spin = 0; spin < kSpins && job_.load(std::memory_order_acquire) == seen; ++spin) relax();
      if (job_.load(std::memory_order_acquire) == seen) {
        std::unique_lock lock(sleep_mutex_);
        sleeping_.fetch_add(1);
        wake_.wait(lock, [&] { return stop_.load() || job_.load(std::memory_order_acquire) != seen; });
        sleeping_.fetch_sub(1);
      }
      if (stop_.load()) return;
      seen = job_.load(std::memory_order_acquire);
      if (uint64_t(worker) > (seen & 0xffff)) continue;
      work(worker);
      pending_.fetch_sub(1, std::memory_order_release);
    }
  }

  std::mutex owner_;
  std::vector<std::thread> threads_;
  std::atomic<uint64_t> job_{0};
  std::atomic<int64_t> next_{0};
  std::atomic<int> pending_{0};
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

// The child has none of the parent's threads and may hold copies of locked mutexes: it forgets the pool and begins anew.
void forget_pool() {
  g_pool.store(nullptr);
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
  const uint32_t round = round_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
    arrived_.store(0, std::memory_order_relaxed);
    round_.store(round + 1, std::memory_order_release);
    return;
  }
  constexpr int kSpins = 2000;
  for (int spin = 0; round_.load(std::memory_order_acquire) == round; ++spin)
    spin < kSpins ? relax() : (void)sched_yield();
}

}  // namespace ge
