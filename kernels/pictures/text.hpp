// What texts of worlds are made of: maps of characters, and numbers that read the same on every
// machine and in every language. Host only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/maths/math.hpp"

namespace ge {

/// A drawing of cells; its first line is the highest row.
struct MapText {
  int width = 0, depth = 0;
  std::vector<std::string> rows;
  MapText(int w, int d) : width(w), depth(d), rows(size_t(d), std::string(size_t(w), ' ')) {}
  void put(int x, int y, char mark) {
    if (x >= 0 && x < width && y >= 0 && y < depth) rows[size_t(depth - 1 - y)][size_t(x)] = mark;
  }
  /// Only the part within the map is visited: a box that was set may be of any length.
  void fill(const auto& box, char mark) {
    const int x_end = within(box.high[0], width), y_end = within(box.high[1], depth);
    for (int x = within(box.low[0], width); x < x_end; ++x)
      for (int y = within(box.low[1], depth); y < y_end; ++y) put(x, y, mark);
  }
  static int within(float at, int end) { return to_int(clamp(at, 0.0f, float(end))); }
  /// The lines, without the spaces at their ends.
  std::string text() const {
    std::string all;
    for (const std::string& row : rows) all += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
    return all;
  }
  /// The lines in a frame.
  std::string framed() const {
    const std::string edge = "+" + std::string(size_t(width), '-') + "+\n";
    std::string all = edge;
    for (const std::string& row : rows) all.append("|").append(row).append("|\n");
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
  void mark(float x, float y, char mark) { put(column(x), row(y), mark); }
  /// Marks all cells that a rectangle touches.
  void cover(Point2 from, Point2 to, char mark) {
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
inline std::string in_decimals(double number, int places) {
  constexpr int64_t kMost = 1000000000;
  if (number != number) return "no number";
  if (abs(number) > double(kMost))
    return (number > 0 ? "above " : "below -") + std::to_string(kMost);
  int64_t scale = 1;
  for (int k = 0; k < places; ++k) scale *= 10;
  const auto units = int64_t(abs(number) * double(scale) + 0.5);
  const std::string sign = number < 0 && units > 0 ? "-" : "";
  const std::string whole = sign + std::to_string(units / scale);
  if (places == 0) return whole;
  const std::string rest = std::to_string(units % scale);
  return whole + "." + std::string(size_t(places) - rest.size(), '0') + rest;
}
inline std::string in_degrees(double radians, int places) {
  return in_decimals(radians * 57.29577951308232, places) + " degrees";
}
/// "step 12 of 500"
inline std::string step_text(int64_t step, int64_t limit) {
  return "step " + std::to_string(step) + (limit == 0 ? "" : " of " + std::to_string(limit));
}

}  // namespace ge
