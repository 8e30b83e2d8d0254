// Whether worlds fit into memory, checked before anything is allocated, and the error for a user
// who asks for more: the bytes of a world and their purpose, how many worlds would fit, and if not
// even one does, with how many agents one would.
#pragma once

#include <string>

#include "engine/simulator/build.hpp"

namespace ge {

/// Bytes that every world needs: its record, its scratch memory where each world has its own, and
/// the observations of one step, including final ones if worlds are reset within a step.
struct WorldBytes {
  int64_t record = 0, scratch = 0, observation = 0;
  int64_t all() const { return record + scratch + observation; }
};
/// Needs no simulator, so it also serves settings that were refused (world_needs).
template <class E>
GE_COLD WorldBytes world_bytes(const held_of<typename E::Schema>& params, const Config& config,
                               Elements format) {
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  Shared<S> shared{};
  shared.params = params;
  shared.format = format;
  shared.role_form = config.roles;
  return {record_shape<Tables, kBlock<S>>(params).all_bytes(kBlock<S>) / kBlock<S>,
          scratch_bytes<Tables>(params),
          observation_bytes<E>(shared) * (config.autoreset == Autoreset::same_step ? 2 : 1)};
}

/// The memory of one world of other settings.
struct WorldNeeds {
  int64_t bytes;
  int agents;
};
template <class E>
GE_COLD WorldNeeds world_needs(const Config& config, Elements format) {
  using S = typename E::Schema;
  auto settings = from_values<typename SettingsOf<S>::type>(config.parameters, "parameter");
  const auto params = held<S>(resolve<S>(settings), config.varying);
  return {world_bytes<E>(params, config, format).all(), agents_with<S>(params)};
}

/// Bytes of a machine.
struct Memory {
  int64_t free, total;
  const char* advice = "";  // for who wants more than is free, and less than there is
};

/// The worlds to find memory for. Plain numbers and one function, so that the search in fitting.cpp
/// is compiled once and not per environment.
struct Lodgers {
  WorldBytes world;
  int64_t each;     // further bytes per world
  int block;        // worlds that are stored together
  const char* sum;  // of parameters that count agents
  WorldNeeds (*needs)(const Config& config, Elements format);
};
void check_fits(const PlanFacts& plan, const Lodgers& worlds, const Memory& memory,
                const std::string& place);

/// Throws if the worlds of a plan cannot fit at `place` (" on cuda:0"): their records, `each`
/// further bytes per world and one block's scratch must fit into free memory; the observations of
/// one step belong to the caller and may exist already, so they must only fit into the total.
template <class E>
GE_COLD void check_fits(const Plan<E>& plan, const Memory& memory, int64_t each,
                        const std::string& place = "") {
  check_fits(plan,
             Lodgers{world_bytes<E>(plan.params_, plan.config_, plan.format_), each,
                     kBlock<typename E::Schema>, E::card.agents, &world_needs<E>},
             memory, place);
}

}  // namespace ge
