// Rows of floats that differ in a few elements only (may_be_alike), made by squads in the caller's
// array: one row in every 64 is made by its function, the others are copies of it, turned into
// their agents' own. A row costs 16-byte stores instead of a call and 4-byte ones.
//
//   phase  rows r, r + 4, r + 8, ... of a world, whose addresses are equal modulo 16 however long a
//          row is: a vector of one lies at a multiple of 16 in each of them
//   tile   what a squad makes by itself: up to 64 rows of one phase, and of each a piece of 512
//          elements; the first is the model of the others
//
//              elements   0 ..  . 514 ..  . 1026 ..
//     rows 0, 4, 8 ...    | tile 0  | tile 1   |       pieces begin where a vector of this phase
//          1, 5, 9 ...    | tile 2 | tile 3   |        does
//
// The lanes keep the model's vectors in registers, so that a copy loads nothing. A tile in which a
// row does not show is made row by row.
#pragma once

#include "engine/cuda/rows.hpp"
#include "engine/graph/wide_rows.hpp"

namespace ge {

struct AlikeTile {
  static constexpr int kPhases = 16 / int(sizeof(float));
  static constexpr int kRows = 64;          // more would leave worlds of 1,000 agents few squads
  static constexpr int kVectorsOfLane = 4;  // in registers
  static constexpr int kElement = 16 / int(sizeof(float));  // floats of a vector
  static constexpr int kVectors = kVectorsOfLane * Squad::kLanes;
  static constexpr int kPiece = kVectors * kElement;
  /// With fewer rows in a world a model is not worth its copies.
  static constexpr int kFewest = 4 * kPhases;

  int first, end;         // rows first, first + kPhases, ... below end
  int begin, end_column;  // elements of each
  int lead;               // of these before the first vector

  /// Tiles of a world of `rows` rows.
  static GE_FN int count(int rows, int elements) {
    return (rows + kRows * kPhases - 1) / (kRows * kPhases) * kPhases * pieces(elements);
  }
  /// Tile `k` of a world whose first row is at `to`.
  static GE_FN AlikeTile of(int k, int rows, int elements, const char* to) {
    const int across = pieces(elements), group = k / across, piece = k - group * across;
    const int block = group / kPhases * (kRows * kPhases);
    AlikeTile tile;
    tile.first = block + group % kPhases;
    tile.end = min(block + kRows * kPhases, rows);
    const int lead = ((16 - offset_in_vector(to + int64_t{tile.first} * elements * 4)) & 15) / 4;
    tile.begin = piece == 0 ? 0 : min(lead + piece * kPiece, elements);
    tile.end_column = min(lead + (piece + 1) * kPiece, elements);
    tile.lead = piece == 0 ? min(lead, elements) : 0;
    return tile;
  }

 private:
  static GE_FN int pieces(int elements) { return (elements + kPiece - 1) / kPiece; }
};

/// Makes a tile with the squad of `cells`, which has all of its lanes.
template <auto F, class T, class Row, class S>
class AlikeRows {
 public:
  GE_FN AlikeRows(const Cells<S>& cells, const AlikeTile& tile, char* to, int elements,
                  bool into_final)
      : cells_(cells),
        squad_(cells.squad_lane, cells.squad_size),
        tile_(tile),
        to_(reinterpret_cast<float*>(to)),
        elements_(elements),
        final_(into_final) {}

  GE_FN void run() const {
    if (tile_.first >= tile_.end) return;
    const bool alike = all_show();
    make_rows(alike ? tile_.first + 1 : tile_.end);
    if (!alike) return;
    squad_.meet();
    copy_model();
    squad_.meet();
    turn_copies();
  }

 private:
  static constexpr int kStep = AlikeTile::kPhases;

  GE_FN float* at(int row) const { return to_ + int64_t{row} * elements_; }
  GE_FN FloatRow writer(int row, int lane, int lanes) const {
    return {at(row) + tile_.begin, tile_.begin, tile_.end_column, lane, lanes};
  }
  GE_FN bool all_show() const {
    bool absent = false;
    GE_NO_UNROLL
    for (int row = tile_.first + squad_.lane() * kStep; row < tile_.end;
         row += Squad::kLanes * kStep) {
      absent |= !row_fate<T>(cells_, row, final_).shows;
    }
    return !squad_.any(absent);
  }

  // ---- by its function

  GE_FN void clear(int row) const {
    writer(row, squad_.lane(), Squad::kLanes)
        .fill(tile_.begin, tile_.end_column - tile_.begin, [](int) GE_LAMBDA { return 0.0f; });
  }
  GE_FN void make(int row) const {
    if constexpr (!is_complete<Row>()) {
      clear(row);
      squad_.meet();
    }
    FloatRow own = writer(row, squad_.lane(), Squad::kLanes);
    write_row<F, T>(cells_, row, own);
  }
  /// Makes the rows below `end`.
  GE_FN void make_rows(int end) const {
    GE_NO_UNROLL
    for (int row = tile_.first; row < end; row += kStep) {
      const RowFate fate = row_fate<T>(cells_, row, final_);
      if (fate.wanted && fate.shows)
        make(row);
      else if (fate.wanted)
        clear(row);
    }
  }

  // ---- as a copy

  GE_FN void copy_model() const {
    const int first = tile_.begin + tile_.lead;
    const int vectors = (tile_.end_column - first) / AlikeTile::kElement;
    copy_edges(first + vectors * AlikeTile::kElement);
    const int lane = squad_.lane();
    float* const model = at(tile_.first) + first;
    Vector own[AlikeTile::kVectorsOfLane] = {};
    GE_UNROLL
    for (int k = 0; k < AlikeTile::kVectorsOfLane; ++k) {
      const int vector = lane + k * Squad::kLanes;
      if (vector >= vectors) continue;
      GE_WATCH(model + vector * AlikeTile::kElement, 16, false);
      own[k] = reinterpret_cast<const Vector*>(model)[vector];
    }
    if (vectors == AlikeTile::kVectors)
      put_copies<true>(model, own, vectors);
    else
      put_copies<false>(model, own, vectors);
  }
  /// kWhole: every lane has all of its vectors.
  template <bool kWhole>
  GE_FN void put_copies(float* model, const Vector (&own)[AlikeTile::kVectorsOfLane],
                        int vectors) const {
    const int lane = squad_.lane();
    float* to = model + lane * AlikeTile::kElement;
    GE_NO_UNROLL
    for (int row = tile_.first + kStep; row < tile_.end; row += kStep) {
      to += int64_t{kStep} * elements_;
      GE_UNROLL
      for (int k = 0; k < AlikeTile::kVectorsOfLane; ++k) {
        if (!kWhole && lane + k * Squad::kLanes >= vectors) continue;
        GE_WATCH(to + k * Squad::kLanes * AlikeTile::kElement, 16, true);
        reinterpret_cast<Vector*>(to)[k * Squad::kLanes] = own[k];
      }
    }
  }
  /// Elements before the first vector, and those from `rest` on: a lane has one of all rows.
  GE_FN void copy_edges(int rest) const {
    const int lane = squad_.lane();
    const int column = lane < tile_.lead ? tile_.begin + lane : rest + lane - tile_.lead;
    if (column >= tile_.end_column) return;
    GE_WATCH(at(tile_.first) + column, 4, false);
    const float own = at(tile_.first)[column];
    GE_NO_UNROLL
    for (int row = tile_.first + kStep; row < tile_.end; row += kStep) {
      GE_WATCH(at(row) + column, 4, true);
      at(row)[column] = own;
    }
  }
  /// A lane turns whole rows, of which it writes what lies in the tile.
  GE_FN void turn_copies() const {
    const auto& params = cells_.shared->params;
    GE_NO_UNROLL
    for (int row = tile_.first + (1 + squad_.lane()) * kStep; row < tile_.end;
         row += Squad::kLanes * kStep) {
      FloatRow own = writer(row, 0, 1);
      Row::turn(params, own, tile_.first, row);
    }
  }

  const Cells<S>& cells_;
  const Squad squad_;
  const AlikeTile tile_;
  float* const to_;  // the first row of the world
  const int elements_;
  const bool final_;
};

/// Whether the rows of a world are made as tiles; the same for all worlds of a simulator.
template <class Row, class Params>
GE_FN bool are_tiled(const Params& params, int rows) {
  if constexpr (may_be_alike<Row>)
    return rows >= AlikeTile::kFewest && Row::alike(params);
  else
    return false;
}
/// Makes tile `k` of the `rows` rows of a world, of which the first is number `index`.
template <auto F, class T, class Row, class S>
GE_FN void put_tile(const Cells<S>& cells, int k, int rows, const WideTarget& target, int64_t index,
                    bool into_final) {
  char* const to = target.to + index * target.elements * int64_t{sizeof(float)};
  const AlikeTile tile = AlikeTile::of(k, rows, target.elements, to);
  AlikeRows<F, T, Row, S>(cells, tile, to, target.elements, into_final).run();
}

}  // namespace ge
