// The state row of a voxel game, for critics and scripted players: the time, agents, then table by
// table. Each row of a table has its place, however many things there are.
//
// A game adds columns of its own to each agent:
//
//   struct Own {
//     static constexpr int columns = 2;
//     static constexpr const char* doc = ", 1 on the pad, 1 after its first step there";
//     static GE_FN void show(const W& w, Pen& pen, int agent);
//     static constexpr int numbers = 0;      // of the world, in a field of their own
//     static constexpr const char* numbers_doc = "";
//     static GE_FN void show_numbers(const W& w, Pen& pen);
//   };
//   using State = voxel::StateOf<Game, Own>;
//
// and a table of things that it alone has:
//
//     static constexpr int things = 126, thing_columns = 5;  // places, and columns of each
//     static constexpr const char* things_name = "objects";
//     static constexpr const char* things_doc = "...";
//     static GE_FN int thing_count(const W& w);
//     static GE_FN void show_thing(const W& w, Pen& pen, int k);
#pragma once

#include "engine/graph/wide_rows.hpp"
#include "voxel/hands.hpp"
#include "voxel/timing.hpp"

namespace ge::voxel {

inline constexpr int kTimeColumns = 2, kDiamondColumns = 4, kMarkColumns = 8;
inline constexpr int kStaticColumns = 7;
template <class M>
inline constexpr bool kHasHands = contains<Hands, typename M::Agents::components>;
template <class M>
inline constexpr int kBodyColumns = kHasHands<M> ? 12 : 10;
template <class M>
inline constexpr int kBoxColumns = kHasLooks<M> ? 10 : 5;
inline constexpr int kFenceColumns = 6;
inline constexpr const char* kBodyDoc =
    "position x, y, z, velocity x, y, z, cos and sin of yaw, pitch, 1 where it stands, 1 while it "
    "carries, row of its box or -1";
inline constexpr const char* kHandlessBodyDoc =
    "position x, y, z, velocity x, y, z, cos and sin of yaw, pitch, 1 where it stands";

/// Elements of all but the time and the agents.
template <class M>
GE_FN constexpr int thing_elements() {
  int columns = 0;
  if constexpr (kHasColumns<M>) columns = M::Columns::capacity;
  return M::Crates::capacity * kBoxColumns<M> + M::Diamonds::capacity * kDiamondColumns +
         M::Marks::capacity * kMarkColumns + M::Statics::capacity * kStaticColumns + columns +
         fence_room<M>() * kFenceColumns;
}
inline FieldInfo table_field(const char* name, int rows, int columns, const char* doc) {
  return wide_field(name, {rows, columns}, doc, -kUnbounded, kUnbounded);
}
template <class M>
void append_thing_fields(std::vector<FieldInfo>& fields) {
  if constexpr (kExists<typename M::Crates>)
    fields.push_back(table_field(
        "boxes", M::Crates::capacity, kBoxColumns<M>,
        kHasLooks<M> ? "1 where it exists, middle x, y, z, agent who carries it or -1, "
                       "form, red, green, blue, 1 if nobody can lift it"
                     : "1 where it exists, middle x, y, z, agent who carries it or -1"));
  if constexpr (kExists<typename M::Diamonds>)
    fields.push_back(table_field("diamonds", M::Diamonds::capacity, kDiamondColumns,
                                 M::kDiamondColours
                                     ? "1 while a good one is there, -1 a bad one, cell x, y, z"
                                     : "1 while it is there, cell x, y, z"));
  if constexpr (kExists<typename M::Marks>)
    fields.push_back(table_field("marks", M::Marks::capacity, kMarkColumns,
                                 "1 where it exists, 0 lava, 1 the exit's pad, 2 a building zone, "
                                 "lowest x, y, z, highest x, y, z"));
  fields.push_back(table_field("statics", M::Statics::capacity, kStaticColumns,
                               "lowest x, y, z, highest x, y, z, 1 where it is shown"));
  if constexpr (kHasColumns<M>)
    fields.push_back(table_field("columns", M::Columns::kSide, M::Columns::kSide,
                                 "cells of the column above the floor at x, y"));
  if constexpr (HasFences<M>)
    fields.push_back(table_field("walls", M::Fences::capacity, kFenceColumns,
                                 "1 where it exists, x, y of one end, x, y of the other, height"));
}

/// Sets one element after the other.
struct Pen {
  FloatRow& row;
  int at;
  GE_FN void put(float value) { row.set(at++, value); }
  GE_FN void put(Vec3 v) { put(v.x), put(v.y), put(v.z); }
};

/// Where a crate is drawn.
template <class M>
GE_FN Vec3 centre_of(const WorldOf<M>& w, const Crate& crate) {
  if (crate.carrier == kEmpty) return middle_of<M>(cell(crate.cell));
  return spot_of(eyes_of(get<typename M::Agents, Body>(w, crate.carrier)), kCarriedBelow);
}

template <class M>
GE_FN void show_body(const WorldOf<M>& w, Pen& pen, int agent) {
  const Body body = get<typename M::Agents, Body>(w, agent);
  float sine, cosine;
  sincos_bounded(body.yaw, sine, cosine);
  pen.put(geometry::vec(body.position));
  pen.put({body.velocity[0], body.velocity[1], body.climb});
  pen.put({cosine, sine, body.pitch});
  pen.put(float(body.grounded));
  if constexpr (kHasHands<M>) {
    const int crate = get<typename M::Agents, Hands>(w, agent).crate;
    pen.put(crate != kEmpty ? 1.0f : 0.0f);
    pen.put(float(crate));
  }
}

/// Calls f(pen, row k) for rows of a table that begins at `first`.
template <class F>
GE_FN void show_rows(FloatRow& row, const Squad& squad, int first, int rows, int columns,
                     const F& f) {
  GE_NO_UNROLL
  for (int k = squad.lane(); k < rows; k += squad.size()) {
    Pen pen{row, first + k * columns};
    f(pen, k);
  }
}
/// Calls f(pen, row k) for the rows of table T, which begins at `first`; returns where the next table
/// begins.
template <class T, class S, class F>
GE_FN int show_table(const World<S>& w, FloatRow& row, const Squad& squad, int first, int columns,
                     const F& f) {
  show_rows(row, squad, first, row_count<T>(w), columns, f);
  return first + T::capacity * columns;
}
template <class M>
GE_FN void show_crate(const WorldOf<M>& w, Pen& pen, int row) {
  const Crate crate = get<typename M::Crates, Crate>(w, row);
  pen.put(1.0f);
  pen.put(centre_of<M>(w, crate));
  pen.put(float(crate.carrier));
  if constexpr (kHasLooks<M>) {
    const Look look = look_of<M>(w, row);
    pen.put(float(look.form));
    pen.put(cameras::colour_of(look.colour));
    pen.put(float(look.fixed));
  }
}
template <class M>
GE_FN void show_fence(const WorldOf<M>& w, Pen& pen, int row) {
  const Fence fence = M::fence(w, row);
  const Flat reach = fence.along * fence.half.x;
  pen.put({1.0f, fence.at.x - reach.x, fence.at.y - reach.y});
  pen.put({fence.at.x + reach.x, fence.at.y + reach.y, 2.0f * fence.half.z});
}
/// Returns where the next table begins.
template <class M>
GE_FN int show_things(const WorldOf<M>& w, FloatRow& row, const Squad& squad, int first) {
  if constexpr (kExists<typename M::Crates>)
    first = show_table<typename M::Crates>(w, row, squad, first, kBoxColumns<M>,
                                           [&](Pen& pen, int k) { show_crate<M>(w, pen, k); });
  if constexpr (kExists<typename M::Diamonds>)
    first = show_table<typename M::Diamonds>(
        w, row, squad, first, kDiamondColumns, [&](Pen& pen, int k) {
          const Diamond diamond = get<typename M::Diamonds, Diamond>(w, k);
          const bool bad = M::kDiamondColours && diamond.colour == kRed;
          pen.put(bad ? -float(diamond.left) : float(diamond.left));
          pen.put(corner_of<M>(cell(diamond.cell)));
        });
  if constexpr (kExists<typename M::Marks>)
    first = show_table<typename M::Marks>(w, row, squad, first, kMarkColumns, [&](Pen& pen, int k) {
      const Mark mark = get<typename M::Marks, Mark>(w, k);
      pen.put(1.0f);
      pen.put(float(mark.kind));
      pen.put(corner_of<M>(cell(mark.low)));
      pen.put(corner_of<M>(cell(mark.high)));
    });
  first =
      show_table<typename M::Statics>(w, row, squad, first, kStaticColumns, [&](Pen& pen, int k) {
        const Static box = get<typename M::Statics, Static>(w, k);
        pen.put(geometry::vec(box.low));
        pen.put(geometry::vec(box.high));
        pen.put(float(box.shown));
      });
  if constexpr (kHasColumns<M>)
    first = show_table<typename M::Columns>(w, row, squad, first, 1, [&](Pen& pen, int k) {
      pen.put(float(get<typename M::Columns, Column>(w, k).height));
    });
  if constexpr (HasFences<M>)
    first = show_table<typename M::Fences>(w, row, squad, first, kFenceColumns,
                                           [&](Pen& pen, int k) { show_fence<M>(w, pen, k); });
  return first;
}

// ---- the row

template <class M, class Own>
struct StateOf : WideRow<float> {
  using W = WorldOf<M>;
  static constexpr int kAgentColumns = kBodyColumns<M> + Own::columns;
  static constexpr int kAgentsAt = kTimeColumns + Own::numbers;
  static constexpr bool kHasThings = requires { Own::things; };

  static GE_FN constexpr int elements_with(int agents) {
    int own = 0;
    if constexpr (kHasThings) own = Own::things * Own::thing_columns;
    return kAgentsAt + agents * kAgentColumns + thing_elements<M>() + own;
  }
  static constexpr int capacity = elements_with(kMostAgents);
  static GE_FN int elements(const Params& p) { return elements_with(p.agent_count); }
  static std::vector<FieldInfo> describe(const Params& p) {
    const std::string agents = std::string(kHasHands<M> ? kBodyDoc : kHandlessBodyDoc) + Own::doc;
    std::vector<FieldInfo> all = {
        wide_field("time", {kTimeColumns}, "share of the episode that is left, 1: solved", 0, 1)};
    if constexpr (Own::numbers > 0)
      all.push_back(wide_field("game", {Own::numbers}, Own::numbers_doc, -kUnbounded, kUnbounded));
    all.push_back(table_field("agents", p.agent_count, kAgentColumns, agents.c_str()));
    append_thing_fields<M>(all);
    if constexpr (kHasThings)
      all.push_back(
          table_field(Own::things_name, Own::things, Own::thing_columns, Own::things_doc));
    return all;
  }

  /// For ObserveState.
  static GE_FN void show(const W& w, FloatRow& row, const Squad& squad) {
    const int agents = team_size<M>(w);
    if (squad.lane() == 0) {
      const Timer timer = get<Timer>(w);
      row.set(0, time_left(timer));
      row.set(1, float(timer.solved));
      if constexpr (Own::numbers > 0) {
        Pen pen{row, kTimeColumns};
        Own::show_numbers(w, pen);
      }
    }
    for (int k = squad.lane(); k < agents; k += squad.size()) {
      Pen pen{row, kAgentsAt + k * kAgentColumns};
      show_body<M>(w, pen, k);
      Own::show(w, pen, k);
    }
    [[maybe_unused]] const int own =
        show_things<M>(w, row, squad, kAgentsAt + agents * kAgentColumns);
    if constexpr (kHasThings)
      show_rows(row, squad, own, Own::thing_count(w), Own::thing_columns,
                [&](Pen& pen, int k) { Own::show_thing(w, pen, k); });
  }
};

}  // namespace ge::voxel
