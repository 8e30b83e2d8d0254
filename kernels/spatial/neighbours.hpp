// Neighbours: agents of a world sorted by the cells of a grid, and looks at all within a range of a
// point. For worlds of fifty agents, and of a million.
//
//   struct Schema;                             // its tables include spatial::Tables<Model>::all
//   using Model = spatial::Model<Schema, Params, Birds>;  // Birds have a Position, Params a grid
//   using Reset = chain<Stages<Each<&begin>>, spatial::Unsort<Model>>;
//   using Step = chain<Stages<Each<&move>>, spatial::Sort<Model>, Stages<EachTogether<&feel>>>;
//   using Observe = chain<spatial::SortIfUnsorted<Model>, Stages<ge::Observe<&see>>>;
//
// Sort prepares a look, in the same phase: agents are counted into cells (`Starts`), their rows are
// ordered by cell, and within a cell by row (`Order`), and their positions are copied in that order
// (`Near`), so that those of a run of cells are contiguous. A Look then goes through the agents of
// all cells that a circle touches, by packs on the CPU and one per lane on a GPU, and keeps those
// in range as Hits:
//
//   Look<Model> look(w, squad, me.row, at.x, at.y, range);
//   for (Hits hits; look.fill(hits);)
//     for (int k = 0; k < hits.count; ++k) ... hits.dx[k], hits.dy[k], hits.row(k)
//
// Each lane of a squad meets its share of the hits, sometimes none in a turn; together they meet
// each once. All lanes fill equally often. The order of hits is that of the grid, which differs
// from machine to machine: results must not depend on it. Whole numbers may be added (fixed.hpp),
// minima taken. `look.each<kRows>(f)` calls f(hits) instead: where lanes look each for itself, they
// first judge all candidates and then meet their hits side by side.
#pragma once

#include "engine/graph/call.hpp"
#include "engine/world/pack_reads.hpp"
#include "spatial/shared_runs.hpp"

namespace ge::spatial {

struct Position {
  float x, y;
  static constexpr auto describe() {
    return fields(field("x", &Position::x, "from the left edge").in("length"),
                  field("y", &Position::y, "from the lower edge").in("length"));
  }
};

// ---- what sorting leaves behind

struct NearX {
  float value;
  static constexpr auto describe() { return fields(field("x", &NearX::value, "of an agent")); }
};
struct NearY {
  float value;
  static constexpr auto describe() { return fields(field("y", &NearY::value, "of an agent")); }
};
struct NearRow {
  uint32_t value;
  static constexpr auto describe() { return fields(field("row", &NearRow::value, "of an agent")); }
};

/// The row of a list that has one where agents are sorted as they are.
struct SortNote {
  uint32_t value;
  static constexpr auto describe() { return fields(field("sorted", &SortNote::value, "1")); }
};

/// Names the agents that are sorted, and the parameters that hold their grid.
template <class Schema_, class Params_, class Agents_>
struct Model {
  using Schema = Schema_;
  using Params = Params_;
  using Agents = Agents_;
  static GE_FN int64_t count(const Params& p) { return Agents::count(p); }
  static GE_FN const Grid& grid(const Params& p) { return p.grid; }
};

/// Rows beyond the last agent, so that a pack may begin at any agent.
inline constexpr int kPadding = 16;

template <class M>
struct Tables {
  using Params = typename M::Params;

  struct Order : Fixed<kAny, Sorted> {
    static constexpr const char* name = "order";
    static constexpr bool scratch = true;
    static GE_FN int64_t count(const Params& p) { return M::count(p); }
  };
  struct Starts : Fixed<kAny, First> {
    static constexpr const char* name = "starts";
    static constexpr bool scratch = true;
    static GE_FN int64_t count(const Params& p) { return cell_count(M::grid(p)) + 1; }
  };
  struct Near : Fixed<kAny, NearX, NearY, NearRow> {
    static constexpr const char* name = "near";
    static constexpr bool scratch = true;
    static GE_FN int64_t count(const Params& p) { return M::count(p) + kPadding; }
  };
  struct Note : List<1, SortNote> {
    static constexpr const char* name = "sorting";
    static constexpr bool scratch = true;
  };
  using all = Types<Order, Starts, Near, Note>;
};

template <class M>
using WorldOf = World<typename M::Schema>;

template <class M>
GE_FN uint32_t cell_key(const WorldOf<M>& w, const Position& at) {
  return cell_of(M::grid(w.params()), at.x, at.y);
}
template <class M>
GE_FN void copy_near(const WorldOf<M>& w, Slot place, NearX& x, NearY& y, NearRow& row) {
  const int count = int(M::count(w.params()));
  // Padding is infinitely far from every agent.
  x = {infinity<float>()}, y = {infinity<float>()}, row = {~0u};
  if (place.row >= count) return;
  row.value = get<typename Tables<M>::Order, Sorted>(w, place.row).row;
  const Position at = get<typename M::Agents, Position>(w, int(row.value));
  // Those who look cut their circles to places in the square, on some machines more than on others.
  const Square& square = M::grid(w.params()).square;
  x.value = clamped(square, at.x), y.value = clamped(square, at.y);
}

template <class M>
GE_FN void note_sorted(const WorldOf<M>&, int, SortNote& note) {
  note.value = 1;
}
template <class M>
GE_FN bool is_unsorted(const WorldOf<M>& w) {
  return row_count<typename Tables<M>::Note>(w) == 0;
}

template <class M>
using Sort = Stages<SortRows<&cell_key<M>, typename M::Agents, typename Tables<M>::Order,
                             typename Tables<M>::Starts>,
                    Each<&copy_near<M>>, For<1, &note_sorted<M>, typename Tables<M>::Note>>;
/// Marks worlds whose agents a reset has moved since the sort.
template <class M>
using Unsort = Stages<For<0, &note_sorted<M>, typename Tables<M>::Note>>;

template <class M, class List>
struct OnlyUnsorted;
template <class M, class... X>
struct OnlyUnsorted<M, Stages<X...>> {
  using type = Stages<When<&is_unsorted<M>, X...>>;
};
/// For what follows a Sort in the same phase, unless a world was reset in between, and has none in
/// others.
template <class M>
using SortIfUnsorted = typename OnlyUnsorted<M, Sort<M>>::type;

// ---- looks

/// The slot of the k-th hit. A lane keeps one at a time: a constant index keeps it in registers.
GE_FN constexpr int room_of_hit(int k) {
  return kPack == 1 ? 0 : k;
}

/// Agents in range, as seen from where one looks; with their rows, or (Offsets) without.
template <bool kRows>
struct HitsOf {
  // One at a time where lanes look side by side.
  static constexpr int kRoom = kPack == 1 ? 1 : 64;
  alignas(64) float dx[kRoom + kPack], dy[kRoom + kPack], rows[kRows ? kRoom + kPack : 1];
  int count = 0;

  GE_FN HitsOf() {
    if constexpr (kPack == 1) dx[0] = dy[0] = rows[0] = 0.0f;
  }
  /// `count`, of which the compiler knows that it is no more than the room for one.
  GE_FN int known() const { return kRoom == 1 ? select(count != 0, 1, 0) : count; }
  GE_FN uint32_t row(int k) const { return __builtin_bit_cast(uint32_t, rows[room_of_hit(k)]); }
};
using Hits = HitsOf<true>;
using Offsets = HitsOf<false>;

/// What a look skips besides agents out of range: bits, so that unused filters cost nothing.
enum Filter : int32_t {
  kNoFilter,
  kOneSide = 1,  // what is outside of a half-plane through the point (or near it)
  kSomeRows = 2  // agents that are none of some rows
};

/// The agents of all runs, by packs on the CPU and one by one for a single lane.
template <class Starts>
class OwnRuns {
 public:
  GE_FN OwnRuns(const Circle& circle, const Starts& starts) : runs_(circle), starts_(starts) {}
  GE_FN bool next() {
    at_ += kPack;
    while (at_ >= end_) {
      if (!runs_.next()) return false;
      const Stretch cells = runs_.cells();
      at_ = int(starts_.get(cells.first).place);
      end_ = int(starts_.get(cells.last + 1).place);
    }
    return true;
  }
  GE_FN int place() const { return at_; }
  GE_FN Mask there() const { return first_lanes(end_ - at_); }
  GE_FN const Circle& circle() const { return runs_.circle(); }
  GE_FN const Starts& starts() const { return starts_; }

 private:
  CircleRuns runs_;
  Starts starts_;
  int at_ = 0, end_ = 0;
};

/// All lanes of a squad make the same looks, and fill the same number of times.
template <class M, int32_t kFilter = kNoFilter>
class Look {
 public:
  using W = WorldOf<M>;
  using T = Tables<M>;

  /// `me` is a row to skip; -1: none.
  GE_FN Look(const W& w, const Squad& squad, int me, float x, float y, float range)
      : Look(w, squad, me, x, y, range, range * range) {}
  /// `half` is what kOneSide lets pass.
  GE_FN Look(const W& w, const Squad& squad, int me, float x, float y, float range,
             float range_squared, const HalfPlane& half = {})
      : squad_(squad),
        square_(M::grid(w.params()).square),
        own_(Circle(M::grid(w.params()), x, y, range), Starts(w)),
        shared_(Cut(M::grid(w.params()), x, y, range, half), squad, Starts(w)),
        near_x_(w),
        near_y_(w),
        near_row_(w),
        x_(clamped(square_, x)),
        y_(clamped(square_, y)),
        squared_(range_squared),
        half_(half),
        me_(uint32_t(me)) {}

  /// Before the first hits: what kSomeRows lets pass.
  GE_FN void only(int first, int end) { first_ = uint32_t(first), end_row_ = uint32_t(end); }

  /// Fills the next hits, up to capacity, possibly none in this lane; false, in all lanes: the look
  /// is done.
  template <bool kRows>
  GE_FN bool fill(HitsOf<kRows>& hits) {
    if constexpr (kPack == 1) {
      if (squad_.size() > 1) return fill_side_by_side(hits);
    }
    // In most circles nothing needs to be asked of the edges.
    const int count =
        own_.circle().inside() ? keep_own<kRows, true>(hits) : keep_own<kRows, false>(hits);
    if constexpr (kPack > 1) {  // whole packs of numbers, whoever computes beyond the last
      store_pack(hits.dx + count, Floats{});
      store_pack(hits.dy + count, Floats{});
    }
    hits.count = count;
    return count > 0;
  }

  /// Calls f(hits) until all hits were met: for bodies of a loop over fill that read and write no
  /// other lane. Lanes that look each for itself then stay together.
  template <bool kRows, class F>
  GE_FN void each(const F& f) {
    if constexpr (kPack == 1) {
      squad_.size() == 1 ? each_alone<kRows>(f) : each_side_by_side<kRows>(f);
    } else {
      for (HitsOf<kRows> hits; fill(hits);) f(hits);
    }
  }

 private:
  using Starts = WordColumn<typename T::Starts, First>;
  template <class C>
  using Near = WordColumn<typename T::Near, C>;
  // A squad looks at no more than the half-plane. Lanes that look each for itself would wait for
  // the one with most rows and the one with most candidates, and packs are wide: the circle then.
  using Cut = CircleOf<(kFilter & kOneSide) != 0>;
  struct None {
    GE_FN None(const Cut&, const Squad&, const Starts&) {}
  };

  struct Candidates {
    Floats dx, dy, rows;
    Mask hit;
  };
  /// Those at `place` and behind it, a pack of them.
  template <bool kRows, bool kInside = false>
  GE_FN Candidates judge(int place, const Mask& there) const {
    Candidates c;
    c.dx = near_x_.pack(place) - x_, c.dy = near_y_.pack(place) - y_;
    if constexpr (!kInside) c.dx = shortest(square_, c.dx), c.dy = shortest(square_, c.dy);
    const Floats squared = c.dx * c.dx + c.dy * c.dy;
    c.hit = both(there, squared <= squared_);
    if constexpr (kPack > 1 || kRows || (kFilter & kSomeRows) != 0) {
      c.rows = near_row_.pack(place);
      c.hit = both(c.hit, differs(c.rows, me_));
    } else if (lane(squared, 0) == 0.0f) {
      // The one that looks is at its own place: no other row is read on lanes.
      c.hit = both(c.hit, differs(near_row_.pack(place), me_));
    }
    if constexpr ((kFilter & kSomeRows) != 0) c.hit = both(c.hit, within(c.rows, first_, end_row_));
    if constexpr ((kFilter & kOneSide) != 0)
      c.hit = both(c.hit, c.dx * half_.x + c.dy * half_.y >= half_.least);
    return c;
  }
  /// Keeps the candidates that are hits behind the first `count`; returns their number.
  template <bool kRows>
  static GE_FN int keep_hits(HitsOf<kRows>& hits, int count, const Candidates& c) {
    const int to = room_of_hit(count);
    keep(hits.dx + to, c.dx, c.hit);
    keep(hits.dy + to, c.dy, c.hit);
    if constexpr (kRows) keep(hits.rows + to, c.rows, c.hit);
    return lanes_in(c.hit);
  }

  template <bool kRows, bool kInside>
  GE_FN int keep_own(HitsOf<kRows>& hits) {
    int count = 0;
    while (count <= HitsOf<kRows>::kRoom - kPack && own_.next())
      count += keep_hits(hits, count, judge<kRows, kInside>(own_.place(), own_.there()));
    return count;
  }

  // ---- by a lane, beside others that look each for itself

  // A lane first judges candidates, a row of the grid after the other, and keeps a bit of each; then
  // it meets those that are hits. Lanes wait for the one with most candidates and for the one with
  // most hits, and not at every hit for a lane whose next is far.
  static constexpr int kMarked = 4;

  /// The hits among up to 32 candidates of one row of the grid, a bit each.
  GE_FN uint32_t mark(const RowRun& run) const {
    const int count = min(run.count, 32);
    uint32_t hits = 0;
    for (int k = 0; k < count; ++k) hits |= uint32_t(any_of(is_hit(run.place(k)))) << k;
    return hits;
  }
  /// Whether the agent at a place is a hit; the one that looks is not skipped here.
  GE_FN Mask is_hit(int place) const {
    const Floats dx = shortest(square_, near_x_.pack(place) - x_);
    const Floats dy = shortest(square_, near_y_.pack(place) - y_);
    Mask hit = dx * dx + dy * dy <= squared_;
    if constexpr ((kFilter & kSomeRows) != 0)
      hit = both(hit, within(near_row_.pack(place), first_, end_row_));
    if constexpr ((kFilter & kOneSide) != 0)
      hit = both(hit, dx * half_.x + dy * half_.y >= half_.least);
    return hit;
  }
  template <bool kRows, class F>
  GE_FN void each_alone(const F& f) {
    const Circle& circle = own_.circle();
    const int last = circle.rows().last;
    int next_row = circle.rows().first;
    RowRun rest;  // of a row with more than 32 candidates
    do {
      uint32_t hits[kMarked] = {};
      RowRun runs[kMarked];
      GE_NO_UNROLL
      for (int n = 0; n < kMarked && (rest.count > 0 || next_row <= last); ++n) {
        if (rest.count <= 0) rest = run_in_row(circle, next_row++, own_.starts());
        // Constant indices keep all in registers.
        GE_UNROLL
        for (int k = kMarked - 1; k > 0; --k) hits[k] = hits[k - 1], runs[k] = runs[k - 1];
        hits[0] = mark(rest), runs[0] = rest;
        rest.first += 32, rest.count -= 32;
      }
      meet_marked<kRows>(hits, runs, f);
    } while (rest.count > 0 || next_row <= last);
  }
  template <bool kRows, class F>
  GE_FN void meet_marked(const uint32_t (&hits)[kMarked], const RowRun (&runs)[kMarked],
                         const F& f) {
    uint64_t front = uint64_t{hits[1]} << 32 | hits[0], back = uint64_t{hits[3]} << 32 | hits[2];
    while ((front | back) != 0) {
      const bool in_back = front == 0;
      const int bit = lowest_one(in_back ? back : front);
      back = in_back ? back & (back - 1) : back;
      front &= front - 1;  // none of none
      const RowRun low = in_back ? runs[2] : runs[0], high = in_back ? runs[3] : runs[1];
      const int place = (bit < 32 ? low : high).place(bit & 31);
      HitsOf<kRows> one;
      one.count = 1;
      const float dx = lane(shortest(square_, near_x_.pack(place) - x_), 0);
      const float dy = lane(shortest(square_, near_y_.pack(place) - y_), 0);
      one.dx[0] = dx, one.dy[0] = dy;
      if constexpr (kRows) one.rows[0] = lane(near_row_.pack(place), 0);
      if (dx * dx + dy * dy == 0.0f && !any_of(differs(near_row_.pack(place), me_))) continue;
      f(one);
    }
  }

  // ---- by a squad

  /// Each lane keeps its own candidate, or none.
  template <bool kRows>
  GE_FN bool fill_side_by_side(HitsOf<kRows>& hits) {
    if (!shared_.next()) return false;
    hits.count = keep_hits(hits, 0, judge<kRows>(shared_.place(), shared_.there()));
    return true;
  }
  template <bool kRows, class F>
  GE_FN void each_side_by_side(const F& f) {
    // In most circles nothing needs to be asked of the edges.
    if (shared_.circle().inside())
      each_of_squad<kRows, true>(f);
    else
      each_of_squad<kRows, false>(f);
  }
  template <bool kRows, bool kInside, class F>
  GE_FN void each_of_squad(const F& f) {
    while (shared_.template next<kInside>()) {
      const Candidates mine = judge<kRows, kInside>(shared_.place(), shared_.there());
      if (!any_of(mine.hit)) continue;
      HitsOf<kRows> one;
      keep_hits(one, 0, mine);
      one.count = 1;
      f(one);
    }
  }

  Squad squad_;
  Square square_;
  OwnRuns<Starts> own_;
  std::conditional_t<kPack == 1, SharedRuns<Cut, Starts>, None> shared_;
  Near<NearX> near_x_;
  Near<NearY> near_y_;
  Near<NearRow> near_row_;
  float x_, y_, squared_;
  HalfPlane half_;
  uint32_t me_, first_ = 0, end_row_ = ~0u;
};

/// Counts the agents that a look finds, over all lanes of the squad.
template <class M, int32_t kFilter>
GE_FN int64_t count(Look<M, kFilter>& look, const Squad& squad) {
  int32_t found = 0;
  look.template each<false>([&](const Offsets& hits) GE_LAMBDA { found += hits.count; });
  return squad.count(found);
}

}  // namespace ge::spatial
