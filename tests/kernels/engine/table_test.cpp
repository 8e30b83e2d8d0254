// Pools and handles: which slot a new row takes, what destruction leaves, when a handle is stale;
// against a plain model.
// runs always: crews meet in another order each time
#include "engine/cpu/entry.hpp"
#include "nothing.hpp"
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

struct Thing {
  int32_t number;
  uint8_t tag[2];
  uint8_t rest[2];
  static constexpr auto describe() {
    return fields(field("number", &Thing::number, "k-th of its spawn, from 1").any_value(),
                  field("tag", &Thing::tag, "any").any_value(),
                  field("rest", &Thing::rest, "any").any_value());
  }
};
/// What a step does: who dies, how many are born, and one handle to ask after.
struct Plan_ {
  uint32_t doomed[2];
  int32_t born;
  uint32_t slot, generation, found;
  static constexpr auto describe() {
    return fields(
        field("doomed", &Plan_::doomed, "bits").any_value(),
        field("born", &Plan_::born, "how many; none where it is negative").within(-2, 100),
        field("slot", &Plan_::slot, "of the handle").any_value(),
        field("generation", &Plan_::generation, "of the handle").any_value(),
        field("found", &Plan_::found, "1: the handle lives").within(0, 1));
  }
};

struct One : Agents<1, Nothing> {
  static constexpr const char* name = "one";
};
constexpr int kSlots = 40;
struct Things : Pool<kSlots, Thing> {
  static constexpr const char* name = "things";
};
struct Board : Single<Plan_> {
  static constexpr const char* name = "board";
};
struct Schema {
  using Params = None;
  using Action = Nothing;
  using Agent = One;
  using tables = Types<One, Things, Board>;
};
using W = World<Schema>;

bool is_doomed(const W& w, Slot slot, const Thing&) {
  return (get<Plan_>(w).doomed[slot.row / 32] >> (slot.row % 32) & 1u) != 0;
}
int born(const W&, const Plan_& plan) {
  return plan.born;
}
void make_thing(const W&, int k, Thing& thing) {
  thing.number = thing.number + k + 1;  // rows begin as zero
  thing.tag[1] = uint8_t(k);
}
void ask_after(const W& w, Plan_& plan) {
  plan.found = w.alive(Handle<Things>{plan.slot, plan.generation}) ? 1u : 0u;
}
void clear_plan(const W&, Plan_& plan) {
  plan = Plan_{};
}
void observe_nothing(const W&, Row&, const Fate&) {}

struct Environment {
  using Schema = ::Schema;
  using Observation = Row;
  using Reset = Stages<EachWorld<&clear_plan>>;
  using Step =
      Stages<EachWorld<&ask_after>, Destroy<&is_doomed, Things>, Spawn<&born, &make_thing, Things>>;
  using Observe = Stages<ge::Observe<&observe_nothing>>;
  static constexpr Card card{.doc = ""};
};

std::unique_ptr<Simulator> make(int64_t worlds, int crew = 1) {
  Config config;
  config.crew = crew;
  config.worlds = worlds;
  return make_simulator(cpu_entry<Builds<Build<"Pool-v0", Environment>>>(), "Pool-v0", config);
}

/// A pool as one would write it down.
struct Model {
  bool live[kSlots] = {};
  uint32_t generation[kSlots] = {};
  int32_t number[kSlots] = {};

  void destroy(int slot) {
    if (!live[slot]) return;
    live[slot] = false, number[slot] = 0, ++generation[slot];
  }
  int spawn(int count) {
    int made = 0;
    for (int slot = 0; slot < kSlots && made < count; ++slot)
      if (!live[slot]) live[slot] = true, number[slot] = ++made;
    return count - made;
  }
};

}  // namespace

namespace {

void check_pool(int crew) {
  constexpr int kWorlds = 19;
  Simulation simulation(make(kWorlds, crew));
  simulation.reset(1);
  std::vector<Model> models(kWorlds);
  int64_t dropped = 0;
  for (uint32_t step = 0; step < 60; ++step) {
    std::vector<uint32_t> doomed(2 * kWorlds), slots(kWorlds), generations(kWorlds);
    std::vector<int32_t> births(kWorlds);
    std::vector<uint32_t> found(kWorlds);
    for (uint32_t w = 0; w < kWorlds; ++w) {
      const Draw d = draw(9, 9, w, 0, step, 0, 0, 0);
      Model& model = models[w];
      doomed[2 * w] = d.word[0] & d.word[1], doomed[2 * w + 1] = d.word[1] & 0xff;
      births[w] = int32_t(d.below(2, 30)) - 2;
      const uint32_t slot = d.below(3, kSlots + 3);
      slots[w] = slot;
      generations[w] = slot < kSlots ? model.generation[slot] - (d.word[3] & 1) : 0;
      found[w] = slot < kSlots && model.live[slot] && model.generation[slot] == generations[w];
      for (int s = 0; s < kSlots; ++s)
        if (doomed[2 * w + uint32_t(s) / 32] >> (s % 32) & 1u) model.destroy(s);
      dropped += births[w] > 0 ? model.spawn(births[w]) : 0;
    }
    simulation.set("board.doomed", doomed);
    simulation.set("board.born", births);
    simulation.set("board.slot", slots);
    simulation.set("board.generation", generations);
    simulation.step({0});
    const auto live = simulation.get<uint32_t>("things.live"),
               generation = simulation.get<uint32_t>("things.generation");
    const auto number = simulation.get<int32_t>("things.number");
    CHECK(simulation.get<uint32_t>("board.found") == found);
    for (size_t w = 0; w < kWorlds; ++w)
      for (size_t s = 0; s < kSlots; ++s) {
        CHECK_EQ((live[2 * w + s / 32] >> (s % 32) & 1u) != 0, models[w].live[s]);
        CHECK_EQ(generation[w * kSlots + s], models[w].generation[s]);
        CHECK_EQ(number[w * kSlots + s], models[w].number[s]);
      }
  }
  CHECK(dropped > 0);
  const FaultReport report = simulation->faults();
  CHECK_EQ(report.tables.size(), size_t(1));
  CHECK_EQ(report.tables.at(0).name, "things");
  CHECK_EQ(report.tables.at(0).dropped, dropped);
}

}  // namespace

GE_TEST(pool_under_random_births_and_deaths_equals_a_plain_model) {
  check_pool(1);
}
GE_TEST(pool_of_a_crew_equals_a_plain_model) {
  check_pool(3);
}

GE_TEST(handle_of_a_row_that_was_destroyed_by_a_reset_is_stale) {
  Simulation simulation(make(1));
  simulation.reset(1);
  simulation.set<int32_t>("board.born", {3});
  simulation.step({0});
  simulation.set<int32_t>("board.born", {0});
  simulation.set<uint32_t>("board.slot", {2});
  simulation.step({0});
  CHECK_EQ(simulation.get<uint32_t>("board.found")[0], 1u);
  simulation.reset(ResetRequest{});
  CHECK_EQ(simulation.get<uint32_t>("things.live")[0], 0u);
  simulation.set<int32_t>("board.born", {3});
  simulation.step({0});
  simulation.set<uint32_t>("board.slot", {2});
  simulation.step({0});
  CHECK_EQ(simulation.get<uint32_t>("things.live")[0], 63u);
  CHECK_EQ(simulation.get<uint32_t>("board.found")[0], 0u);
}
