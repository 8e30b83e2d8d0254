// Grids that nobody described to people: what the columns of an environment tell of one. Rows with
// whole numbers `x` and `y` of a known range (or `column` and `row`) are things that stand on
// cells; whole numbers [rows][columns] that a world has once are maps, of which 0 is an empty cell.
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

/// What lies and stands on the cells of one world, in the order in which it is drawn.
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
/// The cells of a world whose canonical record lies at `record`. What stands outside is left out.
Sketch sketch(const GridColumns& grid, const char* record);

/// In a terminal's colours, a line per row and below them what each character means.
std::string text_of(const Sketch& sketch);

}  // namespace ge
