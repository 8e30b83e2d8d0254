// A board seen from straight above: ground, grid, plates, fields of view, pieces, lines, words,
// each blended over the layers below, band by band of rows. Charts are made of these (charts.hpp).
// Edges are anti-aliased by coverage, so a piece costs only its few pixels: thousands of them take
// milliseconds.
//
// Pieces are drawn at their own size, but never smaller than a least size that keeps them visible;
// the emptier the board, the larger that size.
#include "pictures/board.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "pictures/charts.hpp"
#include "pictures/colours.hpp"
#include "pictures/lettering.hpp"
#include "pictures/outlines.hpp"

namespace ge::pictures {
namespace {

constexpr int kBandRows = 64;

/// Rows of the picture in linear light; `stride` leaves room for a pack beyond the last column.
struct Band {
  int width, stride, top, rows;
  float* planes[3];
};

/// Columns and rows of pixels, from the first up to before the last.
struct Area {
  int left, top, right, bottom;
};

/// Where the board's metres are in the picture.
/// One scale for both axes, up to the rounding of the board to whole pixels; y is turned, since
/// rows count downwards.
struct Map {
  Area area;               // of the board
  float x, y, across, up;  // a point's column is x + across * its x, its row y - up * its y

  float column(float metres) const { return x + across * metres; }
  float row(float metres) const { return y - up * metres; }
};

Map map_of(const Board& board, const Request& request) {
  const float wide = board.high[0] - board.low[0], high = board.high[1] - board.low[1];
  const float margin = 0.022f * float(std::min(request.width, request.height)) + 1.0f;
  const float room_x = float(request.width) - 2 * margin,
              room_y = float(request.height) - 2 * margin;
  const float scale = std::min(room_x / wide, room_y / high);
  // Whole pixels: a crisp frame, and seams that meet.
  const int columns = std::max(1, int(wide * scale + 0.5f)),
            rows = std::max(1, int(high * scale + 0.5f));
  const int left = (request.width - columns) / 2, top = (request.height - rows) / 2;
  const float across = float(columns) / wide, up = float(rows) / high;
  return {{left, top, left + columns, top + rows},
          float(left) - across * board.low[0],
          float(top) + up * board.high[1],
          across,
          up};
}

// ---- laying colours over a band

Floats column_centres(int first) {
  return lane_numbers() + (float(first) + 0.5f);
}

/// Always a whole pack, of which the band has room for one beyond its last column; by memcpy, since
/// a row may begin anywhere.
void blend(const Band& band, int at, const Vec3& colour, const Floats& share) {
  const float mixed[3] = {colour.x, colour.y, colour.z};
  for (int c = 0; c < 3; ++c) {
    float* const to = band.planes[c] + at;
    Floats value;
    std::memcpy(&value, to, sizeof value);
    value = value + (mixed[c] - value) * share;
    std::memcpy(to, &value, sizeof value);
  }
}

/// An axis-aligned rectangle in pixels, with edges anywhere.
void fill(const Band& band, float left, float top, float right, float bottom, const Vec3& colour,
          float opacity) {
  const int first = int(ge::clamp(left, 0.0f, float(band.width)));
  for (int row = 0; row < band.rows; ++row) {
    const float y = float(row + band.top);
    // A pixel is covered by as much as its square and the rectangle share: width times height.
    const float tall = ge::min(bottom, y + 1) - ge::max(top, y);
    if (tall <= 0) continue;
    for (int column = first; column < band.width && float(column) < right; column += kPack) {
      const Floats x = column_centres(column);
      const Floats wide = min(x + 0.5f, spread(right)) - max(x - 0.5f, spread(left));
      blend(band, row * band.stride + column, colour, at_least(wide, 0.0f) * (tall * opacity));
    }
  }
}

/// An outline filled with a colour, and a line of another colour around it.
struct Mark {
  Outline outline;
  Vec3 colour, rim;
  float opacity, rim_opacity;
  float rim_width;  // outwards [pixels]

  float reach() const { return 1.2f * outline.reach() + rim_width + 1.0f; }
};

/// Shares of pixels that a mark covers, without and with its rim: `samples` squared points each.
struct Cover {
  Floats inside, with_rim;
};

/// A point counts by its distance, over a slope one sample wide: smooth with few samples.
Cover cover_of(const Mark& mark, const Floats& x, float y, int samples) {
  const float step = 1.0f / float(samples), first = 0.5f * step - 0.5f, sharp = float(samples);
  Cover cover{spread(0.0f), spread(0.0f)};
  for (int k = 0; k < samples * samples; ++k) {
    const Floats away = outside(mark.outline, x + (first + step * float(k % samples)),
                                spread(y + first + step * float(k / samples)));
    cover.inside = cover.inside + unit_range(0.5f - away * sharp);
    if (mark.rim_width > 0)
      cover.with_rim = cover.with_rim + unit_range(0.5f - (away - mark.rim_width) * sharp);
  }
  const float share = step * step;
  return {cover.inside * share, cover.with_rim * share};
}

void lay_over(const Band& band, const Mark& mark, const Area& clip, int samples) {
  const Outline& o = mark.outline;
  const float reach = mark.reach();
  const float low = ge::max(o.y - reach, float(std::max(band.top, clip.top)));
  const float high = ge::min(o.y + reach, float(std::min(band.top + band.rows, clip.bottom)));
  const int left = int(ge::clamp(o.x - reach, float(clip.left), float(clip.right)));
  const int right = int(ge::clamp(o.x + reach + 1.0f, float(clip.left), float(clip.right)));
  for (int row = int(low); float(row) < high; ++row)
    for (int column = left; column < right; column += kPack) {
      const Floats x = column_centres(column);
      const Cover cover = cover_of(mark, x - o.x, float(row) + 0.5f - o.y, samples);
      // Pixels of the last pack beyond the clip are left as they are.
      const Mask here = x < float(right);
      const int at = (row - band.top) * band.stride + column;
      if (mark.rim_width > 0) {
        const Floats rim = at_least(cover.with_rim - cover.inside, 0.0f) * mark.rim_opacity;
        blend(band, at, mark.rim, select(here, rim, spread(0.0f)));
      }
      blend(band, at, mark.colour, select(here, cover.inside * mark.opacity, spread(0.0f)));
    }
}

// ---- the board

class BoardPainter {
 public:
  BoardPainter(const Board& board, const Request& request)
      : board_(board),
        map_(map_of(board, request)),
        whole_{0, 0, request.width, request.height},
        samples_(request.samples),
        unit_(float(std::min(request.width, request.height)) / 720.0f) {
    int64_t count = 0;
    for (const Piece& piece : board.pieces)
      count += piece.kind == Piece::kDisc || piece.kind == Piece::kArrow;
    const Area& a = map_.area;
    const float room = float(a.right - a.left) * float(a.bottom - a.top);
    const float spacing = ge::sqrt(room / float(std::max<int64_t>(count, 1)));
    // A disc of less than about a pixel would flicker as it moves, and in a picture of a terminal's
    // few pixels a few pieces would be pale.
    least_ = ge::clamp(0.3f * spacing, 1.1f, ge::max(10.0f * unit_, 1.8f));
    marks_.reserve(board.views.size() + board.pieces.size());
    for (const FieldOfView& view : board.views) add(mark_of(view));
    for (const Piece& piece : board.pieces) add(mark_of(piece));
    for (const Line& line : board.lines)
      add(stroke_of(line.from, line.to, line.width * unit_, line.colour, line.opacity));
    for (const Caption& caption : board.captions) write(caption);
  }

  void paint(const Band& band) const {
    const Area& a = map_.area;
    const float left = float(a.left), right = float(a.right);
    const float top = float(a.top), bottom = float(a.bottom);
    fill(band, 0, 0, float(band.width), 1e9f, linear(palette::kFloor), 1);
    const Vec3 edge = linear(board_.wraps ? palette::kFaded : palette::kWall);
    const float line = (board_.wraps ? 1.0f : 2.0f) * ge::max(unit_, 0.5f);
    fill(band, left - line, top - line, right + line, bottom + line, edge, 1);
    fill(band, left, top, right, bottom, {1, 1, 1}, 1);
    paint_grid(band);
    for (const Plate& plate : board_.plates)
      fill(band, map_.column(plate.low[0]), map_.row(plate.high[1]), map_.column(plate.high[0]),
           map_.row(plate.low[1]), linear(plate.colour), plate.opacity);
    // Where the board wraps, clip to it: a piece must not be drawn beyond the edge as well as at
    // the other one.
    const Area& clip = board_.wraps ? a : whole_;
    for (const Mark& mark : marks_) lay_over(band, mark, clip, samples_);
  }

 private:
  void paint_grid(const Band& band) const {
    if (board_.cell <= 0) return;
    // Lines that are close are fainter, and the closest vanish: they would be a grey ground.
    const float opacity = ge::clamp((board_.cell * map_.across - 3.0f) / 9.0f, 0.0f, 1.0f);
    if (opacity <= 0) return;
    const Area& a = map_.area;
    const float half = 0.5f * ge::max(unit_, 0.5f);
    const Vec3 colour = linear(palette::kFloorSquare);
    for (int k = 1; k < lines(0); ++k) {
      const float x = map_.column(board_.low[0] + float(k) * board_.cell);
      fill(band, x - half, float(a.top), x + half, float(a.bottom), colour, opacity);
    }
    for (int k = 1; k < lines(1); ++k) {
      const float y = map_.row(board_.low[1] + float(k) * board_.cell);
      fill(band, float(a.left), y - half, float(a.right), y + half, colour, opacity);
    }
  }
  /// Cells along an axis, a last one that is cut off included.
  int lines(int axis) const {
    const float count = (board_.high[axis] - board_.low[axis]) / board_.cell;
    return int(count + 0.99f);
  }

  Mark mark_of(const FieldOfView& view) const {
    const float radius = view.radius * map_.across;
    Outline o{Outline::kSector, map_.column(view.x), map_.row(view.y), 1, 0, radius};
    ge::sincos(view.heading, o.sine, o.cosine);
    ge::sincos(ge::min(view.half_angle, 3.1415927f), o.edge_sine, o.edge_cosine);
    const Vec3 colour = linear(view.colour);
    const float strong = ge::min(1.0f, 3 * view.opacity);
    return {o, colour, colour, view.opacity, strong, 1.2f * unit_};
  }

  Mark mark_of(const Piece& piece) const {
    const float radius = piece.radius * map_.across;
    Outline o{piece.kind, map_.column(piece.x), map_.row(piece.y), 1, 0, radius};
    if (piece.kind == Piece::kArrow) {
      ge::sincos(piece.heading, o.sine, o.cosine);
      o.radius = ge::max(radius, 1.3f * least_);
    } else if (piece.kind != Piece::kSquare) {
      o.radius = ge::max(radius, (piece.kind == Piece::kDisc ? 0.8f : 1.0f) * least_);
    }
    const Vec3 colour = linear(piece.colour), white{1, 1, 1};
    if (piece.kind == Piece::kRing) {
      o.width = 2.0f * ge::max(unit_, 0.5f), o.radius = 1.3f * o.radius + 2.0f * unit_;
      return {o, colour, white, piece.opacity, 0, 0};
    }
    const float rim = o.radius < 2.5f ? 0.0f : ge::min(0.16f * o.radius, 1.4f * unit_);
    // Small pieces are translucent, so that crowds are darker than a few.
    const float solid = ge::clamp(0.7f + 0.08f * o.radius, 0.0f, 1.0f);
    return {o, colour, white, piece.opacity * solid, 0.9f * piece.opacity, rim};
  }

  /// A straight line with round ends, `radius` [pixels] to each side.
  Mark stroke_of(const float* from, const float* to, float radius, Rgb colour,
                 float opacity) const {
    const float x = map_.column(from[0]), y = map_.row(from[1]);
    const float across = map_.column(to[0]) - x, down = map_.row(to[1]) - y;
    const float length = ge::sqrt(across * across + down * down);
    Outline o{Outline::kStroke, x + 0.5f * across, y + 0.5f * down, 1, 0, radius, 0.5f * length};
    // Angles keep their sense though rows count downwards.
    if (length > 0) o.cosine = across / length, o.sine = -down / length;
    // A line thinner than a pixel is drawn fainter.
    const float shown = ge::max(radius, 0.5f);
    o.radius = shown;
    return {o, linear(colour), {}, opacity * radius / shown, 0, 0};
  }
  void write(const Caption& caption) {
    const float pen = pen_of(caption) * map_.across;
    for (const PenLine& line : pen_lines_of(caption))
      add(stroke_of(line.from, line.to, pen, caption.colour, 1));
  }

  /// Once, and where the board wraps also from beyond the edges that it reaches over.
  void add(const Mark& mark) {
    // Points with NaN or far outside are culled.
    const float far = 1e6f;
    const Outline& at = mark.outline;
    if (!(ge::abs(at.x) < far && ge::abs(at.y) < far && at.radius < far)) return;
    if (!board_.wraps) return marks_.push_back(mark);
    const Area& a = map_.area;
    const float wide = float(a.right - a.left), high = float(a.bottom - a.top);
    for (int k = -1; k <= 1; ++k)
      for (int j = -1; j <= 1; ++j) {
        Mark copy = mark;
        Outline& o = copy.outline;
        o.x += wide * float(k), o.y += high * float(j);
        const float reach = copy.reach();
        if (o.x + reach > float(a.left) && o.x - reach < float(a.right) &&
            o.y + reach > float(a.top) && o.y - reach < float(a.bottom))
          marks_.push_back(copy);
      }
  }

  const Board& board_;
  const Map map_;
  const Area whole_;
  const int samples_;
  const float unit_;  // pixels of this picture for one of a picture of 720 rows
  float least_;       // of a radius; a disc and a longer arrow cover alike much [pixels]
  std::vector<Mark> marks_;
};

void resolve(const Band& band, const Display& display, uint8_t* to) {
  for (int row = 0; row < band.rows; ++row)
    for (int column = 0; column < band.width; ++column)
      for (int c = 0; c < 3; ++c) *to++ = display(band.planes[c][row * band.stride + column]);
}

}  // namespace

void draw_board(const Board& board, const Request& request, uint8_t* to) {
  const BoardPainter painter(board, request);
  const Display display;
  // Bands are painted one after the other into the same memory, each with all marks: a mark that
  // misses the band costs a comparison.
  Band band{request.width, request.width + kPack, 0, 0, {}};
  const size_t plane = size_t(band.stride) * size_t(kBandRows);
  std::vector<float> memory(3 * plane);
  for (size_t c = 0; c < 3; ++c) band.planes[c] = memory.data() + c * plane;
  for (; band.top < request.height; band.top += kBandRows) {
    band.rows = std::min(kBandRows, request.height - band.top);
    painter.paint(band);
    resolve(band, display, to + size_t(band.top) * size_t(request.width) * 3);
  }
}

}  // namespace ge::pictures
