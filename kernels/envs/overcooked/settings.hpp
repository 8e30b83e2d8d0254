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

struct Settings {
  int32_t player_count = 2;
  std::string layout = "cramped_room";
  int32_t dynamics = kNew, encoding = kLossless26;
  std::string orders, bonus_orders;
  int32_t order_bonus = 2;
  int32_t delivery_reward = 0;
  std::string recipe_values, recipe_times;
  int32_t onion_value = 0, tomato_value = 0;
  int32_t cook_time = 0, onion_time = 0, tomato_time = 0;
  int32_t placement_reward = 3, dish_reward = 3, soup_reward = 5;
  float shaping_factor = 1.0f;
  bool shaped_total = false;
  bool extra_starts = false, random_start_positions = false;
  float random_start_objects = 0.0f;

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
        field(
            "random_start_positions", &Settings::random_start_positions,
            "true: chefs begin on floor cells drawn at random; false: at the starts of the layout"),
        field("random_start_objects", &Settings::random_start_objects,
              "probability that a pot or a hand is not empty at the start")
            .within(0, 1));
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
              "layout's own where orders is empty too"),
        field("order_bonus", &Settings::order_bonus, "factor of the value of a bonus order")
            .within(0, 10));
  }
  static constexpr auto describe_prices() {
    return fields(
        field("delivery_reward", &Settings::delivery_reward,
              "value of every order; 0: values come from recipe_values or the ingredients")
            .within(0, 10000),
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
  static constexpr auto describe_rewards() {
    return fields(
        field("placement_reward", &Settings::placement_reward,
              "shaped reward for putting an ingredient into a pot")
            .within(0, 1000),
        field("dish_reward", &Settings::dish_reward, "shaped reward for taking a useful dish")
            .within(0, 1000),
        field("soup_reward", &Settings::soup_reward, "shaped reward for taking a soup from a pot")
            .within(0, 1000),
        field("shaping_factor", &Settings::shaping_factor,
              "factor of the shaped reward: reward = sparse + shaping_factor * shaped")
            .within(-1000, 1000),
        field(
            "shaped_total", &Settings::shaped_total,
            "true: a chef's reward contains the shaped rewards of all chefs; false: only its own"));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_kitchen(), describe_rules(), describe_prices(),
                          describe_rewards());
  }
};

/// Cells are numbered x * height + y, the order of an observation. The neighbours of a cell are 1
/// and `height` cells away, and exist wherever a chef stands: the border has no floor.
struct Params {
  int32_t player_count, width, height, cell_count;
  int32_t dynamics, encoding;
  int32_t planes;         // number of planes of an observation
  int32_t pot_count;      // pots come first among the surfaces
  int32_t surface_count;  // pots, and counters with floor beside them
  int32_t floor_count;
  int32_t longest_time;  // the most steps that a recipe cooks
  int32_t placement_reward, dish_reward, soup_reward;
  float shaping_factor;
  int32_t shaped_total;
  int32_t random_positions;
  float random_objects;
  int32_t value[kRecipes];  // of a delivered soup, its bonus included; 0: not ordered
  uint8_t time[kRecipes];   // steps to cook it
  uint8_t grid[kMostCells];
  uint8_t surface[kMostCells], floor[kMostCells];  // lists of cells
  uint8_t start[kMostChefs];
};

[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(Fault::value, message);
}

}  // namespace gpu_envs::envs::overcooked
