// The bytes of one world as the checks compare them, in three copies; the column of a byte; and the
// messages of a breach. Knows no environment: shuffled_trial.hpp lists its columns.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/simulator/records.hpp"

namespace ge {

struct ByteRange {
  int64_t begin, end;
};
inline void copy_range(const ByteRange& range, const std::string& from, std::string& to) {
  std::memcpy(to.data() + range.begin, from.data() + range.begin, size_t(range.end - range.begin));
}

struct WorldImages {
  static constexpr int kCount = 3;
  // Fresh memory often holds zeros; the other patterns are, as numbers, large and negative, as
  // flags set, as counts beyond any table. A result that is equal under all three does not depend
  // on them.
  static constexpr char kPoison[kCount] = {'\x00', '\x7f', '\xa5'};

  int64_t record, image;   // bytes: the canonical record; with scratch memory behind it
  std::string at[kCount];  // alike but for what scratch memory held before the phase
  std::vector<Column> columns;
  const char* phase = "";  // what runs, for messages
  std::string_view stage;

  WorldImages(int64_t record_bytes, int64_t scratch_bytes)
      : record(record_bytes), image(record_bytes + scratch_bytes) {
    for (std::string& bytes : at) bytes.assign(size_t(image), '\0');
  }
  int64_t memory_bytes() const { return kCount * image; }

  // Loads three copies of one record: from here on only scratch memory can make them differ.
  void load(const char* from) {
    for (std::string& bytes : at) std::memcpy(bytes.data(), from, size_t(record));
  }
  // Any would do: had they come to differ, a check would have thrown.
  void store(char* to) const { std::memcpy(to, at[0].data(), size_t(record)); }
  /// Poisons `count` bytes of scratch memory from byte `from` on.
  void poison_scratch(int64_t from, int64_t count) {
    for (int k = 0; k < kCount; ++k)
      std::memset(at[k].data() + record + from, kPoison[k], size_t(count));
  }
  void poison_scratch() { poison_scratch(0, image - record); }
  /// Whether image k still has its poison there. Detected by value: a byte that was written with
  /// the poison counts as unwritten.
  bool poisoned(int k, int64_t byte) const {
    return byte >= record && at[k][size_t(byte)] == kPoison[k];
  }

  /// The byte ranges in which two images differ.
  std::vector<ByteRange> changes(const std::string& before, const std::string& after) const {
    constexpr int64_t kLong = 4096, kShort = 8;  // most are alike: compared by these
    const char *const a = before.data(), *const b = after.data();
    std::vector<ByteRange> all;
    int64_t begun = -1;  // of the range that goes on
    for (int64_t at = 0; at < image;) {
      const int64_t left = image - at;
      if (begun < 0 && at % kLong == 0 &&
          std::memcmp(a + at, b + at, size_t(left < kLong ? left : kLong)) == 0) {
        at += kLong;
        continue;
      }
      if (begun < 0 && at % kShort == 0 && left >= kShort &&
          std::memcmp(a + at, b + at, kShort) == 0) {
        at += kShort;
        continue;
      }
      if (a[at] != b[at]) {
        if (begun < 0) begun = at;
      } else if (begun >= 0) {
        all.push_back({begun, at});
        begun = -1;
      }
      ++at;
    }
    if (begun >= 0) all.push_back({begun, image});
    return all;
  }

  // ---- messages

  // A search through all rows, for messages alone.
  std::string column_at(int64_t byte) const {
    for (const Column& column : columns)
      for (int64_t row = 0; row < column.rows; ++row) {
        const int64_t first = column.offset + row * column.stride;
        if (byte >= first && byte < first + column.bytes)
          return column.name + " of row " + std::to_string(row);
      }
    return "byte " + std::to_string(byte);
  }
  [[noreturn]] void breach(const std::string& what) const {
    // A stage that holds others is named by its beginning.
    std::string name(stage.substr(0, 160));
    if (name.size() < stage.size()) name += "...";
    throw Error(Fault::runtime,
                "shuffled: phase " + std::string(phase) + ", stage " + name + ": " + what);
  }
  [[noreturn]] void unwritten(const std::string& what) const {
    breach("unwritten scratch: " + what +
           " depends on scratch memory that no stage of this phase has written");
  }
  /// Calls f(), whose errors become breaches of `row`.
  template <class F>
  auto guarded(const std::string& row, F&& f) const {
    try {
      return f();
    } catch (const Error& error) {
      breach(row + ": " + error.what());
    }
  }
};

}  // namespace ge
