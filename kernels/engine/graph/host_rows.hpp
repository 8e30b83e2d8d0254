// Rows in host memory: each is written in place at once, whole, in the caller's form. For the
// executors of the CPU and for tests; on a GPU the lanes of a team stage rows
// (cuda/staged_rows.hpp, cuda/staged_wide.hpp).
#pragma once

#include <cstring>

#include "engine/graph/images.hpp"
#include "engine/graph/role_rows.hpp"
#include "engine/graph/wide_rows.hpp"

namespace ge {

/// A row of fixed length as the elements that the caller receives.
template <class Row>
GE_FN void put_host_row(typename RowShape<Row>::Element* to, const Row& row) {
  struct Plain {
    typename RowShape<Row>::Element at[RowShape<Row>::elements];
  };
  const Plain plain = __builtin_bit_cast(Plain, row);
  GE_UNROLL
  for (int k = 0; k < RowShape<Row>::elements; ++k) to[k] = plain.at[k];
}

/// Writes an agent's row of fixed length to `to`, with `tail` bytes of zeros behind it. kFinal is
/// known to the compiler: skipping rows at run time would keep the loop over worlds from
/// vectorising.
template <auto F, class T, class Row, bool kFinal, class S>
GE_FN void put_agent_row(const Cells<S>& cells, int row, char* to, int64_t tail) {
  if constexpr (sizeof(Row) > kLargestCopied) {
    make_agent_row<F, T, Row>(cells, row, kFinal, to, tail);
  } else {
    bool wanted;
    const Row values = observe_row<F, T>(cells, row, kFinal, wanted);
    if (kFinal && !wanted) return;
    put_host_row(reinterpret_cast<typename RowShape<Row>::Element*>(to), values);
    if constexpr (!has_one_role<S>)
      for (int k = int(sizeof(Row)); k < int(sizeof(Row)) + int(tail); ++k) to[k] = 0;
  }
}

/// Calls f(index) for every agent of worlds [first, first + worlds) that `ended` marks.
template <class S, class F>
void for_each_ended(const Shared<S>& shared, int64_t first, int64_t worlds, const F& f) {
  const uint8_t* const ended = static_cast<const uint8_t*>(shared.bound.at[kEnded]);
  const int64_t agents = agents_of(shared), end = (first + worlds) * agents;
  for (int64_t index = first * agents; index < end;) {
    // Episodes end seldom: eight flags are tested at a time.
    uint64_t eight = 0;
    if (index + 8 <= end && (std::memcpy(&eight, ended + index, 8), eight == 0)) {
      index += 8;
      continue;
    }
    if (ended[index] != 0) f(index);
    ++index;
  }
}
/// Clears final observations of worlds [first, first + worlds), if the caller wants them cleared,
/// while `ended` still holds the ends of the step before.
template <class E, class S>
void clear_final_observations(const Shared<S>& shared, int64_t first, int64_t worlds) {
  const FinalRows wanted = shared.bound.rows_of_final();
  if (wanted == FinalRows::zero)
    for_each_final_run<E>(shared, [&](Output output, int64_t begin, int64_t bytes) {
      std::memset(static_cast<char*>(shared.bound.at[output]) + begin + first * bytes, 0,
                  size_t(worlds * bytes));
    });
  if (wanted == FinalRows::clear_ended)
    for_each_ended(shared, first, worlds, [&](int64_t index) {
      const int world = int(index / agents_of(shared)), agent = int(index % agents_of(shared));
      for_each_type(roles_of<S>{}, [&](auto role) {
        using R = typename decltype(role)::type;
        const int row = agent - first_agent<S, R>(shared.params);
        if (row < 0 || row >= agents_in<R>(shared.params)) return;
        for_each_final_row<E, R>(
            shared, world, row, [](char* to, int64_t bytes) { std::memset(to, 0, size_t(bytes)); });
      });
    });
}

/// Clears the last states of worlds [first, first + count), if the caller wants them cleared.
template <class E, class S>
void clear_final_states(const Shared<S>& shared, int64_t first, int64_t count) {
  if constexpr (has_rows<E, kFinalState>)
    if (shared.bound.clears_final_states()) {
      const int64_t bytes = row_bytes<typename E::State>(shared, kFinalState);
      char* const to = static_cast<char*>(shared.bound.at[kFinalState]);
      std::memset(to + first * bytes, 0, size_t(count * bytes));
    }
}

// ---- rows whose length the parameters decide (wide_rows.hpp)

namespace detail {

/// Byte b of an entry: bit b of its index.
struct SpreadTable {
  uint64_t of[256];
  constexpr SpreadTable() : of{} {
    for (int bits = 0; bits < 256; ++bits)
      for (int k = 0; k < 8; ++k)
        if (bits >> k & 1) of[bits] |= uint64_t{1} << (8 * k);
  }
};
inline constexpr SpreadTable kSpread;

/// Copies whole vectors; the last one overlaps the one before. Rows are short, so memcpy would cost
/// more.
inline void copy_floats(float* to, const float* from, int count) {
  constexpr int kEach = 16;
  if (count < kEach) {
    for (int k = 0; k < count; ++k) to[k] = from[k];
    return;
  }
  int k = 0;
  for (; k + kEach <= count; k += kEach) std::memcpy(to + k, from + k, kEach * 4);
  if (k < count) std::memcpy(to + count - kEach, from + count - kEach, kEach * 4);
}

}  // namespace detail

/// Writes one whole row in host memory. make(writer) fills it; a row that does not show is zero.
template <class Row>
struct HostWideRow {
  template <class Make>
  static inline void put(const WideTarget& target, int64_t index, bool shows, Make&& make) {
    char* const to = target.to + index * wide_bytes(target.format, target.elements);
    if (!shows)
      std::memset(to, 0, size_t(wide_bytes(target.format, target.elements)));
    else
      fill(target, to, make, typename Row::Element{});
  }

 private:
  template <class Make>
  static inline void fill(const WideTarget& target, char* to, Make& make, bool) {
    uint32_t words[(Row::capacity + 31) / 32 + 1];
    BitRow row(words);
    make(row);
    [[maybe_unused]] const int written = row.finish();
    GE_ASSERT(written == target.elements);
    const auto* const bytes = reinterpret_cast<const uint8_t*>(words);
    const int whole = target.elements / 8, rest = target.elements % 8;
    if (target.format == Elements::bits) {
      std::memcpy(to, bytes, size_t(whole + (rest > 0)));
    } else if (target.format == Elements::uint8) {
      for (int k = 0; k < whole; ++k) std::memcpy(to + 8 * k, &detail::kSpread.of[bytes[k]], 8);
      if (rest > 0) std::memcpy(to + 8 * whole, &detail::kSpread.of[bytes[whole]], size_t(rest));
    } else {
      float* const out = reinterpret_cast<float*>(to);
      for (int k = 0; k < whole; ++k)
        for (int bit = 0; bit < 8; ++bit) out[8 * k + bit] = float(bytes[k] >> bit & 1);
      for (int bit = 0; bit < rest; ++bit) out[8 * whole + bit] = float(bytes[whole] >> bit & 1);
    }
  }
  static void begin(const WideTarget& target, uint8_t* to, int first, int count) {
    if (target.background != nullptr)
      std::memcpy(to, target.background + first, size_t(count));
    else
      std::memset(to, 0, size_t(count));
  }
  template <class Make>
  static inline void fill(const WideTarget& target, char* to, Make& make, uint8_t) {
    if (target.format == Elements::uint8) {
      auto* const at = reinterpret_cast<uint8_t*>(to);
      begin(target, at, 0, target.elements);
      ByteRow row(at, 0, target.elements);
      make(row);
      return;
    }
    constexpr int kPiece = Row::capacity < 4096 ? Row::capacity : 4096;
    uint8_t piece[kPiece];
    float* const out = reinterpret_cast<float*>(to);
    for (int first = 0; first < target.elements; first += kPiece) {
      const int count = target.elements - first < kPiece ? target.elements - first : kPiece;
      begin(target, piece, first, count);
      ByteRow row(piece, first, first + count);
      make(row);
      for (int k = 0; k < count; ++k) out[first + k] = float(piece[k]);
    }
  }
  template <class Make>
  static inline void fill(const WideTarget& target, char* to, Make& make, float) {
    if constexpr (!is_complete<Row>()) std::memset(to, 0, size_t(target.elements) * 4);
    FloatRow row(reinterpret_cast<float*>(to), 0, target.elements);
    make(row);
  }
};

/// Writes the rows of one world in host memory: alike rows after the first are copied from it.
template <class Row, class Params>
class HostWideRows {
 public:
  /// `first`: the number of the world's first row in the caller's array.
  GE_FN HostWideRows(const WideTarget& target, const Params& params, int64_t first)
      : target_(target), params_(params), first_(first) {}

  template <class Make>
  GE_FN void put(int agent, bool shows, Make&& make) {
    if constexpr (may_be_alike<Row>) {
      if (shows & (model_ >= 0)) return put_like_model(agent);
      if (shows && Row::alike(params_)) model_ = agent;
    }
    HostWideRow<Row>::put(target_, first_ + agent, shows, make);
  }

 private:
  GE_FN float* at(int agent) const {
    return reinterpret_cast<float*>(target_.to) + (first_ + agent) * target_.elements;
  }
  GE_FN void put_like_model(int agent) const {
    detail::copy_floats(at(agent), at(model_), target_.elements);
    FloatRow row(at(agent), 0, target_.elements);
    Row::turn(params_, row, model_, agent);
  }

  const WideTarget& target_;
  const Params& params_;
  int64_t first_;
  int model_ = -1;  // the agent whose row was made first
};

}  // namespace ge
