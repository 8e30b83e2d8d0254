// Texts that lay a level out: lines, words, numbers with their range, rows with their limit.
#include "engine/described/text_lines.hpp"

#include "engine/base/error.hpp"
#include "test.hpp"

using namespace ge;

namespace {

TextLine line_of(const std::string& text) {
  return text_lines(text).at(0);
}
float metres(const std::string& word) {
  return line_of(word).number<float>("x", -10, 10);
}

}  // namespace

GE_TEST(lines_end_at_semicolons_and_comments_at_the_end_of_the_text_line) {
  const auto lines = text_lines("a 1, 2; b # c; d\n\n  e\tf\r\n;;");
  CHECK_EQ(lines.size(), size_t{3});
  CHECK_EQ(lines[0].words.size(), size_t{3});
  CHECK_EQ(lines[1].words[0], "b");
  CHECK_EQ(lines[2].where, "line 3");
}

GE_TEST(number_takes_one_sign_and_its_range_inclusive) {
  CHECK_EQ(metres("-10"), -10.0f);
  CHECK_EQ(metres("+2.5e0"), 2.5f);
  CHECK_EQ(line_of("7").number<int16_t>("n", 0, 7), int16_t{7});
  for (const char* const word : {"+", "-", "+-1", "++1", "0x10", "1.5.", "ten"})
    CHECK_THROWS(metres(word), Error, "layout: line 1: x must be a number");
}

GE_TEST(number_out_of_range_is_refused_with_its_thing_also_where_the_type_has_no_room) {
  CHECK_THROWS(metres("10.5"), Error, "x of '10.5' must be from -10 to 10, got '10.5'");
  CHECK_THROWS(metres("nan"), Error, "must be from -10 to 10, got 'nan'");
  CHECK_THROWS(metres("1e99"), Error, "must be from -10 to 10, got '1e99'");
  CHECK_THROWS(line_of("99999").number<int16_t>("n", 0, 7), Error, "must be from 0 to 7");
  CHECK_THROWS(line_of("1.5").number<int16_t>("n", 0, 7), Error, "must be a whole number");
}

GE_TEST(end_of_a_line_says_what_is_missing) {
  TextLine line = line_of("wall 1");
  CHECK_EQ(line.take("a thing"), "wall");
  CHECK(line.has_number());
  line.number<int16_t>("x", 0, 7);
  CHECK(!line.has_number());
  CHECK_THROWS(line.number<int16_t>("y", 0, 7), Error, "layout: line 1: y is missing");
}

GE_TEST(rows_places_and_bytes_have_limits) {
  int rows[2] = {};
  int32_t count = 0;
  const TextLine line = line_of("box");
  next_row(rows, count, line, "boxes") = 5;
  next_row(rows, count, line, "boxes") = 6;
  CHECK_EQ(rows[1], 6);
  CHECK_THROWS(next_row(rows, count, line, "boxes"), Error, "a layout has at most 2 boxes");
  require_places(2, "agents", "agent_count", 2);
  CHECK_THROWS(require_places(1, "agents", "agent_count", 2), Error,
               "layout: 1 agents, but agent_count=2: every agent needs a place");
  text_lines(std::string(16384, '#'));
  CHECK_THROWS(text_lines(std::string(16385, '#')), Error,
               "layout: a text of 16385 bytes, at most 16384 are read");
}
