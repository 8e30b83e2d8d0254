// What texts of worlds are made of: maps of characters, and numbers that read the same on every
// machine and in every language. Host only.
#pragma once

#include <cstdint>
#include <string>

#include "engine/maths/math.hpp"

namespace ge {

/// A drawing of cells; its first line is the highest row.
struct MapText {
  int width, depth;
  std::string cells;  // line by line
  MapText(int w, int d) : width(w), depth(d), cells(size_t(w) * size_t(d), ' ') {}
  GE_COLD void put(int x, int y, char mark) {
    if (x >= 0 && x < width && y >= 0 && y < depth)
      cells[size_t((depth - 1 - y) * width + x)] = mark;
  }
  /// Only the part within the map is visited: a box that was set may be of any length.
  void fill(const auto& box, char mark) {
    const int x_end = within(box.high[0], width), y_end = within(box.high[1], depth);
    for (int x = within(box.low[0], width); x < x_end; ++x)
      for (int y = within(box.low[1], depth); y < y_end; ++y) put(x, y, mark);
  }
  static int within(float at, int end) { return to_int(clamp(at, 0.0f, float(end))); }
  /// The lines, without the spaces at their ends.
  GE_COLD std::string text() const {
    std::string all;
    for (size_t at = 0; at < cells.size(); at += size_t(width)) {
      all.append(cells, at, size_t(width));
      while (!all.empty() && all.back() == ' ') all.pop_back();
      all += '\n';
    }
    return all;
  }
  /// The lines in a frame.
  GE_COLD std::string framed() const {
    const std::string edge = "+" + std::string(size_t(width), '-') + "+\n";
    std::string all = edge;
    for (size_t at = 0; at < cells.size(); at += size_t(width))
      all.append("|").append(cells, at, size_t(width)).append("|\n");
    return all + edge;
  }
};

struct Point2 {
  float x, y;
};
/// A map of a rectangle of the plane. What lies outside is drawn at the nearest edge, and NaN at
/// the lowest x or y.
struct PlaneText : MapText {
  Point2 low, high;
  PlaneText(int w, int d, Point2 lowest, Point2 highest)
      : MapText(w, d), low(lowest), high(highest) {}
  int column(float x) const { return within(share(x, low.x, high.x) * float(width), width - 1); }
  int row(float y) const { return within(share(y, low.y, high.y) * float(depth), depth - 1); }
  GE_COLD void mark(float x, float y, char mark) { put(column(x), row(y), mark); }
  /// Marks all cells that a rectangle touches.
  GE_COLD void cover(Point2 from, Point2 to, char mark) {
    for (int x = column(from.x); x <= column(to.x); ++x)
      for (int y = row(from.y); y <= row(to.y); ++y) put(x, y, mark);
  }
  /// The middle of a cell.
  Point2 middle(int x, int y) const {
    return {low.x + (high.x - low.x) * (float(x) + 0.5f) / float(width),
            low.y + (high.y - low.y) * (float(y) + 0.5f) / float(depth)};
  }

 private:
  static float share(float at, float from, float to) { return (at - from) / (to - from); }
};

/// "-3.40": a number rounded to some decimals.
GE_COLD inline std::string in_decimals(double number, int places) {
  constexpr int64_t kMost = 1000000000;
  if (number != number) return "no number";
  if (abs(number) > double(kMost))
    return (number > 0 ? "above " : "below -") + std::to_string(kMost);
  int64_t scale = 1;
  for (int k = 0; k < places; ++k) scale *= 10;
  const auto units = int64_t(abs(number) * double(scale) + 0.5);
  std::string text = number < 0 && units > 0 ? "-" : "";
  text += std::to_string(units / scale);
  if (places == 0) return text;
  const std::string rest = std::to_string(units % scale);
  return text.append(1, '.').append(size_t(places) - rest.size(), '0').append(rest);
}
/// Adds ", velocity -0.50 m/s": a number between two pieces of text.
GE_COLD inline void add_number(std::string& text, const char* before, double number, int places,
                               const char* behind = "") {
  text.append(before).append(in_decimals(number, places)).append(behind);
}
inline double degrees(double radians) {
  return radians * 57.29577951308232;
}
/// Adds "step 12 of 500".
GE_COLD inline void add_steps(std::string& text, int64_t step, int64_t limit) {
  text.append("step ").append(std::to_string(step));
  if (limit != 0) text.append(" of ").append(std::to_string(limit));
}

}  // namespace ge
