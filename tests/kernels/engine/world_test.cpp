// Reading a world: the free functions, from rules that are members of a template and name neither
// `template` nor a namespace, so that they are found through their argument alone.
#include "engine/cpu/entry.hpp"
#include "nothing.hpp"
#include "simulation.hpp"

namespace readers {

struct Number {
  int32_t value;
  static constexpr auto describe() {
    return ge::fields(
        ge::field("value", &Number::value, "100 x the row of the reader").any_value());
  }
};
struct Mark {
  int32_t value;
  static constexpr auto describe() {
    return ge::fields(ge::field("value", &Mark::value, "10 x the row of the list").any_value());
  }
};
struct Ghost {
  uint32_t slot, generation;
  static constexpr auto describe() {
    return ge::fields(
        ge::field("slot", &Ghost::slot, "row of the pool that a handle names").any_value(),
        ge::field("generation", &Ghost::generation, "generation of that row").any_value());
  }
};
struct Seen {
  int32_t next, lone, readers, marks, ghosts;
  uint32_t live, named, words[4], block[4];
  static constexpr auto describe() {
    using ge::field;
    return ge::fields(
        field("next", &Seen::next, "number of reader 1").any_value(),
        field("lone", &Seen::lone, "number of the lone row").any_value(),
        field("readers", &Seen::readers, "rows of readers").any_value(),
        field("marks", &Seen::marks, "live rows of the list").any_value(),
        field("ghosts", &Seen::ghosts, "rows of the pool, dead ones included").any_value(),
        field("live", &Seen::live, "bit k: row k - 1 of the pool is alive").any_value(),
        field("named", &Seen::named, "1: the handle of row 1 is alive").any_value(),
        field("words", &Seen::words, "a draw").any_value(),
        field("block", &Seen::block, "block 3 of the same draw").any_value());
  }
};

template <int N>
struct Readers : ge::Agents<N, Number, ge::test::Nothing> {
  static constexpr const char* name = "readers";
};
struct Lone : ge::Single<Mark> {
  static constexpr const char* name = "lone";
};
struct Marks : ge::List<4, Mark> {
  static constexpr const char* name = "marks";
};
struct Ghosts : ge::Pool<3, Ghost> {
  static constexpr const char* name = "ghosts";
};
struct Notes : ge::Single<Seen> {
  static constexpr const char* name = "notes";
};

template <int N>
struct Schema {
  using Params = ge::None;
  using Action = ge::test::Nothing;
  using Agent = Readers<N>;
  using tables = ge::Types<Agent, Lone, Marks, Ghosts, Notes>;
};

template <int N>
struct Rules {
  using W = ge::World<Schema<N>>;

  static GE_FN void fill_number(const W&, ge::Slot me, Number& number) {
    number.value = 100 * me.row;
  }
  static GE_FN void fill_lone(const W&, Mark& mark) { mark.value = 7; }
  static GE_FN int two(const W&) { return 2; }
  static GE_FN void make_mark(const W&, int row, Mark& mark) { mark.value = 10 * row; }
  static GE_FN void make_ghost(const W& w, int k, Ghost& ghost) {
    ghost = {uint32_t(k), handle_of<Ghosts>(w, k).generation};
  }
  static GE_FN void look(const W& w, Seen& seen) {
    seen.next = get<Readers<N>, Number>(w, 1).value;
    seen.lone = get<Lone, Mark>(w, 0).value + get<Marks, Mark>(w, 1).value;
    seen.readers = row_count<Readers<N>>(w);
    seen.marks = row_count<Marks>(w);
    seen.ghosts = row_count<Ghosts>(w);
    seen.live = 0;
    for (int row = -1; row <= 3; ++row) seen.live |= (alive<Ghosts>(w, row) ? 1u : 0u) << (row + 1);
    seen.named = w.alive(handle_of<Ghosts>(w, 1)) ? 1u : 0u;
    const ge::Draw words = draw<"readers">(w, 5), block = draw<"readers">(w, 5, 3);
    for (int k = 0; k < 4; ++k) seen.words[k] = words.word[k], seen.block[k] = block.word[k];
  }
  /// A singleton is read without a row.
  static GE_FN void observe(const W& w, ge::test::Row& row, const Number& number) {
    row.value = float(number.value + get<Seen>(w).lone);
  }

  using Step = ge::Stages<ge::Each<&fill_number>, ge::EachWorld<&fill_lone>,
                          ge::For<&two, &make_mark, Marks>, ge::Spawn<&two, &make_ghost, Ghosts>,
                          ge::EachWorld<&look>>;
  using Observe = ge::Stages<ge::Observe<&observe>>;
};

template <int N>
struct Environment {
  using Schema = readers::Schema<N>;
  using Observation = ge::test::Row;
  using Reset = ge::Stages<>;
  using Step = typename Rules<N>::Step;
  using Observe = typename Rules<N>::Observe;
  static constexpr ge::Card card{.doc = "Readers: what rules read of a world."};
};
using Builds = ge::Builds<ge::Build<"Readers-v0", Environment<3>>>;

}  // namespace readers

namespace {

using namespace ge;
using namespace ge::test;

Simulation played() {
  Config config;
  config.worlds = 2;
  Simulation simulation(make_simulator(cpu_entry<readers::Builds>(), "Readers-v0", config));
  simulation.reset(11);
  simulation.step({0, 0, 0, 0, 0, 0});
  return simulation;
}

}  // namespace

GE_TEST(free_reads_name_table_component_and_row) {
  Simulation simulation = played();
  CHECK_EQ(simulation.get<int32_t>("notes.next")[1], 100);
  CHECK_EQ(simulation.get<int32_t>("notes.lone")[1], 17);
  CHECK(simulation.observation() == (std::vector<float>{17, 117, 217, 17, 117, 217}));
}
GE_TEST(free_counts_are_of_live_rows_of_a_list_and_all_rows_of_other_tables) {
  Simulation simulation = played();
  CHECK_EQ(simulation.get<int32_t>("notes.readers")[0], 3);
  CHECK_EQ(simulation.get<int32_t>("notes.marks")[0], 2);
  CHECK_EQ(simulation.get<int32_t>("notes.ghosts")[0], 3);
}
GE_TEST(rows_beyond_a_pool_and_rows_not_yet_born_are_not_alive) {
  Simulation simulation = played();
  CHECK_EQ(simulation.get<uint32_t>("notes.live")[0], 0b00110u);
  CHECK_EQ(simulation.get<uint32_t>("notes.named")[0], 1u);
}
GE_TEST(free_draws_are_a_function_of_seed_world_episode_step_stream_slot_and_block) {
  Simulation simulation = played();
  const auto words = simulation.get<uint32_t>("notes.words");
  const auto block = simulation.get<uint32_t>("notes.block");
  constexpr uint32_t stream = Name("readers").hash();
  for (uint32_t world = 0; world < 2; ++world)
    for (size_t k = 0; k < 4; ++k) {
      CHECK_EQ(words[4 * world + k], draw(11, 0, world, 0, 1, stream, 5, 0).word[k]);
      CHECK_EQ(block[4 * world + k], draw(11, 0, world, 0, 1, stream, 5, 3).word[k]);
    }
}
