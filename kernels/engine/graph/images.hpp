// Images: observations that are pictures. An environment describes one by deriving from Image, and
// draws it part by part on a Canvas:
//
//   struct Observation : ge::Image {
//     static GE_FN ImageForm form(const Params&);                // rows, columns, layers
//   };
//   GE_FN void draw(const W& w, const Canvas& canvas, Slot me) { ... canvas.put(...); }
//
// A part is a rectangle of pixels that begins at a multiple of a tile: the whole picture on the
// CPU, or a tile of it where a crew or the lanes of a GPU share a picture. The function fills
// exactly its part, whatever part that is; checking/shuffled compares pictures that were drawn in
// different parts. All layers are drawn at once, each into an output of its own: the first that is
// asked for is `obs`.
//
// Numbers may stand beside a picture: a row of floats of fixed length, `Numbers` in the environment
// or in a role, which ObserveNumbers fills. They are one more layer, the last.
#pragma once

#include "engine/graph/channels.hpp"
#include "engine/maths/packs.hpp"
#include "engine/world/squad.hpp"

namespace ge {

/// The layers of a picture, as bits, in the order of the outputs.
enum Layer : uint32_t {
  kColours = 1,    // uint8, red, green, blue
  kDepths = 2,     // float32, along the axis of sight; 0: nothing there
  kSegments = 4,   // uint16, 1 + the number of the solid seen; 0: nothing there
  kNumberRow = 8,  // float32, a row beside the picture
};
inline constexpr int kLayerCount = 3;  // of pictures
GE_FN constexpr Layer layer_at(int k) {
  return Layer(1u << k);
}

/// Size and arrangement of one picture.
struct ImageForm {
  int32_t rows, columns;
  uint32_t layers;        // Layer bits, at least one
  int32_t channels_last;  // 1: rows, columns, channels; 0: channels first
  int32_t numbers = 0;    // of the row beside it
  static constexpr int kMostSide = 1 << 15;
  GE_FN int64_t pixels() const { return int64_t{rows} * columns; }
};

/// Base of an observation that is a picture.
struct Image {
  static constexpr bool image = true;
};
template <class Row>
concept AnyImage = requires { Row::image; };

GE_FN constexpr int bytes_of_pixel(Layer layer) {
  return layer == kColours ? 3 : layer == kDepths ? 4 : 2;
}
/// The output that a layer is written to: the first layer of a form is the observation.
GE_FN Output output_of_layer(const ImageForm& form, Layer layer, bool into_final) {
  const bool first = (form.layers & (uint32_t(layer) - 1u)) == 0;
  if (first || layer == kColours) return into_final ? kFinalObservation : kObservation;
  if (layer == kDepths) return into_final ? kFinalDepth : kDepth;
  if (layer == kSegments) return into_final ? kFinalSegmentation : kSegmentation;
  return into_final ? kFinalNumbers : kNumbers;
}
/// The layer that the observation is.
GE_FN Layer first_layer(const ImageForm& form) {
  return Layer(form.layers & (~form.layers + 1u));
}
/// The layer that an output holds where it is not the observation itself; 0: it never does.
GE_FN constexpr uint32_t further_layer(Output output) {
  if (output == kDepth || output == kFinalDepth) return kDepths;
  if (output == kSegmentation || output == kFinalSegmentation) return kSegments;
  return output == kNumbers || output == kFinalNumbers ? uint32_t{kNumberRow} : 0u;
}
GE_FN constexpr bool is_further_layer(Output output) {
  return further_layer(output) != 0;
}
/// How many bytes an output holds of what one agent sees; 0 where the form has no layer for it.
GE_FN int64_t image_bytes(const ImageForm& form, Output output) {
  const uint32_t further = further_layer(output);
  const Layer first = first_layer(form), layer = further != 0 ? Layer(further) : first;
  if (further != 0 && ((form.layers & layer) == 0 || layer == first)) return 0;
  return layer == kNumberRow ? int64_t{form.numbers} * 4 : form.pixels() * bytes_of_pixel(layer);
}

// ---- tiles

inline constexpr int kTileColumns = 16, kTileRows = 8;

GE_FN int tiles_along(int pixels, int tile) {
  return (pixels + tile - 1) / tile;
}
GE_FN int tiles_of(const ImageForm& form) {
  return tiles_along(form.rows, kTileRows) * tiles_along(form.columns, kTileColumns);
}

/// A rectangle of pixels.
struct Part {
  int32_t row, column, rows, columns;
};
GE_FN Part whole_of(const ImageForm& form) {
  return {0, 0, form.rows, form.columns};
}
/// The tile that begins at a row and a column of a part.
GE_FN Part tile_at(const Part& of, int row, int column) {
  const int rows = of.rows - row, columns = of.columns - column;
  return {of.row + row, of.column + column, rows < kTileRows ? rows : kTileRows,
          columns < kTileColumns ? columns : kTileColumns};
}
/// Tile k of a whole picture.
GE_FN Part tile_of(const ImageForm& form, int k) {
  const int across = tiles_along(form.columns, kTileColumns);
  return tile_at(whole_of(form), k / across * kTileRows, k % across * kTileColumns);
}

// ---- the canvas

/// A part of one picture in the caller's memory, and the lanes that draw it together.
class Canvas {
 public:
  GE_FN Canvas(const ImageForm& form, const Part& part, const Squad& squad)
      : form_(form), part_(part), squad_(squad) {}
  GE_FN const ImageForm& form() const { return form_; }
  GE_FN const Part& part() const { return part_; }
  GE_FN const Squad& squad() const { return squad_; }
  /// Whether the caller wants this layer.
  GE_FN bool wants(Layer layer) const { return at_of(layer) != nullptr; }

  /// Writes colours from 0 to 255, rounded down, to the pixels of a row from `column` on: a pack of
  /// them, or as many as the part has left.
  GE_FN void put_colours(int row, int column, const Floats& red, const Floats& green,
                         const Floats& blue, int count) const {
    const int64_t first = int64_t{row} * form_.columns + column;
    const int64_t plane = form_.channels_last != 0 ? 1 : form_.pixels();
    const int64_t step = form_.channels_last != 0 ? 3 : 1;
    uint8_t* const to = colours_ + first * step;
    put_bytes(to, step, red, count);
    put_bytes(to + plane, step, green, count);
    put_bytes(to + 2 * plane, step, blue, count);
  }
  GE_FN void put_depths(int row, int column, const Floats& depths, int count) const {
    float* const to = depths_ + int64_t{row} * form_.columns + column;
    for (int k = 0; k < count; ++k) {
      GE_WATCH(to + k, 4, true);
      to[k] = lane(depths, k);
    }
  }
  /// Writes whole numbers below 65,536.
  GE_FN void put_segments(int row, int column, const Floats& numbers, int count) const {
    uint16_t* const to = segments_ + int64_t{row} * form_.columns + column;
    for (int k = 0; k < count; ++k) {
      GE_WATCH(to + k, 2, true);
      to[k] = static_cast<uint16_t>(static_cast<int32_t>(lane(numbers, k)));
    }
  }
  /// Fills the part with background: nothing is seen.
  GE_FN void clear() const {
    const Floats none = spread(0.0f);
    for (int row = part_.row; row < part_.row + part_.rows; ++row)
      for (int k = squad_.lane() * kPack; k < part_.columns; k += squad_.size() * kPack) {
        const int left = part_.columns - k, count = left < kPack ? left : kPack;
        const int column = part_.column + k;
        if (colours_ != nullptr) put_colours(row, column, none, none, none, count);
        if (depths_ != nullptr) put_depths(row, column, none, count);
        if (segments_ != nullptr) put_segments(row, column, none, count);
      }
  }

  /// For executors: sets the address of a layer's first pixel; null: the layer is not wanted.
  GE_FN void lay(Layer layer, void* at) {
    if (layer == kColours) colours_ = static_cast<uint8_t*>(at);
    if (layer == kDepths) depths_ = static_cast<float*>(at);
    if (layer == kSegments) segments_ = static_cast<uint16_t*>(at);
  }

 private:
  GE_FN const void* at_of(Layer layer) const {
    return layer == kColours  ? static_cast<const void*>(colours_)
           : layer == kDepths ? static_cast<const void*>(depths_)
                              : static_cast<const void*>(segments_);
  }
  static GE_FN void put_bytes(uint8_t* to, int64_t step, const Floats& values, int count) {
    if constexpr (kPack > 1)
      if (step == 1 && count == kPack) return store_bytes(to, values);
    for (int k = 0; k < count; ++k) {
      GE_WATCH(to + k * step, 1, true);
      to[k * step] = static_cast<uint8_t>(static_cast<int32_t>(lane(values, k)));
    }
  }

  ImageForm form_;
  Part part_;
  Squad squad_;
  uint8_t* colours_ = nullptr;
  float* depths_ = nullptr;
  uint16_t* segments_ = nullptr;
};

/// The outputs that one call of Show writes; if all are null, nothing is drawn.
struct ImageTarget {
  ImageForm form;
  void* at[kLayerCount];  // by layer

  GE_FN bool wanted() const { return at[0] != nullptr || at[1] != nullptr || at[2] != nullptr; }
  /// Part of picture `index`.
  GE_FN Canvas canvas(int64_t index, const Part& part, const Squad& squad) const {
    Canvas canvas(form, part, squad);
    for (int k = 0; k < kLayerCount; ++k)
      if (at[k] != nullptr)
        canvas.lay(layer_at(k),
                   static_cast<char*>(at[k]) + index * form.pixels() * bytes_of_pixel(layer_at(k)));
    return canvas;
  }
};
/// Draws a part.
template <auto F, class T, class S, class... Args>
GE_FN void draw_part(const Cells<S>& cells, int row, const Canvas& canvas,
                     Types<const Canvas&, Args...>) {
  F(World<S>(cells), canvas, argument<T, Args>(cells, row)...);
}
/// Draws a part of the picture of an agent, or clears it, or leaves it alone, as its fate says.
template <auto F, class T, class S>
GE_FN void put_part(const Cells<S>& cells, int row, int64_t index, const ImageTarget& target,
                    const Part& part, bool into_final) {
  const RowFate fate = row_fate<T>(cells, row, into_final);
  if (!fate.wanted) return;
  const Canvas canvas = target.canvas(index, part, Squad{cells.squad_lane, cells.squad_size});
  if (fate.shows)
    draw_part<F, T>(cells, row, canvas, Arguments<F>{});
  else
    canvas.clear();
}

}  // namespace ge
