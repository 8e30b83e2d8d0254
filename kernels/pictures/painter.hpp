// Paints one panel of a picture tile by tile. Rectangles list once what can affect a tile: bodies
// that may appear in it; for the ground under its hits, bodies whose shadow or occlusion of the sky
// may fall there; and parts of fans. All lists are conservative, so they change no bit. Within a
// tile, packs of neighbours are cast, coloured, lit and overlaid.
#pragma once

#include <algorithm>
#include <utility>

#include "pictures/light.hpp"
#include "pictures/memory.hpp"
#include "pictures/overlays.hpp"
#include "pictures/picture.hpp"

namespace ge::pictures {

inline constexpr int kBandRows = 8;       // of pixels
inline constexpr int kBlockColumns = 16;  // of pixels
inline constexpr int kTileColumns = 16;   // of samples; small, so that lists are short
inline constexpr int kMostSamples = 8;    // along each side of a pixel
inline constexpr int kRowPacks = kTileColumns / kPack;
inline constexpr int kTilePacks = kRowPacks * kBandRows * kMostSamples;
static_assert(kTileColumns % kPack == 0);

/// One camera and the columns of pixels that it fills.
struct Panel {
  Camera camera;
  int left, width;
};

struct Prepared {
  std::vector<Body> bodies;
  std::vector<Sector> sectors;
  Vec3 low, high;
};

inline Prepared prepared(const Scene& scene) {
  Prepared things{{}, {}, vec(scene.low), vec(scene.high)};
  for (const Solid& solid : scene.solids) things.bodies.push_back(body_of(solid));
  for (const Fan& fan : scene.fans) things.sectors.push_back(sector_of(fan));
  return things;
}

class Painter {
 public:
  /// `memory` is kept up to date; `changed` lists the bodies that changed since then, null if the
  /// memory is not valid for this picture.
  Painter(const Scene& scene, const Prepared& things, const Panel& panel, const Request& request,
          PanelMemory& memory, const std::vector<int>* changed)
      : scene_(scene),
        things_(things),
        memory_(memory),
        panel_(panel),
        light_(light_of(panel.camera, things.low, things.high)),
        samples_(request.samples),
        columns_(panel.width * request.samples),
        height_(request.height * request.samples) {
    for (const Body& body : things.bodies) prepare_body(body);
    const float size = ge::max(1.0f, float(request.height) / 540.0f) * 0.8f;
    line_ = 2.0f * panel.camera.spread / float(request.height) * size;
    prepare_columns();
    prepare_strokes(float(height_) / 360.0f);
    remember(changed);
  }

  /// Paints rows [to.top, to.top + to.rows) of samples of this panel's columns, except unchanged
  /// blocks.
  void paint(const Samples& to) {
    mark_strokes(to);
    for (int k = 0; k < block_count(); ++k) paint_block(to, k);
    for (const Stroke& stroke : strokes_) draw(stroke, to);
  }
  int block_count() const { return (panel_.width + kBlockColumns - 1) / kBlockColumns; }
  /// Whether a block of the last band was kept unchanged.
  bool is_kept(int block) const { return kept_[size_t(block)] != 0; }

 private:
  float x_of(int column) const {
    return (2.0f * (float(column) + 0.5f) - float(columns_)) / float(height_);
  }
  float y_of(int row) const { return 1.0f - 2.0f * (float(row) + 0.5f) / float(height_); }

  void prepare_body(const Body& body) {
    seen_.push_back(seen_in(panel_.camera, body));
    shadows_.push_back(shadow_of(body, light_));
    feet_.push_back(foot_of(body, light_));
  }
  void remember(const std::vector<int>* changed) {
    is_known_ = changed != nullptr && is_same(memory_.camera, panel_.camera);
    std::vector<Traces> traces;
    for (size_t k = 0; k < seen_.size(); ++k) traces.push_back({seen_[k], shadows_[k], feet_[k]});
    for (size_t k = 0; is_known_ && k < changed->size(); ++k) {
      dirty_.push_back(memory_.traces[size_t((*changed)[k])]);
      dirty_.push_back(traces[size_t((*changed)[k])]);
    }
    memory_.camera = panel_.camera;
    memory_.traces = std::move(traces);
    const int bands = (height_ / samples_ + kBandRows - 1) / kBandRows;
    memory_.blocks.resize(size_t(bands * block_count()));
    kept_.resize(size_t(block_count())), marks_.resize(size_t(block_count()));
  }
  void prepare_columns() {
    const size_t padded = size_t(columns_ + kTileColumns);
    x_.resize(padded), jitter_.resize(padded);
    for (size_t k = 0; k < padded; ++k) x_[k] = x_of(int(k)), jitter_[k] = jitter(int(k));
  }
  /// Where on the sun's disc a sample looks, by its place in its pixel: -1 to 1.
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

  // ---- one block: as many tiles as a pixel has samples in a row

  /// Marks the blocks that strokes may cross.
  void mark_strokes(const Samples& to) {
    std::fill(marks_.begin(), marks_.end(), uint8_t{0});
    const float left = float(panel_.left * samples_), size = float(kBlockColumns * samples_);
    const float last = float(block_count() - 1);
    for (const Stroke& stroke : strokes_) {
      const Stretch at = stretch_of(stroke, to.top, to.rows);
      if (!(at.begin <= at.end) || at.end < left || at.begin > left + float(columns_)) continue;
      const int end = int(ge::clamp((at.end - left) / size, 0.0f, last));
      for (int k = int(ge::clamp((at.begin - left) / size, 0.0f, last)); k <= end; ++k)
        marks_[size_t(k)] = 1;
    }
  }

  void paint_block(const Samples& to, int number) {
    const int first = number * kBlockColumns * samples_;
    const int end = std::min(first + kBlockColumns * samples_, columns_);
    const int band = to.top / (kBandRows * samples_);
    Block& block = memory_.blocks[size_t(band * block_count() + number)];
    const Rectangle part = part_of(to, first, end);
    const bool was_overlaid = block.is_overlaid;
    block.is_overlaid = marks_[size_t(number)] != 0 || any_sector_in(part);
    const bool keeps = is_known_ && !was_overlaid && !block.is_overlaid && !is_dirty(part, block);
    kept_[size_t(number)] = keeps ? 1 : 0;
    if (keeps) return;
    block.shaded = block.under = {};
    for (int at = first; at < end; at += kTileColumns) paint_tile(to, at, block);
  }

  Rectangle part_of(const Samples& to, int first, int end) const {
    Rectangle part;
    part.add(x_of(first), y_of(to.top)), part.add(x_of(end - 1), y_of(to.top + to.rows - 1));
    return part;
  }
  bool is_dirty(const Rectangle& part, const Block& block) const {
    for (const Traces& traces : dirty_)
      if (traces.reach(part, block)) return true;
    return false;
  }
  bool any_sector_in(const Rectangle& part) {
    for (const Sector& sector : things_.sectors) {
      list_parts(sector, level_in(panel_.camera, part, sector.fan->apex[2], kFar), parts_);
      if (!parts_.empty()) return true;
    }
    return false;
  }

  // ---- one tile: packs 0 to `packs_`, row by row

  void paint_tile(const Samples& to, int first, Block& block) {
    first_ = first, top_ = to.top, packs_ = to.rows * kRowPacks;
    const Rectangle tile = part_of(to, first, first + kTileColumns);
    list(seen_, tile, in_tile_);
    const Camera& c = panel_.camera;
    if (c.is_flat)
      paint_rays(tile, block, [this, &c](int k) { return rays_of(c, x_at(k), y_at(k)); });
    else
      paint_rays(tile, block, [this, &c](int k) { return rays_from_eye(c, x_at(k), y_at(k)); });
    for (int k = 0; k < packs_; ++k) store(to, k);
  }

  /// `rays` makes those of a pack.
  template <class F>
  void paint_rays(const Rectangle& tile, Block& block, const F& rays) {
    const Hits none{spread(kFar), spread(-1.0f)};
    const Vecs white = spread(Vec3{1, 1, 1});
    for (int k = 0; k < packs_; ++k) hits_[k] = none, colours_[k] = white;
    for (const int body : in_tile_)
      for (int k = 0; k < packs_; ++k) meet(things_.bodies[size_t(body)], body, rays(k), hits_[k]);
    if (!in_tile_.empty()) light_rays(block, rays);
    Floats deepest = hits_[0].depth;
    for (int k = 1; k < packs_; ++k) deepest = max(deepest, hits_[k].depth);
    const float depth = most(deepest);
    const Rectangle passed = passed_over(tile, depth);
    for (const Sector& sector : things_.sectors) {
      const Rectangle level = level_in(panel_.camera, tile, sector.fan->apex[2], depth);
      list_parts(sector, level.common(passed), parts_);
      if (parts_.empty()) continue;
      for (int k = 0; k < packs_; ++k)
        lay_over(sector, parts_, rays(k), hits_[k].depth, colours_[k]);
    }
  }

  /// The ground under the rays of the tile until they hit something at most `depth` away.
  Rectangle passed_over(const Rectangle& tile, float depth) const {
    if (!(depth < kFar)) return Rectangle::all();
    const Camera& c = panel_.camera;
    const float ends[2] = {0, 1.01f * depth};
    Rectangle out;
    for (int k = 0; k < 8; ++k) {
      const float x = (k & 1) != 0 ? tile.high_x : tile.low_x;
      const float y = (k & 2) != 0 ? tile.high_y : tile.low_y;
      const Vec3 shift = c.right * (x * c.spread) + c.up * (y * c.spread);
      const Vec3 p = (c.is_flat ? c.eye + shift : c.eye) +
                     (c.is_flat ? c.forward : c.forward + shift) * ends[k >> 2];
      out.add(p.x, p.y);
    }
    return out.widened(1e-3f);
  }

  template <class F>
  void light_rays(Block& block, const F& rays) {
    Ground shaded, under;
    for (int k = 0; k < packs_; ++k) {
      const Mask hit = hits_[k].body >= 0.0f;
      const auto from = rays(k);
      points_[k] = from.origin + from.direction * select(hit, hits_[k].depth, spread(0.0f));
      under.add(points_[k].x, points_[k].y, hit);
      const Vecs p = on_ground(points_[k], light_.sun);
      shaded.add(p.x, p.y, hit);
    }
    const Rectangle along_sun = shaded.bounds(), below = under.bounds();
    list(shadows_, along_sun, shading_);
    list(feet_, below, standing_);
    block.shaded.add(along_sun), block.under.add(below);
    fades_ = !within(below, things_.low, things_.high);
    for (int k = 0; k < packs_; ++k) {
      const Mask hit = hits_[k].body >= 0.0f;
      if (any_of(hit)) colours_[k] = choose(hit, colour_of(k), colours_[k]);
    }
  }

  Floats x_at(int pack) const { return load_pack(x_.data() + column_of(pack)); }
  Floats y_at(int pack) const { return spread(y_of(row_of(pack))); }
  int column_of(int pack) const { return first_ + pack % kRowPacks * kPack; }
  int row_of(int pack) const { return top_ + pack / kRowPacks; }

  static void list(const std::vector<Rectangle>& all, const Rectangle& here, Numbers& out) {
    out.clear();
    for (size_t k = 0; k < all.size(); ++k)
      if (all[k].meets(here)) out.push_back(int(k));
  }
  static bool within(const Rectangle& r, const Vec3& low, const Vec3& high) {
    return r.low_x >= low.x && r.low_y >= low.y && r.high_x <= high.x && r.high_y <= high.y;
  }

  Vecs colour_of(int pack) const {
    const Hits& hits = hits_[pack];
    const Vecs& p = points_[pack];
    const Floats pixel = panel_.camera.is_flat ? spread(line_) : hits.depth * line_;
    Surface s{};
    for (const int k : in_tile_) {
      const Mask here = hits.body == float(k);
      if (!any_of(here)) continue;
      const Surface one = surface_of(things_.bodies[size_t(k)], p, pixel);
      s.normal = choose(here, one.normal, s.normal);
      s.colour = choose(here, one.colour, s.colour);
      s.line = select(here, one.line, s.line);
    }
    const Floats side = load_pack(jitter_.data() + column_of(pack));
    const Vecs sun = light_.sun + light_.side * (side * light_.softness) +
                     light_.rise * (spread(jitter(row_of(pack))) * light_.softness);
    const Floats free = lit(things_.bodies, shading_, {p + s.normal * light_.lift, sun});
    const Floats open = sky(things_.bodies, standing_, p, hits);
    const Vecs colour = shaded(s, light_, p.z, open, free);
    return fades_ ? faded(colour, p, hits) : colour;
  }

  /// Endless ground fades to white away from the point of interest.
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

  void store(const Samples& to, int pack) const {
    const int column = column_of(pack);
    const int at = (row_of(pack) - to.top) * to.width + panel_.left * samples_ + column;
    if (column + kPack <= columns_) {
      store_pack(to.red + at, colours_[pack].x), store_pack(to.green + at, colours_[pack].y);
      store_pack(to.blue + at, colours_[pack].z), store_pack(to.depth + at, hits_[pack].depth);
      return;
    }
    for (int k = 0; k < columns_ - column; ++k) {
      to.red[at + k] = lane(colours_[pack].x, k), to.green[at + k] = lane(colours_[pack].y, k);
      to.blue[at + k] = lane(colours_[pack].z, k), to.depth[at + k] = lane(hits_[pack].depth, k);
    }
  }

  const Scene& scene_;
  const Prepared& things_;
  PanelMemory& memory_;
  const Panel panel_;
  const Light light_;
  const int samples_, columns_, height_;
  float line_;  // width of an edge [m], at depth 1 in perspective
  std::vector<float> x_, jitter_;
  std::vector<Rectangle> seen_, shadows_, feet_;  // per body
  std::vector<Stroke> strokes_;
  bool is_known_ = false;              // what `memory_` says holds, but for `dirty_`
  std::vector<Traces> dirty_;          // of bodies that changed, before and now
  std::vector<uint8_t> kept_, marks_;  // per block of a band; marks_: strokes may go there

  // Position and packs of the current tile.
  int first_ = 0, top_ = 0, packs_ = 0;
  bool fades_ = false;  // some of it lies outside of what is looked at
  Numbers in_tile_, shading_, standing_, parts_;
  Hits hits_[kTilePacks];
  Vecs points_[kTilePacks], colours_[kTilePacks];
};

}  // namespace ge::pictures
