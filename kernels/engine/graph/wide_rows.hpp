// Wide rows: observations, masks and states whose length the parameters decide, and which may be
// too large to travel by value. An environment describes one by deriving from WideRow, and writes
// it through a writer:
//
//   struct Observation : ge::WideRow<bool> {
//     static constexpr int capacity = 1300;             // most elements in this build
//     static GE_FN int elements(const Params&);
//     static std::vector<FieldInfo> describe(const Params&);
//   };
//   GE_FN void observe(const W& w, BitRow& row, Slot me) { row.append(hand, 25); ... }
//
//   WideRow<bool>     BitRow: bits appended from the first to the last; the flush expands them, or
//                     hands them over packed
//   WideRow<uint8_t>  ByteRow: elements set in any order over a background that all rows share
//   WideRow<float>    FloatRow: elements set in any order over zeros
//
// A row of bytes or floats that is longer than an executor's staging memory is made in pieces: the
// function runs once per piece, and elements outside the piece are dropped, which is why they are
// set by index. A row of bits has to fit whole.
#pragma once

#include <vector>

#include "engine/described/field_info.hpp"
#include "engine/graph/images.hpp"

namespace ge {

class BitRow {
 public:
  /// On lanes the row begins at bit `first` of words that hold zeros: others share its ends.
  GE_FN explicit BitRow(uint32_t* words, int first = 0)
      : at_(words + (first >> 5)), fill_(first & 31) {}

  /// The low `count` bits, the lowest first; at most 32, and the bits above must be zero.
  GE_FN void append(uint32_t bits, int count) {
    GE_ASSERT(count >= 0 && count <= 32 && uint64_t{bits} >> count == 0);
    pending_ |= uint64_t{bits} << fill_;
    fill_ += count;
    total_ += count;
    if (fill_ >= 32) {
      put();
      pending_ >>= 32;
      fill_ -= 32;
    }
  }
  GE_FN void append64(uint64_t bits, int count) {
    if (count < 32) return append(uint32_t(bits), count);
    pending_ |= (bits & 0xffffffffu) << fill_;
    total_ += 32;
    put();
    pending_ >>= 32;
    append(uint32_t(bits >> 32), count - 32);
  }
  GE_FN void zeros(int count) {
    for (; count > 32; count -= 32) append(0, 32);
    append(0, count);
  }
  /// For executors: writes the bits that are left and returns how many there were.
  GE_FN int finish() {
    if (fill_ > 0) put();
    return total_;
  }

 private:
  GE_EITHER_MACHINE
  GE_FN void put() {
    if constexpr (kOnLanes)
      set_bits(at_++, uint32_t(pending_));
    else
      *at_++ = uint32_t(pending_);
  }
  uint32_t* at_;
  uint64_t pending_ = 0;
  int fill_, total_ = 0;
};

/// Four floats, as one instruction moves them; it may alias whatever they are.
struct __attribute__((may_alias, aligned(16))) FourFloats {
  float at[4];
};

/// Elements [begin, end) of a row.
template <class Element>
class ElementRow {
 public:
  GE_FN ElementRow(Element* at, int begin, int end, int lane = 0, int lanes = 1)
      : at_(at), begin_(begin), count_(end - begin), lane_(lane), lanes_(lanes) {}
  /// A whole row of lane `lane` of a warp whose lanes have rows that follow one another.
  static GE_FN ElementRow abreast(Element* at, int count, int lane) {
    ElementRow row(at, 0, count);
    row.abreast_ = lane;
    return row;
  }
  GE_FN void set(int index, Element value) {
    if (uint32_t(index - begin_) >= uint32_t(count_)) return;
    GE_WATCH(at_ + (index - begin_), int(sizeof(Element)), true);
    at_[index - begin_] = value;
  }
  /// Like set, unchecked, for rows so short (2,048 bytes at most) that they are never made in
  /// pieces.
  GE_FN void put(int index, Element value) {
    GE_ASSERT(begin_ == 0 && uint32_t(index) < uint32_t(count_));
    GE_WATCH(at_ + index, int(sizeof(Element)), true);
    at_[index] = value;
  }
  /// Sets elements index to index + 7 to the bytes of a word, the lowest first.
  GE_EITHER_MACHINE
  GE_FN void set_eight(int index, uint64_t bytes) {
    static_assert(std::is_same_v<Element, uint8_t>);
    if constexpr (!kOnLanes) {
      if (uint32_t(index - begin_) + 8 <= uint32_t(count_)) {
        GE_WATCH(at_ + (index - begin_), 8, true);
        __builtin_memcpy(at_ + (index - begin_), &bytes, 8);
        return;
      }
    }
    GE_UNROLL
    for (int k = 0; k < 8; ++k) set(index + k, uint8_t(bytes >> 8 * k));
  }
  /// Sets elements first, first + 1, ... to f(0), f(1), ... f(count - 1); the lanes of a squad
  /// share them.
  GE_EITHER_MACHINE
  template <class F>
  GE_FN void fill(int first, int count, const F& f) {
    const int low = begin_ > first ? begin_ - first : 0;
    const int room = begin_ + count_ - first;
    const int high = room < count ? room : count;
    Element* const to = at_ + (first - begin_);
    if constexpr (kOnLanes) {
      for (int k = low + lane_; k < high; k += lanes_) {
        GE_WATCH(to + k, int(sizeof(Element)), true);
        to[k] = f(k);
      }
    } else {
      GE_INDEPENDENT
      for (int k = low; k < high; ++k) to[k] = f(k);
    }
  }
  /// Replaces each element x by f(x), for functions with a Squad, whose row is in one piece. Sees
  /// what any lane wrote before, and is seen after. f must be the same for all rows of a world: a
  /// warp with rows abreast goes through them as one run, by vectors.
  GE_EITHER_MACHINE
  template <class F>
  GE_FN void change(const F& f) {
    static_assert(std::is_same_v<Element, float>);
    if constexpr (kOnLanes) {
      if (lanes_ > 1 || abreast_ >= 0) meet_warp();
      if (abreast_ >= 0) return change_abreast(f);
    }
    for (int k = lane_; k < count_; k += lanes_) {
      GE_WATCH(at_ + k, int(sizeof(Element)), true);
      at_[k] = f(at_[k]);
    }
    if (kOnLanes && lanes_ > 1) meet_warp();
  }
  /// Reads an element; and lowers elements first to last to the minimum of each and a value whose
  /// sign bit is clear: for functions with a Squad, whose row is in one piece. Lanes may lower one
  /// element at once, in any order.
  GE_FN Element get(int index) const {
    GE_WATCH(at_ + (index - begin_), int(sizeof(Element)), false);
    return at_[index - begin_];
  }
  GE_FN void lower(int first, int last, Element value) {
    static_assert(std::is_same_v<Element, float>);
    GE_ASSERT(__builtin_bit_cast(uint32_t, value) >> 31 == 0);
    Element* to = at_ + (first - begin_);
    if constexpr (kOnLanes) {
      if (lanes_ > 1 || abreast_ >= 0) {
        return lower_shared(to, last - first, value);
      }
    }
    for (int left = last - first; left >= 0; --left, ++to) *to = value < *to ? value : *to;
  }
  GE_FN void lower(int index, Element value) { lower(index, index, value); }

 private:
  /// Lowers elements 0 to `left`, none where it is below 0, beside other lanes.
  static GE_FN void lower_shared(Element* to, int left, Element value) {
    // Four in a turn, each asked for: the compiler's own would begin with a turn for what is left.
    GE_NO_UNROLL
    for (; left >= 0; left -= 4, to += 4) {
      lower_float(to, value);
      if (left > 0) lower_float(to + 1, value);
      if (left > 1) lower_float(to + 2, value);
      if (left > 2) lower_float(to + 3, value);
    }
  }
  template <class F>
  GE_FN void change_abreast(const F& f) {
    const int count = kWarp * count_;
    float* const rows = at_ - int64_t{abreast_} * count_;
    // The elements in front of the first vector and behind the last go one by one.
    const int lead = min(int(-reinterpret_cast<uintptr_t>(rows) & 15) / 4, count);
    const int vectors = (count - lead) / 4, rest = lead + 4 * vectors;
    GE_NO_UNROLL
    for (int k = abreast_; k < vectors; k += kWarp) {
      FourFloats* const to = reinterpret_cast<FourFloats*>(rows + lead) + k;
      GE_WATCH(to, 16, true);
      FourFloats four = *to;
      GE_UNROLL
      for (float& x : four.at) x = f(x);
      *to = four;
    }
    const int k = abreast_ < lead ? abreast_ : rest + abreast_ - lead;
    if (k < count) {
      GE_WATCH(rows + k, 4, true);
      rows[k] = f(rows[k]);
    }
    meet_warp();
  }

  Element* at_;
  int begin_, count_;
  int lane_, lanes_;
  int abreast_ = -1;  // the lane's number in its warp, where lanes have a row each
};
using ByteRow = ElementRow<uint8_t>;
using FloatRow = ElementRow<float>;

/// A field of a wide row; its type is the row's.
inline FieldInfo wide_field(const char* name, std::vector<int64_t> shape, const char* doc,
                            double low = 0, double high = 1) {
  FieldInfo info{};
  info.name = name;
  info.shape = std::move(shape);
  info.doc = doc;
  info.low = low, info.high = high;
  return info;
}

/// Whether the rows of a world's agents differ in a few elements only. Such a type has `static bool
/// alike(const Params&)`, and its `turn(const Params&, FloatRow&, int other, int me)` turns a copy
/// of the row of agent `other` into that of agent `me` of the same world.
template <class Row>
inline constexpr bool may_be_alike = requires { &Row::turn; };

/// Whether all rows of a simulator begin with the same bytes, which the row's `static const
/// Asset<uint8_t>& background(const Assets&)` names.
template <class Row>
inline constexpr bool has_background = requires { &Row::background; };

/// Runs the row's function.
template <auto F, class T, class Writer, class S, class... Args>
GE_FN void write_row(const Cells<S>& cells, int row, Writer& writer, Types<Writer&, Args...>) {
  F(World<S>(cells), writer, argument<T, Args>(cells, row)...);
}
template <auto F, class T, class Writer, class S>
GE_FN void write_row(const Cells<S>& cells, int row, Writer& writer) {
  write_row<F, T>(cells, row, writer, Arguments<F>{});
}
template <class Arg, class S>
GE_FN bare<Arg> state_argument(const Cells<S>& cells) {
  if constexpr (is_squad<Arg>)
    return Squad{cells.squad_lane, cells.squad_size};
  else
    return argument<single_of<bare<Arg>, AllTables<S>>, Arg>(cells, 0);
}
template <auto F, class Writer, class S, class... Args>
GE_FN void write_state(const Cells<S>& cells, Writer& writer, Types<Writer&, Args...>) {
  F(World<S>(cells), writer, state_argument<Args>(cells)...);
}
template <auto F, class Writer, class S>
GE_FN void write_state(const Cells<S>& cells, Writer& writer) {
  write_state<F>(cells, writer, Arguments<F>{});
}

// ---- the caller's form of a row (rows with a Squad, below, are made in it)

/// A row whose length the compiler knows.
template <class Row>
concept IsFixed = !Wide<Row> && !AnyImage<Row>;

/// Bytes of one row of `elements` elements.
GE_FN int64_t wide_bytes(Elements format, int elements) {
  if (format == Elements::bits) return (int64_t{elements} + 7) / 8;
  return format == Elements::float32 ? int64_t{elements} * 4 : elements;
}

/// The element type of a wide row: the caller's choice for observations, its own for other rows.
template <class Row, class S>
GE_FN Elements wide_format(const Shared<S>& shared, Output output) {
  const bool observed = output == kObservation || output == kFinalObservation;
  if (observed && (has_one_role<S> || shared.format != Elements::own)) return shared.format;
  return std::is_same_v<typename Row::Element, float> ? Elements::float32 : Elements::uint8;
}

/// Bytes of one row of an output in the caller's array; 0 if the row writes nothing there.
template <class Row, class S>
GE_FN int64_t row_bytes([[maybe_unused]] const Shared<S>& shared, Output output) {
  if constexpr (AnyImage<Row>)
    return image_bytes(Row::form(shared.params), output);
  else if (is_further_layer(output))
    return 0;
  else if constexpr (Wide<Row>)
    return wide_bytes(wide_format<Row>(shared, output), Row::elements(shared.params));
  else
    return int64_t(sizeof(typename RowShape<Row>::Element)) * RowShape<Row>::elements;
}

/// The target of a flush: one output's array and format.
struct WideTarget {
  char* to;
  Elements format;
  int elements;
  const uint8_t* background;  // null: zeros
};

/// Rows of an output, the first of them at `to`.
template <class Row, class S>
GE_FN WideTarget wide_target(const Shared<S>& shared, Output output, char* to) {
  const uint8_t* background = nullptr;
  if constexpr (has_background<Row>) {
    static_assert(std::is_same_v<typename Row::Element, uint8_t>,
                  "GE: a background is for a wide row of bytes");
    background = Row::background(shared.assets).at;
    GE_ASSERT(Row::background(shared.assets).count >= Row::elements(shared.params));
  }
  return {to, wide_format<Row>(shared, output), Row::elements(shared.params), background};
}
template <class Row, class S>
GE_FN WideTarget wide_target(const Shared<S>& shared, Output output) {
  return wide_target<Row>(shared, output, static_cast<char*>(shared.bound.at[output]));
}

/// The row number `index`, for the squad of `cells` to fill: zeroed first, unless `as_it_is`.
template <class Row, class S>
GE_FN FloatRow row_for_squad(const Cells<S>& cells, const WideTarget& target, int64_t index,
                             bool as_it_is) {
  static_assert(std::is_same_v<typename Row::Element, float>,
                "GE: a squad makes rows of floats only");
  FloatRow writer(reinterpret_cast<float*>(target.to) + index * target.elements, 0, target.elements,
                  cells.squad_lane, cells.squad_size);
  if (!as_it_is) {
    writer.fill(0, target.elements, [](int) GE_LAMBDA { return 0.0f; });
    Squad{cells.squad_lane, cells.squad_size}.meet();
  }
  return writer;
}
/// Makes a row in place with the squad of `cells`: of an agent, and of a world.
template <auto F, class T, class Row, class S>
GE_FN void put_together(const Cells<S>& cells, int row, const WideTarget& target, int64_t index,
                        bool into_final) {
  const RowFate fate = row_fate<T>(cells, row, into_final);
  if (!fate.wanted) return;
  FloatRow writer = row_for_squad<Row>(cells, target, index, fate.shows && is_complete<Row>());
  if (fate.shows) write_row<F, T>(cells, row, writer);
}
/// Makes rows `first` to `first` + 31 of a world in place, by a lane each; where not all of them
/// show, by the squad of `cells`, which has all of its lanes, one after the other.
template <auto F, class T, class Row, class S>
GE_FN void put_abreast(const Cells<S>& cells, int first, const WideTarget& target, int64_t index,
                       bool into_final) {
  static_assert(is_complete<Row>(), "GE: rows that are made abreast are complete");
  const int lane = cells.squad_lane, row = first + lane;
  const RowFate fate = row_fate<T>(cells, row, into_final);
  if (Squad(lane, Squad::kLanes).any(!fate.shows)) {
    GE_NO_UNROLL
    for (int k = 0; k < Squad::kLanes; ++k)
      put_together<F, T, Row>(cells, first + k, target, index + k, into_final);
    return;
  }
  Cells<S> own = cells;
  own.squad_lane = 0, own.squad_size = 1;
  float* const to = reinterpret_cast<float*>(target.to) + (index + lane) * target.elements;
  FloatRow writer = FloatRow::abreast(to, target.elements, lane);
  write_row<F, T>(own, row, writer);
}
template <auto F, class Row, class S>
GE_FN void put_state_together(const Cells<S>& cells, const WideTarget& target) {
  FloatRow writer = row_for_squad<Row>(cells, target, cells.world, is_complete<Row>());
  write_state<F>(cells, writer);
}

}  // namespace ge
