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
  return x >= column.low && x <= highest_of(column, row);
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
};
uint64_t word_of(double bound) {
  return bound < 0 ? uint64_t(int64_t(bound)) : uint64_t(bound);
}
std::vector<Test> tests_of(const Simulator& simulator) {
  std::vector<Test> tests;
  for (const Column& column : simulator.columns()) {
    // An unsigned number without a lowest has 0. Beyond 2^53 a bound is none that anybody says.
    const double low = column.low == -kUnbounded ? 0 : column.low;
    if (!is_whole(column.type) || column.high > 0x1p53 || low < -0x1p53) continue;
    tests.push_back({&column, word_of(low), word_of(column.high) - word_of(low)});
  }
  return tests;
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
      if (!is_within(column, row, value)) refuse("load", column, value, {world, row, at});
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

void check_records(const Simulator& simulator, const char* records) {
  const std::vector<Test> tests = tests_of(simulator);
  for (int64_t world = 0; world < simulator.worlds(); ++world) {
    const char* const record = records + world * simulator.record_bytes();
    for (const Test& test : tests)
      if (has_beyond(test, record)) refuse_first(*test.column, record, world);
  }
}

}  // namespace ge
