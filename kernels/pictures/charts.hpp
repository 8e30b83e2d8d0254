// Curves of numbers over an episode. A scene holds only the present values; a caller that draws a
// world repeatedly keeps earlier ones (Readings), and puts them back before a picture is drawn.
// Host only.
#pragma once

#include <cstdio>

#include "pictures/lettering.hpp"
#include "pictures/scene.hpp"

namespace ge::pictures {

/// The present values of a scene's charts: episode, step, then a number for each curve; empty if
/// there are no charts.
inline std::vector<float> reading_of(const Scene& scene) {
  std::vector<float> numbers;
  if (!scene.board || scene.board->charts.empty()) return numbers;
  numbers = {float(scene.episode), float(scene.step)};
  for (const Chart& chart : scene.board->charts)
    for (const Curve& curve : chart.curves) numbers.push_back(curve.now);
  return numbers;
}

/// Gives curves their past: `count` readings of one episode, each of `width` numbers. Readings of
/// other charts are dropped.
inline void give_past(Scene& scene, const float* readings, int64_t count, int64_t width) {
  if (count == 0 || int64_t(reading_of(scene).size()) != width) return;
  int64_t at = 2;
  for (Chart& chart : scene.board->charts)
    for (Curve& curve : chart.curves) {
      for (int64_t k = 0; k < count; ++k) {
        const float* const reading = readings + k * width;
        if (reading[0] == float(scene.episode) && reading[1] < float(scene.step))
          curve.past.insert(curve.past.end(), {reading[1], reading[at]});
      }
      ++at;
    }
}

namespace detail {

/// Rounds up to 1, 2 or 5 times a power of ten.
inline float round_number(float least) {
  float power = 1;
  while (power < least && power < 1e30f) power *= 10;
  while (power >= 10 * least && power > 1e-30f) power *= 0.1f;
  const float steps[] = {0.1f, 0.2f, 0.5f};
  for (const float step : steps)
    if (step * power >= least) return step * power;
  return power;
}
inline float top_of(const Chart& chart) {
  float most = chart.top;
  for (const Curve& curve : chart.curves) {
    most = ge::max(most, curve.now);
    for (size_t k = 1; k < curve.past.size(); k += 2) most = ge::max(most, curve.past[k]);
  }
  return most > chart.top ? round_number(most) : chart.top;
}
inline float end_of(const Chart& chart, float step) {
  const float last = chart.last_step > 0 ? chart.last_step : 100.0f;
  return ge::max(last, step);
}
/// "0.5", "20", "2,000,000"
inline std::string in_short(float number) {
  char text[64];
  std::snprintf(text, sizeof text, number < 1000 ? "%.3g" : "%.0f", double(number));
  std::string said = text;
  for (int at = int(said.size()) - 3; number >= 1000 && at > 0; at -= 3)
    said.insert(size_t(at), ",");
  return said;
}

}  // namespace detail

/// A chart as parts of a board: plates, lines, words.
inline void lay_out(const Chart& chart, uint32_t step, Board& board) {
  const float top = detail::top_of(chart), last = detail::end_of(chart, float(step));
  const float wide = chart.high[0] - chart.low[0], tall = chart.high[1] - chart.low[1];
  const float letter = ge::min(0.2f * tall, 0.035f * wide);
  const auto line = [&](float x0, float y0, float x1, float y1, Rgb colour, float width) {
    board.lines.push_back({{x0, y0, 0}, {x1, y1, 0}, colour, 1.0f, width});
  };
  const auto x_of = [&](float at) { return chart.low[0] + wide * at / last; };
  const auto y_of = [&](float number) {
    return chart.low[1] + tall * ge::clamp(number / top, 0.0f, 1.0f);
  };
  Plate ground;
  for (int k = 0; k < 2; ++k) ground.low[k] = chart.low[k], ground.high[k] = chart.high[k];
  ground.colour = palette::kFloor;
  board.plates.push_back(ground);
  for (int k = 0; k <= 2; ++k) {
    const float y = chart.low[1] + 0.5f * float(k) * tall;
    line(chart.low[0], y, chart.high[0], y, k == 0 ? palette::kWall : palette::kFaded,
         k == 0 ? 1.0f : 0.5f);
  }
  for (const Curve& curve : chart.curves) {
    float x = 0, y = 0;
    for (size_t k = 0; k + 1 < curve.past.size(); k += 2) {
      const float to_x = x_of(curve.past[k]), to_y = y_of(curve.past[k + 1]);
      if (k > 0) line(x, y, to_x, to_y, curve.colour, 1.4f);
      x = to_x, y = to_y;
    }
    const float now_x = x_of(float(step)), now_y = y_of(curve.now);
    if (!curve.past.empty()) line(x, y, now_x, now_y, curve.colour, 1.4f);
    line(now_x, now_y, now_x, now_y, curve.colour, 3.5f);
  }
  const float foot = chart.high[1] + 0.45f * letter;
  float x = chart.low[0];
  const auto say = [&](const std::string& text, Rgb colour, float weight) {
    board.captions.push_back({text, x, foot, letter, colour, Caption::kLeft, weight});
    x += width_of(text, letter) + 1.2f * letter;
  };
  say(chart.title, palette::kDark, 1.3f);
  for (const Curve& curve : chart.curves) say(curve.label, curve.colour, 1.3f);
  board.captions.push_back({detail::in_short(top) + chart.unit, chart.high[0], foot, 0.85f * letter,
                            palette::kWall, Caption::kRight, 1});
}

}  // namespace ge::pictures
