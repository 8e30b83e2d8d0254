// The generator of houses: what every plan, and all that stands in it, has to be.
#include <algorithm>
#include <cmath>
#include <set>

#include "engine/maths/blake2b.hpp"
#include "houses/furniture.hpp"
#include "houses/house_assets.hpp"
#include "houses/make_ground.hpp"
#include "test.hpp"

namespace ge::houses {
namespace {

using test::rounds;

struct Furnished {
  Plan plan;
  Shell shell;
  std::vector<Piece> pieces;

  Furnished(uint64_t seed, const Knobs& knobs)
      : plan(make_plan(knobs, seed)),
        shell(make_shell(plan, seed, 0.5f)),
        pieces(furnish(plan, shell, knobs, seed)) {}
  std::vector<Rect> things() const {
    std::vector<Rect> all = walls_of(shell);
    for (const Piece& piece : pieces)
      if (piece.stands) all.push_back(piece.floor);
    return all;
  }
};
int squares_of(const Plan& plan, int room) {
  return int(std::count(plan.room.begin(), plan.room.end(), room));
}

GE_TEST(every_room_has_a_door_and_all_are_connected) {
  const Knobs knobs;
  for (uint64_t seed = 0; seed < uint64_t(rounds(10'000)); ++seed) {
    const Plan plan = make_plan(knobs, seed);
    CHECK(plan.room_count() >= knobs.rooms_low && plan.room_count() <= knobs.rooms_high);
    for (int room = 0; room < plan.room_count(); ++room) CHECK(squares_of(plan, room) >= 2);
    std::vector<int> group(size_t(plan.room_count()));
    for (size_t k = 0; k < group.size(); ++k) group[k] = int(k);
    for (const Door& door : plan.doors) {
      CHECK(door.rooms[0] != door.rooms[1]);
      const float width = door.end - door.begin;
      CHECK(width >= 0.8f - 0x1p-8f && width <= (door.is_wide ? 2.5f : knobs.door_high) + 0x1p-8f);
      // On both sides of the opening lie the two rooms.
      for (const float along : {door.begin + 0.01f, door.end - 0.01f}) {
        std::set<int> beside;
        for (const float across : {door.line - 0.1f, door.line + 0.1f}) {
          const float x = door.along_x ? along : across, y = door.along_x ? across : along;
          beside.insert(
              plan.room_at(int(std::floor(x / plan.side)), int(std::floor(y / plan.side))));
        }
        CHECK(beside == (std::set<int>{door.rooms[0], door.rooms[1]}));
      }
      const int from = group[size_t(door.rooms[0])], to = group[size_t(door.rooms[1])];
      std::replace(group.begin(), group.end(), from, to);
    }
    CHECK(std::all_of(group.begin(), group.end(), [&](int one) { return one == group[0]; }));
  }
}

/// Whether every part stands on the floor, hangs on a wall, or meets a part that does.
bool stands(const Piece& piece, const std::vector<Rect>& walls) {
  constexpr float kNear = 0.005f, kToWall = 0.06f;
  const auto hangs = [&](const Part& part) {
    const Rect floor = Rect{part.low[0], part.low[1], part.high[0], part.high[1]}.grown(kToWall);
    return std::any_of(walls.begin(), walls.end(),
                       [&](const Rect& wall) { return wall.overlaps(floor); });
  };
  std::vector<bool> held(piece.parts.size());
  for (bool grows = true; grows;) {
    grows = false;
    for (size_t k = 0; k < held.size(); ++k) {
      const Part& part = piece.parts[k];
      bool is_held = part.low[2] <= kNear || hangs(part);
      for (size_t other = 0; other < held.size() && !is_held; ++other) {
        const Part& on = piece.parts[other];
        bool meets = held[other];
        for (int axis = 0; axis < 3; ++axis)
          meets = meets && part.low[axis] <= on.high[axis] + kNear &&
                  on.low[axis] <= part.high[axis] + kNear;
        is_held = meets;
      }
      if (is_held && !held[k]) held[k] = grows = true;
    }
  }
  return std::find(held.begin(), held.end(), false) == held.end();
}

GE_TEST(furniture_stands_in_its_room_and_leaves_the_floor_whole) {
  const Knobs knobs;
  std::set<int> kinds;
  double covered = 0, floors = 0;
  for (uint64_t seed = 0; seed < uint64_t(rounds(150)); ++seed) {
    const Furnished house(seed, knobs);
    const std::vector<Rect> walls = walls_of(house.shell);
    for (const Piece& piece : house.pieces) {
      kinds.insert(piece.kind);
      CHECK(!piece.parts.empty() && stands(piece, walls));
      for (const Part& part : piece.parts) {
        for (int axis = 0; axis < 3; ++axis) CHECK(part.low[axis] < part.high[axis]);
        CHECK(part.high[2] < house.shell.ceiling);
        // Nothing reaches beyond what the piece covers.
        CHECK(part.low[0] >= piece.floor.low_x - 0.001f &&
              part.low[1] >= piece.floor.low_y - 0.001f);
        CHECK(part.high[0] <= piece.floor.high_x + 0.001f &&
              part.high[1] <= piece.floor.high_y + 0.001f);
      }
      for (const float x : {piece.floor.low_x, piece.floor.high_x})
        for (const float y : {piece.floor.low_y, piece.floor.high_y})
          CHECK_EQ(house.plan.room_at(int(std::floor(x / house.plan.side)),
                                      int(std::floor(y / house.plan.side))),
                   piece.room);
      if (!piece.stands) continue;
      covered += double(piece.floor.area());
      for (const Piece& other : house.pieces)
        CHECK(&other == &piece || !other.stands || !piece.floor.overlaps(other.floor));
      for (const Rect& wall : walls) CHECK(!piece.floor.overlaps(wall));
    }
    const Walkable floor = walkable_of(house.shell, house.things());
    CHECK(!floor.pinched);
    CHECK(floor.lost <= walkable_of(house.shell, walls_of(house.shell)).lost);
    CHECK(floor.area > 5.0f);
    floors += double(floor.area);
  }
  CHECK(int(kinds.size()) == kind_count());
  CHECK(covered > 0.05 * floors && covered < floors);
}

GE_TEST(knobs_are_kept) {
  int full = 0, narrow = 0;
  for (uint64_t seed = 0; seed < uint64_t(rounds(60)); ++seed) {
    const Knobs bare = {.rooms_low = 1, .rooms_high = 1, .clutter_low = 0, .clutter_high = 0};
    const Furnished one(seed, bare);
    CHECK_EQ(one.plan.room_count(), 1);
    CHECK(one.plan.doors.empty() && one.pieces.empty());
    const Knobs large = {.rooms_low = 12, .rooms_high = 12, .door_low = 1.2f, .door_high = 1.2f};
    const Plan many = make_plan(large, seed);
    CHECK_EQ(many.room_count(), 12);
    for (const Door& door : many.doors) {  // in a short piece of a wall they are narrower
      const float width = door.end - door.begin;
      CHECK(width >= 0.8f - 0x1p-8f && (door.is_wide || width <= 1.2f + 0x1p-8f));
      (width >= 1.2f - 0x1p-8f ? full : narrow) += 1;
    }
  }
  CHECK(full > 5 * narrow);
}

GE_TEST(sets_that_do_not_fit_are_refused_with_the_number_that_does) {
  check_fit({.count = 64, .each = 1e6, .free = 64e6});
  CHECK_THROWS(
      check_fit({.count = 4096, .each = 2.5e6, .free = 1e9}), Error,
      "house_count=4096 needs 10240 MB to be made, 1000 MB are free: about 400 houses fit");
  CHECK_THROWS(check_fit({.count = 2, .each = 2e6, .free = 1e6}), Error,
               "house_count=2 needs 4 MB to be made, 1 MB are free: about 0 houses fit");
}

template <class T>
void add(Blake2b& hash, const std::vector<T>& values) {
  if (!values.empty()) hash.update(values.data(), values.size() * sizeof(T));
}
// Whatever compiled this, and for whatever machine.
GE_TEST(a_seed_is_the_same_house_everywhere) {
  Blake2b hash(16);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const Furnished house(seed << 32 | seed, {});
    add(hash, house.plan.room), add(hash, house.shell.xs), add(hash, house.shell.ys);
    for (const Piece& piece : house.pieces) add(hash, piece.parts);
    const GroundData ground = make_ground(house.shell, house.things());
    add(hash, ground.corners), add(hash, ground.distances), add(hash, ground.corner_items);
    add(hash, ground.block_items), add(hash, ground.spots);
  }
  CHECK_EQ(hash.hex_digest(), std::string("eebfa2d2c12055ab624f0a71a96484eb"));
}

}  // namespace
}  // namespace ge::houses
