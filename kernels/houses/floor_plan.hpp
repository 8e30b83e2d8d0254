// Floor plans: rooms on a grid of squares, and the doors between them.
#pragma once

#include <cstdint>
#include <vector>

#include "houses/dice.hpp"

namespace ge::houses {

/// What houses are like.
struct Knobs {
  int32_t rooms_low = 3, rooms_high = 8;
  float clutter_low = 0.1f, clutter_high = 0.35f;  // of the floor that furniture covers
  float door_low = 0.9f, door_high = 1.1f;         // width of doors [m]
};
inline constexpr int kMostRooms = 12;

enum RoomKind : int32_t { kLiving, kKitchen, kBedroom, kBathroom, kHall, kRoomKinds };

/// An opening in the wall between two rooms.
struct Door {
  int32_t rooms[2];
  bool along_x;      // the wall runs along x
  float line;        // where the wall is, across it [m]
  float begin, end;  // of the opening, along the wall [m]
  bool is_wide;      // without a door
};

/// Square (x, y) has its lowest corner at (x side, y side).
struct Plan {
  int32_t columns, rows;
  float side;                 // of a square [m]
  std::vector<int32_t> room;  // of each square, row after row; -1: outside
  std::vector<RoomKind> kinds;
  std::vector<Door> doors;

  int32_t room_at(int x, int y) const {
    const bool inside = x >= 0 && x < columns && y >= 0 && y < rows;
    return inside ? room[size_t(y * columns + x)] : -1;
  }
  int room_count() const { return int(kinds.size()); }
};

/// Half of a wall's thickness [m].
inline constexpr float kHalfWall = 0x1p-4f;

Plan make_plan(const Knobs& knobs, uint64_t seed);

}  // namespace ge::houses
