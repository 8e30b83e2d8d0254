// One picture, band by band of rows: cast rays in packs of neighbours, colour what they meet, draw
// the lines, and average the samples of each pixel. A band's samples stay in the cache.
#include "pictures/picture.hpp"

#include <algorithm>
#include <cstring>

#include "pictures/board.hpp"
#include "pictures/light.hpp"
#include "pictures/overlays.hpp"

namespace ge::pictures {
namespace {

// Samples of all colours and depths of a band of 640 columns, 2 x 2 each, take 320 KiB.
constexpr int kBandRows = 8;      // of pixels
constexpr int kTileColumns = 64;  // of samples; a multiple of kPack

/// One camera and the columns of pixels that it fills.
struct Panel {
  Camera camera;
  int left, width;
};

/// Of a scene, whatever the panel: made once where two panels show it.
struct Prepared {
  std::vector<Body> bodies;
  std::vector<Sector> sectors;
  Vec3 low, high;
};

Prepared prepared(const Scene& scene) {
  Prepared things{{}, {}, vec(scene.low), vec(scene.high)};
  for (const Solid& solid : scene.solids) things.bodies.push_back(body_of(solid));
  for (const Fan& fan : scene.fans) things.sectors.push_back(sector_of(fan));
  return things;
}

// ---- one panel

/// Draws one panel. What can matter to a pack is narrowed in steps: bodies whose rectangle meets
/// the tile, then those whose shadow, or whose foot, meets the ground under its points.
class Painter {
 public:
  Painter(const Scene& scene, const Prepared& things, const Panel& panel, const Request& request)
      : scene_(scene),
        things_(things),
        panel_(panel),
        light_(light_of(panel.camera, things.low, things.high)),
        samples_(request.samples),
        columns_(panel.width * request.samples),
        height_(request.height * request.samples) {
    const Vec3 below{0, 0, 1};
    for (const Body& body : things.bodies) {
      seen_.push_back(seen_in(panel.camera, body));
      shadows_.push_back(widened(covered(body, light_.sun), light_.softness * 4.0f));
      // What leans or hangs too high hides no sky from the ground beside it.
      const bool stands = ge::abs(body.shape.turn.z.z) > 0.95f;
      const float reach = detail::kReach * (body.own.high.z - body.own.low.z);
      feet_.push_back(stands ? widened(covered(body, below), reach) : Rectangle{});
    }
    // Edges of solids are 0.8 pixels wide, and from 540 rows on grow with the picture.
    const float size = ge::max(1.0f, float(request.height) / 540.0f) * 0.8f;
    line_ = 2.0f * panel.camera.spread / float(request.height) * size;
    prepare_columns();
    prepare_strokes(float(height_) / 360.0f);
  }

  /// Rows [to.top, to.top + to.rows) of samples; this panel's columns.
  void paint(const Samples& to) {
    for (int first = 0; first < columns_; first += kTileColumns) paint_tile(to, first);
    for (const Stroke& stroke : strokes_) draw(stroke, to);
  }

 private:
  static Rectangle widened(Rectangle r, float by) {
    return {r.low_x - by, r.low_y - by, r.high_x + by, r.high_y + by};
  }

  float x_of(int column) const {
    return (2.0f * (float(column) + 0.5f) - float(columns_)) / float(height_);
  }
  float y_of(int row) const { return 1.0f - 2.0f * (float(row) + 0.5f) / float(height_); }

  void prepare_columns() {
    // The last tile may reach beyond the panel: its lanes are computed, and not stored.
    const size_t padded = size_t(columns_ + kTileColumns);
    x_.resize(padded), jitter_.resize(padded);
    for (size_t k = 0; k < padded; ++k) x_[k] = x_of(int(k)), jitter_[k] = jitter(int(k));
  }
  /// Where on the sun's disc a sample looks, by its place in its pixel: -1 to 1.
  // Not random: pictures are the same bytes everywhere.
  float jitter(int k) const { return (2.0f * float(k % samples_) + 1.0f) / float(samples_) - 1.0f; }

  void prepare_strokes(float scale) {
    const float unit = 0.5f * float(height_);
    const float middle = float(panel_.left * samples_) + 0.5f * float(columns_);
    for (const Line& line : scene_.lines) {
      Stroke stroke{
          {}, {}, line.width * scale, line.opacity, linear(line.colour), panel_.camera.is_flat};
      End ends[2];
      if (!ends_of(panel_.camera, line, ends, unit, middle, unit)) continue;
      stroke.from = ends[0], stroke.to = ends[1];
      strokes_.push_back(stroke);
    }
  }

  void paint_tile(const Samples& to, int first) {
    Rectangle tile;
    tile.add(x_[size_t(first)], y_of(to.top));
    tile.add(x_[size_t(first + kTileColumns - 1)], y_of(to.top + to.rows - 1));
    list(seen_, tile, in_tile_);
    for (int row = 0; row < to.rows; ++row)
      for (int pack = first; pack < first + kTileColumns && pack < columns_; pack += kPack)
        paint_pack(to, row, pack);
  }

  static void list(const std::vector<Rectangle>& all, const Rectangle& here, Numbers& out) {
    out.clear();
    for (size_t k = 0; k < all.size(); ++k)
      if (all[k].meets(here)) out.push_back(int(k));
  }
  /// The ground under the points along a direction, of those lanes that hit something.
  static Rectangle ground_of(const Vecs& p, const Vec3& direction, const Mask& hit) {
    const Vecs g = on_ground(p, direction);
    return {least(select(hit, g.x, spread(kFar))), least(select(hit, g.y, spread(kFar))),
            most(select(hit, g.x, spread(-kFar))), most(select(hit, g.y, spread(-kFar)))};
  }

  void paint_pack(const Samples& to, int row, int first) {
    Floats x, side;
    std::memcpy(&x, x_.data() + first, sizeof x);
    std::memcpy(&side, jitter_.data() + first, sizeof side);
    const Rays rays = rays_of(panel_.camera, x, spread(y_of(to.top + row)));
    const Hits hits = nearest(things_.bodies, in_tile_, rays);
    Vecs colour = spread(Vec3{1, 1, 1});
    const Mask hit = hits.body >= 0.0f;
    if (any_of(hit)) {
      const Floats depth = select(hit, hits.depth, spread(0.0f));
      const Vecs p = rays.origin + rays.direction * depth;
      const Floats rise = spread(jitter(to.top + row));
      colour = choose(hit, colour_of(p, hits, hit, side, rise), colour);
    }
    for (const Sector& sector : things_.sectors) lay_over(sector, rays, hits.depth, colour);
    store(to, row, first, colour, hits.depth);
  }

  Vecs colour_of(const Vecs& p, const Hits& hits, const Mask& hit, const Floats& side,
                 const Floats& rise) {
    const Floats pixel = panel_.camera.is_flat ? spread(line_) : hits.depth * line_;
    // Lanes of a pack may have met different bodies: each body gives its lanes their surface.
    Surface s{};
    for (const int k : in_tile_) {
      const Mask here = hits.body == float(k);
      if (!any_of(here)) continue;
      const Surface one = surface_of(things_.bodies[size_t(k)], p, pixel);
      s.normal = choose(here, one.normal, s.normal);
      s.colour = choose(here, one.colour, s.colour);
      s.line = select(here, one.line, s.line);
    }
    list(shadows_, ground_of(p, light_.sun, hit), shading_);
    const Vecs sun = light_.sun + light_.side * (side * light_.softness) +
                     light_.rise * (rise * light_.softness);
    const Floats free = lit(things_.bodies, shading_, {p + s.normal * light_.lift, sun});
    list(feet_, ground_of(p, {0, 0, 1}, hit), shading_);
    const Floats open = sky(things_.bodies, shading_, p, hits);
    return faded(shaded(s, light_, p.z, open, free), p, hits);
  }

  /// Endless ground turns white away from what is looked at.
  Vecs faded(const Vecs& colour, const Vecs& p, const Hits& hits) const {
    const Vec3 low = things_.low, high = things_.high;
    const float reach = 0.22f * ge::max(high.x - low.x, high.y - low.y);
    const Floats x = at_least(max(low.x - p.x, p.x - high.x), 0.0f);
    const Floats y = at_least(max(low.y - p.y, p.y - high.y), 0.0f);
    const Floats away = at_most(roots(x * x + y * y) / reach, 1.0f);
    const Floats share = away * away * (3.0f - 2.0f * away);
    Vecs out = colour;
    for (const int k : in_tile_)
      if (things_.bodies[size_t(k)].is_endless)
        out = choose(hits.body == float(k), mix(out, spread(Vec3{1, 1, 1}), share), out);
    return out;
  }

  void store(const Samples& to, int row, int first, const Vecs& colour, const Floats& depth) {
    const int at = row * to.width + panel_.left * samples_ + first;
    const size_t bytes = sizeof(float) * size_t(std::min(kPack, columns_ - first));
    std::memcpy(to.red + at, &colour.x, bytes);
    std::memcpy(to.green + at, &colour.y, bytes);
    std::memcpy(to.blue + at, &colour.z, bytes);
    std::memcpy(to.depth + at, &depth, bytes);
  }

  const Scene& scene_;
  const Prepared& things_;
  const Panel panel_;
  const Light light_;
  const int samples_, columns_, height_;
  float line_;  // width of an edge [m], at depth 1 in perspective
  std::vector<float> x_, jitter_;
  std::vector<Rectangle> seen_, shadows_, feet_;  // per body
  std::vector<Stroke> strokes_;
  Numbers in_tile_, shading_;
};

// ---- the whole picture

float aspect_of(int width, int height) {
  return float(width) / float(height);
}

Camera eye_of(const Scene& scene, const std::string& view) {
  const std::string number = view.substr(6);
  const bool is_number = !number.empty() && number.size() < 6 &&
                         number.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || size_t(std::stoi(number)) >= scene.viewpoints.size())
    throw Error(Fault::value, "view: this scene has " + std::to_string(scene.viewpoints.size()) +
                                  " agents to look with, got '" + view + "'");
  const Viewpoint& eye = scene.viewpoints[size_t(std::stoi(number))];
  return look_along(vec(eye.position), vec(eye.forward), {0, 0, 1}, 0.7f, false);
}

std::vector<Panel> panels_of(const Scene& scene, const Request& request) {
  const std::string& view = request.view.empty() ? scene.view : request.view;
  const Vec3 low = vec(scene.low), high = vec(scene.high), look = vec(scene.look);
  const int width = request.width, height = request.height;
  const float aspect = aspect_of(width, height);
  if (view == "perspective") return {{framed(low, high, look, aspect), 0, width}};
  if (view == "top") return {{above(low, high, aspect), 0, width}};
  if (view.rfind("agent:", 0) == 0) return {{eye_of(scene, view), 0, width}};
  if (view != "both")
    throw Error(
        Fault::value,
        "view must be 'perspective', 'top', 'both' or 'agent:<number>', got '" + view + "'");
  // As wide as the world from above, but never the greater part of the picture.
  const float shape = (high.x - low.x) / (high.y - low.y);
  const int right = int(ge::clamp(shape * float(height), 1.0f, 0.42f * float(width)));
  const int left = ge::max(width - right, 1);
  return {{framed(low, high, look, aspect_of(left, height)), 0, left},
          {above(low, high, aspect_of(right, height)), left, right}};
}

/// Of a picture of a board.
void check_view(const Request& request) {
  if (!request.view.empty() && request.view != "top")
    throw Error(Fault::value, "view: this scene is flat and seen from above ('top') alone, got '" +
                                  request.view + "'");
}

/// Averages the samples of each pixel.
void resolve(const Samples& from, int samples, const Display& display, uint8_t* to) {
  const float* const planes[3] = {from.red, from.green, from.blue};
  const int width = from.width / samples;
  // Averaged as light, before the display's curve: edges between dark and bright stay even.
  const float share = 1.0f / float(samples * samples);
  std::vector<float> sums;
  for (int row = 0; row < from.rows / samples; ++row)
    for (int c = 0; c < 3; ++c) {
      sums.assign(size_t(width), 0.0f);
      for (int k = 0; k < samples; ++k) {
        const float* const line = planes[c] + (row * samples + k) * from.width;
        for (int column = 0; column < width; ++column)
          for (int j = 0; j < samples; ++j) sums[size_t(column)] += line[column * samples + j];
      }
      for (int column = 0; column < width; ++column)
        to[(row * width + column) * 3 + c] = display(sums[size_t(column)] * share);
    }
}

}  // namespace

Size default_size(const Scene& scene) {
  if (!scene.board) return {360, 640};
  const Board& board = *scene.board;
  const float shape = (board.high[0] - board.low[0]) / (board.high[1] - board.low[1]);
  // Even, as films need it.
  return {720, 2 * int(ge::clamp(360.0f * shape, 90.0f, 1280.0f) + 0.5f)};
}

void check(const Request& r) {
  constexpr int kMost = 8192;
  if (r.width < 8 || r.height < 8 || r.width > kMost || r.height > kMost)
    throw Error(Fault::value, "size must be from 8 to " + std::to_string(kMost) +
                                  " rows and columns, got " + std::to_string(r.height) + " x " +
                                  std::to_string(r.width));
  if (r.samples < 1 || r.samples > 8)
    throw Error(Fault::value, "samples must be from 1 to 8, got " + std::to_string(r.samples));
}

void draw(const Scene& scene, const Request& request, uint8_t* to) {
  check(request);
  if (scene.board) {
    check_view(request);
    return draw_board(*scene.board, request, to);
  }
  const Prepared things = prepared(scene);
  const std::vector<Panel> panels = panels_of(scene, request);
  // Reserved, so that they do not move: each holds references and lists of its own.
  std::vector<Painter> painters;
  painters.reserve(panels.size());
  for (const Panel& panel : panels) painters.emplace_back(scene, things, panel, request);
  const int samples = request.samples, width = request.width * samples;
  const size_t plane = size_t(width) * size_t(kBandRows * samples);
  std::vector<float> memory(4 * plane);
  const Display display;
  for (int top = 0; top < request.height; top += kBandRows) {
    const int rows = std::min(kBandRows, request.height - top);
    Samples band{width,
                 rows * samples,
                 0,
                 0,
                 top * samples,
                 memory.data(),
                 &memory[plane],
                 &memory[2 * plane],
                 &memory[3 * plane]};
    for (size_t k = 0; k < panels.size(); ++k) {
      band.left = panels[k].left * samples;
      band.right = band.left + panels[k].width * samples;
      painters[k].paint(band);
    }
    resolve(band, samples, display, to + size_t(top) * size_t(request.width) * 3);
  }
}

}  // namespace ge::pictures
