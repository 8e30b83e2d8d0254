// The rules: who may take and put what, who may walk where, and how soups cook. Exact in integers;
// the order of chefs matters in `interact` alone, which takes them one after the other.
#pragma once

#include "envs/overcooked/settings.hpp"

namespace gpu_envs::envs::overcooked {

// ---- objects

/// What a hand, a counter or a pot holds: one of these, or a soup: kOpen + recipe in a pot that
/// does not cook yet, kSoup + recipe once it cooks and ever after.
enum Item : uint8_t { kNothing, kOnion, kTomato, kDish, kOpen = 16, kSoup = 32 };

GE_FN bool is_open(int item) {
  return (item & kOpen) != 0;
}
GE_FN bool is_soup(int item) {
  return (item & kSoup) != 0;
}
GE_FN int recipe_of(int item) {
  return item & (kRecipes - 1);
}
GE_FN int onions_in(int item) {
  return recipe_of(item) >> 2;
}
GE_FN int tomatoes_in(int item) {
  return item & 3;
}
GE_FN int filling_of(int item) {
  return onions_in(item) + tomatoes_in(item);
}

// ---- components

enum Action : int32_t { kNorth, kSouth, kEast, kWest, kStay, kInteract };

struct Move {
  int32_t move;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("move", &Move::move, "0 north, 1 south, 2 east, 3 west, 4 stay, 5 interact")
                      .one_of(6));
  }
};

struct Chef {
  uint8_t cell, facing, held;
  static constexpr auto describe() {
    return fields(
        field("cell", &Chef::cell, "where the chef stands: x * height + y").row_of("cells"),
        field("facing", &Chef::facing, "0 north, 1 south, 2 east, 3 west").within(0, 3),
        field("held", &Chef::held,
              "0 nothing, 1 onion, 2 tomato, 3 dish, 32 + 4 * onions + tomatoes: soup")
            .within(0, kSoup + kRecipes - 1));
  }
};
// One word, so that looking through the kitchen is one load a cell.
struct alignas(2) Thing {
  uint8_t item, left;
  static constexpr auto describe() {
    return fields(
        field("item", &Thing::item,
              "on a counter as in a hand; in a pot also 16 + 4 * onions + tomatoes: not cooking")
            .within(0, kSoup + kRecipes - 1),
        field("left", &Thing::left, "steps until the soup in this pot is ready").any_value());
  }
};
/// Of the step that runs: a chef's own shaped reward, and everybody's rewards.
struct Earned {
  int32_t shaped;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("shaped", &Earned::shaped, "this chef's shaped reward in this step"));
  }
};
struct Takings {
  int32_t sparse, shaped;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("sparse", &Takings::sparse, "paid for soups in this step"),
                  field("shaped", &Takings::shaped, "of all chefs in this step"));
  }
};
struct Score {
  int32_t score, soups;
  static constexpr auto describe() {
    return fields(
        field("score", &Score::score, "paid for soups in this episode").within(0, 0x7fffffff),
        field("soups", &Score::soups, "soups that paid").within(0, 0x7fffffff));
  }
};
struct Parts {
  float sparse, shaped;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("sparse", &Parts::sparse, "paid for soups, the same for every chef"),
                  field("shaped", &Parts::shaped, "for useful acts of one's own"));
  }
};

// ---- tables

template <int kCells_, int kChefs_>
struct Tier {
  static constexpr int cells = kCells_, chefs = kChefs_;
};

template <class T>
struct Chefs : Agents<T::chefs, Chef, Move, Earned, Parts> {
  static constexpr const char* name = "chefs";
  static GE_FN constexpr int count(const Params& params) { return params.player_count; }
};
template <class T>
struct Kitchen : Fixed<T::cells, Thing> {
  static constexpr const char* name = "cells";
  static GE_FN constexpr int count(const Params& params) { return params.cell_count; }
};
struct Board : Single<Score, Takings> {
  static constexpr const char* name = "board";
};

/// What every row of planes begins with.
struct Assets {
  Asset<uint8_t> background;
};
Params resolve_settings(Settings& settings);
Assets lay_out(const Params& params, AssetMaker& make);

template <class T>
struct Schema {
  using Settings = overcooked::Settings;
  using Params = overcooked::Params;
  using Action = Move;
  using Agent = Chefs<T>;
  using tables = Types<Agent, Kitchen<T>, Board>;
  using Assets = overcooked::Assets;
  static Params resolve(Settings& settings) { return resolve_settings(settings); }
  static Assets make_assets(const Params& params, AssetMaker& make) {
    return lay_out(params, make);
  }
};
template <class T>
using W = World<Schema<T>>;
template <class T>
using Things = Rows<Kitchen<T>, Thing>;
template <class T>
using ChefRows = Rows<Chefs<T>, Chef>;

// ---- places

/// The cell in front; of a chef whom a caller has put on the border, some cell of the kitchen.
GE_FN int cell_ahead(const Params& p, int cell, int facing) {
  const int step = facing >= kEast ? p.height : 1;
  const int ahead = facing == kSouth || facing == kEast ? cell + step : cell - step;
  return clamp(ahead, 0, p.cell_count - 1);
}

/// A set of cells in registers: words are chosen by comparing, since an index would put them into
/// memory.
template <int kWords>
struct CellSet {
  uint64_t word[kWords] = {};

  /// Whether it was there already.
  GE_FN bool add(int cell) {
    const uint64_t bit = uint64_t{1} << (cell & 63);
    bool found = false;
    GE_UNROLL
    for (int k = 0; k < kWords; ++k) {
      const uint64_t mine = cell >> 6 == k ? bit : 0;
      found = found | ((word[k] & mine) != 0);
      word[k] |= mine;
    }
    return found;
  }
  GE_FN bool has(int cell) const {
    bool found = false;
    GE_UNROLL
    for (int k = 0; k < kWords; ++k)
      found = found | ((cell >> 6 == k) & ((word[k] >> (cell & 63) & 1) != 0));
    return found;
  }
};
template <class T>
using CellsOf = CellSet<(T::cells + 63) / 64>;

// ---- interacting

/// Pots that a dish may soon be needed for: cooking, ready, or with one or two ingredients.
template <class T>
/// A full pot that nobody has started (new dynamics) does not count, as in overcooked_ai.
GE_FN int useful_pots(const Params& p, const Things<T>& things) {
  int useful = 0;
  for (int k = 0; k < p.pot_count; ++k) {
    const int item = things.get(p.surface[k]).item;
    useful += is_soup(item) || (is_open(item) && filling_of(item) < 3) ? 1 : 0;
  }
  return useful;
}

/// What taking a dish pays: nothing where dishes enough are in hands or one lies on a counter.
template <class T>
/// As overcooked_ai's is_dish_pickup_useful has it, which knows two players only: else a chef could
/// earn by taking dishes and putting them down.
GE_FN int dish_pay(const Params& p, const ChefRows<T>& chefs, const Things<T>& things, int useful) {
  if (p.player_count != 2) return 0;
  const int dishes = (chefs.get(0).held == kDish ? 1 : 0) + (chefs.get(1).held == kDish ? 1 : 0);
  bool lying = false;
  for (int k = p.pot_count; k < p.surface_count; ++k)
    lying = lying | (things.get(p.surface[k]).item == kDish);
  return dishes < useful && !lying ? p.dish_reward : 0;
}

/// A chef at a pot; the shaped reward.
GE_FN int use_pot(const Params& p, Chef& chef, Thing& pot) {
  if (chef.held == kNothing) {
    // Started by hand; in the old dynamics cook() starts a pot of three by itself.
    if (p.dynamics == kNew && is_open(pot.item))
      pot = {uint8_t(kSoup + recipe_of(pot.item)), p.time[recipe_of(pot.item)]};
    return 0;
  }
  if (chef.held == kDish) {
    if (!is_soup(pot.item) || pot.left != 0) return 0;
    chef.held = pot.item;
    pot = Thing{};
    return p.soup_reward;
  }
  // A pot that cooks, or has three, takes no more.
  if (is_soup(chef.held) || is_soup(pot.item) || filling_of(pot.item) == 3) return 0;
  pot.item = uint8_t(kOpen + recipe_of(pot.item) + (chef.held == kOnion ? 4 : 1));
  chef.held = kNothing;
  return p.placement_reward;
}

/// One chef's interaction with the cell in front; the shaped reward.
template <class T>
GE_FN int use_place(const Params& p, int me, const ChefRows<T>& chefs, const Things<T>& things,
                    int useful, Takings& takings, Score& score) {
  Chef chef = chefs.get(me);
  const int ahead = cell_ahead(p, chef.cell, chef.facing), place = p.grid[ahead];
  int shaped = 0;
  if (place == kCounter) {
    const Thing lying = things.get(ahead);
    // Both full or both empty: nothing to put, nothing to take.
    if ((chef.held == kNothing) == (lying.item == kNothing)) return 0;
    things.set(ahead, {chef.held, 0});
    chef.held = lying.item;
  } else if (place == kPot) {
    Thing pot = things.get(ahead);
    shaped = use_pot(p, chef, pot);
    things.set(ahead, pot);
  } else if (place == kWindow) {
    if (!is_soup(chef.held)) return 0;
    // A soup that nobody ordered is worth 0, and gone all the same.
    const int value = p.value[recipe_of(chef.held)];
    takings.sparse += value;
    // Stops at the most, in episodes without a limit.
    score.score += min(value, 0x7fffffff - score.score);
    score.soups += (value != 0) & (score.soups != 0x7fffffff) ? 1 : 0;
    chef.held = kNothing;
  } else if (place != kFloor && chef.held == kNothing) {
    if (place == kDishes) shaped = dish_pay<T>(p, chefs, things, useful);
    chef.held = place == kOnions ? kOnion : place == kTomatoes ? kTomato : kDish;
  }
  chefs.set(me, chef);
  return shaped;
}

/// Chef 0 first: each sees what the earlier ones changed. Only `useful` is as the step found it.
template <class T>
GE_FN void interact(const W<T>& w, Takings& takings, Score& score, ChefRows<T> chefs,
                    Things<T> things, Rows<Chefs<T>, Earned> earned) {
  const Params& p = w.params();
  // As the step found it: overcooked_ai looks at the pots once, before anyone acts.
  const int useful = p.player_count == 2 ? useful_pots<T>(p, things) : 0;
  takings = Takings{};
  for (int me = 0; me < p.player_count; ++me) {
    int shaped = 0;
    if (get<Chefs<T>, Move>(w, me).move == kInteract)
      shaped = use_place<T>(p, me, chefs, things, useful, takings, score);
    takings.shaped += shaped;
    earned.set(me, {shaped});
  }
}

// ---- walking

/// Where a chef would stand after this step.
GE_FN int wanted_cell(const Params& p, const Chef& chef, int move) {
  if (move > kWest) return chef.cell;
  const int ahead = cell_ahead(p, chef.cell, chef.facing);
  return p.grid[ahead] == kFloor ? ahead : chef.cell;
}

/// All turn; then all walk, or, where two want one cell or each other's, nobody does. Since no two
/// stand on one cell, only a swap has two chefs cross one border between cells; a border is named
/// by the lower of its two cells.
template <class T>
GE_FN void walk(const W<T>& w, ChefRows<T> chefs) {
  const Params& p = w.params();
  CellsOf<T> wanted, crossed_across, crossed_along;
  bool collide = false;
  for (int me = 0; me < p.player_count; ++me) {
    Chef chef = chefs.get(me);
    const int move = get<Chefs<T>, Move>(w, me).move;
    if (move <= kWest) chef.facing = uint8_t(move);
    chefs.set(me, chef);
    const int to = wanted_cell(p, chef, move), border = to < chef.cell ? to : chef.cell;
    collide = collide | wanted.add(to);
    if (to == chef.cell) continue;
    // East and west are 2 and 3: they cross a border across, the others one along.
    collide = collide | (move >= kEast ? crossed_across.add(border) : crossed_along.add(border));
  }
  // One collision stops all chefs, also those far from it: so overcooked_ai has it.
  if (collide) return;
  for (int me = 0; me < p.player_count; ++me) {
    Chef chef = chefs.get(me);
    chef.cell = uint8_t(wanted_cell(p, chef, get<Chefs<T>, Move>(w, me).move));
    chefs.set(me, chef);
  }
}

// ---- cooking

template <class T>
GE_FN void cook(const W<T>& w, Things<T> things) {
  const Params& p = w.params();
  for (int k = 0; k < p.pot_count; ++k) {
    Thing pot = things.get(p.surface[k]);
    const int recipe = recipe_of(pot.item);
    if (p.dynamics == kOld && is_open(pot.item) && filling_of(pot.item) == 3)
      pot = {uint8_t(kSoup + recipe), p.time[recipe]};
    // Also in the step in which cooking begins.
    pot.left = uint8_t(pot.left - (pot.left != 0 ? 1 : 0));
    things.set(p.surface[k], pot);
  }
}

// ---- rewards

template <class T>
GE_FN void pay(const W<T>& w, Reward& reward, Parts& parts, const Earned& earned) {
  const Params& p = w.params();
  const Takings takings = get<Takings>(w);
  parts = {float(takings.sparse), float(earned.shaped)};
  const float shaped = p.shaped_total != 0 ? float(takings.shaped) : parts.shaped;
  reward.value = parts.sparse + p.shaping_factor * shaped;
}

// ---- a new episode

/// A recipe with 1 to 3 onions and up to 3 ingredients, from two words of a draw.
/// 4 * onions + tomatoes, as recipes are numbered.
GE_FN int random_recipe(const Draw& draw, int first) {
  const uint32_t onions = 1 + draw.below(first, 3);
  return int(4 * onions + draw.below(first + 1, 4 - onions));
}

template <class T>
GE_FN void set_table(const W<T>& w, Slot cell, Thing& thing) {
  const Params& p = w.params();
  thing = Thing{};
  if (p.random_objects <= 0 || p.grid[cell.row] != kPot) return;
  const Draw random = draw<"overcooked_pots">(w, cell.row);
  if (random.uniform(0) >= p.random_objects) return;
  const int recipe = random_recipe(random, 1);
  const bool cooks = random.uniform(3) < p.random_objects;
  thing.item = uint8_t((cooks ? kSoup : kOpen) + recipe);
  thing.left = cooks ? p.time[recipe] : uint8_t{0};
}

/// Onion three times in five, dish and soup once each.
GE_FN int random_item(const Params& p, const Draw& draw) {
  if (draw.uniform(0) >= p.random_objects) return kNothing;
  const uint32_t kind = draw.below(1, 5);
  return kind == 0 ? kDish : kind < 4 ? kOnion : kSoup + random_recipe(draw, 2);
}

template <class T>
GE_FN void clear_board(const W<T>&, Score& score) {
  score = Score{};
}

template <class T>
GE_FN void place_chefs(const W<T>& w, ChefRows<T> chefs) {
  const Params& p = w.params();
  CellsOf<T> taken;  // numbers of floor cells
  for (int me = 0; me < p.player_count; ++me) {
    Chef chef{p.start[me], kNorth, kNothing};
    if (p.random_positions != 0) {
      // The k-th floor cell that is free.
      int k = int(draw<"overcooked_starts">(w, me).below(0, uint32_t(p.floor_count - me)));
      int at = 0;
      for (; at < p.floor_count; ++at)
        if (!taken.has(at) && k-- == 0) break;
      taken.add(at);
      chef.cell = p.floor[at];
    }
    if (p.random_objects > 0) chef.held = uint8_t(random_item(p, draw<"overcooked_hands">(w, me)));
    chefs.set(me, chef);
  }
}

}  // namespace gpu_envs::envs::overcooked
