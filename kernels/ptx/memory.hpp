// The memory that kernels may touch, to the byte, and who touched it last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ge::ptx {

inline int64_t round_up(int64_t value, int64_t to) {
  return (value + to - 1) / to * to;
}
/// Fills memory with a word; what is left at the end gets a whole one too.
inline void fill(char* at, size_t bytes, uint32_t word) {
  auto* const words = reinterpret_cast<uint32_t*>(at);
  std::fill(words, words + (bytes + 3) / 4, word);
}

/// The last threads that wrote and read a byte, and that changed it by a strong access.
struct Touch {
  /// One thread, or several that nothing orders: lanes of a warp, warps of a block, or any.
  enum Who : uint32_t { kNobody, kOne, kLanes, kWarps, kBlocks };
  struct Side {
    int32_t thread = 0;         // one of them
    uint32_t epoch = 0;         // barriers of the block before it
    uint32_t meeting : 29 = 0;  // meetings of the warp before it
    uint32_t who : 3 = kNobody;
  };
  uint32_t launch = 0;
  Side wrote, read, changed;
};

/// A piece of memory.
struct Region {
  uint64_t begin, end;
  bool is_writable;
  std::string name;
  mutable std::vector<Touch> touched;  // a byte each, once races are looked for

  bool holds(uint64_t at, uint64_t bytes) const {
    return at >= begin && at <= end && bytes <= end - at;
  }
};

/// All regions, found by address.
class Memory {
 public:
  void add(const void* at, int64_t bytes, bool is_writable, std::string name) {
    const auto begin = reinterpret_cast<uint64_t>(at);
    regions_[begin] = {begin, begin + uint64_t(bytes), is_writable, std::move(name), {}};
    last_ = nullptr;
  }
  void remove(const void* at) {
    regions_.erase(reinterpret_cast<uint64_t>(at));
    last_ = nullptr;
  }
  /// The region that holds all of these bytes; null: none does.
  const Region* find(uint64_t at, uint64_t bytes) const {
    if (last_ != nullptr && last_->holds(at, bytes)) return last_;
    const auto next = regions_.upper_bound(at);
    if (next == regions_.begin()) return nullptr;
    const Region& found = std::prev(next)->second;
    if (!found.holds(at, bytes)) return nullptr;
    return last_ = &found;
  }
  const Region* find(const void* at, uint64_t bytes) const {
    return find(reinterpret_cast<uint64_t>(at), bytes);
  }

 private:
  std::map<uint64_t, Region> regions_;
  mutable const Region* last_ = nullptr;
};

}  // namespace ge::ptx
