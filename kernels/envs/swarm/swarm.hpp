// What the games of swarms share: profiles, tables, the order of a step, and how worlds are run.
// Each task says who is in the swarm, how its agents move, what pays and what they see. Movement,
// neighbours and sight are kernels/spatial's.
#pragma once

#include "engine/environment.hpp"
#include "spatial/company.hpp"
#include "spatial/motion.hpp"
#include "spatial/scene.hpp"
#include "spatial/settings.hpp"
#include "spatial/text.hpp"
#include "spatial/vision.hpp"

namespace gpu_envs::envs::swarm {

using namespace ge;
using spatial::kOpen;

inline constexpr int kMostSectors = 1024;

/// Keys of a rotation and of a speed or its change: of the lowest value, the rest, the highest.
inline constexpr const char* kSteeringKeys = "d.as.w";

/// Whose rules and numbers hold where the user says nothing: those of the paper (its program is
/// Vogue), or those of floxs.
enum Profile : int32_t { kVogue, kFloxs };

/// The parameter `profile`, given the member of a task's Settings that holds it.
constexpr auto profile_field(auto member) {
  return field("profile", member,
               "source of the rules and numbers that are not given; vogue: the paper; floxs: that "
               "program")
      .named("vogue", "floxs");
}

/// The parameter `agent_radius`, given its member.
constexpr auto radius_field(auto member) {
  return field("agent_radius", member,
               "radius of an agent as others see it, in sides of the world; -1: the profile's "
               "value, vogue 0.0025, floxs 0.01")
      .within(kOpen, 1);
}

/// The parameter `empty_value`, given its member.
constexpr auto empty_value_field(auto member) {
  return field("empty_value", member, "value of a sector in which no agent is seen").within(-1, 1);
}

/// How worlds of a task are stored and run. Vectors hold neighbours of one agent, so interleaving
/// worlds gains nothing.
inline constexpr Tuning kSwarmTuning{
    .cpu_block = 1, .cuda_block = 1, .step_lanes = {128, 32}, .abreast = true, .flat = true};

/// What the schemas of all tasks say, of the agents of one.
template <class Agents, class Model>
struct TaskSchema {
  using Agent = Agents;
  using tables = concat<Types<Agents>, typename spatial::Tables<Model>::all>;
  static constexpr Tuning tuning = kSwarmTuning;
};

/// The graphs of a task, of which its Environment is made, given its systems.
template <class Model, auto kBegin, auto kMove, auto kPay, auto kObserve>
struct Graphs {
  using Reset = chain<Stages<Each<kBegin>>, spatial::Unsort<Model>>;
  // Rewards and observations are of the new positions, so all agents move first.
  using Step = chain<Stages<Each<kMove>>, spatial::Sort<Model>, Stages<EachTogether<kPay>>>;
  using Observe = chain<spatial::SortIfUnsorted<Model>, Stages<ge::Observe<kObserve>>>;
};

}  // namespace gpu_envs::envs::swarm
