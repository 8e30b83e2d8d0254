// See ranges.hpp.
#include "engine/simulator/ranges.hpp"

#include <cstring>

#include "engine/described/field_info.hpp"

namespace ge {

namespace {

bool is_whole(Type type) {
  return type != Type::float32 && type != Type::float64;
}
/// Whole numbers with all digits.
std::string exactly(Type type, const void* at) {
  if (type == Type::int64 || type == Type::uint64) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return type == Type::int64 ? std::to_string(int64_t(word)) : std::to_string(word);
  }
  return is_whole(type) ? json_number(number_at(type, at)) : spelled(number_at(type, at));
}

double highest_of(const Column& column, int64_t row) {
  return row + 1 == column.rows && column.last_high < column.high ? column.last_high : column.high;
}
bool is_within(const Column& column, int64_t row, const char* value) {
  const double x = number_at(column.type, value);
  // A bound is within its own range, as the column holds it.
  const auto held = [&](double bound) {
    return column.type == Type::float32 ? double(float(bound)) : bound;
  };
  return x >= held(column.low) && x <= held(highest_of(column, row));
}

/// An element of a column of a world: `at` is its byte in the row.
struct Place {
  int64_t world, row, at;
};
[[noreturn]] void refuse(const char* call, const Column& column, const char* value,
                         const Place& place) {
  const double highest = highest_of(column, place.row);
  const auto bound = [&](double x) { return is_whole(column.type) ? json_number(x) : spelled(x); };
  const std::string low = bound(column.low), high = bound(highest);
  const std::string wanted = highest == kUnbounded       ? "at least " + low
                             : column.low == -kUnbounded ? "at most " + high
                                                         : "from " + low + " to " + high;
  const std::string element =
      column.shape.empty() ? "" : ", element " + std::to_string(place.at / bytes_of(column.type));
  throw Error(Fault::value, std::string(call) + ": " + column.name + " must be " + wanted +
                                ", got " + exactly(column.type, value) + " for world " +
                                std::to_string(place.world) + ", row " + std::to_string(place.row) +
                                element);
}

// ---- of whole records

/// A column of whole numbers that has a range narrower than its type. In the arithmetic of its
/// unsigned type x is within [low, low + span] where x - low is at most span, signed or not.
struct Test {
  const Column* column;
  uint64_t low, span;
  bool takes_zero;  // which rows that are not live hold
};
bool is_signed(Type type) {
  return type == Type::int8 || type == Type::int32 || type == Type::int64;
}
/// A bound as a word of a column, brought into its type: ranges may be wider.
uint64_t word_of(Type type, double bound) {
  const int bits = 8 * bytes_of(type) - (is_signed(type) ? 1 : 0);
  const uint64_t highest = ~uint64_t{0} >> (64 - bits);
  const uint64_t lowest = is_signed(type) ? ~highest : 0;
  if (bound >= double(highest)) return highest;
  if (bound <= (is_signed(type) ? double(int64_t(lowest)) : 0.0)) return lowest;
  return bound < 0 ? uint64_t(int64_t(bound)) : uint64_t(bound);
}
std::vector<Test> tests_of(const std::vector<Column>& columns) {
  std::vector<Test> tests;
  for (const Column& column : columns) {
    if (!is_whole(column.type)) continue;
    const bool is_empty = column.high < column.low;  // a row of a table without rows: 0
    const uint64_t low = is_empty ? 0 : word_of(column.type, column.low);
    const uint64_t span = is_empty ? 0 : word_of(column.type, column.high) - low;
    const bool is_whole_type = span >= ~uint64_t{0} >> (64 - 8 * bytes_of(column.type));
    if (is_whole_type && column.last_high >= column.high) continue;
    tests.push_back({&column, low, span, is_empty || (column.low <= 0 && column.high >= 0)});
  }
  return tests;
}

bool is_live(const LiveRows& live, const char* record, int64_t row) {
  if (live.header < 0) return row < live.fixed;
  uint32_t word;
  std::memcpy(&word, record + live.header + (live.is_bitmap ? row / 32 * 4 : 0), sizeof word);
  return live.is_bitmap ? (word >> row % 32 & 1) != 0 : row < int64_t(word);
}
/// Whether an element may be loaded: in range, or zero in a row that is not live.
bool may_hold(const Column& column, const char* record, int64_t row, const char* value) {
  if (is_within(column, row, value)) return true;
  if (number_at(column.type, value) != 0) return false;
  return column.high < column.low || !is_live(column.live, record, row);
}
bool has_beyond_row_by_row(const Column& column, const char* record) {
  const int64_t one = bytes_of(column.type);
  for (int64_t row = 0; row < column.rows; ++row)
    for (int64_t at = 0; at < column.bytes; at += one)
      if (!may_hold(column, record, row, record + column.offset + row * column.stride + at))
        return true;
  return false;
}

template <class Word>
bool has_beyond(const Test& test, const char* record) {
  const Column& column = *test.column;
  const Word low = Word(test.low), span = Word(test.span);
  const bool dense = column.stride == column.bytes;
  const int64_t runs = dense ? 1 : column.rows;
  const int64_t count = column.bytes / int64_t(sizeof(Word)) * (dense ? column.rows : 1);
  // Gathered and not left early: whole vectors are compared at once.
  Word beyond = 0;
  for (int64_t run = 0; run < runs; ++run) {
    const char* const words = record + column.offset + run * column.stride;
    for (int64_t k = 0; k < count; ++k) {
      Word word;
      std::memcpy(&word, words + k * int64_t(sizeof word), sizeof word);
      beyond |= Word(Word(word - low) > span ? 1 : 0);
    }
  }
  return beyond != 0;
}
bool has_beyond(const Test& test, const char* record) {
  const Column& column = *test.column;
  if (!test.takes_zero) return has_beyond_row_by_row(column, record);
  if (column.last_high < column.high &&
      !is_within(column, column.rows - 1,
                 record + column.offset + (column.rows - 1) * column.stride))
    return true;
  switch (bytes_of(column.type)) {
    case 1:
      return has_beyond<uint8_t>(test, record);
    case 2:
      return has_beyond<uint16_t>(test, record);
    case 4:
      return has_beyond<uint32_t>(test, record);
    default:
      return has_beyond<uint64_t>(test, record);
  }
}
[[noreturn]] void refuse_first(const Column& column, const char* record, int64_t world) {
  const int64_t one = bytes_of(column.type);
  for (int64_t row = 0; row < column.rows; ++row)
    for (int64_t at = 0; at < column.bytes; at += one) {
      const char* const value = record + column.offset + row * column.stride + at;
      if (!may_hold(column, record, row, value)) refuse("load", column, value, {world, row, at});
    }
  throw Error(Fault::runtime, "load: " + column.name + " is out of range");
}

}  // namespace

void check_values(const Column& column, const char* values, const char* record, int64_t world) {
  const int64_t one = bytes_of(column.type);
  for (int64_t row = 0; row < column.rows; ++row)
    for (int64_t at = 0; at < column.bytes; at += one) {
      const char* const value = values + row * column.bytes + at;
      if (is_within(column, row, value)) continue;
      const char* const held = record + column.offset + row * column.stride + at;
      if (std::memcmp(value, held, size_t(one)) != 0)
        refuse("set", column, value, {world, row, at});
    }
}

void check_records(const std::vector<Column>& columns, const char* records, int64_t worlds,
                   int64_t record_bytes) {
  const std::vector<Test> tests = tests_of(columns);
  for (int64_t world = 0; world < worlds; ++world) {
    const char* const record = records + world * record_bytes;
    for (const Test& test : tests)
      if (has_beyond(test, record)) refuse_first(*test.column, record, world);
  }
}

}  // namespace ge
