// The team's part in wide rows (engine/graph/wide_rows.hpp): their length is known at run time only
// and may exceed any staging memory.
//
//   slot   one row of one world, numbered world by world over the team; a pass stages as many
//          consecutive slots as fit, each by a lane that owns its world
//   head   of a slot: the row's number in the caller's array, or -1 where nothing is to be written
//   run    slots whose rows follow one another in the caller's array: copied as one piece, so that
//          rows of any length go out in 16-byte stores (packed bits go byte by byte)
//   piece  a row that is longer than the staging memory passes piece by piece, alone
//
// The staging memory begins at the target's address modulo 16 of its first slot, so that bytes are
// copied by vectors; bits are expanded, and bytes become floats, on their way out.
#pragma once

#include "engine/cuda/staged_rows.hpp"
#include "engine/graph/wide_rows.hpp"

namespace ge {

template <class Row, int G, class Service>
struct StagedWideRows {
  using Element = typename Row::Element;
  static constexpr bool bits = std::is_same_v<Element, bool>;
  static constexpr int element_bytes = std::is_same_v<Element, float> ? 4 : 1;
  static constexpr int team = G < 32 ? 32 : G;
  static constexpr int worlds = team / G;
  static_assert(!bits || (((Row::capacity + 31) / 32) | 1) * 4 <= WidePlan::budget,
                "GE: a wide row of bits has to fit into a team's staging memory");

  const GroupPlace& place;
  const WideTarget target;
  int rows;   // of each world
  int world;  // of this lane's group

  /// fate(row) says whether a row shows and is wanted, make(row, writer) fills it.
  template <class FateOf, class Make>
  GE_FN void run(bool on, const FateOf& fate, const Make& make) const {
    const int total = worlds * rows;
    if (bits || staged_row() <= WidePlan::budget) {
      // Rows of a pass: as many as the bytes and the heads hold.
      const int most = WidePlan::budget / staged_row();
      const int fit = most < WidePlan::slots ? most : WidePlan::slots;
      GE_NO_UNROLL
      for (int first = 0; first < total; first += fit)
        pass({first, total - first < fit ? total - first : fit, 0, target.elements}, on, fate,
             make);
    } else if constexpr (!bits) {
      constexpr int piece = WidePlan::budget / element_bytes;
      GE_NO_UNROLL
      for (int slot = 0; slot < total; ++slot) {
        GE_NO_UNROLL
        for (int begin = 0; begin < target.elements; begin += piece) {
          const int left = target.elements - begin;
          pass({slot, 1, begin, begin + (left < piece ? left : piece)}, on, fate, make);
        }
      }
    }
  }

 private:
  /// Slots [first, first + count), elements [begin, end) of each.
  struct Pass {
    int first, count, begin, end;
  };

  GE_FN void sync() const {
    if constexpr (G > 32)
      Service::sync_block();
    else
      Service::sync_warp();
  }
  /// 32-bit words of a staged row of bits: odd, so that the lanes' words lie in different banks.
  GE_FN int row_words() const { return ((target.elements + 31) / 32) | 1; }
  GE_FN int staged_row() const { return bits ? row_words() * 4 : target.elements * element_bytes; }
  GE_FN int32_t* heads() const { return reinterpret_cast<int32_t*>(place.stage); }
  GE_FN char* row_target(int64_t row) const {
    return target.to + row * wide_bytes(target.format, target.elements);
  }
  /// Where the staged bytes begin: bytes that leave as they are lie as in the caller's array.
  GE_FN char* area(int skew) const { return place.stage + WidePlan::heads + skew; }

  template <class FateOf, class Make>
  GE_FN void pass(const Pass& p, bool on, const FateOf& fate, const Make& make) const {
    name_slots(p, on, fate);
    sync();
    const int skew = skew_of(p);
    if constexpr (!bits) {
      // Before the rows are made: a writer only sets what differs from the background.
      begin_rows(p, skew);
      sync();
    }
    fill_slots(p, skew, on, fate, make);
    sync();
    flush(p, skew);
    sync();
  }
  GE_FN int slot_of(const Pass& p, int row) const { return place.group * rows + row - p.first; }
  template <class FateOf>
  GE_FN void name_slots(const Pass& p, bool on, const FateOf& fate) const {
    GE_NO_UNROLL
    for (int row = place.lane; row < rows; row += G) {
      const int slot = slot_of(p, row);
      if (slot < 0 || slot >= p.count) continue;
      const bool wanted = on && fate(row).wanted;
      GE_WATCH(heads() + slot, 4, true);
      heads()[slot] = wanted ? world * rows + row : -1;
    }
  }
  GE_FN int head(int slot) const {
    GE_WATCH(heads() + slot, 4, false);
    return heads()[slot];
  }
  GE_FN int skew_of(const Pass& p) const {
    if constexpr (bits) {
      return 0;
    } else {
      const int row = head(0);
      if (row < 0 || target.format != Elements::uint8) return 0;
      return offset_in_vector(row_target(row) + p.begin);
    }
  }
  /// The background into every slot, by words where the staged rows allow it.
  GE_FN void begin_rows(const Pass& p, int skew) const {
    const int bytes = (p.end - p.begin) * element_bytes;
    char* const to = area(skew);
    const char* const from = target.background == nullptr
                                 ? nullptr
                                 : reinterpret_cast<const char*>(target.background) + p.begin;
    const bool words = bytes % 4 == 0 && skew % 4 == 0 && p.begin % 4 == 0;
    GE_NO_UNROLL
    for (int slot = 0; slot < p.count; ++slot) {
      char* const row = to + slot * bytes;
      if (words) {
        GE_NO_UNROLL
        for (int i = 4 * place.team_lane; i < bytes; i += 4 * team) {
          GE_WATCH(row + i, 4, true);
          using Word = typename WordOf<4>::type;
          *reinterpret_cast<Word*>(row + i) =
              from == nullptr ? 0 : *reinterpret_cast<const Word*>(from + i);
        }
      } else {
        GE_NO_UNROLL
        for (int i = place.team_lane; i < bytes; i += team) {
          GE_WATCH(row + i, 1, true);
          row[i] = from == nullptr ? char(0) : from[i];
        }
      }
    }
  }
  template <class FateOf, class Make>
  GE_FN void fill_slots(const Pass& p, int skew, bool on, const FateOf& fate,
                        const Make& make) const {
    if (!on) return;
    GE_NO_UNROLL
    for (int row = place.lane; row < rows; row += G) {
      const int slot = slot_of(p, row);
      if (slot < 0 || slot >= p.count) continue;
      const RowFate of = fate(row);
      if (!of.wanted) continue;
      char* const at =
          area(skew) + slot * (bits ? staged_row() : (p.end - p.begin) * element_bytes);
      if constexpr (bits) {
        uint32_t* const words = reinterpret_cast<uint32_t*>(at);
        if (of.shows) {
          BitRow writer(words);
          make(row, writer);
          [[maybe_unused]] const int written = writer.finish();
          GE_ASSERT(written == target.elements);
        } else {
          GE_NO_UNROLL
          for (int k = 0; k < row_words(); ++k) {
            GE_WATCH(words + k, 4, true);
            words[k] = 0;
          }
        }
      } else if (of.shows) {
        ElementRow<Element> writer(reinterpret_cast<Element*>(at), p.begin, p.end);
        make(row, writer);
      } else {
        GE_NO_UNROLL
        for (int i = 0; i < (p.end - p.begin) * element_bytes; ++i) {
          GE_WATCH(at + i, 1, true);
          at[i] = 0;
        }
      }
    }
  }

  // ---- out

  GE_FN void flush(const Pass& p, int skew) const {
    GE_NO_UNROLL
    for (int slot = 0; slot < p.count;) {
      const int first = head(slot);
      int count = 1;
      // Packed rows end within a byte and go out one by one.
      if (first >= 0 && target.format != Elements::bits)
        while (slot + count < p.count && head(slot + count) == first + count) ++count;
      if (first >= 0) flush_run(p, skew, slot, first, count);
      slot += count;
    }
  }
  GE_FN void flush_run(const Pass& p, int skew, int slot, int row, int count) const {
    const int elements = p.end - p.begin;
    if constexpr (bits) {
      const auto* const words = reinterpret_cast<const uint32_t*>(area(skew)) + slot * row_words();
      if (target.format == Elements::bits)
        copy_bits(row_target(row), words);
      else if (target.format == Elements::float32)
        expand(reinterpret_cast<float*>(row_target(row)), words, count * elements);
      else
        expand(reinterpret_cast<uint8_t*>(row_target(row)), words, count * elements);
    } else {
      const auto* const from =
          reinterpret_cast<const Element*>(area(skew) + slot * elements * element_bytes);
      if constexpr (std::is_same_v<Element, float>) {
        send(reinterpret_cast<float*>(row_target(row)) + p.begin, from, count * elements);
      } else if (target.format == Elements::float32) {
        send(reinterpret_cast<float*>(row_target(row)) + p.begin, from, count * elements);
      } else {
        auto* const to = reinterpret_cast<uint8_t*>(row_target(row)) + p.begin;
        if (offset_in_vector(to) == offset_in_vector(from))
          copy_run(to, from, count * elements, place.team_lane, team);
        else
          send(to, from, count * elements);
      }
    }
  }
  /// Elements of one type as elements of another, by vectors of the caller's.
  template <class Out, class In>
  GE_FN void send(Out* to, const In* from, int count) const {
    put_all(to, count, [from](int first, Out* at, int n) GE_LAMBDA {
      GE_UNROLL
      for (int k = 0; k < n; ++k) {
        GE_WATCH(from + first + k, int(sizeof(In)), false);
        at[k] = Out(from[first + k]);
      }
    });
  }
  template <class Out>
  GE_FN void expand(Out* to, const uint32_t* words, int count) const {
    const int elements = target.elements, stride = row_words();
    // One division for the elements of a vector; the bits go on from there.
    const auto bit_at = [words, stride](int row, int bit) GE_LAMBDA {
      const uint32_t* const word = words + row * stride + (bit >> 5);
      GE_WATCH(word, 4, false);
      return Out(*word >> (bit & 31) & 1u);
    };
    put_all(to, count, [elements, &bit_at](int first, Out* at, int n) GE_LAMBDA {
      int row = first / elements, bit = first - row * elements;
      GE_UNROLL
      for (int k = 0; k < n; ++k) {
        at[k] = bit_at(row, bit);
        ++bit;
        row += bit == elements ? 1 : 0;
        bit = bit == elements ? 0 : bit;
      }
    });
  }
  GE_FN void copy_bits(char* to, const uint32_t* words) const {
    const int bytes = int(wide_bytes(Elements::bits, target.elements));
    GE_NO_UNROLL
    for (int i = place.team_lane; i < bytes; i += team) {
      GE_WATCH(words + i / 4, 4, false);
      GE_WATCH(to + i, 1, true);
      to[i] = char(words[i / 4] >> (8 * (i % 4)));
    }
  }
  /// fill(i, at, n) makes elements [i, i + n), which go out 16 bytes a store where the address
  /// allows it.
  template <class Out, class Fill>
  GE_FN void put_all(Out* to, int count, const Fill& fill) const {
    constexpr int each = 16 / int(sizeof(Out));
    struct Items {
      Out at[each];
    };
    const int lane = place.team_lane;
    const int lead = ((16 - offset_in_vector(to)) & 15) / int(sizeof(Out));
    const int head = lead < count ? lead : count;
    const int vectors = (count - head) / each;
    const auto store = [&](int i) GE_LAMBDA {
      Out one[1];
      fill(i, one, 1);
      GE_WATCH(to + i, int(sizeof(Out)), true);
      to[i] = one[0];
    };
    GE_NO_UNROLL
    for (int i = lane; i < head; i += team) store(i);
    GE_NO_UNROLL
    for (int i = lane; i < vectors; i += team) {
      Items items;
      fill(head + i * each, items.at, each);
      GE_WATCH(to + head + i * each, 16, true);
      reinterpret_cast<Vector*>(to + head)[i] = __builtin_bit_cast(Vector, items);
    }
    GE_NO_UNROLL
    for (int i = head + vectors * each + lane; i < count; i += team) store(i);
  }
};

}  // namespace ge
