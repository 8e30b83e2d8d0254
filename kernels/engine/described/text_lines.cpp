// See text_lines.hpp.
#include "engine/described/text_lines.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "engine/base/error.hpp"

namespace ge {

void TextLine::wrong(const std::string& what) const {
  throw Error(Fault::value, "layout: " + where + ": " + what);
}
const std::string& TextLine::take(const char* what) {
  if (done()) wrong(std::string(what) + " is missing");
  return words[at++];
}
void TextLine::end() const {
  if (!done()) wrong("one word too many: " + quoted(words[at]));
}
bool TextLine::has_number() const {
  if (done()) return false;
  const std::string& word = words[at];
  const char c = word[0];
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || word == "nan" ||
         word == "inf";
}
std::string TextLine::thing() const {
  std::string text;
  for (size_t k = 0; k < at && text.size() < 80; ++k) text += (k == 0 ? "" : " ") + words[k];
  return text;
}

std::vector<TextLine> text_lines(const std::string& text) {
  constexpr size_t kMostBytes = 16384;
  if (text.size() > kMostBytes)
    refuse_layout("a text of " + std::to_string(text.size()) + " bytes, at most " +
                  std::to_string(kMostBytes) + " are read");
  std::vector<TextLine> lines;
  std::vector<std::string> words;
  std::string word;
  int number = 1;
  bool comment = false;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(word);
    word.clear();
  };
  const auto end_line = [&] {
    end_word();
    if (!words.empty()) lines.push_back({words, "line " + std::to_string(number)});
    words.clear();
  };
  for (const char c : text) {
    if (c == '\n') {
      end_line();
      ++number;
      comment = false;
    } else if (comment) {
      continue;
    } else if (c == '#') {
      comment = true;
    } else if (c == ';') {
      end_line();
    } else if (c == ' ' || c == '\t' || c == '\r' || c == ',') {
      end_word();
    } else {
      word += c;
    }
  }
  end_line();
  return lines;
}

std::string quoted(const std::string& word) {
  std::string shown;
  for (const char c : word.substr(0, 80)) shown += c >= ' ' && c <= '~' ? c : '?';
  return "'" + shown + "'";
}
// Not std::to_chars, whose tables would be a sixth of a module for web pages.
std::string shortest(double number) {
  char text[32];
  if (number == std::floor(number) && std::fabs(number) < 1e15) {
    std::snprintf(text, sizeof text, "%.0f", number);
    return text;
  }
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, number);
    if (std::strtod(text, nullptr) == number) break;
  }
  return text;
}
void refuse_layout(const std::string& what) {
  throw Error(Fault::value, "layout: " + what);
}
void require_places(int laid, const char* what, const char* parameter, int wanted) {
  if (laid != wanted)
    refuse_layout(std::to_string(laid) + " " + what + ", but " + parameter + "=" +
                  std::to_string(wanted) + ": every agent needs a place");
}

}  // namespace ge
