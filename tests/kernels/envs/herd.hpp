// Herd: a test-only environment whose number of rows is known at run time only. Its beasts hop over
// a ring of cells; they are sorted by cell, look at those of their own cell in squads, and are
// listed where they are alone. Nobody is meant to learn it.
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::herd {

using namespace ge;

struct Params {
  int32_t beast_count = 40;
  int32_t cell_count = 13;

  static constexpr auto describe() {
    return fields(field("beast_count", &Params::beast_count, "beasts of a world").within(1, 1e9),
                  field("cell_count", &Params::cell_count, "cells of the ring").within(1, 1 << 20));
  }
};
struct Hop {
  int32_t cells;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("cells", &Hop::cells, "how far the beast hops").one_of(5));
  }
};
struct Spot {
  uint32_t cell;
  float weight;
  static constexpr auto describe() {
    return fields(field("cell", &Spot::cell, "where the beast is").within(0, 1 << 20),
                  field("weight", &Spot::weight, "of the beast"));
  }
  static double highest(const Params& p, int field) {
    return field == 0 ? double(p.cell_count - 1) : kUnbounded;
  }
};
struct Company {
  float weight;
  uint32_t count;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("weight", &Company::weight, "of all in the cell"),
                  field("count", &Company::count, "of all in the cell"));
  }
};
struct Alone {
  uint32_t beast;
  static constexpr auto describe() {
    return fields(
        field("beast", &Alone::beast, "a beast that has its cell for itself").row_of("beasts"));
  }
};
struct Tally {
  float weight;
  uint32_t alone;
  static constexpr auto describe() {
    return fields(field("weight", &Tally::weight, "of the herd"),
                  field("alone", &Tally::alone, "beasts that are alone").any_value());
  }
};

struct Beasts : Agents<kAny, Spot, Hop, Company> {
  static constexpr const char* name = "beasts";
  static GE_FN int64_t count(const Params& p) { return p.beast_count; }
};
struct Order : Fixed<kAny, Sorted> {
  static constexpr const char* name = "order";
  static constexpr bool scratch = true;
  static GE_FN int64_t count(const Params& p) { return p.beast_count; }
};
struct Starts : Fixed<kAny, First> {
  static constexpr const char* name = "starts";
  static constexpr bool scratch = true;
  static GE_FN int64_t count(const Params& p) { return p.cell_count + 1; }
};
struct Loners : List<kAny, Alone> {
  static constexpr const char* name = "loners";
  static GE_FN int64_t count(const Params& p) { return p.beast_count / 4 + 1; }
};
struct Sums : Single<Tally> {
  static constexpr const char* name = "sums";
};
struct Schema {
  using Params = herd::Params;
  using Action = Hop;
  using Agent = Beasts;
  using tables = Types<Beasts, Order, Starts, Loners, Sums>;
  static constexpr Tuning tuning{.step_lanes = {32, 64}, .flat = true};
};
using W = World<Schema>;

GE_FN void scatter(const W& w, Slot beast, Spot& spot) {
  const Draw random = draw<"scatter">(w, beast.row);
  spot = {random.below(0, uint32_t(w.params().cell_count)), random.uniform(1)};
}
GE_FN void hop(const W& w, Spot& spot, const Hop& hop) {
  spot.cell = (spot.cell + uint32_t(hop.cells)) % uint32_t(w.params().cell_count);
}
GE_FN uint32_t cell_of(const W&, const Spot& spot) {
  return spot.cell;
}
GE_FN int64_t whole(float weight) {
  return int64_t(to_int(weight * 0x1p24f));
}
GE_FN void feel(const W& w, const Squad& squad, Company& company, const Spot& spot) {
  const int begin = int(get<Starts, First>(w, int(spot.cell)).place);
  const int end = int(get<Starts, First>(w, int(spot.cell) + 1).place);
  int64_t weight = 0;
  for (int place = begin + squad.lane(); place < end; place += squad.size())
    weight += whole(get<Beasts, Spot>(w, int(get<Order, Sorted>(w, place).row)).weight);
  company = {float(squad.sum(weight)) * 0x1p-24f, uint32_t(end - begin)};
}
GE_FN int beasts(const W& w) {
  return row_count<Beasts>(w);
}
GE_FN bool is_alone(const W& w, int beast) {
  return get<Beasts, Company>(w, beast).count == 1;
}
GE_FN void note_alone(const W&, int beast, Alone& alone) {
  alone.beast = uint32_t(beast);
}
GE_FN void pay(const W&, Reward& reward, const Company& company) {
  reward.value = company.weight;
}
GE_FN float weight_of(const W&, const Spot& spot) {
  return spot.weight;
}
GE_FN void tally(const W& w, float weight, Tally& tally) {
  tally = {weight, uint32_t(row_count<Loners>(w))};
}

// Where each beast of the same cell stands in it, by weight: the lightest of them is seen first.
struct Observation : WideRow<float> {
  static constexpr int capacity = 1 << 20;
  static constexpr bool complete = true;
  static GE_FN int elements(const Params& p) { return p.cell_count + 2; }
  static std::vector<FieldInfo> describe(const Params& p) {
    return {wide_field("lightest", {p.cell_count}, "by cell", -1, 1),
            wide_field("herd", {2}, "its weight, and who is alone", 0, 1e9)};
  }
};
GE_FN void look(const W& w, FloatRow& row, const Squad& squad, Slot me, const Spot& own) {
  const int cells = w.params().cell_count, count = row_count<Beasts>(w);
  row.fill(0, cells, [](int) GE_LAMBDA { return 2.0f; });
  squad.meet();
  for (int other = squad.lane(); other < count; other += squad.size()) {
    const Spot spot = get<Beasts, Spot>(w, other);
    if (other != me.row) row.lower(int(spot.cell), abs(spot.weight - own.weight));
  }
  squad.meet();
  row.fill(0, cells, [&](int k) GE_LAMBDA { return row.get(k) > 1.0f ? -1.0f : row.get(k); });
  const Tally tally = get<Tally>(w);
  row.fill(cells, 2, [&](int k) GE_LAMBDA { return k == 0 ? tally.weight : float(tally.alone); });
}

struct Environment {
  using Schema = herd::Schema;
  using Observation = herd::Observation;
  using Settle =
      Stages<SortRows<&cell_of, Beasts, Order, Starts>, EachTogether<&feel>,
             Emit<&beasts, &is_alone, &note_alone, Loners>, Reduce<&weight_of, Sum, &tally>>;
  using Reset = chain<Stages<Each<&scatter>>, Settle>;
  using Step = chain<Stages<Each<&hop>>, Settle, Stages<Each<&pay>>>;
  using Observe = Stages<ge::Observe<&look>>;
  static constexpr Card card{
      .doc = "A test: beasts in cells.", .max_episode_steps = 9, .agents = "beast_count"};
};
using Builds = ge::Builds<Build<"Herd-v0", Environment>>;

}  // namespace gpu_envs::envs::herd
