// What the worlds of a block have in common (cuda/common.hpp), on emulated lanes: the words that
// are known are not read, and whatever is done to worlds the bits are those of groups of lanes,
// which read every word.
#include "engine/checking/lanes_entry.hpp"
//
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

struct Push {
  int32_t by;
  static constexpr bool transient = true;
  static constexpr auto describe() { return fields(field("by", &Push::by, "how far").one_of(3)); }
};
struct Place {
  uint32_t start, at;
  static constexpr auto describe() {
    return fields(field("start", &Place::start, "where the episode began").any_value(),
                  field("at", &Place::at, "where it is").any_value());
  }
};
struct Row {
  float at, episode;
  static constexpr auto describe() {
    return fields(field("at", &Row::at, "place"), field("episode", &Row::episode, "number"));
  }
};
struct Walker : Agents<1, Place, Push> {
  static constexpr const char* name = "walker";
};
struct Schema {
  using Params = None;
  using Action = Push;
  using Agent = Walker;
  using tables = Types<Walker>;
};
using W = World<Schema>;
static_assert(has_common<Schema>);

void begin(const W& w, Place& place) {
  place.start = place.at = draw<"start">(w, 0).below(0, 1000);
}
// Draws in every step, and ends one episode in eight.
void walk(const W& w, Place& place, Ending& ending, const Push& push) {
  const Draw d = draw<"walk">(w, 0);
  place.at += uint32_t(push.by) + d.below(0, 5);
  ending.terminated = d.below(1, 8) == 0 ? 1u : 0u;
}
void observe(const W& w, Row& row, const Place& place) {
  row = {float(place.at), float(w.episode())};
}
struct Environment {
  using Schema = ::Schema;
  using Observation = Row;
  using Reset = Stages<Each<&begin>>;
  using Step = Stages<Each<&walk>>;
  using Observe = Stages<ge::Observe<&::observe>>;
  static constexpr Card card{.doc = "", .max_episode_steps = 20};
};
using Made = Builds<Build<"Walk-v0", Environment>>;

// Two blocks of 32 and a part of one.
constexpr int64_t kWorlds = 70;
std::unique_ptr<Simulator> make(int lanes, Autoreset mode) {
  Config config;
  config.worlds = kWorlds;
  config.autoreset = mode;
  config.lanes = lanes;
  config.first_world = 3;
  return make_simulator(lanes_entry<Made>(), "Walk-v0", config);
}

/// One lane per world, which goes by what a block has in common, beside groups that do not.
class Twins {
 public:
  explicit Twins(Autoreset mode) : one_(make(1, mode)), group_(make(8, mode)) {}
  template <class F>
  void both(const char* what, F&& f) {
    f(one_), f(group_);
    if (one_.records() != group_.records()) fail(what, number_, "the records differ");
    if (one_.outputs() != group_.outputs()) fail(what, number_, "the outputs differ");
  }
  void steps(const char* what, int count) {
    for (int k = 0; k < count; ++k, ++number_)
      both(what, [&](Simulation& s) { s.step_random(5, uint32_t(number_)); });
  }

 private:
  Simulation one_, group_;
  int number_ = 0;
};

}  // namespace

GE_TEST(whatever_is_done_to_worlds_shows) {
  for (const Autoreset mode : kModes) {
    Twins twins(mode);
    twins.both("reset", [](Simulation& s) { s.reset(11); });
    twins.steps("after a reset", 30);
    std::vector<uint8_t> mask(kWorlds, 0);
    mask[5] = mask[40] = mask[69] = 1;
    twins.both("masked reset", [&](Simulation& s) {
      ResetRequest request;
      const uint64_t seed[] = {77};
      request.seeds = seed, request.mask = mask.data();
      s.reset(request);
    });
    twins.steps("after a masked reset", 12);
    twins.both("unseeded reset", [&](Simulation& s) {
      ResetRequest request;
      request.mask = mask.data();
      s.reset(request);
    });
    twins.steps("after an unseeded one", 6);
    twins.both("a seed for each", [](Simulation& s) {
      std::vector<uint64_t> seeds(kWorlds);
      for (int64_t k = 0; k < kWorlds; ++k) seeds[size_t(k)] = uint64_t(k / 2) << 31;
      ResetRequest request;
      request.seeds = seeds;
      s.reset(request);
    });
    twins.steps("after seeds for each", 12);
    twins.both("reset", [](Simulation& s) { s.reset(12); });
    twins.steps("after it", 4);
    twins.both("copies", [](Simulation& s) {
      const int64_t from[] = {0, 1, 69}, to[] = {33, 65, 2};
      s->copy_worlds(std::span(from).first(2), std::span(to).first(2), false);
      s->copy_worlds(std::span(from).last(1), std::span(to).last(1), true);
    });
    twins.steps("after copies", 12);
    twins.both("an end from outside", [](Simulation& s) {
      s.set<uint32_t>("world.over", {1, 1}, {1, 50});
      s.set<uint32_t>("walker.fate", {1, 3}, {1, 50});
      s.set<uint32_t>("world.seed_low", {9}, {64});
    });
    twins.steps("after an end from outside", 12);
    twins.both("observe", [](Simulation& s) { s->observe(s.bound(), nullptr); });
    twins.steps("after a look", 3);
  }
}

GE_TEST(words_that_are_known_are_not_read) {
  Simulation s(make(1, Autoreset::same_step)), other(make(1, Autoreset::same_step));
  for (Simulation* each : {&s, &other}) each->reset(3), each->step({1});
  // Behind the engine's back: what it does not hear of it does not see.
  const auto change = [&](Simulation& in, const char* name, int64_t world) {
    const Column& column = find_column(*in, name);
    std::string record = in.record(world);
    record[size_t(column.offset)] ^= 1;
    dynamic_cast<HostBase&>(*in).HostBase::write_records(world, 1, record.data());
  };
  for (const char* name : {"world.seed_low", "world.seed_high", "world.identity", "walker.fate"})
    change(s, name, 4);
  change(s, "world.over", 34);
  for (int k = 0; k < 30; ++k) {
    s.step({2}), other.step({2});
    CHECK(s.outputs() == other.outputs());
  }
  // And once it has heard of something it looks again.
  s.set<uint32_t>("walker.at", {5}, {4}), other.set<uint32_t>("walker.at", {5}, {4});
  s.step({2}), other.step({2});
  CHECK(s.outputs() != other.outputs());
}
