// Actions on their way in, rows on their way out.
// environment: arena cartpole
#include <cmath>

#include "engine/cpu/entry.hpp"
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

struct Thrust {
  float turn, power[2];
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("turn", &Thrust::turn, "a bounded number").within(-1, 1),
                  field("power", &Thrust::power, "numbers without bounds"));
  }
};
struct Press {
  int32_t key;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("key", &Press::key, "a category").one_of(5));
  }
};
struct Echo {
  float turn, power[2];
  static constexpr auto describe() {
    return fields(field("turn", &Echo::turn, "as taken"), field("power", &Echo::power, "as taken"));
  }
};
struct Pilot : Agents<2, Echo, Thrust> {
  static constexpr const char* name = "pilot";
};
struct Schema {
  using Params = None;
  using Action = Thrust;
  using Agent = Pilot;
  using tables = Types<Pilot>;
};
using W = World<Schema>;

void echo(const W&, Echo& echo, const Thrust& thrust) {
  echo = {thrust.turn, {thrust.power[0], thrust.power[1]}};
}
void silence(const W&, Echo& echo) {
  echo = Echo{};
}
/// Single numbers and lists, of one type.
struct Row {
  int32_t number, flags[40], sets[2][3], tail, rest[3];
  static constexpr auto describe() {
    return fields(field("number", &Row::number, "one"), field("flags", &Row::flags, "many"),
                  field("sets", &Row::sets, "two"), field("tail", &Row::tail, "one"),
                  field("rest", &Row::rest, "three"));
  }
};
void observe(const W& w, Row& row, Slot agent, const Echo& echo) {
  row.number = -7;
  row.flags[0] = row.flags[31] = row.flags[32 + agent.row] = row.flags[39] = 1;
  row.sets[0][2] = 1, row.sets[1][0] = echo.turn > 0 ? 1 : 0;
  row.tail = 200;
  row.rest[2] = int32_t(w.step());
}
struct Environment {
  using Schema = ::Schema;
  using Observation = Row;
  using Reset = Stages<Each<&silence>>;
  using Step = Stages<Each<&echo>>;
  using Observe = Stages<ge::Observe<&observe>>;
  static constexpr Card card{.doc = ""};
};

std::unique_ptr<Simulator> make(int64_t worlds) {
  Config config;
  config.worlds = worlds;
  return make_simulator(cpu_entry<Builds<Build<"Pilot-v0", Environment>>>(), "Pilot-v0", config);
}
template <class T>
void act(Simulation& s, const std::vector<T>& values, Type type) {
  s->step({values.data(), type}, s.bound(), nullptr);
}

struct Taken {
  double value;
  bool bad;
  bool operator==(const Taken&) const = default;
};
template <class A, class From>
Taken taken(From value, double low, double high) {
  bool bad = false;
  const auto got = take_element<A>(value, low, high, bad);
  return {double(got), bad};
}

}  // namespace

GE_TEST(category_that_does_not_exist_becomes_0_and_is_counted) {
  CHECK((taken<Press, int64_t>(4, 0, 4) == Taken{4, false}));
  CHECK((taken<Press, int64_t>(5, 0, 4) == Taken{0, true}));
  CHECK((taken<Press, int64_t>(-1, 0, 4) == Taken{0, true}));
  CHECK((taken<Press, int64_t>((int64_t{1} << 32) + 3, 0, 4) == Taken{0, true}));
  CHECK((taken<Press, uint8_t>(255, 0, 4) == Taken{0, true}));
  CHECK((taken<Press, uint8_t>(240, 0, 999) == Taken{240, false}));
  CHECK((taken<Press, int32_t>(INT32_MIN, 0, 4) == Taken{0, true}));
}
GE_TEST(number_out_of_bounds_becomes_the_nearest_bound_and_is_counted) {
  CHECK((taken<Thrust, float>(0.5f, -1, 1) == Taken{0.5, false}));
  CHECK((taken<Thrust, float>(1.5f, -1, 1) == Taken{1, true}));
  CHECK((taken<Thrust, double>(-1e300, -1, 1) == Taken{-1, true}));
  CHECK((taken<Thrust, float>(INFINITY, -1, 1) == Taken{1, true}));
  CHECK((taken<Thrust, double>(-INFINITY, -1, 1) == Taken{-1, true}));
  CHECK((taken<Thrust, float>(NAN, -1, 1) == Taken{-1, true}));
  CHECK((taken<Thrust, float>(NAN, -kUnbounded, kUnbounded) == Taken{0, true}));
  CHECK((taken<Thrust, float>(1e30f, -kUnbounded, kUnbounded) == Taken{double(1e30f), false}));
}

GE_TEST(actions_of_either_floating_type_reach_the_rules) {
  Simulation s(make(2));
  s.reset(1);
  const std::vector<float> values{0.5f, 1, 2, -1, 3, 4, 1, 5, 6, 0, 7, -1e30f};
  const std::vector<float> turns{0.5f, -1, 1, 0}, powers{1, 2, 3, 4, 5, 6, 7, -1e30f};
  act(s, values, Type::float32);
  CHECK(s.get<float>("pilot.turn") == turns);
  CHECK(s.get<float>("pilot.power") == powers);
  s.reset(1);
  act(s, std::vector<double>(values.begin(), values.end()), Type::float64);
  CHECK(s.get<float>("pilot.turn") == turns);
  CHECK(s.get<float>("pilot.power") == powers);
}

GE_TEST(double_that_rounds_to_a_bound_is_within_it) {
  CHECK((taken<Thrust, double>(1 + 1e-9, -1, 1) == Taken{1, false}));
  CHECK((taken<Thrust, double>(1 + 1e-7, -1, 1) == Taken{1, true}));
  Simulation s(make(1));
  s.reset(1);
  act(s, std::vector<double>{1 + 1e-9, 0, 0, -1 - 1e-9, 0, 0}, Type::float64);
  CHECK(s.get<float>("pilot.turn") == (std::vector<float>{1, -1}));
  CHECK_THROWS(act(s, std::vector<double>{1 + 1e-7, 0, 0, 0, 0, 0}, Type::float64), Error,
               "actions: world 0, agent 0, component 0: 1.0000001 is not a number from -1 to 1");
}

GE_TEST(actions_of_every_whole_type_give_the_same_step) {
  std::string records[3];
  for (int k = 0; k < 3; ++k) {
    Config config;
    config.worlds = 5;
    Simulation s("CartPole-v0", config);
    s.reset(1);
    if (k == 0) act<int64_t>(s, {1, 0, 1, 1, 0}, Type::int64);
    if (k == 1) act<int32_t>(s, {1, 0, 1, 1, 0}, Type::int32);
    if (k == 2) act<uint8_t>(s, {1, 0, 1, 1, 0}, Type::uint8);
    records[k] = s.records();
  }
  CHECK(records[0] == records[1] && records[0] == records[2]);
}

GE_TEST(actions_of_the_rules_type_stay_where_they_are_and_others_share_one_room) {
  Config config;
  config.worlds = 5;
  Simulation s("CartPole-v0", config);
  const std::vector<int32_t> own{1, 0, 1, 1, 0};
  const std::vector<int64_t> wide(own.begin(), own.end());
  const std::vector<uint8_t> narrow(own.begin(), own.end());
  std::vector<char> room;
  CHECK(own_actions(*s, {own.data(), Type::int32}, room) == own.data());
  CHECK(room.empty());
  const void* const converted = own_actions(*s, {wide.data(), Type::int64}, room);
  CHECK(std::memcmp(converted, own.data(), 5 * sizeof(int32_t)) == 0);
  CHECK(own_actions(*s, {narrow.data(), Type::uint8}, room) == converted);
  CHECK(std::memcmp(converted, own.data(), 5 * sizeof(int32_t)) == 0);
}

GE_TEST(bad_actions_are_refused_by_name_before_any_world_moves) {
  Simulation s(make(2));
  s.reset(1);
  const std::string before = s.records();
  std::vector<float> values(12);
  values[9] = 1.5f;
  CHECK_THROWS(act(s, values, Type::float32), Error,
               "actions: world 1, agent 1, component 0: 1.5 is not a number from -1 to 1");
  values[9] = 0, values[4] = NAN;
  CHECK_THROWS(act(s, values, Type::float32), Error,
               "actions: world 0, agent 1, component 1: nan is not");
  CHECK_THROWS(act<int64_t>(s, std::vector<int64_t>(12), Type::int64), Error,
               "actions must be float32 or float64, got int64");
  CHECK_THROWS(s->step({nullptr, Type::float32}, s.bound(), nullptr), Error,
               "actions: there are none");
  CHECK(s.records() == before);
  Config config;
  config.worlds = 3000;
  Simulation carts("CartPole-v0", config);
  carts.reset(1);
  std::vector<int64_t> pushes(3000);
  pushes[2999] = 2;
  CHECK_THROWS(act(carts, pushes, Type::int64), Error,
               "actions: world 2999, agent 0: 2 is not one of 0 to 1");
  pushes[1500] = int64_t{1} << 32;
  CHECK_THROWS(act(carts, pushes, Type::int64), Error,
               "actions: world 1500, agent 0: 4.2949673e+09 is not one of 0 to 1");
  CHECK_THROWS(act(carts, std::vector<float>(3000), Type::float32), Error,
               "actions must be int64, int32 or uint8, got float32");
}

GE_TEST(observation_row_goes_out_in_the_order_of_its_fields) {
  CHECK_EQ(RowShape<Row>::elements, 1 + 40 + 6 + 1 + 3);
  Simulation s(make(19));
  s.reset(1);
  act(s, std::vector<float>(19 * 6, 1.0f), Type::float32);
  const auto seen = s.out<int32_t>(kObservation);
  CHECK_EQ(seen.size(), size_t(19 * 2 * 51));
  for (size_t row = 0; row < 38; ++row) {
    std::vector<int32_t> expected(51);
    expected[0] = -7;
    for (const size_t bit : {size_t{0}, size_t{31}, 32 + row % 2, size_t{39}})
      expected[1 + bit] = 1;
    expected[41 + 2] = 1, expected[44 + 0] = 1;
    expected[47] = 200;
    expected[50] = 1;
    CHECK(std::equal(expected.begin(), expected.end(), seen.begin() + long(row * 51)));
  }
}

GE_TEST(action_mask_and_state_have_types_and_shapes_of_their_own) {
  Config config;
  config.worlds = 3;
  Simulation s("Arena-v0", config);
  CHECK_EQ(name_of(s->output(kActionMask).type), std::string("int8"));
  CHECK_EQ(s->output(kActionMask).bytes, 3 * 4 * 7);
  CHECK_EQ(name_of(s->output(kState).type), std::string("float64"));
  CHECK_EQ(s->output(kState).bytes, 3 * 3 * 8);
  CHECK_EQ(name_of(s->output(kObservation).type), std::string("float32"));
  CHECK_EQ(s->output(kObservation).bytes, 3 * 4 * 15 * 4);
  s.reset(1);
  CHECK_EQ(s.out<double>(kState)[2], 2.0);
  for (const uint8_t legal : s.out<uint8_t>(kActionMask)) CHECK(legal <= 1);
}
