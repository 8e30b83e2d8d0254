// The team's part in wide rows (engine/graph/wide_rows.hpp): their length is known at run time only
// and may exceed any staging memory.
//
//   slot   one row of one world, numbered world by world over the team; a pass stages as many
//          consecutive slots as fit
//   head   of a slot: the row's number in the caller's array, or -1 where nothing is to be written
//   run    slots whose rows follow one another in the caller's array: copied as one piece, so that
//          rows of any length go out in 16-byte stores (packed bits go row by row)
//   piece  a row that is longer than the staging memory passes piece by piece, alone
//
// Whose world it is says which slots are wanted; then all lanes of the team fill them, whatever
// world they are of, unless a lane has its world in registers. The staging memory begins at the
// target's address modulo 16 of its first slot, so that bytes are copied by vectors; bits are
// expanded, and bytes become floats, on their way out.
#pragma once

#include "engine/cuda/group_lanes.hpp"
#include "engine/cuda/staged_rows.hpp"
#include "engine/graph/wide_rows.hpp"

namespace ge {

// ---- where staged elements come from, by vectors of the caller's

/// Elements of one type as elements of another. seek(first), then skip(n) from vector to vector.
template <class In>
struct Converted {
  const In* from;
  int at = 0;

  GE_FN void seek(int first) { at = first; }
  GE_FN void skip(int count, int) { at += count; }
  template <class Out>
  GE_FN Out one() const {
    GE_WATCH(from + at, int(sizeof(In)), false);
    return Out(from[at]);
  }
  template <class Out>
  GE_FN Vector vector() const {
    constexpr int each = 16 / int(sizeof(Out));
    struct Items {
      Out at[each];
    } items;
    GE_UNROLL
    for (int k = 0; k < each; ++k) {
      GE_WATCH(from + at + k, int(sizeof(In)), false);
      items.at[k] = Out(from[at + k]);
    }
    return __builtin_bit_cast(Vector, items);
  }
};

/// Bits of rows of `elements` each, whose words lie `stride` apart; a division where it is sought,
/// and none from vector to vector.
struct Expanded {
  const uint32_t* words;
  int stride, elements;
  int row = 0, bit = 0;

  GE_FN void seek(int first) { row = first / elements, bit = first - row * elements; }
  /// rows: whole ones in `count`.
  GE_FN void skip(int count, int rows) {
    row += rows, bit += count - rows * elements;
    const bool over = bit >= elements;
    row += over ? 1 : 0, bit -= over ? elements : 0;
  }
  /// The bits from `begin` on; at least `wanted` of them (at most 16) as far as the row has them.
  GE_FN uint32_t window(int of, int begin, int wanted) const {
    const int word = begin >> 5, shift = begin & 31, next = (word + 1) * 32;
    const uint32_t* const at = words + of * stride + word;
    GE_WATCH(at, 4, false);
    uint32_t bits = *at >> shift;
    if (begin + wanted > next && next < elements) {
      GE_WATCH(at + 1, 4, false);
      bits |= at[1] << (32 - shift);  // shift > 0: else this word had been enough
    }
    return bits;
  }
  template <int kCount>
  GE_FN uint32_t bits() const {
    const int left = elements - bit;
    uint32_t all = window(row, bit, kCount);
    if (left < kCount) all = (all & ((1u << left) - 1u)) | window(row + 1, 0, kCount) << left;
    return all;
  }
  template <class Out>
  GE_FN Out one() const {
    return Out(window(row, bit, 1) & 1u);
  }
  /// A row has as many bits as a vector has elements, at least.
  template <class Out>
  GE_FN Vector vector() const {
    Vector made;
    if constexpr (sizeof(Out) == 1) {
      const uint32_t all = bits<16>();
      // Four bits, seven places apart: the lowest of each byte.
      GE_UNROLL
      for (int k = 0; k < 4; ++k) made.word[k] = (all >> (4 * k) & 15u) * 0x00204081u & 0x01010101u;
    } else {
      const uint32_t all = bits<4>();
      GE_UNROLL
      for (int k = 0; k < 4; ++k)
        made.word[k] = (all >> k & 1u) * __builtin_bit_cast(uint32_t, 1.0f);
    }
    return made;
  }
};

// ---- the team

template <class Row, AnyGroup Group>
struct StagedWideRows {
  static constexpr int G = Group::kLanes;
  using Service = typename Group::Service;
  using Plan = typename Group::Plan;
  using Element = typename Row::Element;
  static constexpr bool bits = std::is_same_v<Element, bool>;
  static constexpr int element_bytes = std::is_same_v<Element, float> ? 4 : 1;
  static constexpr int team = Plan::team, worlds = Plan::worlds;
  /// Any lane can look at any world of its team.
  static constexpr bool shares = worlds > 1 && !Plan::registers && !Plan::whole_record;
  static_assert(!bits || (((Row::capacity + 31) / 32) | 1) * 4 <= WidePlan::budget,
                "GE: a wide row of bits has to fit into a team's staging memory");

  const Group& group;
  const WideTarget target;
  int rows;  // of each world

  /// fate(cells, row) says whether a row shows and is wanted, make(cells, row, writer) fills it.
  template <class FateOf, class Make>
  GE_FN void run(bool on, const FateOf& fate, const Make& make) const {
    const int total = worlds * rows;
    if (bits || staged_row() <= WidePlan::budget) {
      // Rows of a pass: as many as the bytes and the heads hold. Where there are several passes no
      // lane makes one row more than the others do, who would wait for it.
      const int most = WidePlan::budget / staged_row();
      const int held = most < WidePlan::slots ? most : WidePlan::slots;
      const int fit = shares && held > team && held < total ? held / team * team : held;
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

  GE_FN int lane() const { return group.place.team_lane; }
  /// 32-bit words of a staged row of bits: odd, so that the lanes' words lie in different banks.
  GE_FN int row_words() const { return ((target.elements + 31) / 32) | 1; }
  GE_FN int staged_row() const { return bits ? row_words() * 4 : target.elements * element_bytes; }
  GE_FN int slot_bytes(const Pass& p) const {
    return bits ? staged_row() : (p.end - p.begin) * element_bytes;
  }
  GE_FN int32_t* heads() const { return reinterpret_cast<int32_t*>(group.place.stage); }
  GE_FN char* row_target(int64_t row) const {
    return target.to + row * wide_bytes(target.format, target.elements);
  }
  /// Where the staged bytes begin: bytes that leave as they are lie as in the caller's array.
  GE_FN char* area(int skew) const { return group.place.stage + WidePlan::heads + skew; }

  template <class FateOf, class Make>
  GE_FN void pass(const Pass& p, bool on, const FateOf& fate, const Make& make) const {
    name_slots(p, on, fate);
    group.sync_team();
    const Named named = look(p);
    if (named.any) {
      const int skew = skew_of(p);
      // Before the rows are made: a writer only sets what differs from the background.
      if constexpr (!bits && !is_complete<Row>()) {
        begin_rows(p, skew);
        group.sync_team();
      }
      fill_slots(p, skew, on, fate, make);
      group.sync_team();
      flush(p, skew, named.follow);
    }
    group.sync_team();
  }

  // ---- who is wanted

  GE_FN int slot_of(const Pass& p, int row) const {
    return group.place.group * rows + row - p.first;
  }
  template <class FateOf>
  GE_FN void name_slots(const Pass& p, bool on, const FateOf& fate) const {
    GE_NO_UNROLL
    for (int row = group.lane; row < rows; row += G) {
      const int slot = slot_of(p, row);
      if (slot < 0 || slot >= p.count) continue;
      const bool wanted = on && fate(group.cells, row).wanted;
      GE_WATCH(heads() + slot, 4, true);
      heads()[slot] = wanted ? group.cells.world * rows + row : -1;
    }
  }
  GE_FN int head(int slot) const {
    GE_WATCH(heads() + slot, 4, false);
    return heads()[slot];
  }
  struct Named {
    bool any, follow;  // one is wanted; all are, and follow one another
  };
  /// By every warp for itself: all read the same heads.
  GE_FN Named look(const Pass& p) const {
    const int first = head(0);
    bool any = false, apart = first < 0;
    GE_NO_UNROLL
    for (int slot = lane() & 31; slot < p.count; slot += 32) {
      const int row = head(slot);
      any |= row >= 0;
      apart |= row != first + slot;
    }
    return {Service::any(any), !Service::any(apart)};
  }

  // ---- in

  GE_FN int skew_of(const Pass& p) const {
    if constexpr (bits) {
      return 0;
    } else {
      const int row = head(0);
      if (row < 0 || target.format != Elements::uint8) return 0;
      return offset_in_vector(row_target(row) + p.begin);
    }
  }
  /// The background into every slot, by vectors where it is zeros, and by words where the staged
  /// rows allow it.
  GE_FN void begin_rows(const Pass& p, int skew) const {
    const int bytes = slot_bytes(p);
    char* const to = area(skew);
    if (target.background == nullptr) return clear_run(to, p.count * bytes, lane(), team);
    const char* const from = reinterpret_cast<const char*>(target.background) + p.begin;
    if (bytes % 4 == 0 && skew % 4 == 0 && p.begin % 4 == 0)
      repeat<typename WordOf<4>::type>(to, from, bytes / 4, p.count);
    else
      repeat<typename WordOf<1>::type>(to, from, bytes, p.count);
  }
  /// Writes `words` words `times` times, one copy after the other.
  template <class Word>
  GE_FN void repeat(char* to, const char* from, int words, int times) const {
    const int step = team % words;
    int word = lane() % words;
    GE_NO_UNROLL
    for (int i = lane(); i < words * times; i += team) {
      GE_WATCH(to + i * int(sizeof(Word)), int(sizeof(Word)), true);
      reinterpret_cast<Word*>(to)[i] = reinterpret_cast<const Word*>(from)[word];
      word += step;
      word -= word >= words ? words : 0;
    }
  }
  template <class FateOf, class Make>
  GE_FN void fill_slots(const Pass& p, int skew, bool on, const FateOf& fate,
                        const Make& make) const {
    if constexpr (shares) {
      GE_NO_UNROLL
      for (int slot = lane(); slot < p.count; slot += team) {
        const int named = head(slot);
        if (named < 0) continue;
        const int world = named / rows, row = named - world * rows;
        const auto cells = cells_of_team(group, (p.first + slot) / rows, world);
        fill(p, skew, slot, fate(cells, row).shows,
             [&](auto& writer) GE_LAMBDA { make(cells, row, writer); });
      }
    } else {
      if (!on) return;
      GE_NO_UNROLL
      for (int row = group.lane; row < rows; row += G) {
        const int slot = slot_of(p, row);
        if (slot < 0 || slot >= p.count || head(slot) < 0) continue;
        fill(p, skew, slot, fate(group.cells, row).shows,
             [&](auto& writer) GE_LAMBDA { make(group.cells, row, writer); });
      }
    }
  }
  template <class Write>
  GE_FN void fill(const Pass& p, int skew, int slot, bool shows, const Write& write) const {
    char* const at = area(skew) + slot * slot_bytes(p);
    if (!shows) return clear(at, slot_bytes(p));
    if constexpr (bits) {
      BitRow writer(reinterpret_cast<uint32_t*>(at));
      write(writer);
      [[maybe_unused]] const int written = writer.finish();
      GE_ASSERT(written == target.elements);
    } else {
      ElementRow<Element> writer(reinterpret_cast<Element*>(at), p.begin, p.end);
      write(writer);
    }
  }
  /// Called by one lane: clears the row of an absent agent.
  GE_FN static void clear(char* at, int bytes) {
    GE_NO_UNROLL
    for (int i = 0; i < bytes; ++i) {
      GE_WATCH(at + i, 1, true);
      at[i] = 0;
    }
  }

  // ---- out

  GE_FN void flush(const Pass& p, int skew, bool follow) const {
    // Packed rows end within a byte and go out one by one.
    const bool packed = bits && target.format == Elements::bits;
    if (follow && !packed) return flush_run(p, skew, 0, head(0), p.count);
    GE_NO_UNROLL
    for (int slot = 0; slot < p.count;) {
      const int first = head(slot);
      int count = 1;
      if (first >= 0 && !packed)
        while (slot + count < p.count && head(slot + count) == first + count) ++count;
      if (first >= 0) flush_run(p, skew, slot, first, count);
      slot += count;
    }
  }
  GE_FN void flush_run(const Pass& p, int skew, int slot, int row, int count) const {
    const int elements = p.end - p.begin;
    const char* const from = area(skew) + slot * slot_bytes(p);
    char* const to = row_target(row);
    if constexpr (bits) {
      const auto* const words = reinterpret_cast<const uint32_t*>(from);
      if (target.format == Elements::bits)
        copy_bits(to, words);
      else if (target.format == Elements::float32)
        expand(reinterpret_cast<float*>(to), words, count * elements);
      else
        expand(reinterpret_cast<uint8_t*>(to), words, count * elements);
    } else {
      const auto* const staged = reinterpret_cast<const Element*>(from);
      if (target.format == Elements::float32) {
        send(reinterpret_cast<float*>(to) + p.begin, staged, count * elements);
      } else if constexpr (!std::is_same_v<Element, float>) {
        auto* const bytes = reinterpret_cast<uint8_t*>(to) + p.begin;
        if (offset_in_vector(bytes) == offset_in_vector(staged))
          copy_run(bytes, staged, count * elements, lane(), team);
        else
          send(bytes, staged, count * elements);
      }
    }
  }
  template <class Out, class In>
  GE_FN void send(Out* to, const In* from, int count) const {
    put_all(to, count, 0, Converted<In>{from});
  }
  template <class Out>
  GE_FN void expand(Out* to, const uint32_t* words, int count) const {
    constexpr int each = 16 / int(sizeof(Out));
    const Expanded from{words, row_words(), target.elements};
    if (target.elements >= each) return put_all(to, count, team * each / target.elements, from);
    GE_NO_UNROLL
    for (int i = lane(); i < count; i += team) put_one(to, i, from);
  }
  GE_FN void copy_bits(char* to, const uint32_t* words) const {
    const int bytes = int(wide_bytes(Elements::bits, target.elements));
    GE_NO_UNROLL
    for (int i = lane(); i < bytes; i += team) {
      GE_WATCH(words + i / 4, 4, false);
      GE_WATCH(to + i, 1, true);
      to[i] = char(words[i / 4] >> (8 * (i % 4)));
    }
  }
  template <class Out, class From>
  GE_FN static void put_one(Out* to, int i, From from) {
    from.seek(i);
    GE_WATCH(to + i, int(sizeof(Out)), true);
    to[i] = from.template one<Out>();
  }
  /// The elements of `from`, 16 bytes a store where the address allows it. rows: whole rows that a
  /// lane goes on by from one vector to its next.
  template <class Out, class From>
  GE_FN void put_all(Out* to, int count, int rows_on, From from) const {
    constexpr int each = 16 / int(sizeof(Out));
    const int lead = ((16 - offset_in_vector(to)) & 15) / int(sizeof(Out));
    const int head = lead < count ? lead : count;
    const int vectors = (count - head) / each;
    GE_NO_UNROLL
    for (int i = lane(); i < head; i += team) put_one(to, i, from);
    from.seek(head + lane() * each);
    GE_NO_UNROLL
    for (int i = lane(); i < vectors; i += team) {
      GE_WATCH(to + head + i * each, 16, true);
      reinterpret_cast<Vector*>(to + head)[i] = from.template vector<Out>();
      from.skip(team * each, rows_on);
    }
    GE_NO_UNROLL
    for (int i = head + vectors * each + lane(); i < count; i += team) put_one(to, i, from);
  }
};

}  // namespace ge
