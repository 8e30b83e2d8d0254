// Draws boards: the way in for the rest of this folder.
#pragma once

#include <cstdint>

#include "pictures/picture.hpp"
#include "pictures/scene.hpp"

namespace ge::pictures {

/// Like `draw`, for a scene with a board; its charts are already parts of it (charts.hpp).
void draw_board(const Board& board, const Request& request, uint8_t* to);

}  // namespace ge::pictures
