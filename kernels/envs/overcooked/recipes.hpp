// Orders, values and cook times: resolves Settings into the two tables that the rules read. Host
// only.
#pragma once

#include <vector>

#include "envs/overcooked/settings.hpp"

namespace gpu_envs::envs::overcooked {

inline int ingredients_of(int recipe) {
  return (recipe >> 2) + (recipe & 3);
}
inline bool is_recipe(int recipe) {
  return ingredients_of(recipe) >= 1 && ingredients_of(recipe) <= 3;
}
/// "OOT": onions first.
inline std::string recipe_name(int recipe) {
  return std::string(size_t(recipe >> 2), 'O') + std::string(size_t(recipe & 3), 'T');
}

inline std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  if (text.find_first_not_of(" \t") == std::string::npos) return items;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = text.find(',', at) == std::string::npos ? text.size() : text.find(',', at);
    const std::string item = text.substr(at, end - at);
    const size_t first = item.find_first_not_of(" \t"), last = item.find_last_not_of(" \t");
    items.push_back(first == std::string::npos ? "" : item.substr(first, last - first + 1));
    at = end + 1;
  }
  return items;
}

inline int parse_recipe(const std::string& item, const char* parameter) {
  int recipe = 0;
  bool known = !item.empty() && item.size() <= 3;
  for (const char c : item) {
    known = known && (c == 'O' || c == 'T');
    recipe += c == 'O' ? 4 : 1;
  }
  if (!known)
    refuse(std::string(parameter) + ": '" + item +
           "' is not a recipe: expected one to three of O (onion) and T (tomato), such as 'OOT'");
  return recipe;
}

inline std::vector<int> parse_recipes(const std::string& text, const char* parameter) {
  std::vector<int> recipes;
  for (const std::string& item : split_list(text)) {
    const int recipe = parse_recipe(item, parameter);
    for (const int other : recipes)
      if (other == recipe)
        refuse(std::string(parameter) + ": " + recipe_name(recipe) + " is named twice");
    recipes.push_back(recipe);
  }
  return recipes;
}

inline std::string join_recipes(const std::vector<int>& recipes) {
  std::string text;
  for (const int recipe : recipes) {
    if (!text.empty()) text += ",";
    text += recipe_name(recipe);
  }
  return text;
}

inline std::vector<int> parse_numbers(const std::string& text, const char* parameter, int most,
                                      const std::vector<int>& orders) {
  std::vector<int> numbers;
  for (const std::string& item : split_list(text)) {
    int64_t number = item.empty() ? -1 : 0;
    for (const char c : item) {
      if (c < '0' || c > '9' || number < 0 || number > most)
        number = -1;
      else
        number = 10 * number + (c - '0');
    }
    if (number < 0 || number > most)
      refuse(std::string(parameter) + ": '" + item + "' is not a whole number from 0 to " +
             std::to_string(most));
    numbers.push_back(int(number));
  }
  if (!numbers.empty() && numbers.size() != orders.size())
    refuse(std::string(parameter) + ": " + std::to_string(numbers.size()) + " numbers for " +
           std::to_string(orders.size()) + " orders (" + join_recipes(orders) + ")");
  return numbers;
}

/// Returns the recipes that pay, and writes them out in `settings`.
inline std::vector<int> resolve_orders(Settings& settings) {
  std::vector<int> orders = parse_recipes(settings.orders, "orders");
  if (orders.empty())
    for (int recipe = kRecipes - 1; recipe > 0; --recipe)
      if (is_recipe(recipe) && (settings.dynamics == kNew || ingredients_of(recipe) == 3))
        orders.push_back(recipe);
  for (const int recipe : orders)
    if (settings.dynamics == kOld && ingredients_of(recipe) != 3)
      refuse("orders: " + recipe_name(recipe) +
             " has fewer than three ingredients, and with dynamics='old' only a full pot cooks; "
             "name orders of three ingredients");
  settings.orders = join_recipes(orders);
  return orders;
}

inline void fill_values(const Settings& s, const std::vector<int>& orders, Params& p) {
  const std::vector<int> values = parse_numbers(s.recipe_values, "recipe_values", 10000, orders);
  for (size_t i = 0; i < orders.size(); ++i) {
    const int onions = orders[i] >> 2, tomatoes = orders[i] & 3;
    int value = 20;
    if (!values.empty())
      value = values[i];
    else if (s.onion_value != 0 && s.tomato_value != 0)
      value = s.onion_value * onions + s.tomato_value * tomatoes;
    p.value[orders[i]] = value;
    p.ordered |= 1u << orders[i];
  }
}

inline void fill_times(const Settings& s, const std::vector<int>& orders, Params& p) {
  const std::vector<int> times = parse_numbers(s.recipe_times, "recipe_times", 255, orders);
  for (int recipe = 1; recipe < kRecipes; ++recipe) {
    if (!is_recipe(recipe)) continue;
    int time = 20;
    bool listed = false;
    for (size_t i = 0; i < times.size(); ++i) {
      time = orders[i] == recipe ? times[i] : time;
      listed = listed || orders[i] == recipe;
    }
    if (s.cook_time != 0)
      time = s.cook_time;
    else if (!listed && s.onion_time != 0 && s.tomato_time != 0)
      time = s.onion_time * (recipe >> 2) + s.tomato_time * (recipe & 3);
    p.time[recipe] = uint8_t(time);
    p.longest_time = time > p.longest_time ? time : p.longest_time;
  }
}

/// Refuses one of a pair without the other, which would be ignored.
inline void check_pair(int onion, int tomato, const char* what) {
  if ((onion != 0) != (tomato != 0))
    refuse(std::string("onion_") + what + " and tomato_" + what + " are given together, got " +
           std::to_string(onion) + " and " + std::to_string(tomato));
}

inline void resolve_recipes(Settings& s, Params& p) {
  check_pair(s.onion_value, s.tomato_value, "value");
  check_pair(s.onion_time, s.tomato_time, "time");
  const std::vector<int> orders = resolve_orders(s);
  const std::vector<int> bonus = parse_recipes(s.bonus_orders, "bonus_orders");
  for (const int recipe : bonus) {
    bool ordered = false;
    for (const int order : orders) ordered = ordered || order == recipe;
    if (!ordered)
      refuse("bonus_orders: " + recipe_name(recipe) + " is not among the orders (" +
             join_recipes(orders) + ")");
  }
  s.bonus_orders = join_recipes(bonus);
  for (const int recipe : bonus) p.bonus |= 1u << recipe;
  fill_values(s, orders, p);
  fill_times(s, orders, p);
}

}  // namespace gpu_envs::envs::overcooked
