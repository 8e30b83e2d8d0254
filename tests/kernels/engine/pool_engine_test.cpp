// The pool of threads: every part once, whoever calls, however often; exceptions, nesting, crews.
// Also run under the thread sanitizer.
// runs always: threads meet in another order each time
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/simulator/pool.hpp"
#include "test.hpp"

using namespace ge;

namespace {

/// Runs `parts` parts on `threads` threads and says whether each ran once, by a worker that exists.
bool covers(int64_t parts, int threads) {
  std::vector<std::atomic<int>> times(static_cast<size_t>(parts));
  std::atomic<bool> fine{true};
  parallel_for(parts, threads, [&](int64_t part, int worker) {
    ++times[size_t(part)];
    if (worker < 0 || worker >= threads) fine = false;
  });
  for (const auto& count : times) fine = fine && count == 1;
  return fine;
}

}  // namespace

GE_TEST(parts_of_any_number_run_once_on_any_number_of_threads) {
  for (const int64_t parts : {0, 1, 2, 3, 7, 100, 1000})
    for (const int threads : {1, 2, 3, 7, 16}) CHECK(covers(parts, threads));
}

GE_TEST(jobs_that_follow_each_other_with_changing_threads_stay_apart) {
  for (int job = 0; job < 500; ++job) CHECK(covers(1 + job % 13, 1 + job % 6));
}

GE_TEST(workers_never_share_a_number_at_the_same_time) {
  std::atomic<int> inside[8] = {};
  std::atomic<bool> shared{false};
  for (int job = 0; job < 200; ++job)
    parallel_for(50, 8, [&](int64_t, int worker) {
      if (++inside[worker] != 1) shared = true;
      --inside[worker];
    });
  CHECK(!shared);
}

GE_TEST(exception_of_a_part_comes_back_after_all_parts_have_run) {
  for (const int threads : {1, 2, 7}) {
    std::atomic<int> ran{0};
    const auto job = [&] {
      parallel_for(40, threads, [&](int64_t part, int) {
        ++ran;
        if (part % 10 == 3) throw std::runtime_error("part failed");
      });
    };
    CHECK_THROWS(job(), std::runtime_error, "part failed");
    CHECK(threads == 1 || ran == 40);
    CHECK(covers(40, threads));
  }
}

GE_TEST(job_inside_a_part_runs_alone_in_its_part) {
  std::atomic<int> sum{0};
  parallel_for(6, 3, [&](int64_t, int) {
    parallel_for(10, 3, [&](int64_t part, int worker) {
      sum += int(part);
      CHECK_EQ(worker, 0);
    });
  });
  CHECK_EQ(sum.load(), 6 * 45);
}

GE_TEST(many_callers_at_once_all_finish_their_own_jobs) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 8; ++caller)
    callers.emplace_back([&wrong, caller] {
      for (int job = 0; job < 60; ++job)
        if (!covers(1 + (job + caller) % 9, 1 + caller % 4)) ++wrong;
    });
  for (std::thread& thread : callers) thread.join();
  CHECK_EQ(wrong.load(), 0);
}

GE_TEST(crew_runs_all_members_at_once_and_meets_at_its_barrier) {
  for (const int size : {1, 2, 3, 5}) {
    constexpr int kRounds = 50;
    struct Shared {
      CrewBarrier barrier;
      std::vector<int> written;
      std::atomic<int> wrong{0};
      int size;
    } shared{CrewBarrier(size), std::vector<int>(size_t(size)), {}, size};
    const bool ran = run_crew(
        size,
        [](void* context, int64_t member, int) {
          Shared& s = *static_cast<Shared*>(context);
          for (int round = 1; round <= kRounds; ++round) {
            s.written[size_t(member)] = round;
            s.barrier.meet();
            for (const int other : s.written)
              if (other != round) ++s.wrong;
            s.barrier.meet();
          }
        },
        &shared);
    CHECK(ran);
    CHECK_EQ(shared.wrong.load(), 0);
  }
}

GE_TEST(crew_in_a_busy_pool_is_refused_and_runs_nothing) {
  std::atomic<int> ran{0}, refused{0};
  parallel_for(4, 2, [&](int64_t, int) {
    if (!run_crew(
            2, [](void* context, int64_t, int) { ++*static_cast<std::atomic<int>*>(context); },
            &ran))
      ++refused;
  });
  CHECK_EQ(ran.load(), 0);
  CHECK_EQ(refused.load(), 4);
  CHECK(covers(20, 3));
}

GE_TEST(processors_of_this_process_are_at_least_one) {
  CHECK(available_threads() >= 1);
}
