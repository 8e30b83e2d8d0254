// See text_lines.hpp.
#include "engine/described/text_lines.hpp"

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
std::string TextLine::thing() const {
  std::string text;
  for (size_t k = 0; k < at && text.size() < 80; ++k) text += (k == 0 ? "" : " ") + words[k];
  return text;
}

std::vector<TextLine> text_lines(const std::string& text) {
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

}  // namespace ge
