// Settings, which a user chooses, and Params, which the rules read. layout.hpp and recipes.hpp
// resolve one into the other on the host, once per simulator.
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::overcooked {

using namespace ge;

inline constexpr int kMostCells = 256, kMostChefs = 40;
/// Recipes by number: 4 * onions + tomatoes, the sum being 1 to 3.
inline constexpr int kRecipes = 16;

/// What stands on a cell of the grid.
enum Place : uint8_t { kFloor, kCounter, kPot, kOnions, kTomatoes, kDishes, kWindow };
enum Dynamics { kNew, kOld };
enum Encoding { kLossless26, kLossless20 };

/// What may differ by world.
struct Varied {
  int32_t order_bonus = 2;
  int32_t delivery_reward = 0;
  int32_t placement_reward = 3, dish_reward = 3, soup_reward = 5;
  float shaping_factor = 1.0f;
  float random_start_objects = 0.0f;

  static constexpr auto describe_start() {
    return fields(field("random_start_objects", &Varied::random_start_objects,
                        "probability that a pot or a hand is not empty at the start")
                      .within(0, 1)
                      .from_reset());
  }
  static constexpr auto describe_prices() {
    return fields(
        field("order_bonus", &Varied::order_bonus, "factor of the value of a bonus order")
            .within(0, 10),
        field("delivery_reward", &Varied::delivery_reward,
              "value of every order; 0: values come from recipe_values or the ingredients")
            .within(0, 10000));
  }
  static constexpr auto describe_shaping() {
    return fields(
        field("placement_reward", &Varied::placement_reward,
              "shaped reward for putting an ingredient into a pot")
            .within(0, 1000),
        field("dish_reward", &Varied::dish_reward, "shaped reward for taking a useful dish")
            .within(0, 1000),
        field("soup_reward", &Varied::soup_reward, "shaped reward for taking a soup from a pot")
            .within(0, 1000),
        field("shaping_factor", &Varied::shaping_factor,
              "factor of the shaped reward: reward = sparse + shaping_factor * shaped")
            .within(-1000, 1000));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_start(), describe_prices(), describe_shaping());
  }
};

struct Settings : Varied {
  int32_t player_count = 2;
  std::string layout = "cramped_room";
  int32_t dynamics = kNew, encoding = kLossless26;
  std::string orders, bonus_orders;
  std::string recipe_values, recipe_times;
  int32_t onion_value = 0, tomato_value = 0;
  int32_t cook_time = 0, onion_time = 0, tomato_time = 0;
  bool shaped_total = false;
  bool extra_starts = false, random_start_positions = false;

  static constexpr auto describe_kitchen() {
    return fields(
        field("player_count", &Settings::player_count,
              "number of chefs; 0: one for each start of the layout")
            .within(0, kMostChefs),
        field("layout", &Settings::layout,
              "name of a layout, its text, or the path of a file with its text"),
        field("extra_starts", &Settings::extra_starts,
              "true: chefs without a start in the layout begin on free floor cells in reading "
              "order; false: the layout must have a start for each"),
        field("random_start_positions", &Settings::random_start_positions,
              "true: chefs begin on floor cells drawn at random; false: at the starts of the "
              "layout"));
  }
  static constexpr auto describe_rules() {
    return fields(
        field("dynamics", &Settings::dynamics,
              "how a pot starts to cook; new: a chef with empty hands starts it; old: the third "
              "ingredient does")
            .named("new", "old"),
        field("encoding", &Settings::encoding,
              "planes of an observation: lossless26, or lossless20 for two chefs and onions only")
            .named("lossless26", "lossless20"),
        field("orders", &Settings::orders,
              "recipes that pay, such as \"OOO,OOT\"; empty: the layout's own, else all"),
        field("bonus_orders", &Settings::bonus_orders,
              "recipes among the orders that pay order_bonus times their value; empty: the "
              "layout's own where orders is empty too"));
  }
  static constexpr auto describe_values() {
    return fields(
        field("recipe_values", &Settings::recipe_values,
              "value of each order, such as \"20,15\"; empty: values come from the ingredients"),
        field("onion_value", &Settings::onion_value,
              "value of an onion in a soup; 0: ingredients do not set the value")
            .within(0, 3000),
        field("tomato_value", &Settings::tomato_value,
              "value of a tomato in a soup; 0: ingredients do not set the value")
            .within(0, 3000),
        field("cook_time", &Settings::cook_time,
              "steps that every soup cooks; 0: times come from recipe_times or the ingredients")
            .within(0, 255),
        field("recipe_times", &Settings::recipe_times,
              "steps that each order cooks, such as \"20,15\"; empty: times come from the "
              "ingredients"),
        field("onion_time", &Settings::onion_time,
              "cooking steps for each onion in a soup; 0: ingredients do not set the time")
            .within(0, 85),
        field("tomato_time", &Settings::tomato_time,
              "cooking steps for each tomato in a soup; 0: ingredients do not set the time")
            .within(0, 85));
  }
  static constexpr auto describe_total() {
    return fields(field(
        "shaped_total", &Settings::shaped_total,
        "true: a chef's reward contains the shaped rewards of all chefs; false: only its own"));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_kitchen(), describe_start(), describe_rules(), describe_prices(),
                          describe_values(), describe_shaping(), describe_total());
  }
};

/// What is the same in all worlds. Cells are numbered x * height + y, the order of an observation.
/// The neighbours of a cell are 1 and `height` cells away, and exist wherever a chef stands: the
/// border has no floor.
struct Params {
  int32_t player_count, width, height, cell_count;
  int32_t dynamics, encoding;
  int32_t planes;         // number of planes of an observation
  int32_t pot_count;      // pots come first among the surfaces
  int32_t surface_count;  // pots, and counters with floor beside them
  int32_t floor_count;
  int32_t longest_time;  // the most steps that a recipe cooks
  int32_t shaped_total;
  int32_t random_positions;
  uint32_t ordered, bonus;  // sets of recipes
  int32_t value[kRecipes];  // of a delivered soup where delivery_reward is 0, without a bonus
  uint8_t time[kRecipes];   // steps to cook it
  uint8_t grid[kMostCells];
  uint8_t surface[kMostCells], floor[kMostCells];  // lists of cells
  uint8_t start[kMostChefs];
};

/// What a delivered soup pays.
GE_FN int value_of(const Varied& v, const Params& p, int recipe) {
  const int value = v.delivery_reward != 0 ? v.delivery_reward : p.value[recipe];
  const int factor = (p.bonus >> recipe & 1u) != 0 ? v.order_bonus : 1;
  return (p.ordered >> recipe & 1u) != 0 ? value * factor : 0;
}

[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(Fault::value, message);
}

}  // namespace gpu_envs::envs::overcooked
