// Draws boards: the way in for the rest of this folder.
#pragma once

#include <cstdint>

#include "engine/scene.hpp"
#include "render/picture.hpp"

namespace ge::render {

/// As `draw`, of a scene that has a board.
void draw_board(const Board& board, const Request& request, uint8_t* to);

}  // namespace ge::render
