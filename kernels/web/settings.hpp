// The settings of a simulator as a page writes them: names and values in one block of bytes,
//
//   name 0 kind value 0 name 0 kind value 0 ...
//
// where the kind is one of b (true, false), i (a whole number), f (a number), s (text, UTF-8), r
// (two numbers, the ends of a range that each reset draws a parameter from). Names of parameters
// begin with a point; others are those of `Config`.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "engine/simulator/simulator.hpp"

namespace ge::web {

/// Takes a range and returns its high end.
inline double add_range(ParameterChange& ranges, const std::string& name, const char* text) {
  char* rest = nullptr;
  const double low = std::strtod(text, &rest), high = std::strtod(rest, nullptr);
  ranges.all.push_back({name.substr(1), Law::uniform, {low, high}});
  return high;
}

/// The names and values that a page has written into a block of bytes; of a range the highest value.
/// Refuses ranges where `ranges` is null.
inline Values values_in(std::string_view block, ParameterChange* ranges = nullptr) {
  Values values;
  const auto word = [&] {
    const size_t end = block.find('\0');
    if (end == std::string_view::npos)
      throw Error(Fault::value, "settings: a word does not end with 0");
    const std::string found(block.substr(0, end));
    block.remove_prefix(end + 1);
    return found;
  };
  while (!block.empty()) {
    const std::string name = word(), value = word();
    const char kind = value.empty() ? '\0' : value[0];
    const char* const text = value.c_str() + (value.empty() ? 0 : 1);
    if (kind == 'b')
      values[name] = std::string_view(text) == "true";
    else if (kind == 'i')
      values[name] = int64_t(std::strtoll(text, nullptr, 10));
    else if (kind == 'f')
      values[name] = std::strtod(text, nullptr);
    else if (kind == 's')
      values[name] = std::string(text);
    else if (kind == 'r' && ranges != nullptr)
      values[name] = add_range(*ranges, name, text);
    else
      throw Error(Fault::value, "settings: '" + name + "' has no kind of value");
  }
  return values;
}

inline int64_t whole_of(const std::string& name, const Value& value) {
  if (const int64_t* const n = std::get_if<int64_t>(&value)) return *n;
  throw Error(Fault::value, name + " must be a whole number");
}
/// The value of an enumeration that a setting names.
template <class E>
E word_of(const std::string& name, const Value& value) {
  const std::string* const text = std::get_if<std::string>(&value);
  const std::optional<E> found = text == nullptr ? std::nullopt : named<E>(*text);
  if (found) return *found;
  std::string known;
  for (const char* const each : Words<E>::at)
    known += (known.empty() ? "" : ", ") + std::string(each);
  throw Error(Fault::value, name + " must be one of " + known);
}

/// A simulator's configuration; what is not named keeps its default.
inline Config config_of(std::string_view block) {
  Config config;
  config.threads = 1;
  for (const auto& [name, value] : values_in(block, &config.own)) {
    if (name.starts_with('.'))
      config.parameters[name.substr(1)] = value;
    else if (name == "worlds")
      config.worlds = whole_of(name, value);
    else if (name == "first_world")
      config.first_world = whole_of(name, value);
    else if (name == "first_level")
      config.first_level = whole_of(name, value);
    else if (name == "level_count")
      config.level_count = whole_of(name, value);
    else if (name == "max_episode_steps")
      config.max_episode_steps = whole_of(name, value);
    else if (name == "autoreset")
      config.autoreset = word_of<Autoreset>(name, value);
    else if (name == "ends")
      config.ends = word_of<Ends>(name, value);
    else if (name == "elements")
      config.elements = word_of<Elements>(name, value);
    else
      throw Error(Fault::value, "settings: '" + name + "' is not a setting of a simulator");
  }
  for (const ParameterChange::One& one : config.own.all) config.varying.push_back(one.name);
  if (config.worlds < 1) throw Error(Fault::value, "worlds must be at least 1");
  return config;
}

}  // namespace ge::web
