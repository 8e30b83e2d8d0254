// The team's part in rows.hpp's plan: lanes fill the staging area with the rows of their worlds,
// meet, and copy the runs to the caller's array together.
#pragma once

#include "engine/cuda/group_plan.hpp"

namespace ge {

/// Whether the worlds of a team that take part follow one another from its first on, and how many
/// they are.
struct Run {
  bool whole;
  int worlds;
};
/// The votes of the first worlds, without a gap, are a number of the form 2^k - 1.
template <int G, class Service>
GE_FN Run team_run(const GroupPlace& place, bool on) {
  if constexpr (G >= 32) {
    return {place.team_first >= 0, on ? 1 : 0};
  } else {
    const uint32_t votes = Service::ballot(on);
    return {place.team_first >= 0 && (votes & (votes + 1)) == 0, count_bits(votes) / G};
  }
}

/// One output's rows. kFinal: only the rows that `make` says are wanted.
template <class Row, int kRows, int G, bool kFinal, class Service>
struct StagedRows {
  using Rows = StagingPlan<Row, kRows, G>;
  using Element = typename Rows::Element;
  static constexpr int elements = Rows::Shape::elements;
  static constexpr bool one_world = Rows::worlds == 1;
  /// All rows of a world are staged at a time.
  static constexpr bool whole = kRows <= Rows::chunk;

  const GroupPlace& place;
  Element* to;
  int rows;   // of each world
  int world;  // of this lane's group

  /// Worlds [first, ...) of the team, rows [row, row + count) of each: what the staging area holds
  /// at a time.
  struct Part {
    int first, row, count;
  };

  template <class Make>
  GE_FN void run(bool on, const Make& make) const {
    const Run run = team_run<G, Service>(place, on);
    // Uniform over the team, as all conditions here are: every lane comes by every barrier.
    const bool dense = !kFinal && (one_world || run.whole) && (whole || rows <= Rows::chunk);
    for (int first = 0; first < Rows::worlds; first += Rows::together) {
      for (int row = 0; row < rows; row += Rows::chunk) {
        const Part part{first, row, rows - row < Rows::chunk ? rows - row : Rows::chunk};
        if constexpr (Rows::zeroed) {
          clear_run(place.stage + Rows::heads, Rows::shared - Rows::heads, place.team_lane,
                    Rows::team);
          sync();
        }
        if (dense) {
          fill_dense(part, on, make);
          sync();
          flush_dense(part, run.worlds - first);
        } else {
          fill_slot(part, on, make);
          sync();
          flush_slots(part);
        }
        sync();
      }
    }
  }

 private:
  GE_FN void sync() const { sync_team<G, Service>(); }
  template <class Make>
  GE_FN bool fill(char* at, int row, const Make& make) const {
    GE_WATCH(at, sizeof(Row), true);
    Row& staged = *reinterpret_cast<Row*>(at);
    if constexpr (Rows::in_place) {
      return make(row, staged);
    } else {
      Row out;
      const bool wanted = make(row, out);
      staged = out;
      return wanted;
    }
  }
  GE_FN void flush(Element* target, const char* from, int count) const {
    copy_run(target, reinterpret_cast<const Element*>(from), count * elements, place.team_lane,
             Rows::team);
  }
  /// Behind the heads, as far from a multiple of 16 as the target: vectors then lie alike.
  GE_FN char* area(const void* target) const {
    return place.stage + Rows::heads + offset_in_vector(target);
  }

  // ---- all rows of worlds that follow one another

  GE_FN Element* dense_target(const Part& part) const {
    const int first = one_world ? world : place.team_first;
    return to + int64_t(first + part.first) * rows * elements;
  }
  template <class Make>
  GE_FN void fill_dense(const Part& part, bool on, const Make& make) const {
    const int slot = place.group - part.first;
    const int mine = on && slot >= 0 && slot < Rows::together ? rows : 0;
    char* const from = area(dense_target(part)) + slot * rows * Rows::bytes;
    for (int row = place.lane; row < mine; row += G) fill(from + row * Rows::bytes, row, make);
  }
  GE_FN void flush_dense(const Part& part, int left) const {
    Element* const target = dense_target(part);
    if (left > 0)
      flush(target, area(target), (left < Rows::together ? left : Rows::together) * rows);
  }

  // ---- worlds and pieces of worlds, each in its slot

  GE_FN char* head_of(int slot) const { return place.stage + slot * Rows::head; }
  GE_FN Element* slot_target(const Part& part, int of_world) const {
    return to + (int64_t(of_world) * rows + part.row) * elements;
  }
  template <class Make>
  GE_FN void fill_slot(const Part& part, bool on, const Make& make) const {
    const int slot = place.group - part.first;
    if (slot < 0 || slot >= Rows::together) return;
    char* const head = head_of(slot);
    if (place.lane == 0) {
      GE_WATCH(head, 4, true);
      *reinterpret_cast<int32_t*>(head) = on ? world : -1;
    }
    char* const from = area(slot_target(part, world)) + slot * Rows::slot;
    const int mine = on ? part.count : 0;
    for (int k = place.lane; k < mine; k += G) {
      const bool wanted = fill(from + k * Rows::bytes, part.row + k, make);
      if constexpr (kFinal) {
        GE_WATCH(head + 4 + k, 1, true);
        head[4 + k] = wanted ? 1 : 0;
      }
    }
  }
  GE_FN void flush_slots(const Part& part) const {
    const int left = Rows::worlds - part.first,
              slots = left < Rows::together ? left : Rows::together;
    GE_NO_UNROLL
    for (int slot = 0; slot < slots; ++slot) {
      const char* const head = head_of(slot);
      GE_WATCH(head, 4, false);
      const int of_world = *reinterpret_cast<const int32_t*>(head);
      if (of_world < 0) continue;
      Element* const target = slot_target(part, of_world);
      const char* const from = area(target) + slot * Rows::slot;
      if constexpr (kFinal) {
        GE_NO_UNROLL
        for (int k = 0; k < part.count; ++k) {
          GE_WATCH(head + 4 + k, 1, false);
          if (head[4 + k] != 0) flush(target + int64_t{k} * elements, from + k * Rows::bytes, 1);
        }
      } else {
        flush(target, from, part.count);
      }
    }
  }
};

}  // namespace ge
