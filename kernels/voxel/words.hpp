// Numbers in texts that lay a level out by hand. Host only.
#pragma once

#include <charconv>
#include <type_traits>

#include "engine/described/text_lines.hpp"

namespace ge::voxel {

/// As few digits as name the number.
inline std::string shortest(double number) {
  char text[32];
  const auto written = std::to_chars(text, text + sizeof(text), number);
  return {text, written.ptr};
}
template <class Number>
Number take_number(TextLine& line, const char* what, double low, double high) {
  const std::string& word = line.take(what);
  const char* const end = word.data() + word.size();
  Number value{};
  const auto read = std::from_chars(word.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end)
    line.wrong(std::string(what) + " must be a " + (std::is_integral_v<Number> ? "whole " : "") +
               "number, got " + quoted(word));
  if (!(double(value) >= low && double(value) <= high))
    line.wrong(std::string(what) + " must be from " + shortest(low) + " to " + shortest(high) +
               ", got " + quoted(word));
  return value;
}

}  // namespace ge::voxel
