// Grids that nobody described to people: which columns make one, and what is shown of it.
#include <cstring>

#include "engine/simulator/sketch.hpp"
#include "test.hpp"
#include "views/sketch.hpp"

namespace {

using namespace ge;

Column number(const std::string& name, int64_t offset, double low, double high, int64_t rows = 1) {
  return {name, Type::int32, {}, rows, offset, 8, 4, "", "", low, high};
}
Column map(const std::string& name, std::vector<int64_t> shape, double high) {
  const int64_t bytes = shape[0] * shape[1];
  return {name, Type::uint8, std::move(shape), 1, 100, bytes, bytes, "", "", 0, high};
}
/// x and y side by side in each of the rows.
std::vector<Column> walkers(int64_t rows, double low, double high) {
  return {number("walkers.x", 0, low, high, rows), number("walkers.y", 4, low, high, rows)};
}
struct Record {
  char bytes[256] = {};
  void put(int64_t at, int32_t value) { std::memcpy(bytes + at, &value, sizeof value); }
};
std::string plain(const std::string& text) {
  std::string kept;
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '\x1b')
      k = text.find('m', k);
    else
      kept += text[k];
  }
  return kept;
}

}  // namespace

GE_TEST(rows_with_whole_coordinates_of_a_known_range_make_a_grid) {
  const auto columns = walkers(2, -1, 2);
  const auto grid = find_grid(columns);
  CHECK(grid.has_value());
  CHECK_EQ(grid->columns, 4);
  CHECK_EQ(grid->rows, 4);
  Record record;
  record.put(0, -1), record.put(4, -1), record.put(8, 2), record.put(12, 0);
  CHECK_EQ(plain(text_of(sketch(*grid, record.bytes))), "W...\n...W\n....\n....\nW walkers\n");
}

GE_TEST(fractions_unbounded_and_endless_coordinates_make_no_grid) {
  auto columns = walkers(2, 0, kUnbounded);
  CHECK(!find_grid(columns).has_value());
  columns = walkers(2, 0, 256);
  CHECK(!find_grid(columns).has_value());
  columns = walkers(2, 0, 7);
  columns[0].type = Type::float32;
  CHECK(!find_grid(columns).has_value());
  CHECK(!find_grid({number("walkers.x", 0, 0, 7)}).has_value());
  CHECK(!find_grid({map("hands.cards", {2, 5}, 4)}).has_value());
}

GE_TEST(what_stands_outside_is_left_out) {
  const auto columns = walkers(2, 0, 2);
  Record record;
  record.put(0, 3), record.put(4, 0), record.put(8, 1), record.put(12, -1);
  CHECK_EQ(plain(text_of(sketch(*find_grid(columns), record.bytes))), "...\n...\n...\n");
}

GE_TEST(maps_lie_under_things_and_name_their_kinds) {
  auto columns = walkers(1, 0, 2);
  columns.push_back(map("field.snow", {3, 3}, 1));
  columns.push_back(map("field.other", {4, 3}, 1));  // of another size: no part of it
  columns.push_back(map("field.kind", {3, 3}, 12));
  columns[4].offset = 120;
  Record record;
  record.put(0, 1), record.put(4, 0);
  record.bytes[100] = record.bytes[101] = 1;  // the first row's first two cells
  record.bytes[120 + 8] = 2, record.bytes[120 + 7] = 12;
  const Sketch made = sketch(*find_grid(columns), record.bytes);
  CHECK_EQ(plain(text_of(made)), "#W.\n...\n.c2\n# field.snow  1.. field.kind  W walkers\n");
  const Scene scene = views::scene_of(made);
  CHECK_EQ(int(scene.board->pieces.size()), 5);
  CHECK_EQ(int(scene.board->pieces.back().kind), int(Piece::kDisc));
  CHECK_EQ(scene.board->pieces.back().x, 1.5f);
  CHECK_EQ(scene.board->pieces.back().y, 2.5f);
}

GE_TEST(map_alone_makes_a_grid) {
  const std::vector<Column> columns{map("board.stones", {3, 4}, 2)};
  const auto grid = find_grid(columns);
  CHECK_EQ(grid->columns, 4);
  CHECK_EQ(grid->rows, 3);
}

GE_TEST(rows_that_do_not_live_are_not_shown) {
  auto columns = walkers(3, 0, 2);
  Column count{"walkers.count", Type::uint32, {}, 1, 200, 4, 4, "", "", 0, 3};
  columns.insert(columns.begin(), count);
  Record record;
  record.put(200, 1), record.put(8, 1), record.put(16, 2);
  CHECK_EQ(int(sketch(*find_grid(columns), record.bytes).marks.size()), 1);
  // A pool says so by bits; without its generations `live` is a field as any other.
  columns[0] = {"walkers.live", Type::uint32, {}, 1, 200, 4, 4, "", ""};
  columns.push_back({"walkers.generation", Type::uint32, {}, 3, 204, 4, 4, "", ""});
  record.put(200, 0b101);
  CHECK_EQ(int(sketch(*find_grid(columns), record.bytes).marks.size()), 2);
  columns.pop_back();
  CHECK_EQ(int(sketch(*find_grid(columns), record.bytes).marks.size()), 3);
}

GE_TEST(tables_of_one_initial_have_letters_of_their_own) {
  std::vector<Column> columns;
  for (const char* table : {"wolf", "wall", "www"})
    for (const char* axis : {".x", ".y"})
      columns.push_back(number(std::string(table) + axis, int64_t(columns.size()) * 4, 0, 2));
  Record record;
  record.put(8, 1), record.put(16, 2);
  CHECK_EQ(plain(text_of(sketch(*find_grid(columns), record.bytes))),
           "WAB\n...\n...\nB www  A wall  W wolf\n");
}
