// Which kernel and which block a launch gets (engine/cuda/shapes.hpp), for GPUs that are numbers.
#include <algorithm>

#include "engine/cuda/shapes.hpp"
#include "test.hpp"

namespace {

using namespace ge::cuda;

KernelVariant kernel(int lanes, int stage, int64_t scratch, bool slab = false) {
  const int team = std::max(lanes, 32);
  return {nullptr, lanes, slab, team, team / lanes, 0, stage, scratch, lanes > 32 ? lanes : 256};
}
/// With 227 KiB of shared memory, one more per block, and registers for this many warps.
Multiprocessors gpu(int warps_by_registers = 64) {
  return {132, 227 * 1024, [=](const KernelVariant&, int threads, int shared) {
            return std::min({228 * 1024 / (shared + 1024), warps_by_registers * 32 / threads, 32});
          }};
}
Wanted many() {
  return {1 << 20, false, 0, 0};
}
int warps(const Shape& shape) {
  return shape.resident * shape.threads / 32;
}

}  // namespace

GE_TEST(block_is_the_one_with_most_resident_warps) {
  // 150 KB fit once with 128 threads, 37 KB six times with 32.
  const auto shape = best_shape({kernel(32, 8464, 29088)}, many(), gpu());
  CHECK_EQ(warps(*shape), 6);
  CHECK(shape->threads < 128);
}
GE_TEST(block_is_the_usual_one_where_all_are_alike) {
  CHECK_EQ(best_shape({kernel(1, 0, 0)}, many(), gpu())->threads, 128);
  CHECK_EQ(best_shape({kernel(1, 0, 0)}, many(), gpu(40))->threads, 128);
}
GE_TEST(block_is_what_was_asked_for_as_far_as_it_fits) {
  Wanted wanted = many();
  wanted.threads = 256;
  CHECK_EQ(best_shape({kernel(1, 1000, 0)}, wanted, gpu())->threads, 256);
  CHECK_EQ(best_shape({kernel(32, 8464, 29088)}, wanted, gpu())->threads, 128);
  wanted.threads = 64;
  CHECK_EQ(best_shape({kernel(1, 1000, 0)}, wanted, gpu())->threads, 64);
}
GE_TEST(block_of_one_team_has_a_thread_per_lane) {
  Wanted wanted = many();
  wanted.threads = 64;
  CHECK_EQ(best_shape({kernel(128, 1000, 4000)}, wanted, gpu())->threads, 128);
}
GE_TEST(slab_is_taken_where_shared_memory_is_too_small) {
  const std::vector<KernelVariant> kernels{kernel(32, 4000, 300000),
                                           kernel(32, 4000, 300000, true)};
  CHECK(best_shape(kernels, many(), gpu())->variant->slab);
  CHECK(!best_shape({kernels[0]}, many(), gpu()).has_value());
}
GE_TEST(roomy_memory_takes_nothing_of_shared_memory) {
  KernelVariant roomy = kernel(8, 4000, 28000);
  roomy.roomy = 80000;
  CHECK_EQ(slab_bytes(roomy), 80000);
  CHECK_EQ(shared_bytes(roomy, 64), 2 * 32000);
  roomy.slab = true;
  CHECK_EQ(slab_bytes(roomy), 108000);
  CHECK_EQ(shared_bytes(roomy, 64), 2 * 4000);
  CHECK_EQ(slab_bytes(kernel(8, 4000, 28000)), 0);
}
GE_TEST(the_first_kernel_runs_whatever_the_number_of_worlds) {
  const std::vector<KernelVariant> kernels{kernel(8, 0, 0), kernel(1, 0, 0), kernel(32, 0, 0)};
  for (const int64_t worlds : {64, 2000, 100000})
    CHECK_EQ(best_shape(kernels, {worlds, false, 0, 0}, gpu())->variant->lanes, 8);
}
GE_TEST(few_worlds_are_spread_in_the_smallest_blocks) {
  CHECK_EQ(best_shape({kernel(8, 0, 0)}, {2000, false, 0, 0}, gpu())->threads, 32);
  CHECK_EQ(best_shape({kernel(8, 0, 0)}, {200000, false, 0, 0}, gpu())->threads, 128);
}
GE_TEST(lanes_that_are_asked_for_run_where_they_are_compiled) {
  const std::vector<KernelVariant> kernels{kernel(1, 0, 0), kernel(32, 0, 0)};
  CHECK_EQ(best_shape(kernels, {64, false, 32, 0}, gpu())->variant->lanes, 32);
  CHECK_EQ(best_shape(kernels, {64, true, 32, 0}, gpu())->variant->lanes, 32);
  CHECK_EQ(best_shape(kernels, {64, false, 4, 0}, gpu())->variant->lanes, 1);  // not compiled
}
