// See sketch.hpp.
#include "engine/simulator/sketch.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "engine/described/field_info.hpp"

namespace ge {

// ---- which columns

namespace {

constexpr int kMostCells = 256;    // along a side
constexpr int kFewestOfMap = 3;    // less is a vector of numbers, not a map
constexpr double kMostKinds = 61;  // that characters tell apart

bool is_whole(const Column& column) {
  return column.type != Type::float32 && column.type != Type::float64;
}
bool is_bounded(const Column& column) {
  return column.low > -kUnbounded && column.high < kUnbounded;
}
/// A coordinate: whole, one number per row, of a known range.
bool counts_cells(const Column& column) {
  return is_whole(column) && column.shape.empty() && is_bounded(column) &&
         column.high - column.low < kMostCells;
}
int extent(const Column& column) {
  return int(column.high - column.low) + 1;
}
bool is_map(const Column& column) {
  if (!is_whole(column) || column.shape.size() != 2 || column.rows != 1) return false;
  for (const int64_t side : column.shape)
    if (side < kFewestOfMap || side > kMostCells) return false;
  const bool is_flag = column.type == Type::boolean;
  return is_flag || (is_bounded(column) && column.low == 0 && column.high <= kMostKinds);
}

const Column* find(const std::vector<Column>& columns, const std::string& name) {
  for (const Column& column : columns)
    if (column.name == name) return &column;
  return nullptr;
}
std::string table_of(const Column& column) {
  return column.name.substr(0, column.name.find('.'));
}

/// The things of a table that has coordinates of these names.
std::optional<GridColumns::Things> find_things(const std::vector<Column>& columns, const Column& x,
                                               const char* x_name, const char* y_name) {
  const std::string table = table_of(x);
  const Column* const y = find(columns, table + "." + y_name);
  if (x.name != table + "." + x_name || y == nullptr) return {};
  if (!counts_cells(x) || !counts_cells(*y)) return {};
  GridColumns::Things things{table, &x, y, find(columns, table + ".live"), false};
  // A header, not a field of the same name: it comes with another.
  things.is_pool = things.live != nullptr && find(columns, table + ".generation") != nullptr &&
                   things.live->type == Type::uint32;
  if (!things.is_pool) {
    const Column* const count = find(columns, table + ".count");
    const bool is_header = count != nullptr && count->type == Type::uint32 && count->rows == 1 &&
                           count->high == double(x.rows) && x.rows > 1;
    things.live = is_header ? count : nullptr;
  }
  return things;
}

}  // namespace

std::optional<GridColumns> find_grid(const std::vector<Column>& columns) {
  GridColumns grid;
  for (const Column& column : columns)
    for (const auto& [x, y] : {std::pair{"x", "y"}, std::pair{"column", "row"}})
      if (const auto things = find_things(columns, column, x, y)) {
        grid.things.push_back(*things);
        grid.columns = std::max(grid.columns, extent(*things->x));
        grid.rows = std::max(grid.rows, extent(*things->y));
      }
  for (const Column& column : columns) {
    if (!is_map(column)) continue;
    if (grid.columns == 0) grid.rows = int(column.shape[0]), grid.columns = int(column.shape[1]);
    if (column.shape[0] == grid.rows && column.shape[1] == grid.columns)
      grid.maps.push_back(&column);
  }
  if (grid.columns == 0) return {};
  return grid;
}

// ---- what they hold

namespace {

int64_t whole_at(const Column& column, const char* record, int64_t row, int64_t element = 0) {
  return int64_t(number_at(
      column.type, record + column.offset + row * column.stride + element * bytes_of(column.type)));
}
uint32_t word_at(const Column& column, const char* record, int64_t row) {
  uint32_t word;
  std::memcpy(&word, record + column.offset + row * column.stride, sizeof word);
  return word;
}
bool lives(const GridColumns::Things& things, const char* record, int64_t row) {
  if (things.live == nullptr) return true;
  if (things.is_pool) return (word_at(*things.live, record, row / 32) >> (row % 32) & 1u) != 0;
  return row < int64_t(word_at(*things.live, record, 0));
}

}  // namespace

Sketch sketch(const GridColumns& grid, const char* record) {
  Sketch sketch{grid.columns, grid.rows, {}, {}};
  for (const Column* map : grid.maps) {
    const int layer = int(sketch.layers.size());
    sketch.layers.push_back({map->name, map->type == Type::boolean ? 1 : int(map->high)});
    for (int at = 0; at < grid.rows * grid.columns; ++at)
      if (const int64_t kind = whole_at(*map, record, 0, at); kind > 0 && kind <= int(kMostKinds))
        sketch.marks.push_back({at % grid.columns, at / grid.columns, layer, int(kind), false});
  }
  // Agents are the first of their tables, and stand on top.
  for (auto things = grid.things.rbegin(); things != grid.things.rend(); ++things) {
    const int layer = int(sketch.layers.size());
    sketch.layers.push_back({things->table, int(things->x->rows)});
    for (int64_t row = 0; row < things->x->rows; ++row) {
      if (!lives(*things, record, row)) continue;
      const int64_t x = whole_at(*things->x, record, row) - int64_t(things->x->low);
      const int64_t y = whole_at(*things->y, record, row) - int64_t(things->y->low);
      if (x < 0 || x >= grid.columns || y < 0 || y >= grid.rows) continue;
      sketch.marks.push_back({int(x), int(y), layer, int(row), true});
    }
  }
  return sketch;
}

// ---- as text

namespace {

/// A character per kind: those of maps are small, those of things are capitals.
char mark_of_map(const Sketch::Layer& layer, int nth, int kind) {
  constexpr char kFlags[] = "#+*=%&";
  constexpr char kKinds[] = "123456789abcdefghijklmnopqrstuvwxyz";
  if (layer.kinds <= 1) return kFlags[nth % 6];
  return kKinds[(kind - 1) % 35];
}
/// The first letter of the table's name that no earlier table has taken, else any free letter.
char letter_of(const std::string& table, const std::string& taken) {
  const std::string choices = table + "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (const char c : choices) {
    const char letter = char(std::toupper(static_cast<unsigned char>(c)));
    if (letter >= 'A' && letter <= 'Z' && taken.find(letter) == std::string::npos) return letter;
  }
  return '@';
}
std::string coloured(int nth, char c) {
  constexpr const char* kColours[] = {"91", "94", "92", "93", "95", "96"};
  return std::string("\x1b[1;") + kColours[nth % 6] + "m" + c + "\x1b[0m";
}

}  // namespace

std::string text_of(const Sketch& sketch) {
  std::vector<std::string> shown(size_t(sketch.columns) * size_t(sketch.rows), ".");
  std::string letters, legend;
  for (int k = int(sketch.layers.size()) - 1; k >= 0; --k)  // agents come last and choose first
    letters += letter_of(sketch.layers[size_t(k)].name, letters);
  const auto character = [&](const Sketch::Mark& mark) {
    const Sketch::Layer& layer = sketch.layers[size_t(mark.layer)];
    return mark.is_thing ? letters[sketch.layers.size() - 1 - size_t(mark.layer)]
                         : mark_of_map(layer, mark.layer, mark.kind);
  };
  std::vector<bool> told(sketch.layers.size());
  for (const Sketch::Mark& mark : sketch.marks) {
    const std::string c = coloured(mark.layer, character(mark));
    shown[size_t(mark.row * sketch.columns + mark.column)] = c;
    if (told[size_t(mark.layer)]) continue;
    told[size_t(mark.layer)] = true;
    const Sketch::Layer& layer = sketch.layers[size_t(mark.layer)];
    const bool has_kinds = !mark.is_thing && layer.kinds > 1;
    legend += "  " + (has_kinds ? "1.. " : c + " ") + layer.name;
  }
  std::string text;
  for (int at = 0; at < sketch.rows * sketch.columns; ++at)
    text += shown[size_t(at)] + ((at + 1) % sketch.columns == 0 ? "\n" : "");
  return text + (legend.empty() ? "" : legend.substr(2) + "\n");
}

}  // namespace ge
