// The picture: the kitchen from above, and over it the score and the orders. Furniture fills its
// cells, objects are discs, a pot that cooks has a bar and the steps left, a chef is a face with
// what it holds before its eyes. Host only.
#pragma once

#include "envs/overcooked/recipes.hpp"
#include "envs/overcooked/rules.hpp"
#include "pictures/scene.hpp"

namespace gpu_envs::envs::overcooked {

inline constexpr Rgb kPlaceColours[] = {// by Place; the floor is the board's
                                        palette::kPale, palette::kFaded, palette::kDark,
                                        rgb(0xf7dc9b),  rgb(0xf3b5b0),   rgb(0xcfe0f2),
                                        palette::kRamp};
inline constexpr Rgb kOnionColour = palette::kBox, kTomatoColour = palette::kRed,
                     kSoupColour = rgb(0x9a4b1f);

/// Draws an object at (`dx`, `dy`) from the middle of a cell: an onion, a tomato, or a dish with
/// what is on it.
inline void put_item(ge::Board& board, int column, int row, int item, float dx = 0, float dy = 0) {
  const auto disc = [&](float radius, Rgb colour) {
    Piece& piece = board.put(column, row, Piece::kDisc, radius, colour);
    piece.x += dx, piece.y += dy;
  };
  if (item == kOnion || item == kTomato)
    disc(0.17f, item == kOnion ? kOnionColour : kTomatoColour);
  else if (item != kNothing)
    disc(0.24f, palette::kBlue), disc(0.18f, is_soup(item) ? kSoupColour : palette::kPale);
}

// ---- sizes

inline constexpr float kScoreHeight = 0.6f, kOrderHeight = 0.5f, kOrderWidth = 1.25f;

inline int orders_in_line(const Params& p) {
  return max(1, int((float(p.width) - 0.1f) / kOrderWidth));
}
/// Height of what is over the kitchen. Recipes whose value is 0 count, so that all worlds have the
/// same.
inline float head_height(const Params& p) {
  int orders = 0;
  for (int recipe = 1; recipe < kRecipes; ++recipe) orders += int(p.ordered >> recipe & 1u);
  const int lines = (orders + orders_in_line(p) - 1) / orders_in_line(p);
  return kScoreHeight + kOrderHeight * float(lines);
}

/// Pixels of a picture of 720 rows or columns, in which lines are measured, for a metre.
inline float pixels_in_metre(const Params& p) {
  return 720.0f / min(float(p.width), float(p.height) + head_height(p));
}

// ---- what stands in a cell

inline void write(ge::Board& board, const std::string& text, float x, float y, float height,
                  Rgb colour, int anchor = ge::Caption::kLeft) {
  ge::Caption& caption = board.captions.emplace_back();
  caption.text = text, caption.x = x, caption.y = y, caption.height = height;
  caption.colour = colour, caption.anchor = anchor, caption.weight = 1.5f;
}

/// A round dot of any size over all pieces, which are enlarged where they are small.
inline void put_dot(ge::Board& board, const Params& p, float x, float y, float radius, Rgb colour) {
  ge::Line& dot = board.lines.emplace_back();
  dot.from[0] = dot.to[0] = x, dot.from[1] = dot.to[1] = y;
  dot.width = radius * pixels_in_metre(p), dot.colour = colour, dot.opacity = 1;
}

/// The share of its time that a soup has cooked, as a bar over the foot of a pot's cell, and the
/// steps left in the upper left corner.
inline void put_timer(ge::Board& board, const Params& p, int column, int row, int left, int time) {
  const float x = board.low[0] + float(column), y = board.high[1] - float(row) - 1;
  const float share = time == 0 ? 1.0f : 1.0f - float(min(left, time)) / float(time);
  ge::Line bar;
  bar.width = 0.05f * pixels_in_metre(p);
  bar.opacity = 1;
  bar.from[0] = x + 0.12f, bar.from[1] = bar.to[1] = y + 0.1f;
  bar.to[0] = x + 0.88f, bar.colour = palette::kWall;
  board.lines.push_back(bar);
  bar.to[0] = x + 0.12f + 0.76f * share, bar.colour = left == 0 ? palette::kRamp : palette::kBox;
  board.lines.push_back(bar);
  if (left > 0) write(board, std::to_string(left), x + 0.08f, y + 0.76f, 0.18f, palette::kPale);
}

/// Draws the ingredients in a pot, with a ring once they cook, in one colour once they are done.
inline void put_pot(ge::Board& board, const Params& p, int column, int row, const Thing& pot) {
  if (pot.item == kNothing) return;
  const bool ready = is_soup(pot.item) && pot.left == 0;
  for (int k = 0; k < filling_of(pot.item); ++k) {
    const bool onion = k < onions_in(pot.item);
    Piece& piece = board.put(column, row, Piece::kDisc, 0.13f,
                             ready   ? kSoupColour
                             : onion ? kOnionColour
                                     : kTomatoColour);
    piece.x += k == 2 ? 0.0f : 0.16f * float(2 * k - 1), piece.y += k == 2 ? 0.16f : -0.1f;
  }
  if (!is_soup(pot.item)) return;
  board.put(column, row, Piece::kRing, 0.27f, ready ? palette::kRamp : palette::kRed);
  put_timer(board, p, column, row, pot.left, p.time[recipe_of(pot.item)]);
}

/// A face from above: two eyes on the side to which the chef looks, and the number behind them.
inline void put_chef(ge::Board& board, const Params& p, int number, const Chef& chef, bool viewed) {
  constexpr float kX[] = {0, 0, 1, -1}, kY[] = {1, -1, 0, 0};  // by direction
  const int column = chef.cell / p.height, row = chef.cell % p.height, facing = chef.facing & 3;
  const float ahead_x = kX[facing], ahead_y = kY[facing];
  const float around = 6.2831853f * float(number) / float(p.player_count);
  board.put(column, row, Piece::kDisc, 0.38f, palette::of_heading(4.2f + around));
  const float x = board.low[0] + float(column) + 0.5f, y = board.high[1] - float(row) - 0.5f;
  const auto dot = [&](float ahead, float left, float radius, Rgb colour) {
    put_dot(board, p, x + ahead * ahead_x - left * ahead_y, y + ahead * ahead_y + left * ahead_x,
            radius, colour);
  };
  for (const float left : {-0.2f, 0.2f})
    dot(0.15f, left, 0.11f, palette::kPale), dot(0.2f, left, 0.055f, palette::kDark);
  if (viewed) board.put(column, row, Piece::kRing, 0.3f, palette::kDark);
  put_item(board, column, row, chef.held, 0.3f * ahead_x, 0.3f * ahead_y);
  write(board, std::to_string(number), x - 0.2f * ahead_x, y - 0.09f - 0.2f * ahead_y, 0.18f,
        palette::kPale, ge::Caption::kMiddle);
}

// ---- over the kitchen: the score, and the orders side by side

/// The ingredients of a recipe, and what a soup of them pays.
inline void put_order(ge::Board& board, const Params& p, float x, float y, int recipe, int value) {
  Plate& plate = board.plates.emplace_back();
  plate.low[0] = x, plate.low[1] = y + 0.06f;
  plate.high[0] = x + kOrderWidth - 0.1f, plate.high[1] = y + kOrderHeight - 0.04f;
  for (int k = 0; k < ingredients_of(recipe); ++k)
    put_dot(board, p, x + 0.15f + 0.2f * float(k), y + 0.5f * kOrderHeight, 0.09f,
            k < recipe >> 2 ? kOnionColour : kTomatoColour);
  write(board, std::to_string(value), x + kOrderWidth - 0.17f, y + 0.16f, 0.2f, palette::kDark,
        ge::Caption::kRight);
}

template <class T>
struct Picture {
  using W = World<Schema<T>>;
  using Chefs = typename T::Chefs;
  using Kitchen = typename T::Kitchen;

  static void put_head(const W& w, ge::Board& board) {
    const Params& p = w.params();
    const float top = board.high[1] + head_height(p);
    const Score score = get<Score>(w);
    Plate& ground = board.plates.emplace_back();  // hides the grid
    ground.low[1] = board.high[1] + 0.02f;
    ground.high[0] = float(p.width), ground.high[1] = top, ground.colour = {1, 1, 1};
    write(board, "Score " + std::to_string(score.score), 0.1f, top - 0.44f, 0.3f, palette::kDark);
    const std::string limit = w.max_steps() == 0 ? "" : "/" + std::to_string(w.max_steps());
    write(board, std::to_string(w.step()) + limit, float(p.width) - 0.1f, top - 0.42f, 0.2f,
          palette::kWall, ge::Caption::kRight);
    int shown = 0;
    for (int recipe = kRecipes - 1; recipe > 0; --recipe) {
      const int value = value_of(w.varied(), p, recipe);
      if (value == 0) continue;
      const int line = shown / orders_in_line(p), place = shown % orders_in_line(p);
      put_order(board, p, 0.1f + kOrderWidth * float(place),
                top - kScoreHeight - kOrderHeight * float(line + 1), recipe, value);
      ++shown;
    }
  }

  static Scene kitchen_scene(const W& w) { return scene_for(w, -1); }
  static Scene scene_for(const W& w, int viewer) {
    const Params& p = w.params();
    ge::Board board = ge::Board::of_cells(p.width, p.height);
    for (int cell = 0; cell < p.cell_count; ++cell) {
      const int column = cell / p.height, row = cell % p.height, place = p.grid[cell];
      if (place == kFloor) continue;
      board.put(column, row, Piece::kSquare, 0.5f, kPlaceColours[place]);
      const Thing thing = get<Kitchen, Thing>(w, cell);
      if (place == kPot)
        put_pot(board, p, column, row, thing);
      else
        put_item(board, column, row, thing.item);
      // A dispenser shows what it gives out.
      if (place == kOnions || place == kTomatoes || place == kDishes)
        put_item(board, column, row, place - kOnions + kOnion);
    }
    for (int number = 0; number < p.player_count; ++number)
      put_chef(board, p, number, get<Chefs, Chef>(w, number), number == viewer);
    put_head(w, board);
    board.high[1] += head_height(p);
    Scene scene;
    scene.board = std::move(board);
    return scene;
  }
};

}  // namespace gpu_envs::envs::overcooked
