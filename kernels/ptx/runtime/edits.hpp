// Changes of PTX before it is read, so that tests can plant faults in real kernels.
#pragma once

#include <cstdint>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace ge::ptx {

class Edits {
 public:
  /// Returns the new text, which is copied at once; null: it stays as it is.
  using Hook = const char* (*)(const char* text, void* context);

  /// Replaces matches of a regular expression (ECMAScript; ^ and $ are ends of lines; $1 in the
  /// replacement). `nth`: only this match of all texts, counted from 0; -1: all. Throws
  /// std::regex_error.
  void add(const char* pattern, const char* replacement, int64_t nth);
  void set_hook(Hook hook, void* context);
  void clear();
  /// Places that were changed, and texts that the hook has changed, since the last clear().
  uint64_t changed() const { return changed_; }

  std::string apply(std::string_view text);

 private:
  struct Edit {
    std::regex pattern;
    std::string replacement;
    int64_t nth, seen;
  };
  std::string apply(Edit& edit, const std::string& text);

  std::vector<Edit> edits_;
  Hook hook_ = nullptr;
  void* context_ = nullptr;
  uint64_t changed_ = 0;
};

}  // namespace ge::ptx
