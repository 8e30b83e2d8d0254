// Who is near: agents of a world sorted by the cells of a grid, and looks at all within a range of a
// point. For worlds of fifty agents, and of a million.
//
//   struct Schema;                             // its tables include spatial::Tables<Model>::all
//   using Model = spatial::Model<Schema, Params, Birds>;  // Birds have a Position, Params a grid
//   using Reset = chain<Stages<Each<&begin>>, spatial::Unsort<Model>>;
//   using Step = chain<Stages<Each<&move>>, spatial::Sort<Model>, Stages<EachTogether<&feel>>>;
//   using Observe = chain<spatial::SortIfUnsorted<Model>, Stages<ge::Observe<&see>>>;
//
// Sort is what a look needs, in the same phase: agents counted into cells (`Starts`), their rows in
// the order of the cells, and in a cell of the rows (`Order`), and copies of their positions in that
// order (`Near`), so that those of a run of cells are read side by side. A Look then goes through the
// agents of all cells that a circle touches, by packs on the CPU and one per lane on a GPU, and
// keeps those in range as Hits:
//
//   Look<Model> look(w, squad, me.row, at.x, at.y, range);
//   for (Hits hits; look.fill(hits);)
//     for (int k = 0; k < hits.count; ++k) ... hits.dx[k], hits.dy[k], hits.row(k)
//
// Each lane of a squad meets its share of the hits; together they meet each once. Their order is
// that of the grid, which differs from machine to machine: what is made of them must not depend on
// it. Whole numbers may be added (fixed.hpp), minima taken.
#pragma once

#include "engine/graph/call.hpp"
#include "engine/world/pack_reads.hpp"
#include "spatial/grid.hpp"

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

/// Of which agents, in which grid.
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
  // The padding is nowhere near anybody.
  x = {infinity<float>()}, y = {infinity<float>()}, row = {~0u};
  if (place.row >= count) return;
  row.value = w.template get<typename Tables<M>::Order, Sorted>(place.row).row;
  const Position at = w.template get<typename M::Agents, Position>(int(row.value));
  x.value = at.x, y.value = at.y;
}

template <class M>
GE_FN void note_sorted(const WorldOf<M>&, int, SortNote& note) {
  note.value = 1;
}
template <class M>
GE_FN bool is_unsorted(const WorldOf<M>& w) {
  return w.template count<typename Tables<M>::Note>() == 0;
}

template <class M>
using Sort = Stages<SortRows<&cell_key<M>, typename M::Agents, typename Tables<M>::Order,
                             typename Tables<M>::Starts>,
                    Each<&copy_near<M>>, For<1, &note_sorted<M>, typename Tables<M>::Note>>;
/// Where agents have moved since, by a reset.
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

/// Where the k-th hit is kept. A lane keeps one at a time: a number that the compiler knows keeps it
/// in registers.
GE_FN constexpr int room_of_hit(int k) {
  return kPack == 1 ? 0 : k;
}

/// Agents in range, as seen from where one looks; with their rows, or (Offsets) without.
template <bool kRows>
struct HitsOf {
  // One at a time where lanes look side by side: each goes on until it has one.
  static constexpr int kRoom = kPack == 1 ? 1 : 64;
  alignas(64) float dx[kRoom + kPack], dy[kRoom + kPack], rows[kRows ? kRoom + kPack : 1];
  int count = 0;

  GE_FN HitsOf() {
    if constexpr (kPack == 1) dx[0] = dy[0] = rows[0] = 0.0f;
  }
  GE_FN uint32_t row(int k) const { return __builtin_bit_cast(uint32_t, rows[room_of_hit(k)]); }
};
using Hits = HitsOf<true>;
using Offsets = HitsOf<false>;

/// Points with x * dx + y * dy >= least.
struct HalfPlane {
  float x, y, least;
};
/// What a look passes over, besides what is out of range: bits, so that others cost nothing.
enum Filter : int32_t {
  kNoFilter,
  kOneSide = 1,  // what is outside of a half-plane through the point (or near it)
  kSomeRows = 2  // agents that are none of some rows
};

template <class M, int32_t kFilter = kNoFilter>
class Look {
 public:
  using W = WorldOf<M>;
  using T = Tables<M>;

  /// `me` is the row that is not looked at; -1: all are.
  GE_FN Look(const W& w, const Squad& squad, int me, float x, float y, float range)
      : Look(w, squad, me, x, y, range, range * range) {}
  GE_FN Look(const W& w, const Squad& squad, int me, float x, float y, float range,
             float range_squared)
      : w_(w),
        square_(M::grid(w.params()).square),
        runs_(M::grid(w.params()), x, y, range),
        x_(x),
        y_(y),
        squared_(range_squared),
        me_(uint32_t(me)),
        stride_(squad.size() * kPack),
        at_((squad.lane() - squad.size()) * kPack) {}

  /// Before the first hits: what kOneSide and kSomeRows let pass.
  GE_FN void only(const HalfPlane& half) { half_ = half; }
  GE_FN void only(int first, int end) { first_ = uint32_t(first), end_row_ = uint32_t(end); }

  /// The next hits, as many as there is room for; false: there are none left.
  template <bool kRows>
  GE_FN bool fill(HitsOf<kRows>& hits) {
    int count = 0;
    while (count <= HitsOf<kRows>::kRoom - kPack && next_pack()) count += keep_hits(hits, count);
    if constexpr (kPack > 1) {  // whole packs of numbers, whoever computes beyond the last
      store_pack(hits.dx + count, Floats{});
      store_pack(hits.dy + count, Floats{});
    }
    hits.count = count;
    return count > 0;
  }

 private:
  /// Agents at_ to end_ - 1 come next; lanes take turns also across the ends of runs.
  GE_FN bool next_pack() {
    at_ += stride_;
    while (at_ >= end_) {
      const int beyond = kPack == 1 ? at_ - end_ : 0;
      if (!runs_.next()) return false;
      const Stretch cells = runs_.cells();
      at_ = int(w_.template get<typename T::Starts, First>(cells.first).place) + beyond;
      end_ = int(w_.template get<typename T::Starts, First>(cells.last + 1).place);
    }
    return true;
  }
  /// Keeps those of the pack at at_ that are hits behind the first `count`; how many there are.
  template <bool kRows>
  GE_FN int keep_hits(HitsOf<kRows>& hits, int count) const {
    using Near = typename T::Near;
    const Floats dx = shortest(square_, read_pack<Near, NearX>(w_, at_) - x_);
    const Floats dy = shortest(square_, read_pack<Near, NearY>(w_, at_) - y_);
    const Floats rows = read_pack<Near, NearRow>(w_, at_);
    Mask hit = both(first_lanes(end_ - at_), differs(rows, me_));
    if constexpr ((kFilter & kSomeRows) != 0) hit = both(hit, within(rows, first_, end_row_));
    hit = both(hit, dx * dx + dy * dy <= squared_);
    if constexpr ((kFilter & kOneSide) != 0)
      hit = both(hit, dx * half_.x + dy * half_.y >= half_.least);
    const int to = room_of_hit(count);
    keep(hits.dx + to, dx, hit);
    keep(hits.dy + to, dy, hit);
    if constexpr (kRows) keep(hits.rows + to, rows, hit);
    return lanes_in(hit);
  }

  const W& w_;
  Square square_;
  CircleRuns runs_;
  float x_, y_, squared_;
  HalfPlane half_{};
  uint32_t me_, first_ = 0, end_row_ = ~0u;
  int stride_, at_, end_ = 0;
};

/// How many agents a look finds, the shares of all lanes of the squad together.
template <class M, int32_t kFilter>
GE_FN int64_t count(Look<M, kFilter>& look, const Squad& squad) {
  int64_t found = 0;
  for (Offsets hits; look.fill(hits);) found += hits.count;
  return squad.sum(found);
}

}  // namespace ge::spatial
