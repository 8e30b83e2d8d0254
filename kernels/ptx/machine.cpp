#include "ptx/machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "ptx/warp.hpp"

namespace ge::ptx {

namespace {

struct Freed {
  void operator()(char* at) const { std::free(at); }
};
/// Memory that is kept from launch to launch, and grows.
class Kept {
 public:
  char* get(size_t bytes) {
    if (bytes > size_) {
      size_ = (bytes + 4095) / 4096 * 4096;
      memory_.reset(static_cast<char*>(std::aligned_alloc(4096, size_)));
    }
    return memory_.get();
  }

 private:
  std::unique_ptr<char, Freed> memory_;
  size_t size_ = 0;
};

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == 0) return otherwise;
  char* end = nullptr;
  const uint64_t value = std::strtoull(text, &end, 0);
  if (*end != 0) throw Fault(std::string(variable) + " must be a number, got " + text);
  return value;
}

}  // namespace

Settings Settings::from_environment() {
  Settings made;
  made.counts = number_of("GPU_ENVS_PTX_COUNT", 0) != 0;
  made.races = number_of("GPU_ENVS_PTX_RACES", 0) != 0;
  made.shuffle = number_of("GPU_ENVS_PTX_SHUFFLE", 0);
  made.poison = uint32_t(number_of("GPU_ENVS_PTX_POISON", made.poison));
  made.limit = number_of("GPU_ENVS_PTX_LIMIT", made.limit);
  return made;
}

/// What blocks use, one after the other.
struct Machine::Parts {
  Kept shared;
  std::vector<Kept> registers, locals;  // by warp
  std::vector<Warp> warps;
  std::vector<Touch> touched;  // of shared memory
  uint32_t launches = 0, epoch = 0;
  Dice dice;
  uint64_t seeded = 0;
  const Module* module = nullptr;  // of the kernel that runs

  void begin(const Machine& machine, const Kernel& kernel, const Launch& launch, const char* params,
             const Extent& block, uint64_t number, Dice* chosen);
  void run(Dice* chosen);
  void pass_barrier();
};

/// Makes the warps of a block, and what they share.
void Machine::Parts::begin(const Machine& machine, const Kernel& kernel, const Launch& launch,
                           const char* params, const Extent& block, uint64_t number, Dice* chosen) {
  const Settings& settings = machine.settings;
  const auto threads = int64_t(launch.block.product());
  const auto count = size_t((threads + kLanes - 1) / kLanes);
  const int64_t fixed = round_up(kernel.shared_bytes, 16);
  const int64_t all =
      launch.dynamic_shared > 0 ? fixed + launch.dynamic_shared : kernel.shared_bytes;
  // Behind it there is room for the last word that is poisoned.
  char* const shared_at = shared.get(size_t(all) + 64);
  fill(shared_at, size_t(all), settings.poison);
  if (settings.races && touched.size() < size_t(all)) touched.resize(size_t(all));
  registers.resize(std::max(registers.size(), count));
  locals.resize(std::max(locals.size(), count));
  warps.resize(count);
  for (size_t w = 0; w < count; ++w) {
    Warp& warp = warps[w];
    Context& x = warp.context;
    const int64_t lanes = std::min<int64_t>(kLanes, threads - int64_t(w) * kLanes);
    x = Context{};
    x.memory = &machine.memory;
    x.shared = shared_at, x.shared_bytes = all;
    x.looks_for_races = settings.races;
    x.shared_touched = touched.data();
    x.params = params, x.param_bytes = kernel.param_bytes;
    x.launch = launches;
    // Numbers of threads are only compared with those of neighbours: they may wrap around.
    x.block_thread = int32_t(number * uint64_t(threads) & 0x3fffffff);
    x.block_threads = int32_t(threads);
    x.first_thread = x.block_thread + int32_t(w) * kLanes;
    x.is_dependent = launch.is_dependent;
    x.warp = int(w);
    x.local_bytes = kernel.local_bytes;
    if (kernel.local_bytes > 0) {
      x.local = locals[w].get(size_t(kernel.local_bytes) * kLanes);
      fill(x.local, size_t(kernel.local_bytes) * kLanes, settings.poison);
    }
    warp.block = block;
    warp.launch = &launch;
    warp.settings = &settings;
    warp.dice = chosen;
    warp.static_shared = fixed;
    warp.begin(*kernel.code, registers[w].get(kernel.frame_bytes),
               lanes == kLanes ? kAllLanes : (1u << lanes) - 1);
  }
}

/// Runs a block, from barrier to barrier.
void Machine::Parts::run(Dice* chosen) {
  std::vector<size_t> order(warps.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (;;) {
    ++epoch;
    if (chosen != nullptr) std::shuffle(order.begin(), order.end(), *chosen);
    size_t waiting = 0;
    for (const size_t w : order) {
      Warp& warp = warps[w];
      if (warp.is_done()) continue;
      warp.context.epoch = epoch;
      try {
        warp.run();
      } catch (const Fault& fault) {
        throw Fault(std::string(fault.what()) + "\n  warp " + std::to_string(w) +
                    warp.where(*module));
      }
      waiting += warp.is_done() ? 0 : 1;
    }
    if (waiting == 0) return;
    if (waiting < warps.size())
      throw Fault("a barrier at which " + std::to_string(warps.size() - waiting) +
                  " warps never arrive");
    pass_barrier();
  }
}
void Machine::Parts::pass_barrier() {
  const Instruction& first = warps.front().barrier();
  bool any = false, all = true;
  for (const Warp& warp : warps) {
    if (warp.barrier().constant != first.constant || warp.barrier().variant != first.variant)
      throw Fault("warps wait at different barriers");
    if (first.variant == kBarrier) continue;
    const uint32_t found = warp.predicate();
    any |= found != 0, all &= found == warp.context.alive;
  }
  for (Warp& warp : warps) warp.pass_barrier(first.variant == kBarrierAny ? any : all);
}

Machine::Machine(const Settings& chosen) : settings(chosen), parts_(std::make_unique<Parts>()) {}
Machine::~Machine() = default;

void Machine::run(Kernel& kernel, const Launch& launch, const char* params) {
  if (!kernel.refused.empty())
    throw Fault("not supported: " + kernel.refused + "\n  in " + kernel.name);
  Parts& parts = *parts_;
  if (settings.shuffle != parts.seeded) parts.dice.seed(parts.seeded = settings.shuffle);
  Dice* const dice = settings.shuffle != 0 ? &parts.dice : nullptr;
  const uint64_t blocks = launch.grid.product();
  parts.module = kernel.module;
  ++parts.launches;
  ++kernel.launches, kernel.blocks += blocks;
  kernel.threads += blocks * launch.block.product();
  std::vector<uint64_t> order;
  if (dice != nullptr) {
    order.resize(blocks);
    std::iota(order.begin(), order.end(), uint64_t{0});
    std::shuffle(order.begin(), order.end(), *dice);
  }
  for (uint64_t k = 0; k < blocks; ++k) {
    const uint64_t number = dice != nullptr ? order[k] : k;
    const Extent& grid = launch.grid;
    const Extent block{unsigned(number % grid.x), unsigned(number / grid.x % grid.y),
                       unsigned(number / grid.x / grid.y)};
    try {
      parts.begin(*this, kernel, launch, params, block, number, dice);
      parts.run(dice);
    } catch (const Fault& fault) {
      throw Fault(std::string(fault.what()) + "\n  block " + std::to_string(number) + " of " +
                  std::to_string(blocks) + " of " + kernel.name);
    }
  }
}

}  // namespace ge::ptx
