// How a swarm reads in a terminal: a map that counts agents, and how a group of them moves. Host
// only.
#pragma once

#include <string>
#include <vector>

#include "pictures/text.hpp"
#include "spatial/motion.hpp"

namespace ge::spatial {

/// The square from above. A digit counts the agents of its cell; `mark_of(row)` is a character
/// that hides digits, or 0 for an agent that is counted. The viewer, if any, is an @.
template <class M, class Mark>
GE_COLD std::string swarm_map(const WorldOf<M>& w, int viewer, const Mark& mark_of) {
  constexpr int kWidth = 48, kDepth = 24, kDigits = 9;
  const float side = M::grid(w.params()).square.side;
  PlaneText map(kWidth, kDepth, {0, 0}, {side, side});
  std::vector<int64_t> counts(size_t(kWidth * kDepth));
  int64_t most = 0;
  const auto place = [&w](int row) { return get<typename M::Agents, Position>(w, row); };
  const int agents = int(M::count(w.params()));
  for (int row = 0; row < agents; ++row) {
    const Position at = place(row);
    if (mark_of(row) != 0) continue;
    most = max(most, ++counts[size_t(map.row(at.y) * kWidth + map.column(at.x))]);
  }
  const int64_t unit = max(int64_t{1}, (most + kDigits - 1) / kDigits);
  for (int k = 0; k < kWidth * kDepth; ++k)
    if (const int64_t count = counts[size_t(k)]; count > 0)
      map.put(k % kWidth, k / kWidth, char('0' + (count + unit - 1) / unit));
  for (int row = 0; row < agents; ++row)
    if (const char mark = mark_of(row)) map.mark(place(row).x, place(row).y, mark);
  if (viewer >= 0) map.mark(place(viewer).x, place(viewer).y, '@');
  std::string text = map.framed() + "1 to 9: agents of a cell";
  if (unit > 1) add_number(text, ", divided by ", double(unit), 0, " and rounded up");
  return text + (viewer >= 0 ? ", @ you" : "");
}

/// Adds a line such as "20 runners, mean speed 0.0100 sides a step, order 0.12 ...": the order is
/// the length of the mean of all directions.
template <class M>
GE_COLD void add_movement(std::string& text, const WorldOf<M>& w, const char* name, int first,
                          int end) {
  const double side = double(M::grid(w.params()).square.side);
  double speed = 0, x = 0, y = 0;
  for (int row = first; row < end; ++row) {
    const Course course = get<typename M::Agents, Course>(w, row);
    double sine, cosine;
    sincos(double(course.heading), sine, cosine);
    speed += double(course.speed), x += cosine, y += sine;
  }
  const int count = end - first;
  add_number(text, "", count, 0, name);
  if (count > 0) {
    add_number(text, ", mean speed ", speed / (side * count), 4, " sides a step");
    add_number(text, ", order ", sqrt(x * x + y * y) / count, 2, " (1: all head the same way)");
  }
  text += '\n';
}

/// Adds "you: at 0.52 0.13, heading 90 degrees, speed 0.0100": in sides of the square.
template <class M>
GE_COLD void add_viewer(std::string& text, const WorldOf<M>& w, int viewer) {
  const double side = double(M::grid(w.params()).square.side);
  const Position at = get<typename M::Agents, Position>(w, viewer);
  const Course course = get<typename M::Agents, Course>(w, viewer);
  add_number(text, "you: at ", double(at.x) / side, 2);
  add_number(text, " ", double(at.y) / side, 2);
  add_number(text, ", heading ", degrees(double(course.heading)), 0, " degrees");
  add_number(text, ", speed ", double(course.speed) / side, 4, "\n");
}

}  // namespace ge::spatial
