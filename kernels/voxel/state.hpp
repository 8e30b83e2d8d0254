// State rows of the things of a voxel game: floats, table by table. Each row has its place, however
// many things there are.
#pragma once

#include "engine/graph/wide_rows.hpp"
#include "voxel/hands.hpp"

namespace ge::voxel {

inline constexpr int kBodyColumns = 12, kBoxColumns = 5, kDiamondColumns = 4, kMarkColumns = 8;
inline constexpr int kStaticColumns = 7;
inline constexpr const char* kBodyDoc =
    "position x, y, z, velocity x, y, z, cos and sin of yaw, pitch, 1 where it stands, 1 while it "
    "carries, row of its box or -1";

/// Elements of all but the agents.
template <class M>
GE_FN constexpr int thing_elements() {
  return M::Crates::capacity * kBoxColumns + M::Diamonds::capacity * kDiamondColumns +
         M::Marks::capacity * kMarkColumns + M::Statics::capacity * kStaticColumns;
}
inline FieldInfo table_field(const char* name, int rows, int columns, const char* doc) {
  return wide_field(name, {rows, columns}, doc, -kUnbounded, kUnbounded);
}
template <class M>
void append_thing_fields(std::vector<FieldInfo>& fields) {
  fields.push_back(table_field("boxes", M::Crates::capacity, kBoxColumns,
                               "1 where it exists, middle x, y, z, agent who carries it or -1"));
  fields.push_back(table_field("diamonds", M::Diamonds::capacity, kDiamondColumns,
                               "1 while it is there, cell x, y, z"));
  fields.push_back(table_field("marks", M::Marks::capacity, kMarkColumns,
                               "1 where it exists, 0 lava, 1 the exit's pad, 2 a building zone, "
                               "lowest x, y, z, highest x, y, z"));
  fields.push_back(table_field("statics", M::Statics::capacity, kStaticColumns,
                               "lowest x, y, z, highest x, y, z, 1 where it is shown"));
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
  if (crate.carrier == kEmpty) return middle_of(cell(crate.cell));
  return spot_of(eyes_of(get<typename M::Agents, Body>(w, crate.carrier)), kCarriedBelow);
}

template <class M>
GE_FN void show_body(const WorldOf<M>& w, Pen& pen, int agent) {
  const Body body = get<typename M::Agents, Body>(w, agent);
  const int crate = get<typename M::Agents, Hands>(w, agent).crate;
  float sine, cosine;
  sincos_bounded(body.yaw, sine, cosine);
  pen.put(geometry::vec(body.position));
  pen.put({body.velocity[0], body.velocity[1], body.climb});
  pen.put({cosine, sine, body.pitch});
  pen.put({float(body.grounded), crate != kEmpty ? 1.0f : 0.0f, float(crate)});
}

/// Calls f(pen, row k) for the rows of T, which begin at `first`; returns where the next table
/// begins.
template <class T, class C, class S, class F>
GE_FN int show_table(const World<S>& w, FloatRow& row, const Squad& squad, int first, int columns,
                     const F& f) {
  const int rows = row_count<T>(w);
  GE_NO_UNROLL
  for (int k = squad.lane(); k < rows; k += squad.size()) {
    Pen pen{row, first + k * columns};
    f(pen, get<T, C>(w, k));
  }
  return first + T::capacity * columns;
}
template <class M>
GE_FN void show_things(const WorldOf<M>& w, FloatRow& row, const Squad& squad, int first) {
  first = show_table<typename M::Crates, Crate>(w, row, squad, first, kBoxColumns,
                                                [&](Pen& pen, const Crate& crate) {
                                                  pen.put(1.0f);
                                                  pen.put(centre_of<M>(w, crate));
                                                  pen.put(float(crate.carrier));
                                                });
  first = show_table<typename M::Diamonds, Diamond>(w, row, squad, first, kDiamondColumns,
                                                    [](Pen& pen, const Diamond& diamond) {
                                                      pen.put(float(diamond.left));
                                                      pen.put(corner_of(cell(diamond.cell)));
                                                    });
  first = show_table<typename M::Marks, Mark>(w, row, squad, first, kMarkColumns,
                                              [](Pen& pen, const Mark& mark) {
                                                pen.put(1.0f);
                                                pen.put(float(mark.kind));
                                                pen.put(corner_of(cell(mark.low)));
                                                pen.put(corner_of(cell(mark.high)));
                                              });
  show_table<typename M::Statics, Static>(w, row, squad, first, kStaticColumns,
                                          [](Pen& pen, const Static& box) {
                                            pen.put(geometry::vec(box.low));
                                            pen.put(geometry::vec(box.high));
                                            pen.put(float(box.shown));
                                          });
}

}  // namespace ge::voxel
