// Boards laid out by hand: what is where, what covers what, what reaches over an edge.
#include "pictures/board.hpp"

#include <vector>

#include "engine/maths/blake2b.hpp"
#include "engine/maths/math.hpp"
#include "test.hpp"

namespace ge::pictures {
namespace {

constexpr Rgb kRed = rgb(0xff0000), kGreen = rgb(0x00ff00), kBlue = rgb(0x0000ff);
constexpr int kSize = 240;  // of the pictures here, rows and columns

struct Picture {
  int width, height;
  std::vector<uint8_t> bytes;

  const uint8_t* pixel(int column, int row) const {
    return &bytes[size_t(row * width + column) * 3];
  }
  /// The strongest of red, green and blue at a point of a board of side 1, 'w' where none is.
  char at(float x, float y) const {
    // The board fills the picture but for a margin of 2.2 % and one pixel.
    const float margin = 0.022f * float(height) + 1, side = float(height) - 2 * margin;
    const int column = int(0.5f * float(width - height) + margin + x * side);
    const uint8_t* const p = pixel(column, int(margin + (1 - y) * side));
    if (p[0] > p[1] + 40 && p[0] > p[2] + 40) return 'r';
    if (p[1] > p[0] + 40 && p[1] > p[2] + 40) return 'g';
    if (p[2] > p[0] + 40 && p[2] > p[1] + 40) return 'b';
    return 'w';
  }
  /// Pixels that a colour other than the ground's is mixed into.
  int tinted() const {
    int count = 0;
    for (size_t k = 0; k < bytes.size(); k += 3) count += bytes[k + 2] + 40 < bytes[k];
    return count;
  }
};

Picture drawn(const Scene& scene, int width = kSize, const char* view = "", int samples = 2) {
  Picture picture{width, kSize, {}};
  picture.bytes.resize(size_t(width * kSize * 3), 0x5a);
  draw(scene, {width, kSize, view, samples}, picture.bytes.data());
  return picture;
}
Piece piece(int32_t kind, Rgb colour, float x, float y, float radius, float heading = 0) {
  return {x, y, heading, radius, colour, 1, kind};
}
Scene board(std::vector<Piece> pieces, bool wraps = false) {
  Scene scene;
  scene.board.emplace();
  scene.board->pieces = std::move(pieces), scene.board->wraps = wraps;
  return scene;
}

GE_TEST(pieces_stand_where_they_are_and_later_ones_cover_earlier_ones) {
  const Picture picture = drawn(board({piece(Piece::kDisc, kRed, 0.3f, 0.8f, 0.1f),
                                       piece(Piece::kSquare, kBlue, 0.7f, 0.2f, 0.1f),
                                       piece(Piece::kDisc, kGreen, 0.75f, 0.2f, 0.06f)}));
  CHECK_EQ(picture.at(0.3f, 0.8f), 'r');
  CHECK_EQ(picture.at(0.38f, 0.88f), 'w');  // outside of the disc, inside of its square
  CHECK_EQ(picture.at(0.62f, 0.28f), 'b');  // a corner
  CHECK_EQ(picture.at(0.75f, 0.2f), 'g');
  CHECK_EQ(picture.at(0.3f, 0.2f), 'w');
}

GE_TEST(cells_are_counted_as_a_text_counts_them) {
  Board cells = Board::of_cells(4, 4);
  cells.put(1, 0, Piece::kSquare, 0.5f, kRed);
  cells.put(3, 2, Piece::kDisc, 0.4f, kBlue);
  Scene scene;
  scene.board = cells;
  const Picture picture = drawn(scene);
  CHECK_EQ(picture.at(0.375f, 0.875f), 'r');
  CHECK_EQ(picture.at(0.45f, 0.8f), 'r');
  CHECK_EQ(picture.at(0.875f, 0.375f), 'b');
  CHECK_EQ(picture.at(0.875f, 0.625f), 'w');
}

GE_TEST(arrows_point_along_their_heading) {
  constexpr float kQuarter = 1.5707964f;
  for (int turn = 0; turn < 4; ++turn) {
    const float heading = kQuarter * float(turn);
    float sine, cosine;
    ge::sincos(heading, sine, cosine);
    const Picture picture = drawn(board({piece(Piece::kArrow, kRed, 0.5f, 0.5f, 0.3f, heading)}));
    CHECK_EQ(picture.at(0.5f + 0.24f * cosine, 0.5f + 0.24f * sine), 'r');  // towards the tip
    CHECK_EQ(picture.at(0.5f - 0.2f * cosine, 0.5f - 0.2f * sine), 'w');    // the notch behind
    // The barbs, left and right behind the middle.
    for (const float side : {-0.14f, 0.14f})
      CHECK_EQ(picture.at(0.5f - 0.2f * cosine - side * sine, 0.5f - 0.2f * sine + side * cosine),
               'r');
  }
}

GE_TEST(rings_surround_and_do_not_cover) {
  const Picture picture = drawn(board({piece(Piece::kRing, kRed, 0.5f, 0.5f, 0.2f)}));
  CHECK_EQ(picture.at(0.5f, 0.5f), 'w');
  int red = 0;
  for (float x = 0.7f; x < 0.8f; x += 0.004f) red += picture.at(x, 0.5f) == 'r';
  CHECK(red >= 1 && red <= 6);
}

GE_TEST(what_crosses_an_edge_of_a_wrapped_board_is_seen_at_both) {
  const std::vector<Piece> pieces = {piece(Piece::kDisc, kRed, 0.98f, 0.5f, 0.1f),
                                     piece(Piece::kDisc, kBlue, 0.02f, 0.01f, 0.1f)};
  const Picture wrapped = drawn(board(pieces, true)), walled = drawn(board(pieces));
  CHECK_EQ(wrapped.at(0.05f, 0.5f), 'r');
  CHECK_EQ(walled.at(0.05f, 0.5f), 'w');
  CHECK_EQ(wrapped.at(0.97f, 0.03f), 'b');  // all four corners
  CHECK_EQ(wrapped.at(0.97f, 0.97f), 'b');
  CHECK_EQ(wrapped.at(0.03f, 0.97f), 'b');
  // Nothing leaves a wrapped board; a piece at a wall lies over the frame.
  CHECK_EQ(wrapped.at(1.015f, 0.5f), 'w');
  CHECK_EQ(walled.at(1.015f, 0.5f), 'r');
}

GE_TEST(fields_of_view_are_sectors_under_the_pieces) {
  Scene scene = board({piece(Piece::kDisc, kRed, 0.7f, 0.5f, 0.05f)});
  const FieldOfView view{0.5f, 0.5f, 0, 0.6f, 0.4f, kBlue, 0.8f};
  scene.board->views = {view};
  Picture picture = drawn(scene);
  CHECK_EQ(picture.at(0.8f, 0.5f), 'b');
  CHECK_EQ(picture.at(0.7f, 0.5f), 'r');
  CHECK_EQ(picture.at(0.7f, 0.6f), 'b');   // 27 degrees
  CHECK_EQ(picture.at(0.65f, 0.7f), 'w');  // 53 degrees
  CHECK_EQ(picture.at(0.95f, 0.5f), 'w');
  CHECK_EQ(picture.at(0.3f, 0.5f), 'w');
  scene.board->views[0].half_angle = 2.5f;  // more than half of the disc: all but behind
  picture = drawn(scene);
  CHECK_EQ(picture.at(0.5f, 0.8f), 'b');
  CHECK_EQ(picture.at(0.3f, 0.7f), 'b');  // 135 degrees
  CHECK_EQ(picture.at(0.3f, 0.5f), 'w');
  scene.board->views[0].half_angle = 4;
  CHECK_EQ(drawn(scene).at(0.3f, 0.5f), 'b');
}

GE_TEST(points_are_drawn_large_enough_to_be_seen_and_crowds_smaller) {
  std::vector<Piece> pieces = {piece(Piece::kDisc, kRed, 0.5f, 0.5f, 0)};
  const int alone = drawn(board(pieces)).tinted();
  CHECK(alone > 15 && alone < 60);
  pieces.clear();
  constexpr int kSide = 64;
  for (int k = 0; k < kSide * kSide; ++k)
    pieces.push_back(piece(Piece::kArrow, kRed, (float(k % kSide) + 0.5f) / kSide,
                           (float(k / kSide) + 0.5f) / kSide, 0, float(k)));
  // 4,096 pieces in 230 x 230 pixels: every one visible, and the ground between them.
  const int crowd = drawn(board(pieces)).tinted();
  CHECK(crowd > 4096 * 2 && crowd < 4096 * 10);
}

GE_TEST(few_pieces_stay_strong_in_a_picture_of_a_terminals_size) {
  constexpr int kFew = 38;  // rows and columns
  const Scene scene = board({piece(Piece::kDisc, kRed, 0.4f, 0.6f, 0)});
  std::vector<uint8_t> bytes(size_t{kFew * kFew * 3});
  draw(scene, {kFew, kFew, "", 3}, bytes.data());
  int strong = 0;
  for (size_t k = 0; k < bytes.size(); k += 3) strong += bytes[k] > bytes[k + 1] + 60;
  CHECK(strong >= 4);
}

GE_TEST(grids_have_lines_unless_they_would_be_grey) {
  Scene scene = board({});
  scene.board->cell = 0.25f;
  const auto lines = [&] {
    const Picture picture = drawn(scene);
    int count = 0;
    for (int k = 20; k < kSize - 20; ++k)
      count += *picture.pixel(k, 100) < *picture.pixel(k - 1, 100);
    return count;
  };
  CHECK_EQ(lines(), 3);
  scene.board->cell = 0.01f;  // 2.3 pixels
  CHECK_EQ(lines(), 0);
}

GE_TEST(boards_keep_their_shape_and_lie_in_the_middle) {
  const Scene scene = board({piece(Piece::kSquare, kRed, 0.5f, 0.5f, 0.5f)});
  const Picture wide = drawn(scene, 2 * kSize);
  int red = 0, first = -1;
  for (int k = 0; k < wide.width; ++k)
    if (wide.pixel(k, kSize / 2)[1] < 100) ++red, first = first < 0 ? k : first;
  CHECK(red > kSize - 20 && red < kSize);
  CHECK(first > kSize / 2 && first < kSize / 2 + 12);
  CHECK_EQ(default_size(scene).rows, 720);
  CHECK_EQ(default_size(scene).columns, 720);
  CHECK_EQ(default_size(Scene{}).columns, 640);
}

GE_TEST(equal_boards_are_equal_bytes_and_any_number_of_samples_works) {
  std::vector<Piece> pieces;
  for (int k = 0; k < 300; ++k)
    pieces.push_back(
        piece(k % 4, k % 2 == 0 ? kRed : kBlue, 0.003f * float(k), 0.5f, 0.01f, float(k)));
  for (int samples = 1; samples <= 8; samples *= 2) {
    const Picture first = drawn(board(pieces, true), 200, "", samples);
    CHECK(first.bytes == drawn(board(pieces, true), 200, "top", samples).bytes);
    CHECK_EQ(first.at(0.2f, 0.9f), 'w');
  }
}

GE_TEST(flat_scenes_have_one_view) {
  for (const char* view : {"perspective", "both", "agent:0"})
    CHECK_THROWS(drawn(board({}), kSize, view), Error, "this scene is flat");
}

GE_TEST(pieces_that_are_nowhere_are_left_out) {
  const float nan = __builtin_nanf(""), infinity = __builtin_inff();
  for (const float x : {nan, infinity, -infinity, 1e30f})
    for (const bool wraps : {false, true}) {
      Scene scene = board({piece(Piece::kArrow, kRed, x, 0.5f, 0.01f, x)}, wraps);
      CHECK(drawn(scene).bytes == drawn(board({}, wraps)).bytes);
      scene.board->pieces = {piece(Piece::kSquare, kRed, 0.5f, x, nan)};
      CHECK(drawn(scene).bytes == drawn(board({}, wraps)).bytes);
    }
}

GE_TEST(bytes_of_boards_are_the_same_on_every_machine) {
  Scene scene = board({}, true);
  for (int k = 0; k < 40; ++k)
    scene.board->pieces.push_back(piece(k % 4, palette::of_heading(0.3f * float(k)),
                                        0.025f * float(k), 0.02f * float(k), 0.02f, float(k)));
  scene.board->views = {{0.9f, 0.5f, 1, 2, 0.2f, palette::kRamp, 0.2f}};
  scene.board->cell = 0.13f;
  const Picture picture = drawn(scene, 203);
  const std::string hash =
      Blake2b(16).update(picture.bytes.data(), picture.bytes.size()).hex_digest();
  CHECK_EQ(hash, std::string("3d99c81895f77ecf2a37be46df017f52"));
}

}  // namespace
}  // namespace ge::pictures
