// Which kernel runs each launch, and in which shape: what the caller asks for, else what tuning has
// found, else the phase's first number of lanes; in shared memory where it fits, and a smaller
// block before a slab. See device.hpp.
#include <algorithm>
#include <set>

#include "engine/cuda/device.hpp"
#include "engine/cuda/tuning_table.hpp"

namespace ge::cuda {

namespace {

constexpr int kThreads = 128;  // of a block, where nobody has found better

const Tuning* find_tuning(const std::string& environment, int tier, const std::string& phase,
                          int architecture) {
  for (const Tuning& tuning : kTuning)
    if (environment == tuning.environment && tier == tuning.tier && phase == tuning.phase &&
        architecture == tuning.architecture)
      return &tuning;
  return nullptr;
}

/// Dynamic shared memory of a block: once its counts, then for each of its teams the staging area
/// and, unless that lies in the slab, the scratch of the team's worlds.
int64_t shared_bytes(const KernelVariant& variant, int threads) {
  return variant.counts +
         threads / variant.team * (variant.stage + (variant.slab ? 0 : variant.scratch));
}

}  // namespace

bool DeviceStore::fits(const KernelVariant& variant, int threads) const {
  return shared_bytes(variant, threads) <= shared_limit_;
}

PreparedLaunch DeviceStore::choose(const LaunchChoice& choice) const {
  const Tuning* const tuning = find_tuning(id_, tier_, choice.phase, architecture_);
  int lanes = config_.lanes > 0 ? config_.lanes : tuning != nullptr ? tuning->lanes : 0;
  const auto has = [&](const KernelVariant& variant) { return variant.lanes == lanes; };
  if (std::none_of(choice.variants.begin(), choice.variants.end(), has))
    lanes = choice.variants.front().lanes;
  // Shared memory before the slab, and a smaller block before a slab.
  for (const KernelVariant& variant : choice.variants) {
    if (variant.lanes != lanes) continue;
    int threads = config_.block > 0   ? config_.block
                  : tuning != nullptr ? tuning->threads
                                      : kThreads;
    threads = std::min(threads, variant.threads);
    // Such a block is one team: it has as many threads as a world has lanes, no more and no fewer.
    if (variant.lanes > 32) threads = variant.lanes;
    // Fewer teams share a block then; below one team there is nothing to halve.
    while (threads > variant.team && !fits(variant, threads)) threads /= 2;
    if (!fits(variant, threads)) continue;
    const int groups = threads / variant.team * variant.worlds;
    const int all = int((config_.worlds + groups - 1) / groups);
    const int shared = int(shared_bytes(variant, threads));
    // The most that may be asked for, not what this simulator asks: others share the kernel.
    GE_CUDA(kernels_.allow_shared(device_, variant.function, shared_limit_));
    int resident = 0;
    GE_CUDA(kernels_.resident(device_, variant.function, threads, shared, &resident));
    if (resident < 1)
      throw Error(Fault::device, id_ + ": no block of phase '" + choice.phase + "' with " +
                                     std::to_string(threads) + " threads fits on this GPU");
    int grid = choice.empty ? 1 : all;
    // The slab has room for the blocks that run at once, which then stride over the worlds.
    if (variant.slab) grid = std::min(all, resident * processors_);
    // A worklist is short, and nobody on the host knows how short.
    if (choice.from_list) grid = std::min(all, std::min(resident, 4) * processors_);
    const int64_t slab =
        variant.slab ? int64_t{grid} * (threads / variant.team) * variant.scratch : 0;
    const bool early = dependent() && (tuning == nullptr || tuning->dependent);
    return {choice.phase, variant.function, lanes, {grid, threads, shared, early}, slab};
  }
  throw Error(Fault::device,
              id_ + ": phase '" + choice.phase + "' needs more shared memory than the " +
                  std::to_string(shared_limit_) + " bytes that this GPU gives a block");
}

std::vector<PreparedLaunch> DeviceStore::prepare(const std::vector<LaunchChoice>& choices) {
  const DeviceGuard guard(device_);
  const int block = config_.block;
  if (block != 0 && block != 32 && block != 64 && block != 128 && block != 256)
    throw Error(Fault::value,
                "block must be 32, 64, 128 or 256 threads, or 0 for the tuned choice, got " +
                    std::to_string(block));
  std::vector<PreparedLaunch> made;
  int64_t slab = 0;
  for (const LaunchChoice& choice : choices) {
    made.push_back(choose(choice));
    // With the attributes set above: whatever may allocate or wait happens here, not in a step.
    load(made.back().function);
    slab = std::max(slab, made.back().slab_bytes);
  }
  // One slab for all launches: those of a simulator run one after the other.
  if (slab > slab_.bytes()) slab_ = DeviceMemory(slab);
  return made;
}

void DeviceStore::check_lanes(const std::vector<LaunchChoice>& choices,
                              const std::vector<PreparedLaunch>& step) const {
  const int wanted = config_.lanes;
  if (wanted == 0) return;
  for (const PreparedLaunch& launch : step)
    if (launch.lanes == wanted) return;
  std::set<int> compiled, listed;
  for (const LaunchChoice& choice : choices) {
    listed.insert(choice.lanes.begin(), choice.lanes.end());
    for (const KernelVariant& variant : choice.variants) compiled.insert(variant.lanes);
  }
  std::string known;
  for (const int lanes : compiled) known += (known.empty() ? "" : ", ") + std::to_string(lanes);
  std::string message = "lanes must be one of " + known + " for " + id_ +
                        ", or 0 for the tuned choice, got " + std::to_string(wanted);
  if (listed.contains(wanted))
    message += "; a build with GPU_ENVS_CUDA_LANES=all has " + std::to_string(wanted) + " as well";
  throw Error(Fault::value, message);
}

std::string describe(const std::vector<PreparedLaunch>& launches) {
  std::string text = "[";
  for (const PreparedLaunch& launch : launches) {
    if (text.size() > 1) text += ", ";
    text += "{\"phase\": \"" + launch.phase + "\", \"lanes\": " + std::to_string(launch.lanes) +
            ", \"threads\": " + std::to_string(launch.shape.threads) +
            ", \"blocks\": " + std::to_string(launch.shape.blocks) +
            ", \"shared_bytes\": " + std::to_string(launch.shape.shared) +
            ", \"slab_bytes\": " + std::to_string(launch.slab_bytes) +
            ", \"dependent\": " + (launch.shape.dependent ? "true" : "false") + "}";
  }
  return text + "]";
}

}  // namespace ge::cuda
