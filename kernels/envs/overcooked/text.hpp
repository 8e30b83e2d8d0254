// A world as text for a terminal. Host only.
#pragma once

#include "envs/overcooked/recipes.hpp"
#include "envs/overcooked/rules.hpp"

namespace gpu_envs::envs::overcooked {

inline std::string item_name(int item) {
  if (is_soup(item) || is_open(item)) return "soup " + recipe_name(recipe_of(item));
  constexpr const char* kNames[] = {"nothing", "an onion", "a tomato", "a dish"};
  return kNames[item & 3];
}
/// One character for an object.
inline std::string item_mark(int item) {
  if (is_soup(item)) return "s";
  constexpr const char* kMarks[] = {" ", "o", "t", "d"};
  return kMarks[item & 3];
}
inline std::string painted(const char* colour, const std::string& text) {
  return std::string("\x1b[") + colour + "m" + text + "\x1b[0m";
}

/// Four characters for a pot.
inline std::string pot_text(const Thing& pot) {
  if (pot.item == kNothing) return "pot ";
  if (!is_soup(pot.item)) {
    std::string inside = recipe_name(recipe_of(pot.item));
    for (char& c : inside) c = char(c - 'A' + 'a');
    inside.resize(3, ' ');
    return "P" + inside;
  }
  if (pot.left == 0) return "P ok";
  const std::string left = std::to_string(int(pot.left));
  return "P" + std::string(3 - left.size(), ' ') + left;
}
inline std::string place_text(const Params& p, int cell, const Thing& thing) {
  constexpr const char* kDispensers[] = {"onio", "toma", "dish", "serv"};
  const int place = p.grid[cell];
  if (place == kFloor) return "    ";
  // Brackets show a counter also where the terminal has no colours.
  if (place == kCounter) return painted("100;97", "[" + item_mark(thing.item) + " ]");
  if (place == kPot) return painted(is_soup(thing.item) ? "41;97" : "40;97", pot_text(thing));
  constexpr const char* kColours[] = {"43;30", "101;30", "47;30", "42;30"};
  return painted(kColours[place - kOnions], kDispensers[place - kOnions]);
}
/// Arrow, number, and the object held.
inline std::string chef_text(const Chef& chef, int number, bool viewed) {
  constexpr const char* kArrows[] = {"\u25b2", "\u25bc", "\u25b6", "\u25c0"};
  const std::string name = std::to_string(number);
  return painted(viewed ? "1;7;96" : "1;96", kArrows[chef.facing & 3] + name +
                                                 item_mark(chef.held) +
                                                 std::string(name.size() < 2 ? 1 : 0, ' '));
}

template <class T>
struct Text {
  using W = World<Schema<T>>;
  using Chefs = typename T::Chefs;
  using Kitchen = typename T::Kitchen;

  static std::string grid_text(const W& w, int viewer) {
    const Params& p = w.params();
    std::string text;
    for (int y = 0; y < p.height; ++y) {
      for (int x = 0; x < p.width; ++x) {
        const int cell = x * p.height + y;
        std::string shown = place_text(p, cell, get<Kitchen, Thing>(w, cell));
        for (int i = 0; i < p.player_count; ++i) {
          const Chef chef = get<Chefs, Chef>(w, i);
          if (chef.cell == cell) shown = chef_text(chef, i, i == viewer);
        }
        text += shown;
      }
      text += "\n";
    }
    return text;
  }

  static std::string world_text(const W& w, int viewer) {
    const Params& p = w.params();
    constexpr const char* kDirections[] = {"north", "south", "east", "west"};
    std::string text = grid_text(w, viewer);
    text +=
        "[  ] counter, onio/toma/dish: dispensers, serv: window, P: pot with o, t or steps left\n";
    for (int i = 0; i < p.player_count; ++i) {
      const Chef chef = get<Chefs, Chef>(w, i);
      text += "chef " + std::to_string(i) + (i == viewer ? " (you) faces " : " faces ") +
              kDirections[chef.facing & 3] + ", holds " + item_name(chef.held) + "\n";
    }
    for (int k = 0; k < p.pot_count; ++k) {
      const Thing pot = get<Kitchen, Thing>(w, p.surface[k]);
      if (pot.item == kNothing) continue;
      text += "pot at column " + std::to_string(p.surface[k] / p.height + 1) + ", line " +
              std::to_string(p.surface[k] % p.height + 1) + ": " +
              recipe_name(recipe_of(pot.item)) +
              (!is_soup(pot.item) ? ", not cooking"
               : pot.left == 0    ? ", ready"
                                  : ", " + std::to_string(int(pot.left)) + " steps left") +
              "\n";
    }
    std::string orders;
    for (int recipe = kRecipes - 1; recipe > 0; --recipe) {
      const int value = value_of(w.varied(), p, recipe);
      if (value == 0) continue;
      if (!orders.empty()) orders += ", ";
      orders += recipe_name(recipe) + " pays " + std::to_string(value);
    }
    text += "orders: " + orders;
    const Score score = get<Score>(w);
    return text + "\nstep " + std::to_string(w.step()) +
           (w.max_steps() == 0 ? "" : " of " + std::to_string(w.max_steps())) + ", score " +
           std::to_string(score.score) + " for " + std::to_string(score.soups) + " soups\n";
  }
};

}  // namespace gpu_envs::envs::overcooked
