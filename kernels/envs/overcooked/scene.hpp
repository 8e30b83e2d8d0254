// The picture: the kitchen from above. Furniture fills its cells, objects are discs, chefs are
// arrows with the object they hold at the tip. Host only.
#pragma once

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

/// Draws the ingredients in a pot, with a ring once they cook, in one colour once they are done.
inline void put_pot(ge::Board& board, int column, int row, const Thing& pot) {
  if (pot.item == kNothing) return;
  const bool ready = is_soup(pot.item) && pot.left == 0;
  for (int k = 0; k < filling_of(pot.item); ++k) {
    const bool onion = k < onions_in(pot.item);
    Piece& piece = board.put(column, row, Piece::kDisc, 0.14f,
                             ready   ? kSoupColour
                             : onion ? kOnionColour
                                     : kTomatoColour);
    piece.x += k == 2 ? 0.0f : 0.18f * float(2 * k - 1), piece.y += k == 2 ? 0.16f : -0.12f;
  }
  if (is_soup(pot.item))
    board.put(column, row, Piece::kRing, 0.3f, ready ? palette::kRamp : palette::kRed);
}

inline void put_chef(ge::Board& board, const Params& p, int number, const Chef& chef) {
  constexpr float kX[] = {0, 0, 1, -1}, kY[] = {1, -1, 0, 0};
  constexpr float kHeadings[] = {1.5707963f, -1.5707963f, 0, 3.1415927f};
  const int column = chef.cell / p.height, row = chef.cell % p.height, facing = chef.facing & 3;
  const float around = 6.2831853f * float(number) / float(p.player_count);
  Piece& body = board.put(column, row, Piece::kArrow, 0.42f, palette::of_heading(4.2f + around));
  body.heading = kHeadings[facing];
  put_item(board, column, row, chef.held, 0.28f * kX[facing], 0.28f * kY[facing]);
}

template <class T>
struct Picture {
  using W = World<Schema<T>>;
  using Chefs = typename T::Chefs;
  using Kitchen = typename T::Kitchen;

  static Scene kitchen_scene(const W& w) {
    const Params& p = w.params();
    ge::Board board = ge::Board::of_cells(p.width, p.height);
    for (int cell = 0; cell < p.cell_count; ++cell) {
      const int column = cell / p.height, row = cell % p.height, place = p.grid[cell];
      if (place == kFloor) continue;
      board.put(column, row, Piece::kSquare, 0.5f, kPlaceColours[place]);
      const Thing thing = get<Kitchen, Thing>(w, cell);
      if (place == kPot)
        put_pot(board, column, row, thing);
      else
        put_item(board, column, row, thing.item);
      // A dispenser shows what it gives out.
      if (place == kOnions || place == kTomatoes || place == kDishes)
        put_item(board, column, row, place - kOnions + kOnion);
    }
    for (int number = 0; number < p.player_count; ++number)
      put_chef(board, p, number, get<Chefs, Chef>(w, number));
    Scene scene;
    scene.board = std::move(board);
    return scene;
  }
};

}  // namespace gpu_envs::envs::overcooked
