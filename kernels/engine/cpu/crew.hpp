// A crew: threads that run the same stages over the same worlds, each on its share of a stage's
// rows, with a barrier after every stage. A single thread is a crew of one.
#pragma once

#include <cstdint>

#include "engine/simulator/pool.hpp"

namespace ge {

/// One member's place in a crew.
struct Crew {
  int member = 0, size = 1;
  CrewBarrier* barrier = nullptr;
  int32_t* counts = nullptr;  // of hits, one per member
  char* parts = nullptr;      // of reductions, 8 bytes per chunk
  bool first() const { return member == 0; }
  void meet() const {
    if (size > 1) barrier->meet();
  }
  struct Range {
    int begin, end;
  };
  /// Contiguous, in the order of the members, and equal within one row: one member's writes are
  /// contiguous, and a hit's place follows from the counts of the members before.
  Range share(int n) const {
    return {int(int64_t{n} * member / size), int(int64_t{n} * (member + 1) / size)};
  }
};

}  // namespace ge
