// Levels laid out by hand, reset(options={"layout": ...}): a text as lines of words and numbers,
// one thing per line, or between semicolons; # begins a comment. What the words mean is up to the
// environment; every refusal names the line. Host only.
#pragma once

#include <charconv>
#include <string>
#include <type_traits>
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
  /// The next word; throws "`what` is missing" at the end of the line.
  const std::string& take(const char* what);
  /// The next word as a number from `low` to `high`, both inclusive. Either sign may lead, and
  /// decimals follow a point in every locale.
  template <class Number>
  Number number(const char* what, double low, double high);
  /// Whether the next word begins as a number does.
  bool has_number() const;
  /// Refuses further words.
  void end() const;
  /// The part of the line that has been read.
  std::string thing() const;
};

/// The lines that have words. Refuses a text of more than 16 KiB.
std::vector<TextLine> text_lines(const std::string& text);
/// A word as messages show it: cut after 80 bytes, and ? for those that are not printed.
std::string quoted(const std::string& word);
/// The number with the fewest digits that identify it.
std::string shortest(double number);
/// Throws "layout: what", where no line is at fault.
[[noreturn]] void refuse_layout(const std::string& what);
/// Refuses a layout that has more or fewer of `what`, "agents", than the parameter says.
void require_places(int laid, const char* what, const char* parameter, int wanted);

/// The next free row of an array that lines fill; `count` rows are taken.
template <class Row, size_t N>
Row& next_row(Row (&rows)[N], int32_t& count, const TextLine& line, const char* what) {
  if (count == int32_t(N)) line.wrong("a layout has at most " + std::to_string(N) + " " + what);
  return rows[count++];
}

template <class Number>
Number TextLine::number(const char* what, double low, double high) {
  const std::string& word = take(what);
  const char* const end = word.data() + word.size();
  // from_chars does not know a leading +; skipped before another sign, it would let "+-1" pass.
  const bool plus = word.size() > 1 && word[0] == '+' && word[1] != '-';
  Number value{};
  const auto read = std::from_chars(word.data() + (plus ? 1 : 0), end, value);
  const bool too_large = read.ec == std::errc::result_out_of_range;
  if ((read.ec != std::errc() && !too_large) || read.ptr != end)
    wrong(std::string(what) + " must be a " + (std::is_integral_v<Number> ? "whole " : "") +
          "number, got " + quoted(word));
  if (too_large || !(double(value) >= low && double(value) <= high))
    wrong(std::string(what) + " of " + quoted(thing()) + " must be from " + shortest(low) + " to " +
          shortest(high) + ", got " + quoted(word));
  return value;
}

}  // namespace ge
