// Draws boards: the way in for the rest of this folder.
#pragma once

#include <cstdint>

#include "pictures/picture.hpp"
#include "pictures/scene.hpp"

namespace ge::pictures {

/// As `draw`, of a scene that has a board; what charts show is among its parts (charts.hpp).
void draw_board(const Board& board, const Request& request, uint8_t* to);

}  // namespace ge::pictures
