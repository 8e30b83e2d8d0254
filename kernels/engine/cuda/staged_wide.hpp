// The team's part in wide rows (engine/graph/wide_rows.hpp): their length is known at run time only
// and may exceed any staging memory.
//
//   slot   one row of a world that takes part, numbered world by world over the team; a pass stages
//          as many consecutive slots as fit
//   head   of a slot: the row's number in the caller's array, or -1 where nothing is to be written
//   run    slots whose rows follow one another in the caller's array: copied as one piece, so that
//          rows of any length go out in 16-byte stores (packed bits go row by row)
//   piece  a row that is longer than the staging memory passes piece by piece, alone
//
// A lane asks of a slot whether it is wanted, and then fills it, whatever world it is of; a lane
// that has its world in registers does so for its own rows. The staging memory begins at the
// target's address modulo 16 of its first slot, so that bytes and floats are copied by vectors;
// bytes may become floats on their way out.
//
// Rows of bits are staged back to back, as one stream. It begins at the bit that makes each of the
// caller's 16-byte vectors start at a multiple of its number of elements: a vector is then made of
// bits of one word, whatever rows they are of. Neighbouring rows share a word, so the stream begins
// as zeros and lanes set their bits atomically.
#pragma once

#include "engine/cuda/group_lanes.hpp"
#include "engine/cuda/staged_rows.hpp"
#include "engine/graph/wide_rows.hpp"

namespace ge {

// ---- where staged elements come from, by vectors of the caller's

/// Elements of one type as elements of another.
template <class In>
struct Converted {
  const In* from;

  GE_FN void skip(int count) { from += count; }
  template <class Out>
  GE_FN Out one() const {
    GE_WATCH(from, int(sizeof(In)), false);
    return Out(*from);
  }
  template <class Out>
  GE_FN Vector vector() const {
    constexpr int each = 16 / int(sizeof(Out));
    struct Items {
      Out at[each];
    } items;
    GE_UNROLL
    for (int k = 0; k < each; ++k) {
      GE_WATCH(from + k, int(sizeof(In)), false);
      items.at[k] = Out(from[k]);
    }
    return __builtin_bit_cast(Vector, items);
  }
};

/// Bits of a stream, from a bit on. Those of a vector never cross a word.
struct BitStream {
  const uint32_t* at;
  int shift;

  GE_FN BitStream(const uint32_t* words, int first) : at(words + (first >> 5)), shift(first & 31) {}
  /// `count` is a multiple of 32.
  GE_FN void skip(int count) { at += count >> 5; }
  GE_FN uint32_t bits() const {
    GE_WATCH(at, 4, false);
    return *at >> shift;
  }
  template <class Out>
  GE_FN Out one() const {
    return Out(bits() & 1u);
  }
  template <class Out>
  GE_FN Vector vector() const {
    const uint32_t all = bits();
    Vector made;
    if constexpr (sizeof(Out) == 1) {
      // Four bits, seven places apart: the lowest of each byte.
      GE_UNROLL
      for (int k = 0; k < 4; ++k) made.word[k] = (all >> (4 * k) & 15u) * 0x00204081u & 0x01010101u;
    } else {
      GE_UNROLL
      for (int k = 0; k < 4; ++k)
        made.word[k] = (all >> k & 1u) * __builtin_bit_cast(uint32_t, 1.0f);
    }
    return made;
  }
};

// ---- the team

/// kFinal: only the rows that `fate` says are wanted; else all.
template <class Row, AnyGroup Group, bool kFinal>
struct StagedWideRows {
  static constexpr int G = Group::kLanes;
  using Service = typename Group::Service;
  using Plan = typename Group::Plan;
  using Element = typename Row::Element;
  static constexpr bool bits = std::is_same_v<Element, bool>;
  static constexpr bool is_float = std::is_same_v<Element, float>;
  static constexpr int element_bytes = is_float ? 4 : 1;
  static constexpr int team = Plan::team, worlds = Plan::worlds;
  /// No row is longer than the staging memory.
  static constexpr bool whole =
      bits || int64_t{Row::capacity} * element_bytes <= int64_t{WidePlan::budget};
  /// Any lane can look at any world of its team.
  static constexpr bool shares = worlds > 1 && !Plan::registers && !Plan::whole_record;
  /// The rows of a pass are one run, whichever they are.
  static constexpr bool follows = worlds == 1 && !kFinal;
  static_assert(!bits || round_up(Row::capacity, 128) + 128 <= 8 * WidePlan::budget,
                "GE: a wide row of bits has to fit into a team's staging memory");

  const Group& group;
  const WideTarget target;
  int rows;  // of each world

  /// fate(cells, row) says whether a row shows and is wanted, make(cells, row, writer) fills it.
  template <class FateOf, class Make>
  GE_FN void run(bool on, const FateOf& fate, const Make& make) const {
    const Part part = part_of(on);
    const int total = part.worlds * rows;
    if (whole || target.elements * element_bytes <= WidePlan::budget) {
      // Rows of a pass: as many as the bytes and the heads hold. Where there are several passes no
      // lane makes one row more than the others do, who would wait for it.
      const int most = bits ? 8 * WidePlan::budget / row_room()
                            : WidePlan::budget / (target.elements * element_bytes);
      const int held = most < WidePlan::slots ? most : WidePlan::slots;
      const int fit = shares && held > team && held < total ? held / team * team : held;
      GE_NO_UNROLL
      for (int first = 0; first < total; first += fit)
        pass({first, total - first < fit ? total - first : fit, 0, target.elements, part.rank}, on,
             fate, make);
    } else if constexpr (!whole) {
      constexpr int piece = WidePlan::budget / element_bytes;
      GE_NO_UNROLL
      for (int slot = 0; slot < total; ++slot) {
        GE_NO_UNROLL
        for (int begin = 0; begin < target.elements; begin += piece) {
          const int left = target.elements - begin;
          pass({slot, 1, begin, begin + (left < piece ? left : piece), part.rank}, on, fate, make);
        }
      }
    }
  }

 private:
  /// Slots [first, first + count), elements [begin, end) of each; rank: see Part.
  struct Pass {
    int first, count, begin, end, rank;
  };
  /// The number of this group's world among those of the team that take part, and how many do.
  struct Part {
    int rank, worlds;
  };
  GE_FN Part part_of(bool on) const {
    if constexpr (worlds == 1) {
      return {0, on ? 1 : 0};
    } else {
      const uint32_t votes = Service::ballot(on);
      return {count_bits(votes & bits_below(group.place.group * G)) / G, count_bits(votes) / G};
    }
  }

  GE_FN int lane() const { return group.place.team_lane; }
  GE_FN int slot_bytes(const Pass& p) const { return (p.end - p.begin) * element_bytes; }
  GE_FN int32_t* heads() const { return reinterpret_cast<int32_t*>(group.place.stage); }
  GE_FN char* row_target(int64_t row) const {
    return target.to + row * wide_bytes(target.format, target.elements);
  }
  /// Where the staged bytes begin: bytes that leave as they are lie as in the caller's array.
  GE_FN char* area(int skew) const { return group.place.stage + WidePlan::heads + skew; }
  GE_FN uint32_t* stream() const { return reinterpret_cast<uint32_t*>(area(0)); }

  template <class FateOf, class Make>
  GE_FN void pass(const Pass& p, bool on, const FateOf& fate, const Make& make) const {
    name_slots(p, on, fate);
    group.sync_team();
    const Named named = look(p);
    if (named.any) {
      const Staged staged{named.follow, skew_of(p)};
      // Before the rows are made: a writer only sets what differs from the background.
      if constexpr (bits || !is_complete<Row>()) {
        begin_rows(p, staged.skew);
        group.sync_team();
      }
      fill_slots(p, staged, on, fate, make);
      group.sync_team();
      if constexpr (bits)
        flush_stream(p, staged);
      else
        flush(p, staged);
    }
    group.sync_team();
  }

  // ---- who is wanted

  GE_FN int slot_of(const Pass& p, int row) const { return p.rank * rows + row - p.first; }
  /// The groups of the worlds that take part, by rank; the first pass writes them.
  GE_FN uint8_t* groups() const {
    return reinterpret_cast<uint8_t*>(group.place.stage) + 4 * WidePlan::slots;
  }
  /// The row of a slot, and the group of its world, where the team's lanes share the worlds.
  struct OfTeam {
    int group, row;
  };
  GE_FN OfTeam of_team(const Pass& p, int slot) const {
    const int rank = (p.first + slot) / rows;
    GE_WATCH(groups() + rank, 1, false);
    return {groups()[rank], p.first + slot - rank * rows};
  }
  GE_FN void set_head(int slot, bool wanted, int world, int row) const {
    GE_WATCH(heads() + slot, 4, true);
    heads()[slot] = wanted ? world * rows + row : -1;
  }
  template <class FateOf>
  GE_FN void name_slots(const Pass& p, bool on, const FateOf& fate) const {
    if constexpr (shares) {
      if (p.first == 0) {
        if (on && group.lane == 0) {
          GE_WATCH(groups() + p.rank, 1, true);
          groups()[p.rank] = uint8_t(group.place.group);
        }
        group.sync_team();
      }
      GE_NO_UNROLL
      for (int first = 0; first < p.count; first += team) {
        // All lanes bring their worlds; those beyond the last slot stay with it.
        const int slot = first + lane();
        const OfTeam at = of_team(p, slot < p.count ? slot : p.count - 1);
        const int world = Service::shuffle(group.cells.world, at.group * G);
        if (slot < p.count)
          set_head(slot, fate(cells_of_team(group, at.group, world), at.row).wanted, world, at.row);
      }
    } else {
      if (!on) return;
      GE_NO_UNROLL
      for (int row = group.lane; row < rows; row += G) {
        const int slot = slot_of(p, row);
        if (slot >= 0 && slot < p.count)
          set_head(slot, fate(group.cells, row).wanted, group.cells.world, row);
      }
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
    if constexpr (follows) {
      return {true, true};
    } else {
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
  }

  // ---- where a slot is staged

  /// follow: all slots are wanted, and their rows follow one another; skew: the first byte of slot
  /// 0, or its first bit in the stream.
  struct Staged {
    bool follow;
    int skew;
  };
  GE_FN int skew_of(const Pass& p) const {
    const int row = head(0);
    if constexpr (bits) return row < 0 ? 0 : bits_before(row);
    const bool as_they_are = is_float || target.format == Elements::uint8;
    return row < 0 || !as_they_are ? 0
                                   : offset_in_vector(row_target(row) + p.begin * element_bytes);
  }
  /// Bits that become 16 bytes of the caller's.
  GE_FN int vector_bits() const {
    return target.format == Elements::bits ? 128 : target.format == Elements::uint8 ? 16 : 4;
  }
  /// Bits from the beginning of a row to that of the next; a packed row fills its last byte.
  GE_FN int row_bits() const {
    return target.format == Elements::bits ? (target.elements + 7) & ~7 : target.elements;
  }
  /// Bits of the stream for a row that begins anywhere in a vector.
  GE_FN int row_room() const {
    const int each = vector_bits();
    return (row_bits() + 2 * each - 1) & ~(each - 1);
  }
  /// Bits of the caller's vector that lie before a row in it.
  GE_FN int bits_before(int64_t row) const {
    return offset_in_vector(row_target(row)) * vector_bits() / 16;
  }
  /// The first byte of a slot in the staging area, or its first bit in the stream.
  GE_FN int start_of(const Pass& p, const Staged& staged, int slot) const {
    if constexpr (!bits) return staged.skew + slot * slot_bytes(p);
    if (staged.follow) return staged.skew + slot * row_bits();
    return slot * row_room() + bits_before(head(slot));
  }

  // ---- in

  /// The background into every slot, by vectors where it is zeros, and by words where the staged
  /// rows allow it.
  GE_FN void begin_rows(const Pass& p, int skew) const {
    if constexpr (bits) return clear_run(stream(), (p.count * row_room() + 31) / 32, lane(), team);
    const int bytes = slot_bytes(p);
    char* const to = area(skew);
    if (target.background == nullptr) return clear_run(to, p.count * bytes, lane(), team);
    const char* const from = reinterpret_cast<const char*>(target.background) + p.begin;
    const int places = bytes | skew | p.begin;  // the largest word divides all of them
    if (places % 8 == 0)
      repeat<typename WordOf<8>::type>(to, from, bytes / 8, p.count);
    else if (places % 4 == 0)
      repeat<typename WordOf<4>::type>(to, from, bytes / 4, p.count);
    else
      repeat<typename WordOf<1>::type>(to, from, bytes, p.count);
  }
  /// Writes `words` words `times` times, one copy after the other: a lane loads a word once, and
  /// stores it into each copy.
  template <class Word>
  GE_FN void repeat(char* to, const char* from, int words, int times) const {
    GE_NO_UNROLL
    for (int word = lane(); word < words; word += team) {
      const Word value = reinterpret_cast<const Word*>(from)[word];
      Word* at = reinterpret_cast<Word*>(to) + word;
      GE_NO_UNROLL
      for (Word* const end = at + words * times; at != end; at += words) {
        GE_WATCH(at, int(sizeof(Word)), true);
        *at = value;
      }
    }
  }
  template <class FateOf, class Make>
  GE_FN void fill_slots(const Pass& p, const Staged& staged, bool on, const FateOf& fate,
                        const Make& make) const {
    if constexpr (shares) {
      GE_NO_UNROLL
      for (int slot = lane(); slot < p.count; slot += team) {
        const int named = head(slot);
        if (named < 0) continue;
        const OfTeam at = of_team(p, slot);
        const auto cells = cells_of_team(group, at.group, (named - at.row) / rows);
        fill(p, start_of(p, staged, slot), fate(cells, at.row).shows,
             [&](auto& writer) GE_LAMBDA { make(cells, at.row, writer); });
      }
    } else {
      if (!on) return;
      GE_NO_UNROLL
      for (int row = group.lane; row < rows; row += G) {
        const int slot = slot_of(p, row);
        if (slot < 0 || slot >= p.count || head(slot) < 0) continue;
        fill(p, start_of(p, staged, slot), fate(group.cells, row).shows,
             [&](auto& writer) GE_LAMBDA { make(group.cells, row, writer); });
      }
    }
  }
  template <class Write>
  GE_FN void fill(const Pass& p, int start, bool shows, const Write& write) const {
    if constexpr (bits) {
      if (!shows) return;
      BitRow writer(stream(), start);
      write(writer);
      [[maybe_unused]] const int written = writer.finish();
      GE_ASSERT(written == target.elements);
    } else {
      char* const at = area(start);
      if (!shows) return clear(at, slot_bytes(p));
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

  /// Each run of rows that follow one another.
  GE_FN void flush(const Pass& p, const Staged& staged) const {
    if (follows || staged.follow)
      flush_run(p, staged, 0, head(0), p.count);
    else if constexpr (!follows)
      flush_runs(p, staged);
  }
  GE_FN void flush_runs(const Pass& p, const Staged& staged) const {
    GE_NO_UNROLL
    for (int slot = 0; slot < p.count;) {
      const int first = head(slot);
      int count = 1;
      if (first >= 0)
        while (slot + count < p.count && head(slot + count) == first + count) ++count;
      if (first >= 0) flush_run(p, staged, slot, first, count);
      slot += count;
    }
  }
  // lint: allow parameters: a run is where it is staged, and where it goes
  GE_FN void flush_run(const Pass& p, const Staged& staged, int slot, int row, int count) const {
    const int elements = p.end - p.begin;
    char* const to = row_target(row);
    const auto* const from = reinterpret_cast<const Element*>(area(start_of(p, staged, slot)));
    if (is_float || target.format == Elements::uint8)
      copy(reinterpret_cast<Element*>(to) + p.begin, from, count * elements);
    else
      send(reinterpret_cast<float*>(to) + p.begin, from, count * elements);
  }
  /// Elements that leave as they are, by vectors where both lie alike.
  GE_FN void copy(Element* to, const Element* from, int count) const {
    if (offset_in_vector(to) == offset_in_vector(from))
      copy_run(to, from, count, lane(), team);
    else
      send(to, from, count);
  }
  /// The whole stream where its rows follow one another, else row by row.
  GE_FN void flush_stream(const Pass& p, const Staged& staged) const {
    const int step = staged.follow ? p.count : 1;
    GE_NO_UNROLL
    for (int slot = 0; slot < p.count; slot += step) {
      const int row = head(slot);
      if (row < 0) continue;
      char* const to = row_target(row);
      const int first = start_of(p, staged, slot), count = step * row_bits();
      if (target.format == Elements::bits)
        copy_run(to, area(first / 8), count / 8, lane(), team);
      else if (target.format == Elements::float32)
        expand(reinterpret_cast<float*>(to), first, count);
      else
        expand(reinterpret_cast<uint8_t*>(to), first, count);
    }
  }
  template <class Out, class In>
  GE_FN void send(Out* to, const In* from, int count) const {
    put_all(to, count, [&](int i) GE_LAMBDA { return Converted<In>{from + i}; });
  }
  /// Bits [first, first + count) of the stream.
  template <class Out>
  GE_FN void expand(Out* to, int first, int count) const {
    put_all(to, count, [&](int i) GE_LAMBDA { return BitStream{stream(), first + i}; });
  }
  /// Writes `count` elements, 16 bytes a store where the address allows it; from(i) yields the
  /// elements from i on.
  template <class Out, class From>
  GE_FN void put_all(Out* to, int count, const From& from) const {
    constexpr int each = 16 / int(sizeof(Out));
    const int lead = ((16 - offset_in_vector(to)) & 15) / int(sizeof(Out));
    const int head = lead < count ? lead : count;
    const int vectors = (count - head) / each;
    const auto put = [&](int i) GE_LAMBDA {
      GE_WATCH(to + i, int(sizeof(Out)), true);
      to[i] = from(i).template one<Out>();
    };
    GE_NO_UNROLL
    for (int i = lane(); i < head; i += team) put(i);
    auto next = from(head + lane() * each);
    Vector* at = reinterpret_cast<Vector*>(to + head) + lane();
    GE_NO_UNROLL
    for (int i = lane(); i < vectors; i += team) {
      GE_WATCH(at, 16, true);
      *at = next.template vector<Out>();
      next.skip(team * each);
      at += team;
    }
    GE_NO_UNROLL
    for (int i = head + vectors * each + lane(); i < count; i += team) put(i);
  }
};

}  // namespace ge
