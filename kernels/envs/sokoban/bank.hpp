// The bank of levels that comes with the environments, data/levels.bin. Host only.
//
//   bytes 0 to 7     "SOKOBAN1"
//   8 to 15          the seed by which they were made
//   16 to 51         how many there are: train, valid, test; of each: easy, medium, hard
//   52 to 63         zeros
//   from 64 on       16 bytes each (position.hpp), in that order
//
// All numbers have their lowest byte first.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "envs/sokoban/position.hpp"

namespace gpu_envs::envs::sokoban {

inline constexpr int kSplits = 3, kGrades = 3;
inline constexpr const char* kSplitNames[kSplits] = {"train", "valid", "test"};
inline constexpr const char* kGradeNames[kGrades] = {"easy", "medium", "hard"};
/// Most pushes of easy and of medium levels; harder ones need more.
inline constexpr int kEasy = 8, kMedium = 19;
inline int grade_of(int pushes) {
  return pushes <= kEasy ? 0 : pushes <= kMedium ? 1 : 2;
}

struct Bank {
  uint64_t seed = 0;
  uint32_t counts[kSplits][kGrades] = {};
  std::vector<Level> levels = {};

  static constexpr size_t kHead = 64, kLevelBytes = 16;
  static constexpr char kMark[] = "SOKOBAN1";

  size_t first_of(int split, int grade) const {
    size_t first = 0;
    for (int k = 0; k < kGrades * split + grade; ++k) first += counts[k / kGrades][k % kGrades];
    return first;
  }
  std::span<const Level> part(int split, int grade) const {
    return std::span(levels).subspan(first_of(split, grade), counts[split][grade]);
  }
};

namespace detail {
inline uint64_t number(std::span<const std::byte> bytes, size_t at, int count) {
  uint64_t value = 0;
  for (int k = 0; k < count; ++k) value |= uint64_t(bytes[at + size_t(k)]) << 8 * k;
  return value;
}
inline void append(std::vector<std::byte>& bytes, uint64_t value, int count) {
  for (int k = 0; k < count; ++k) bytes.push_back(std::byte(value >> 8 * k & 0xffu));
}
}  // namespace detail

/// Returns nullptr, or why these bytes are not a bank.
inline const char* read_bank(std::span<const std::byte> bytes, Bank& bank) {
  if (bytes.size() < Bank::kHead || std::memcmp(bytes.data(), Bank::kMark, 8) != 0)
    return "it does not begin with SOKOBAN1";
  bank.seed = detail::number(bytes, 8, 8);
  uint64_t count = 0;
  for (int k = 0; k < kSplits * kGrades; ++k) {
    const uint64_t here = detail::number(bytes, size_t(16 + 4 * k), 4);
    bank.counts[k / kGrades][k % kGrades] = uint32_t(here);
    count += here;
  }
  if (bytes.size() != Bank::kHead + count * Bank::kLevelBytes)
    return "its length is not that of the levels that it counts";
  bank.levels.resize(count);
  for (size_t k = 0; k < count; ++k) {
    Level& level = bank.levels[k];
    for (size_t half = 0; half < 2; ++half) {
      const size_t at = Bank::kHead + k * Bank::kLevelBytes + 4 * half;
      level.walls[half] = uint32_t(detail::number(bytes, at, 4));
      level.things[half] = uint32_t(detail::number(bytes, at + 8, 4));
    }
  }
  return nullptr;
}

inline std::vector<std::byte> bytes_of(const Bank& bank) {
  std::vector<std::byte> bytes;
  for (int k = 0; k < 8; ++k) bytes.push_back(std::byte(Bank::kMark[k]));
  detail::append(bytes, bank.seed, 8);
  for (const auto& grades : bank.counts)
    for (const uint32_t count : grades) detail::append(bytes, count, 4);
  bytes.resize(Bank::kHead);
  for (const Level& level : bank.levels)
    for (const auto& halves : {level.walls, level.things})
      for (size_t half = 0; half < 2; ++half) detail::append(bytes, halves[half], 4);
  return bytes;
}

}  // namespace gpu_envs::envs::sokoban
