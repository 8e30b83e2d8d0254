// Charts and captions on boards laid out by hand: what a scene says now, what it is given back, and
// where curves and letters are drawn.
#include "pictures/charts.hpp"

#include <set>
#include <string>
#include <vector>

#include "pictures/picture.hpp"
#include "test.hpp"

namespace ge::pictures {
namespace {

constexpr Rgb kRed = rgb(0xff0000), kInk = rgb(0x000000);
constexpr int kSize = 400;  // of the pictures here, rows and columns

/// A board of 10 by 10 with a chart of one curve over its middle.
Scene charted(uint32_t step, float now) {
  Scene scene;
  scene.episode = 7, scene.step = step;
  Board& board = scene.board.emplace();
  board.high[0] = board.high[1] = 10;
  Chart chart;
  chart.low[0] = chart.low[1] = 2, chart.high[0] = chart.high[1] = 8;
  chart.last_step = 100, chart.top = 10;
  chart.curves.push_back({"", now, kRed, {}});
  board.charts.push_back(chart);
  return scene;
}

struct Picture {
  std::vector<uint8_t> bytes = std::vector<uint8_t>(size_t(kSize * kSize * 3));

  explicit Picture(const Scene& scene) { draw(scene, {kSize, kSize, "", 2}, bytes.data()); }
  const uint8_t* at(float x, float y) const {
    // The board fills the picture but for a margin of 2.2 % and one pixel.
    const float margin = 0.022f * kSize + 1, metre = (kSize - 2 * margin) / 10;
    const int column = int(margin + x * metre), row = int(kSize - margin - y * metre);
    return &bytes[size_t(row * kSize + column) * 3];
  }
  bool is_red(float x, float y) const { return at(x, y)[0] > at(x, y)[1] + 80; }
  bool is_dark(float x, float y) const { return at(x, y)[0] < 100; }
  /// Whether something dark lies between two points, in steps of a fiftieth.
  bool has_ink(float low_x, float low_y, float high_x, float high_y) const {
    for (float x = low_x; x < high_x; x += 0.02f)
      for (float y = low_y; y < high_y; y += 0.02f)
        if (is_dark(x, y)) return true;
    return false;
  }
};

GE_TEST(reading_is_episode_step_and_the_number_of_every_curve) {
  Scene scene = charted(40, 2.5f);
  scene.board->charts.push_back(scene.board->charts[0]);
  scene.board->charts[1].curves[0].now = -1;
  CHECK(reading_of(scene) == (std::vector<float>{7, 40, 2.5f, -1}));
  scene.board->charts.clear();
  CHECK(reading_of(scene).empty());
  CHECK(reading_of(Scene{}).empty());
}

GE_TEST(past_of_another_episode_and_of_later_steps_is_left_out) {
  Scene scene = charted(40, 2.5f);
  const float readings[] = {6, 10, 1, 7, 20, 2, 7, 40, 3, 7, 50, 4};
  give_past(scene, readings, 4, 3);
  CHECK(scene.board->charts[0].curves[0].past == (std::vector<float>{20, 2}));
}

GE_TEST(past_of_other_charts_is_left_out) {
  Scene scene = charted(40, 2.5f);
  const float readings[] = {7, 10, 1, 1};
  give_past(scene, readings, 1, 4);
  CHECK(scene.board->charts[0].curves[0].past.empty());
}

GE_TEST(curve_leads_from_what_was_to_what_is_now_and_no_further) {
  Scene scene = charted(50, 10);
  CHECK(Picture(scene).is_red(5, 8));  // a dot alone, half way and at the top
  CHECK(!Picture(scene).is_red(3.5f, 5));
  const float readings[] = {7, 0, 0};
  give_past(scene, readings, 1, 3);
  const Picture picture(scene);
  CHECK(picture.is_red(2.5f, 3));
  CHECK(picture.is_red(3.5f, 5));
  CHECK(picture.is_red(5, 8));
  CHECK(!picture.is_red(5.5f, 8));
  CHECK(!picture.is_red(3.5f, 7));
}

GE_TEST(top_of_a_chart_grows_to_a_round_number_and_is_said) {
  Scene scene = charted(50, 24000);
  Board board = *scene.board;
  lay_out(board.charts[0], 50, board);
  CHECK_EQ(board.captions.back().text, std::string("50,000"));
  scene = charted(50, 3);
  board = *scene.board;
  board.charts[0].unit = " %";
  lay_out(board.charts[0], 50, board);
  CHECK_EQ(board.captions.back().text, std::string("10 %"));
}

GE_TEST(chart_without_an_end_is_as_long_as_its_episode) {
  Scene scene = charted(400, 10);
  scene.board->charts[0].last_step = 0;
  CHECK(Picture(scene).is_red(8, 8));
}

// ---- captions

Picture written(const std::string& text, int32_t anchor) {
  Scene scene;
  Board& board = scene.board.emplace();
  board.high[0] = board.high[1] = 10;
  board.captions.push_back({text, 5, 5, 1, kInk, anchor, 1});
  return Picture(scene);
}

GE_TEST(captions_stand_at_their_anchor_on_their_line) {
  const float wide = width_of("HHH", 1);
  CHECK(wide > 2 && wide < 4);
  const float starts[] = {5, 5 - wide / 2, 5 - wide};
  const int32_t anchors[] = {Caption::kLeft, Caption::kMiddle, Caption::kRight};
  for (int k = 0; k < 3; ++k) {
    const Picture picture = written("HHH", anchors[k]);
    const float left = starts[k], right = left + wide;
    CHECK(picture.is_dark(left, 5.5f));
    CHECK(picture.is_dark(right, 5.5f));
    CHECK(!picture.has_ink(1, 4, left - 0.2f, 7));
    CHECK(!picture.has_ink(right + 0.2f, 4, 9, 7));
    CHECK(!picture.has_ink(1, 6.2f, 9, 8));
    CHECK(!picture.has_ink(1, 3, 9, 4.8f));
  }
}

GE_TEST(small_letters_hang_below_the_line_where_they_should) {
  CHECK(written("g", Caption::kMiddle).has_ink(4, 4.6f, 6, 4.85f));
  CHECK(!written("a", Caption::kMiddle).has_ink(4, 4.5f, 6, 4.85f));
  CHECK(!written("a", Caption::kMiddle).has_ink(4, 5.85f, 6, 6.2f));
}

GE_TEST(every_printable_character_has_a_form_of_its_own) {
  std::set<std::string> forms;
  for (char letter = 33; letter < 127; ++letter) forms.insert(detail::strokes_of(letter));
  CHECK_EQ(forms.size(), size_t{94});
  CHECK_EQ(forms.count(detail::strokes_of('\n')), size_t{0});
  CHECK(pen_lines_of({" ", 0, 0, 1, kInk, Caption::kLeft, 1}).empty());
}

GE_TEST(characters_keep_within_their_line) {
  for (char letter = 33; letter < 127; ++letter)
    for (const PenLine& line : pen_lines_of({std::string(1, letter), 0, 0, 6, kInk, 0, 1}))
      for (const float* const end : {line.from, line.to}) {
        CHECK(end[0] >= 0 && end[0] <= width_of(std::string(1, letter), 6) + 1e-4f);
        CHECK(end[1] >= -2 && end[1] <= 7);
      }
}

}  // namespace
}  // namespace ge::pictures
