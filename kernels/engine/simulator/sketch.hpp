// Grids without a hook for people: a view derived from the columns of an environment. Rows with
// whole numbers `x` and `y` of a known range (or `column` and `row`) are things on cells; whole
// numbers [rows][columns] that a world has once are maps, in which 0 is an empty cell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/simulator/simulator.hpp"

namespace ge {

/// Which columns make a grid. It points into the list that it was found in.
struct GridColumns {
  struct Things {
    std::string table;
    const Column *x, *y;
    const Column* live;  // header of a table whose rows come and go; null: all rows live
    bool is_pool;
  };
  int columns = 0, rows = 0;
  std::vector<const Column*> maps;
  std::vector<Things> things;
};
/// None where no columns make one, or one of more than 256 cells a side.
std::optional<GridColumns> find_grid(const std::vector<Column>& columns);

/// The contents of one world's cells, in drawing order.
struct Sketch {
  struct Mark {
    int column, row;  // from the top left corner
    int layer;        // of `layers`
    int kind;         // of a map: the value; of things: the row of their table
    bool is_thing;
  };
  struct Layer {
    std::string name;  // of the map's column, or the things' table
    int kinds;         // of a map: values beside 0; of things: rows
  };
  int columns = 0, rows = 0;
  std::vector<Layer> layers;
  std::vector<Mark> marks;
};
/// The cells of the world whose canonical record lies at `record`. Things outside are left out.
Sketch sketch(const GridColumns& grid, const char* record);

/// In a terminal's colours, a line per row and below them what each character means.
std::string text_of(const Sketch& sketch);

}  // namespace ge
