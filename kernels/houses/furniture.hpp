// Furniture: pieces made of boxes and prisms, and where they stand in a plan.
#pragma once

#include <cstdint>
#include <vector>

#include "houses/shell.hpp"

namespace ge::houses {

enum PartShape : int32_t { kBoxPart, kRoundPart };  // a prism of eight sides

/// A part of a piece, in metres of the house.
struct Part {
  PartShape shape;
  float low[3], high[3];
  uint32_t colour;  // 0xRRGGBB
};
struct Piece {
  int32_t kind;  // number of its template
  int32_t room;
  Rect floor;   // what it covers
  bool stands;  // in the way of bodies; else a rug
  std::vector<Part> parts;
};

int kind_count();
const char* name_of_kind(int kind);

/// Furniture for a share of the floor that is drawn from the knobs. Every door can still be reached
/// and no floor is cut off.
std::vector<Piece> furnish(const Plan& plan, const Shell& shell, const Knobs& knobs, uint64_t seed);

}  // namespace ge::houses
