// The rules: taking and putting, walking, cooking. All in integers. The order of chefs matters only
// in `interact`, which takes them one after the other.
#pragma once

#include "envs/overcooked/settings.hpp"

namespace gpu_envs::envs::overcooked {

// ---- objects

/// What a hand, a counter or a pot holds. A soup is kOpen + recipe in a pot that does not cook yet,
/// and kSoup + recipe from then on.
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

/// Action of a chef.
struct Move {
  int32_t move;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("move", &Move::move,
              "action of the chef, 0: north, 1: south, 2: east, 3: west, 4: stay, 5: interact")
            .one_of(6));
  }
};

/// Position, direction and hands of a chef.
struct Chef {
  uint8_t cell, facing, held;
  static constexpr auto describe() {
    return fields(field("cell", &Chef::cell, "cell of the chef, x * height + y").row_of("cells"),
                  field("facing", &Chef::facing,
                        "direction that the chef faces; 0: north, 1: south, 2: east, 3: west")
                      .within(0, 3),
                  field("held", &Chef::held,
                        "object in the chef's hands; 0: none, 1: onion, 2: tomato, 3: dish, 32 + 4 "
                        "* onions + tomatoes: soup")
                      .within(0, kSoup + kRecipes - 1));
  }
};
// Aligned to 2 bytes, so that a search of the kitchen takes one load per cell.
struct alignas(2) Thing {
  uint8_t item, left;
  static constexpr auto describe() {
    return fields(
        field("item", &Thing::item,
              "object on the cell; 0: none, 1: onion, 2: tomato, 3: dish, 16 + 4 * onions + "
              "tomatoes: pot that does not cook, 32 + 4 * onions + tomatoes: soup")
            .within(0, kSoup + kRecipes - 1),
        field("left", &Thing::left, "steps until the soup in this pot is ready").any_value());
  }
};
/// A chef's own reward of this step. Takings below are the rewards of all chefs.
struct Earned {
  int32_t shaped;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("shaped", &Earned::shaped, "shaped reward of the chef in this step"));
  }
};
struct Takings {
  int32_t sparse, shaped;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("sparse", &Takings::sparse, "value of the soups served in this step"),
        field("shaped", &Takings::shaped, "sum of the chefs' shaped rewards in this step"));
  }
};
/// Totals of the episode.
struct Score {
  int32_t score, soups;
  static constexpr auto describe() {
    return fields(
        field("score", &Score::score, "value of the soups served in this episode")
            .within(0, 0x7fffffff),
        field("soups", &Score::soups, "number of soups served in this episode that were ordered")
            .within(0, 0x7fffffff));
  }
};
struct Parts {
  float sparse, shaped;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("sparse", &Parts::sparse, "value of the soups served in this step by any chef"),
        field("shaped", &Parts::shaped, "shaped reward of the chef itself"));
  }
};

// ---- tables

/// A tier: its capacities, and the tables that have them.
template <int kCells, int kChefs>
struct Tier {
  static constexpr int cells = kCells, chefs = kChefs;
  struct Chefs : Agents<kChefs, Chef, Move, Earned, Parts> {
    static constexpr const char* name = "chefs";
    static GE_FN constexpr int count(const Params& params) { return params.player_count; }
  };
  struct Kitchen : Fixed<kCells, Thing> {
    static constexpr const char* name = "cells";
    static GE_FN constexpr int count(const Params& params) { return params.cell_count; }
  };
};

struct Board : Single<Score, Takings> {
  static constexpr const char* name = "board";
};

/// Planes of what never changes, with which every row of an observation begins.
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
  using Agent = typename T::Chefs;
  using tables = Types<Agent, typename T::Kitchen, Board>;
  using Assets = overcooked::Assets;
  using Varied = overcooked::Varied;
  static Params resolve(Settings& settings) { return resolve_settings(settings); }
  static Assets make_assets(const Params& params, AssetMaker& make) {
    return lay_out(params, make);
  }
};
// ---- places

/// The cell in front. Clamped, because `simulator.set` may have put a chef on the border.
GE_FN int cell_ahead(const Params& p, int cell, int facing) {
  const int step = facing >= kEast ? p.height : 1;
  const int ahead = facing == kSouth || facing == kEast ? cell + step : cell - step;
  return clamp(ahead, 0, p.cell_count - 1);
}

/// Cell of a chef after this step if no chefs collide.
GE_FN int wanted_cell(const Params& p, const Chef& chef, int move) {
  if (move > kWest) return chef.cell;
  const int ahead = cell_ahead(p, chef.cell, chef.facing);
  return p.grid[ahead] == kFloor ? ahead : chef.cell;
}

// ---- pots

/// A chef's interaction with a pot; returns its shaped reward.
GE_FN int use_pot(const Params& p, const Varied& v, Chef& chef, Thing& pot) {
  if (chef.held == kNothing) {
    // In the old dynamics `cook` starts a pot of three instead.
    if (p.dynamics == kNew && is_open(pot.item))
      pot = {uint8_t(kSoup + recipe_of(pot.item)), p.time[recipe_of(pot.item)]};
    return 0;
  }
  if (chef.held == kDish) {
    if (!is_soup(pot.item) || pot.left != 0) return 0;
    chef.held = pot.item;
    pot = Thing{};
    return v.soup_reward;
  }
  // A pot that cooks or is full takes no ingredient.
  if (is_soup(chef.held) || is_soup(pot.item) || filling_of(pot.item) == 3) return 0;
  pot.item = uint8_t(kOpen + recipe_of(pot.item) + (chef.held == kOnion ? 4 : 1));
  chef.held = kNothing;
  return v.placement_reward;
}

// ---- random objects

/// A recipe with 1 to 3 onions and at most 3 ingredients, from two words of a draw.
GE_FN int random_recipe(const Draw& draw, int first) {
  const uint32_t onions = 1 + draw.below(first, 3);
  return int(4 * onions + draw.below(first + 1, 4 - onions));
}

/// An onion with probability 3/5, a dish or a soup with 1/5 each.
GE_FN int random_item(float probability, const Draw& draw) {
  if (draw.uniform(0) >= probability) return kNothing;
  const uint32_t kind = draw.below(1, 5);
  return kind == 0 ? kDish : kind < 4 ? kOnion : kSoup + random_recipe(draw, 2);
}

// ---- rules

template <class T>
struct Rules {
  using W = World<Schema<T>>;
  using Chefs = typename T::Chefs;
  using Kitchen = typename T::Kitchen;
  using ChefRows = Rows<Chefs, Chef>;
  using Things = Rows<Kitchen, Thing>;

  /// A set of cells in registers. Words are chosen by comparison, since an index would move them to
  /// memory.
  struct CellSet {
    static constexpr int kWords = (T::cells + 63) / 64;
    uint64_t word[kWords] = {};

    /// Returns whether the cell was in the set already.
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

  // ---- interacting

  /// Number of pots for which a dish may soon be needed: cooking, ready, or with one or two
  /// ingredients. A full pot that nobody has started (new dynamics) does not count, as in
  /// overcooked_ai.
  static GE_FN int useful_pots(const Params& p, const Things& things) {
    int useful = 0;
    for (int k = 0; k < p.pot_count; ++k) {
      const int item = things.get(p.surface[k]).item;
      useful += is_soup(item) || (is_open(item) && filling_of(item) < 3) ? 1 : 0;
    }
    return useful;
  }

  /// Whether taking a dish is rewarded: not where enough dishes are in hands or one lies on a
  /// counter, so that taking dishes and putting them down earns nothing. As in overcooked_ai's
  /// is_dish_pickup_useful, which is defined for two players only.
  static GE_FN bool needs_dish(const Params& p, const ChefRows& chefs, const Things& things,
                               int useful) {
    if (p.player_count != 2) return false;
    const int dishes = (chefs.get(0).held == kDish ? 1 : 0) + (chefs.get(1).held == kDish ? 1 : 0);
    bool lying = false;
    for (int k = p.pot_count; k < p.surface_count; ++k)
      lying = lying | (things.get(p.surface[k]).item == kDish);
    return dishes < useful && !lying;
  }

  /// One chef's interaction with the cell in front; returns its shaped reward.
  static GE_FN int use_place(const W& w, int me, const ChefRows& chefs, const Things& things,
                             int useful, Takings& takings, Score& score) {
    const Params& p = w.params();
    const Varied v = w.varied();
    Chef chef = chefs.get(me);
    const int ahead = cell_ahead(p, chef.cell, chef.facing), place = p.grid[ahead];
    int shaped = 0;
    if (place == kCounter) {
      const Thing lying = things.get(ahead);
      // Hands and counter both full or both empty: nothing moves.
      if ((chef.held == kNothing) == (lying.item == kNothing)) return 0;
      things.set(ahead, {chef.held, 0});
      chef.held = lying.item;
    } else if (place == kPot) {
      Thing pot = things.get(ahead);
      shaped = use_pot(p, v, chef, pot);
      things.set(ahead, pot);
    } else if (place == kWindow) {
      if (!is_soup(chef.held)) return 0;
      // A soup that was not ordered is worth 0, and is served nevertheless.
      const int value = value_of(v, p, recipe_of(chef.held));
      takings.sparse += value;
      // Saturates, because an episode may have no time limit.
      score.score += min(value, 0x7fffffff - score.score);
      score.soups += (value != 0) & (score.soups != 0x7fffffff) ? 1 : 0;
      chef.held = kNothing;
    } else if (place != kFloor && chef.held == kNothing) {
      if (place == kDishes) shaped = needs_dish(p, chefs, things, useful) ? v.dish_reward : 0;
      chef.held = place == kOnions ? kOnion : place == kTomatoes ? kTomato : kDish;
    }
    chefs.set(me, chef);
    return shaped;
  }

  /// Chefs interact in order of their numbers, each with what the earlier ones left.
  static GE_FN void interact(const W& w, Takings& takings, Score& score, ChefRows chefs,
                             Things things, Rows<Chefs, Earned> earned) {
    const Params& p = w.params();
    // Counted before the first chef acts, as in overcooked_ai.
    const int useful = p.player_count == 2 ? useful_pots(p, things) : 0;
    takings = Takings{};
    for (int me = 0; me < p.player_count; ++me) {
      int shaped = 0;
      if (get<Chefs, Move>(w, me).move == kInteract)
        shaped = use_place(w, me, chefs, things, useful, takings, score);
      takings.shaped += shaped;
      earned.set(me, {shaped});
    }
  }

  // ---- walking

  /// All chefs turn. Then all walk, or none where two would share or swap cells. A swap is found as
  /// a border between cells that two chefs cross; a border is named by the lower of its two cells.
  static GE_FN void walk(const W& w, ChefRows chefs) {
    const Params& p = w.params();
    CellSet wanted, crossed_across, crossed_along;
    bool collide = false;
    for (int me = 0; me < p.player_count; ++me) {
      Chef chef = chefs.get(me);
      const int move = get<Chefs, Move>(w, me).move;
      if (move <= kWest) chef.facing = uint8_t(move);
      chefs.set(me, chef);
      const int to = wanted_cell(p, chef, move), border = to < chef.cell ? to : chef.cell;
      collide = collide | wanted.add(to);
      if (to == chef.cell) continue;
      // East and west (2, 3) cross borders between columns, north and south those between rows.
      collide = collide | (move >= kEast ? crossed_across.add(border) : crossed_along.add(border));
    }
    // One collision stops all chefs, even those far from it, as in overcooked_ai.
    if (collide) return;
    for (int me = 0; me < p.player_count; ++me) {
      Chef chef = chefs.get(me);
      chef.cell = uint8_t(wanted_cell(p, chef, get<Chefs, Move>(w, me).move));
      chefs.set(me, chef);
    }
  }

  // ---- cooking

  /// Starts full pots in the old dynamics, and counts down those that cook.
  static GE_FN void cook(const W& w, Things things) {
    const Params& p = w.params();
    for (int k = 0; k < p.pot_count; ++k) {
      Thing pot = things.get(p.surface[k]);
      const int recipe = recipe_of(pot.item);
      if (p.dynamics == kOld && is_open(pot.item) && filling_of(pot.item) == 3)
        pot = {uint8_t(kSoup + recipe), p.time[recipe]};
      // Counts down in the step in which cooking begins, too.
      pot.left = uint8_t(pot.left - (pot.left != 0 ? 1 : 0));
      things.set(p.surface[k], pot);
    }
  }

  // ---- rewards

  /// Reward of a chef: the soups served by any chef, and shaped rewards.
  static GE_FN void pay(const W& w, Reward& reward, Parts& parts, const Earned& earned) {
    const Params& p = w.params();
    const Takings takings = get<Takings>(w);
    parts = {float(takings.sparse), float(earned.shaped)};
    const float shaped = p.shaped_total != 0 ? float(takings.shaped) : parts.shaped;
    reward.value = parts.sparse + w.varied().shaping_factor * shaped;
  }

  // ---- a new episode

  /// Empties a cell; with random_start_objects a pot may begin filled.
  static GE_FN void set_table(const W& w, Slot cell, Thing& thing) {
    const Params& p = w.params();
    const float probability = w.varied().random_start_objects;
    thing = Thing{};
    if (probability <= 0 || p.grid[cell.row] != kPot) return;
    const Draw random = draw<"overcooked_pots">(w, cell.row);
    if (random.uniform(0) >= probability) return;
    const int recipe = random_recipe(random, 1);
    const bool cooks = random.uniform(3) < probability;
    thing.item = uint8_t((cooks ? kSoup : kOpen) + recipe);
    thing.left = cooks ? p.time[recipe] : uint8_t{0};
  }

  static GE_FN void clear_board(const W&, Score& score) { score = Score{}; }

  /// Puts chefs on their starts, or on free floor cells drawn at random.
  static GE_FN void place_chefs(const W& w, ChefRows chefs) {
    const Params& p = w.params();
    const float probability = w.varied().random_start_objects;
    CellSet taken;  // numbers of floor cells
    for (int me = 0; me < p.player_count; ++me) {
      Chef chef{p.start[me], kNorth, kNothing};
      if (p.random_positions != 0) {
        // The k-th free floor cell.
        int k = int(draw<"overcooked_starts">(w, me).below(0, uint32_t(p.floor_count - me)));
        int at = 0;
        for (; at < p.floor_count; ++at)
          if (!taken.has(at) && k-- == 0) break;
        taken.add(at);
        chef.cell = p.floor[at];
      }
      if (probability > 0)
        chef.held = uint8_t(random_item(probability, draw<"overcooked_hands">(w, me)));
      chefs.set(me, chef);
    }
  }
};

}  // namespace gpu_envs::envs::overcooked
