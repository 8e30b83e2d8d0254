// A board as terminal text, for playing by hand and for looking at what a policy does. Host only.
#pragma once

#include "envs/tag_grid/tables.hpp"

namespace gpu_envs::envs::tag_grid {

/// Most characters that a board is wide or high; of a larger one each stands for a square of cells.
inline constexpr int kTextSide = 40;

template <int N>
std::string board_text(const W<N>& w, int viewer) {
  const Params& p = w.params();
  const int scale = p.grid_length / kTextSide + 1, side = p.grid_length / scale + 1;
  std::vector<int> taggers(size_t(side * side));
  const auto square = [&](int agent) {
    const Position at = w.template get<Players<N>, Position>(agent);
    return size_t(min(at.y, p.grid_length) / scale * side + min(at.x, p.grid_length) / scale);
  };
  for (int agent = 0; agent < p.num_taggers; ++agent) ++taggers[square(agent)];
  const size_t runner = square(p.num_taggers), own = square(min(max(viewer, 0), p.num_taggers));
  std::string text;
  for (int y = side - 1; y >= 0; --y) {
    for (int x = 0; x < side; ++x) {
      const size_t k = size_t(y * side + x);
      const int here = taggers[k];
      char mark = here == 0 ? '.' : here < 10 ? char('0' + here) : '+';
      if (k == runner) mark = here == 0 ? 'R' : 'X';
      text += mark;
      text += k == own ? '<' : ' ';
    }
    text += '\n';
  }
  text += "R runner, 1 to 9 so many taggers, + more, X both, < you";
  if (scale > 1)
    text.append("; a character is ").append(std::to_string(scale)).append(" cells wide");
  text.append("\nstep ").append(std::to_string(w.step()));
  if (w.max_steps() != 0) text.append(" of ").append(std::to_string(w.max_steps()));
  return text + "\n";
}

}  // namespace gpu_envs::envs::tag_grid
