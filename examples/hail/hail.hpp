// Hail: shoot the stones that fall, before one of them reaches the ground.
//
//   who acts    one gunner, who walks along the ground and fires upwards
//   reward      1 for each stone that is struck; a large one breaks into two small ones
//   ends        when a stone reaches the ground; cut short after 300 steps
//
// An example of rows that come and go: a pool, Spawn, EmitPairs and Destroy. It describes no text
// and no picture: whole columns called x and y show as a grid by themselves.
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::hail {

using namespace ge;

inline constexpr int kWide = 8, kHigh = 12, kGround = kHigh - 1;
inline constexpr int kFall = 4;  // steps between two falls of the stones; shots rise in the others
inline constexpr float kHail = 0.08f;  // probability of a new stone in a step
inline constexpr int kSmall = 0, kLarge = 1, kShot = 2, kGunner = 3;

struct Order {
  int32_t word;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("word", &Order::word, "0 wait, 1 go left, 2 go right, 3 fire").one_of(4));
  }
};
struct Thing {
  int32_t x, y, kind;
  static constexpr auto describe() {
    return fields(
        field("x", &Thing::x, "column, from the left").within(0, kWide - 1),
        field("y", &Thing::y, "row, from the top").within(0, kGround),
        field("kind", &Thing::kind, "0 small stone, 1 large, 2 shot, 3 gunner").within(0, 3));
  }
};
/// A shot and a stone in one cell: their rows, and of the stone what its pieces are made of.
struct Hit {
  int32_t row, other, pieces, x, y;
  static constexpr auto describe() {
    return fields(field("row", &Hit::row, "of one"), field("other", &Hit::other, "of the other"),
                  field("pieces", &Hit::pieces, "that it breaks into"),
                  field("x", &Hit::x, "column"), field("y", &Hit::y, "row of the square"));
  }
};
struct View {
  uint8_t cells[4][kHigh][kWide];
  static constexpr auto describe() {
    return fields(
        field("cells", &View::cells, "1: such a thing is there, [kind][y][x]").within(0, 1));
  }
};
struct Gunner : Agents<1, Thing, Order> {
  static constexpr const char* name = "gunner";
};
struct Things : Pool<64, Thing> {
  static constexpr const char* name = "things";
};
struct Hits : List<16, Hit> {
  static constexpr const char* name = "hits";
  static constexpr bool scratch = true;
};
struct Schema {
  using Params = None;
  using Action = Order;
  using Agent = Gunner;
  using tables = Types<Gunner, Things, Hits>;
};
using W = World<Schema>;

GE_FN bool falls(const W& w) {
  return w.step() % kFall == 0;
}
GE_FN void begin(const W&, Thing& me) {
  me = {kWide / 2, kGround, kGunner};
}
GE_FN void walk(const W&, Thing& me, const Order& order) {
  me.x = clamp(me.x + (order.word == 2) - (order.word == 1), 0, kWide - 1);
}
GE_FN int shot_count(const W& w) {
  return get<Order>(w).word == 3 && !falls(w) ? 1 : 0;
}
GE_FN void fire(const W& w, int, Thing& shot) {
  shot = {get<Gunner, Thing>(w, 0).x, kGround, kShot};
}
GE_FN void move(const W& w, Thing& thing) {  // rows of both tables
  const int down = falls(w) ? int(thing.kind <= kLarge) : -int(thing.kind == kShot);
  thing.y = clamp(thing.y + down, 0, kGround);
}
GE_FN bool meet(const W& w, int row, int other) {
  const Thing a = get<Things, Thing>(w, row), b = get<Things, Thing>(w, other);
  return a.x == b.x && a.y == b.y && (a.kind == kShot) != (b.kind == kShot);
}
GE_FN void note(const W& w, int row, int other, Hit& hit) {
  const Thing a = get<Things, Thing>(w, row), b = get<Things, Thing>(w, other);
  hit = {row, other, a.kind + b.kind == kShot + kLarge ? 2 : 0, a.x, a.y};
}
GE_FN int piece_count(const W& w) {
  int count = 0;
  for (int k = 0; k < row_count<Hits>(w); ++k) count += get<Hits, Hit>(w, k).pieces;
  return count;
}
GE_FN void break_off(const W& w, int piece, Thing& made) {
  Hit hit = get<Hits, Hit>(w, 0);
  for (int k = 1; piece >= hit.pieces; hit = get<Hits, Hit>(w, k++)) piece -= hit.pieces;
  made = {clamp(hit.x + (piece == 0 ? -1 : 1), 0, kWide - 1), hit.y, kSmall};
}
GE_FN bool is_gone(const W& w, Slot me, const Thing& thing) {
  bool gone = thing.kind == kShot && thing.y == 0;
  for (int k = 0; k < row_count<Hits>(w); ++k)
    gone = gone || get<Hits, Hit>(w, k).row == me.row || get<Hits, Hit>(w, k).other == me.row;
  return gone;
}
GE_FN int32_t lands(const W&, const Thing& thing) {
  return thing.kind <= kLarge && thing.y == kGround ? 1 : 0;
}
GE_FN void judge(const W& w, int32_t landed, Reward& reward, Ending& ending) {
  reward.value = float(row_count<Hits>(w)), ending.terminated = uint32_t(landed);
}
GE_FN int stone_count(const W& w) {
  return draw<"hail">(w, 0).uniform(0) < kHail ? 1 : 0;
}
GE_FN void appear(const W& w, int, Thing& stone) {
  stone = {int32_t(draw<"column">(w, 0).below(0, kWide)), 0, kLarge};
}
GE_FN void look(const W& w, View& view, const Thing& me) {
  for (int k = 0; k < row_count<Things>(w); ++k) {
    const Thing thing = get<Things, Thing>(w, k);
    if (alive<Things>(w, k)) view.cells[thing.kind][thing.y][thing.x] = 1;
  }
  view.cells[kGunner][me.y][me.x] = 1;
}

struct Environment {
  using Schema = hail::Schema;
  using Observation = View;
  using Reset = Stages<EachWorld<&begin>>;
  // Pieces are made before the stone goes: a piece in its row would be destroyed in its place.
  using Step = Stages<EachWorld<&walk>, Spawn<&shot_count, &fire, Things>, Each<&move>,
                      EmitPairs<Things, Things, &meet, &note, Hits>,
                      Spawn<&piece_count, &break_off, Things>, Destroy<&is_gone, Things>,
                      Reduce<&lands, AnyOf, &judge>, Spawn<&stone_count, &appear, Things>>;
  using Observe = Stages<ge::Observe<&look>>;
  static constexpr Card card{.doc = "Shoot stones before one lands.", .max_episode_steps = 300};
};
using Builds = ge::Builds<Build<"Hail-v0", Environment>>;

}  // namespace gpu_envs::envs::hail
