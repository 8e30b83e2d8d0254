// Arena: a test-only environment whose point is to use everything the engine has at once. Fighters
// steer, shoot, bump into each other and into boxes, overheat and leave at different times; nobody
// is meant to learn it.
//
//   tables     Fixed with a parameter as its count (fighters), Fixed (boxes), Pool over two words
//              of live bits (shots) whose handles the fighters hold, persistent List (marks),
//              singletons, scratch List, Pool and singleton
//   columns    float, double, uint8 (an odd number of bytes), int32, uint32; transient components
//   stages     every kind of graph.hpp, counts as numbers and as functions, tables that overflow
//   episodes   end for one agent or for the world, by the rules or cut short
#pragma once

#include "arena_tables.hpp"

namespace gpu_envs::envs::arena {

// ---- rules: acting

GE_FN bool is_out(const W& w, int fighter) {
  return (get<Fighters, Fate>(w, fighter).bits & Fate::kGone) != 0;
}

GE_FN void steer(const W&, Speed& speed, const Steer& action) {
  const float left = action.move == 1 ? 0.05f : 0.0f, right = action.move == 2 ? 0.05f : 0.0f;
  const float down = action.move == 3 ? 0.05f : 0.0f, up = action.move == 4 ? 0.05f : 0.0f;
  speed.x = speed.x + (right - left);
  speed.y = speed.y + (up - down);
}

GE_FN void pull_trigger(const W& w, Slot fighter, Ammo& ammo, Heat& heat, const Steer& action) {
  const bool fires =
      (action.fire == 1) & (ammo.cooldown == 0) & (ammo.shots != 0) & !is_out(w, fighter.row);
  ammo.firing = fires ? 1 : 0;
  ammo.shots = uint8_t(ammo.shots - (fires ? 1 : 0));
  ammo.cooldown = uint8_t(fires ? 2 : ammo.cooldown > 0 ? ammo.cooldown - 1 : 0);
  heat.value = heat.value + (fires ? 1.0 / 3.0 : 0.0);
  heat.peak = heat.value > heat.peak ? heat.value : heat.peak;
}

GE_FN int firing_count(const W& w) {
  int count = 0;
  for (int i = 0; i < row_count<Fighters>(w); ++i) count += get<Fighters, Ammo>(w, i).firing;
  return count;
}
// The k-th new shot belongs to the k-th fighter that fires.
GE_FN void fire(const W& w, int k, Body& body, Speed& speed, Shot& shot) {
  int owner = 0;
  for (int i = 0, seen = 0; i < row_count<Fighters>(w); ++i) {
    const bool firing = get<Fighters, Ammo>(w, i).firing != 0;
    owner = firing && seen == k ? i : owner;
    seen += firing ? 1 : 0;
  }
  const Body from = get<Fighters, Body>(w, owner);
  const Draw d = draw<"aim">(w, owner);
  body = {from.x, from.y, 0.05f};
  speed = {0.5f * d.uniform(0) - 0.25f, 0.5f * d.uniform(1) - 0.25f};
  shot = {owner, 0};
}

GE_FN bool is_firing(const W&, const Ammo& ammo) {
  return ammo.firing != 0;
}
GE_FN void lock_on(const W& w, Slot fighter, Lock& lock) {
  for (int row = 0; row < row_count<Shots>(w); ++row) {
    if (!alive<Shots>(w, row)) continue;
    const Shot shot = get<Shots, Shot>(w, row);
    if (shot.owner != fighter.row || shot.age != 0) continue;
    const Handle<Shots> handle = handle_of<Shots>(w, row);
    lock = {handle.slot, handle.generation};
  }
}

// ---- rules: moving

GE_FN int substep_count(const Params& params) {
  return params.substeps;
}

GE_FN Contact contact_of(const Body& a, const Body& b, int first, int second) {
  const float dx = a.x - b.x, dy = a.y - b.y;
  const float distance = sqrt(dx * dx + dy * dy + 1e-6f);
  const float depth = 0.5f * (a.radius + b.radius - distance);
  return {first, second, depth * dx / distance, depth * dy / distance};
}
GE_FN bool overlap(const Body& a, const Body& b) {
  const float dx = a.x - b.x, dy = a.y - b.y, reach = a.radius + b.radius;
  return dx * dx + dy * dy < reach * reach;
}
GE_FN bool fighters_touch(const W& w, int a, int b) {
  return overlap(get<Fighters, Body>(w, a), get<Fighters, Body>(w, b)) & !is_out(w, a) &
         !is_out(w, b);
}
GE_FN void make_contact(const W& w, int a, int b, Contact& contact) {
  contact = contact_of(get<Fighters, Body>(w, a), get<Fighters, Body>(w, b), a, b);
}
GE_FN bool box_touches(const W& w, int fighter, int box) {
  return overlap(get<Fighters, Body>(w, fighter), get<Boxes, Body>(w, box)) & !is_out(w, fighter);
}
GE_FN void make_box_contact(const W& w, int fighter, int box, Contact& contact) {
  contact = contact_of(get<Fighters, Body>(w, fighter), get<Boxes, Body>(w, box), fighter,
                       Fighters::capacity + box);
}

template <class T>
GE_FN void add_pushes(const W& w, int id, Push& push) {
  for (int i = 0; i < row_count<T>(w); ++i) {
    const Contact c = get<T, Contact>(w, i);
    const float sign = c.first == id ? 1.0f : c.second == id ? -1.0f : 0.0f;
    push.x = push.x + sign * c.x;
    push.y = push.y + sign * c.y;
  }
}
GE_FN void gather_pushes(const W& w, Push& push, const Solid& solid) {
  push = Push{};
  add_pushes<Contacts>(w, solid.id, push);
  add_pushes<BoxContacts>(w, solid.id, push);
}
GE_FN void give_way(const W&, Body& body, const Push& push) {
  body.x = body.x + push.x;
  body.y = body.y + push.y;
}
GE_FN void bounce(float& x, float& speed, float limit) {
  speed = x < -limit ? abs(speed) : speed;
  speed = x > limit ? -abs(speed) : speed;
  x = clamp(x, -limit, limit);
}
GE_FN void move(const W& w, Body& body, Speed& speed) {
  const float kept = 1.0f - w.params().drag, limit = w.params().size;
  body.x = body.x + speed.x;
  body.y = body.y + speed.y;
  speed.x = speed.x * kept;
  speed.y = speed.y * kept;
  if (w.params().walls) {
    bounce(body.x, speed.x, limit);
    bounce(body.y, speed.y, limit);
  }
}

// ---- rules: shots

GE_FN bool flies(const W&, const Shot& shot) {
  return shot.age < 100;
}
GE_FN void grow_older(const W&, Shot& shot) {
  shot.age = shot.age + 1;
}
GE_FN bool shot_hits(const W& w, int shot, int fighter) {
  return overlap(get<Shots, Body>(w, shot), get<Fighters, Body>(w, fighter)) & !is_out(w, fighter) &
         (get<Shots, Shot>(w, shot).owner != fighter);
}
GE_FN void make_hit(const W&, int shot, int fighter, Hit& hit) {
  hit = {shot, fighter};
}
GE_FN void hurt(const W& w, Slot fighter, Health& health) {
  for (int i = 0; i < row_count<Hits>(w); ++i)
    health.value = health.value - (get<Hits, Hit>(w, i).fighter == fighter.row ? 0.3f : 0.0f);
}
GE_FN bool is_spent(const W& w, Slot slot, const Shot& shot, const Body& body) {
  bool spent = (shot.age > 9) | (abs(body.x) > w.params().size) | (abs(body.y) > w.params().size);
  for (int i = 0; i < row_count<Hits>(w); ++i)
    spent = spent | (get<Hits, Hit>(w, i).shot == slot.row);
  return spent;
}

// Sparks fly where shots hit, more than there is room for: two of each hit, then some go out, then
// more come.
GE_FN int spark_count(const W& w) {
  return 2 * row_count<Hits>(w);
}
GE_FN void make_spark(const W& w, int k, Spark& spark) {
  const Hit hit = get<Hits, Hit>(w, k / 2);
  spark = {0.1 * (hit.fighter + 1) + 0.01 * k, k / 2, k % 2};
}
GE_FN bool is_cold(const W&, Slot slot, const Spark& spark) {
  return (spark.kind == 0) & (slot.row != 2);
}
GE_FN int late_spark_count(const W& w) {
  return row_count<Hits>(w) > 0 ? 1 : 0;
}
GE_FN void make_late_spark(const W&, int, Spark& spark) {
  spark = {0.7, -1, 1};
}
GE_FN double spark_heat(const W&, const Spark& spark) {
  return spark.heat;
}
GE_FN void store_spark_heat(const W&, double heat, Ledger& ledger) {
  ledger.heat = ledger.heat + heat;
}
GE_FN int32_t one_spark(const W&, const Spark&) {
  return 1;
}
GE_FN void count_sparks(const W&, int32_t count, Pass& pass) {
  pass.sparks = count;
}

// Hot guns cool in as many rounds as sparks live, so each world has its own number of rounds.
GE_FN void plan_cooling(const W& w, Pass& pass) {
  pass.left = pass.sparks + int32_t(w.step() % 3);
}
constexpr int kMostRounds = Sparks::capacity + 2;
GE_FN bool is_cooling(const W&, const Pass& pass) {
  return pass.left > 0;
}
GE_FN void cool(const W&, Heat& heat) {
  heat.value = heat.value * 0.9;
}
GE_FN void end_round(const W&, Pass& pass) {
  pass.left = pass.left - 1;
}

// ---- rules: looking and judging

constexpr int kRays = 2;
GE_FN int ray_count(const W& w) {
  return kRays * row_count<Fighters>(w);
}
GE_FN void cast_ray(const W& w, int i, Ray& ray) {
  const int fighter = i / kRays;
  const Body from = get<Fighters, Body>(w, fighter);
  float nearest = 10.0f;
  for (int box = 0; box < row_count<Boxes>(w); ++box) {
    const Body body = get<Boxes, Body>(w, box);
    const float along = i % kRays == 0 ? body.x - from.x : body.y - from.y;
    const float across = i % kRays == 0 ? body.y - from.y : body.x - from.x;
    nearest = (abs(across) < body.radius) & (abs(along) < nearest) ? abs(along) : nearest;
  }
  ray = {nearest, fighter};
}
GE_FN float ray_length(const W&, const Ray& ray) {
  return ray.distance;
}
GE_FN bool is_short(const W& w, int ray) {
  return get<Rays, Ray>(w, ray).distance < 1.0f;
}
GE_FN void make_warning(const W& w, int ray, Hit& warning) {
  warning = {-1 - ray, get<Rays, Ray>(w, ray).fighter};
}
GE_FN void store_nearest(const W&, float value, Tally& tally) {
  tally.nearest = value;
}
GE_FN void store_farthest(const W&, float value, Tally& tally) {
  tally.farthest = value;
}
// Over fighters, boxes and live shots.
GE_FN float energy(const W&, const Speed& speed) {
  return speed.x * speed.x + speed.y * speed.y;
}
GE_FN void store_energy(const W&, float value, Tally& tally) {
  tally.energy = value;
}
GE_FN int32_t one_in_game(const W& w, Slot fighter, const Health& health) {
  return !is_out(w, fighter.row) && health.value > 0.0f ? 1 : 0;
}
GE_FN void store_alive(const W&, int32_t count, Tally& tally) {
  tally.alive = count;
}
GE_FN int32_t alarm(const W&, Slot fighter, const Heat& heat) {
  return heat.value > 0.6 ? 1 << fighter.row : 0;
}
GE_FN void store_alarms(const W&, int32_t bits, Tally& tally) {
  tally.alarms = bits;
}
GE_FN int32_t age_of(const W&, const Shot& shot) {
  return shot.age;
}
GE_FN void store_oldest(const W&, int32_t age, Tally& tally) {
  tally.oldest = max(age, -1);
}
GE_FN bool is_alarmed(const W&, const Tally& tally) {
  return tally.alarms != 0;
}
GE_FN void panic(const W& w, Slot fighter, Health& health) {
  const int32_t alarms = get<Tally>(w).alarms;
  health.value = health.value - ((alarms >> fighter.row & 1) != 0 ? 0.05f : 0.0f);
}

GE_FN bool is_wounded(const W& w, int fighter) {
  return fighter < row_count<Fighters>(w) && get<Fighters, Health>(w, fighter).value < 0.75f;
}
GE_FN void make_mark(const W& w, int fighter, Mark& mark) {
  const Body body = get<Fighters, Body>(w, fighter);
  mark = {body.x, body.y, w.step()};
}

GE_FN void judge(const W& w, Reward& reward, Ending& ending, const Health& health, const Ammo& ammo,
                 const Lock& lock) {
  const Handle<Shots> handle{lock.slot, lock.generation};
  const float flying = w.alive(handle) ? 0.5f : 0.0f;
  const float warned = 0.001f * float(row_count<Warnings>(w));
  reward.value = 0.1f * health.value + flying - 0.01f * get<Tally>(w).nearest - warned;
  ending.terminated = health.value <= 0.0f ? 1u : 0u;
  ending.truncated = (ammo.shots == 0) & (w.step() > 12) ? 1u : 0u;
}
// The last one standing ends the game for itself too.
GE_FN void judge_world(const W& w, Verdict& verdict, const Tally& tally) {
  verdict.terminated = (tally.alive <= 1) & (row_count<Fighters>(w) > 1) ? 1u : 0u;
  verdict.truncated = tally.energy > 0.15f ? 1u : 0u;
}

// ---- rules: a new episode

// lint: allow parameters: a system names its components
GE_FN void place_fighter(const W& w, Slot slot, Body& body, Speed& speed, Solid& solid,
                         Health& health, Ammo& ammo, Lock& lock, Heat& heat) {
  const Draw d = draw<"place">(w, slot.row);
  const float reach = w.params().size * w.options().spread;
  body = {reach * (2.0f * d.uniform(0) - 1.0f), reach * (2.0f * d.uniform(1) - 1.0f), 0.3f};
  speed = {0.2f * d.uniform(2) - 0.1f, 0.2f * d.uniform(3) - 0.1f};
  solid = {slot.row};
  health = {1.0f};
  ammo = {uint8_t(w.options().ammunition), uint8_t(slot.row % 3), 0};
  lock = {~0u, 0u};
  heat = {0.25 * slot.row, 0.0};
}
GE_FN float box_place(const W& w, int row, int axis) {
  return w.params().size * (2.0f * draw<"boxes">(w, row, 1).uniform(axis) - 1.0f);
}
GE_FN void place_body(const W& w, Slot slot, Body& body, Speed& speed, Solid& solid) {
  body = {box_place(w, slot.row, 0), box_place(w, slot.row, 1), 0.4f};
  speed = Speed{};
  solid = {Fighters::capacity + slot.row};
}
GE_FN void clear_board(const W&, Tally& tally, Ledger& ledger) {
  tally = Tally{};
  ledger = Ledger{};
}
GE_FN void make_stray(const W& w, int k, Body& body, Speed& speed, Shot& shot) {
  const Draw d = draw<"strays">(w, k);
  body = {d.uniform(0), d.uniform(1), 0.05f};
  speed = {0.1f, -0.1f};
  shot = {-1, 0};
}
GE_FN void make_first_mark(const W&, int i, Mark& mark) {
  mark = {float(i), -float(i), 0};
}

// ---- observation

struct Observation {
  float body[4], flags[9], marks[2];

  static constexpr auto describe() {
    return fields(field("body", &Observation::body, "position and speed"),
                  field("flags", &Observation::flags,
                        "gun ready, last shot flies, walls; which fighters are near")
                      .within(0, 1),
                  field("marks", &Observation::marks, "how many; born when").within(0, 1e9));
  }
};
struct ActionMask {
  uint8_t legal[7];
  static constexpr auto describe() {
    return fields(field("legal", &ActionMask::legal, "moves, then fire").within(0, 1));
  }
};
struct State {
  double energy, heat, shots;
  static constexpr auto describe() {
    return fields(field("energy", &State::energy, "of everything"),
                  field("heat", &State::heat, "of sparks"),
                  field("shots", &State::shots, "in flight"));
  }
};

GE_FN void observe(const W& w, Observation& row, Slot slot, const Body& body, const Speed& speed,
                   const Ammo& ammo, const Lock& lock) {
  row.body[0] = body.x, row.body[1] = body.y, row.body[2] = speed.x, row.body[3] = speed.y;
  row.flags[0] = (ammo.cooldown == 0) & (ammo.shots != 0) ? 1.0f : 0.0f;
  row.flags[1] = w.alive(Handle<Shots>{lock.slot, lock.generation}) ? 1.0f : 0.0f;
  row.flags[2] = w.params().walls ? 1.0f : 0.0f;
  for (int i = 0; i < row_count<Fighters>(w); ++i)
    row.flags[3 + i] = (i != slot.row) & overlap(body, get<Fighters, Body>(w, i)) ? 1.0f : 0.0f;
  const int marks = row_count<Marks>(w);
  row.marks[0] = float(marks);
  row.marks[1] = marks > 0 ? float(get<Marks, Mark>(w, marks - 1).born) : 0.0f;
}
GE_FN void mask_actions(const W&, ActionMask& row, const Body&, const Ammo& ammo) {
  for (int choice = 0; choice < 6; ++choice) row.legal[choice] = 1;
  row.legal[6] = (ammo.cooldown == 0) & (ammo.shots != 0) ? 1 : 0;
}
GE_FN void show_state(const W& w, State& row, const Tally& tally, const Ledger& ledger) {
  int shots = 0;
  for (int i = 0; i < row_count<Shots>(w); ++i) shots += alive<Shots>(w, i) ? 1 : 0;
  row = {double(tally.energy), ledger.heat, double(shots)};
}

// ---- the graphs

using Act = Stages<Each<&steer>, Each<&pull_trigger>, Spawn<&firing_count, &fire, Shots>,
                   EachWhere<&is_firing, &lock_on>>;
using Move = Stages<
    Repeat<&substep_count, EmitPairs<Fighters, Fighters, &fighters_touch, &make_contact, Contacts>,
           EmitPairs<Fighters, Boxes, &box_touches, &make_box_contact, BoxContacts>,
           Each<&gather_pushes>, Each<&give_way>, Each<&move>>,
    Repeat<2, EachWhere<&flies, &grow_older>>,
    EmitPairs<Shots, Fighters, &shot_hits, &make_hit, Hits>, Each<&hurt>, Destroy<&is_spent, Shots>,
    Spawn<&spark_count, &make_spark, Sparks>, Destroy<&is_cold, Sparks>,
    Spawn<&late_spark_count, &make_late_spark, Sparks>,
    Reduce<&spark_heat, SumOf<double>, &store_spark_heat>,
    Reduce<&one_spark, SumInt, &count_sparks>, EachWorld<&plan_cooling>,
    Repeat<kMostRounds, When<&is_cooling, Each<&cool>, EachWorld<&end_round>>>>;
using Judge =
    Stages<For<&ray_count, &cast_ray, Rays>, Reduce<&ray_length, Min, &store_nearest>,
           Reduce<&ray_length, Max, &store_farthest>,
           Emit<&ray_count, &is_short, &make_warning, Warnings>,
           Reduce<&energy, Sum, &store_energy>, Reduce<&alarm, AnyOf, &store_alarms>,
           Reduce<&age_of, MaxInt, &store_oldest>, When<&is_alarmed, Each<&panic>>,
           Reduce<&one_in_game, SumInt, &store_alive>, Emit<6, &is_wounded, &make_mark, Marks>,
           Each<&judge>, EachWorld<&judge_world>>;

struct Environment {
  using Schema = arena::Schema;
  using Observation = arena::Observation;
  using ActionMask = arena::ActionMask;
  using State = arena::State;
  using Reset = Stages<Each<&place_body>, Each<&place_fighter>, EachWorld<&clear_board>,
                       Spawn<2, &make_stray, Shots>, For<3, &make_first_mark, Marks>>;
  using Step = chain<Act, Move, Judge>;
  using Observe =
      Stages<ge::Observe<&observe>, ObserveMask<&mask_actions>, ObserveState<&show_state>>;
  static constexpr Card card{.doc = "Everything the engine can do, at once.",
                             .max_episode_steps = 25,
                             .agents = "agent_count"};
};

using Builds = ge::Builds<Build<"Arena-v0", Environment>>;

}  // namespace gpu_envs::envs::arena
