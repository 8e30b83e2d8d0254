// Chooses the kernel and shape of each launch by shapes.hpp, from the caller's options, the tuning
// table and the device's properties. See device.hpp.
#include <algorithm>
#include <set>

#include "engine/cuda/device.hpp"
#include "engine/cuda/tuning_table.hpp"
#include "engine/simulator/machine.hpp"

namespace ge::cuda {

namespace {

/// The narrowest of the rows that hold for `worlds` worlds.
const Tuning* find_tuning(const std::string& environment, int tier, const std::string& phase,
                          int architecture, int64_t worlds) {
  const Tuning* best = nullptr;
  for (const Tuning& tuning : kTuning) {
    if (environment != tuning.environment || tier != tuning.tier || phase != tuning.phase ||
        architecture != tuning.architecture)
      continue;
    const int64_t most = tuning.most_worlds;
    if (most != 0 && most < worlds) continue;
    if (best == nullptr || best->most_worlds == 0 || (most != 0 && most < best->most_worlds))
      best = &tuning;
  }
  return best;
}

Wanted wanted_of(const LaunchChoice& choice, const Tuning* tuning, int64_t worlds, int lanes,
                 int block) {
  const auto or_tuned = [&](int asked, int Tuning::* tuned) {
    return asked > 0 ? asked : tuning != nullptr ? tuning->*tuned : 0;
  };
  return {worlds, choice.from_list || choice.empty, or_tuned(lanes, &Tuning::lanes),
          or_tuned(block, &Tuning::threads)};
}

}  // namespace

PreparedLaunch DeviceStore::choose(const LaunchChoice& choice) const {
  const Tuning* const tuning = find_tuning(id_, tier_, choice.phase, architecture_, config_.worlds);
  const Multiprocessors gpu{
      processors_, shared_limit_, [&](const KernelVariant& variant, int threads, int shared) {
        // The most that can be requested, not this simulator's amount: others share the kernel.
        GE_CUDA(kernels_.allow_shared(device_, variant.function, shared_limit_));
        int blocks = 0;
        GE_CUDA(kernels_.resident(device_, variant.function, threads, shared, &blocks));
        return blocks;
      }};
  const auto shape =
      best_shape(choice.variants,
                 wanted_of(choice, tuning, config_.worlds, config_.lanes, config_.block), gpu);
  if (!shape)
    throw Error(Fault::device,
                id_ + ": phase '" + choice.phase + "' needs more shared memory than the " +
                    std::to_string(shared_limit_) + " bytes that this GPU gives a block");
  if (shape->resident < 1)
    throw Error(Fault::device, id_ + ": no block of phase '" + choice.phase + "' with " +
                                   std::to_string(shape->threads) + " threads fits on this GPU");
  const KernelVariant& variant = *shape->variant;
  const int teams = shape->threads / variant.team, groups = teams * variant.worlds;
  const int all = int((config_.worlds + groups - 1) / groups);
  int grid = choice.empty ? 1 : all;
  // The slab has room for the blocks that run at once, which then stride over the worlds.
  if (slab_bytes(variant) > 0) grid = std::min(all, shape->resident * processors_);
  // A worklist is short, and the host does not know how short: 16 warps per multiprocessor.
  const int some = std::max(1, std::min(shape->resident, 16 * 32 / shape->threads));
  if (choice.from_list) grid = std::min(all, some * processors_);
  const int64_t slab = int64_t{grid} * teams * slab_bytes(variant);
  const bool early = dependent() && (tuning == nullptr || tuning->dependent);
  const int warps = shape->resident * shape->threads / 32;
  return {choice.phase,  variant.function,
          variant.lanes, {grid, shape->threads, shape->shared, early},
          slab,          warps};
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
    // Loaded with the attributes set above: anything that may allocate or wait happens here, not in
    // a step.
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
            ", \"resident_warps\": " + std::to_string(launch.resident_warps) +
            ", \"dependent\": " + (launch.shape.dependent ? "true" : "false") + "}";
  }
  return text + "]";
}

}  // namespace ge::cuda

namespace ge {

std::string kernels_on_paper(const cuda::LaunchList& list, int64_t worlds, int lanes,
                             const PaperGpu& paper) {
  std::string text = "[";
  const auto add = [&](const cuda::LaunchChoice& choice) {
    const auto name = [&](const cuda::KernelVariant& variant) {
      return KernelName{list.environment, choice.graph, choice.launch, variant.lanes, variant.slab};
    };
    const cuda::Multiprocessors gpu{
        paper.processors, paper.shared_limit,
        [&](const cuda::KernelVariant& variant, int threads, int shared) {
          return paper.resident(name(variant), threads, shared);
        }};
    const cuda::Tuning* const tuning =
        cuda::find_tuning(list.id, list.tier, choice.phase, paper.architecture, worlds);
    const cuda::Wanted wanted = cuda::wanted_of(choice, tuning, worlds, lanes, 0);
    const auto chosen = cuda::best_shape(choice.variants, wanted, gpu);
    for (const cuda::KernelVariant& variant : choice.variants) {
      const auto shape = cuda::best_block(variant, wanted, gpu);
      if (!shape) continue;
      if (text.size() > 1) text += ", ";
      text += std::string("{\"environment\": \"") + list.environment +
              "\", \"graph\": " + std::to_string(choice.graph) +
              ", \"launch\": " + std::to_string(choice.launch) + ", \"phase\": \"" + choice.phase +
              "\", \"lanes\": " + std::to_string(variant.lanes) +
              ", \"slab\": " + (variant.slab ? "true" : "false") +
              ", \"threads\": " + std::to_string(shape->threads) +
              ", \"shared_bytes\": " + std::to_string(shape->shared) +
              ", \"resident_warps\": " + std::to_string(shape->resident * shape->threads / 32) +
              ", \"chosen\": " +
              (!list.flat && chosen && chosen->variant == &variant ? "true" : "false") + "}";
    }
  };
  for (size_t graph = 0; graph < std::size(list.graphs); ++graph)
    for (const cuda::LaunchChoice& choice : list.graphs[graph])
      if (choice.graph == int(graph)) add(choice);  // a kernel of another graph is listed there
  return text + "]";
}

}  // namespace ge
