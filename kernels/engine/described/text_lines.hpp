// Texts that lay something out by hand, as lines of words: one thing per line, or between
// semicolons; # begins a comment. What the words mean is for who reads them. Host only.
#pragma once

#include <string>
#include <vector>

namespace ge {

/// One line, and how far it has been read.
struct TextLine {
  std::vector<std::string> words;
  std::string where;  // it stands: "line 3"
  size_t at = 0;

  bool done() const { return at >= words.size(); }
  /// Throws "layout: line 3: what".
  [[noreturn]] void wrong(const std::string& what) const;
  /// The next word; `what` is said to be missing where there is none.
  const std::string& take(const char* what);
  /// Refuses further words.
  void end() const;
  /// What has been read so far.
  std::string thing() const;
};

/// The lines that have words.
std::vector<TextLine> text_lines(const std::string& text);
/// A word as messages show it, whatever it holds.
std::string quoted(const std::string& word);

}  // namespace ge
