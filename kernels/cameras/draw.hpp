// Draws pictures: for each tile of a part the solids that it may show, for each pixel the nearest
// of these, then its light. `draw<View>` is the function that an environment observes with:
//
//   struct View {
//     using Solids = my_env::Solids;                     // filled by a stage before (solids.hpp)
//     static GE_FN Eye eye(const W& w, Slot me);
//     using Agents = my_env::Walkers;                    // table of the role that looks, with roles
//     static GE_FN Bar bar(const W& w, Slot me);         // if there is one
//     static constexpr Headlamp light{};                 // if it is another
//     static constexpr int kFixed = 640;                 // most solids that need no row of Solids,
//     static GE_FN int fixed_count(const W& w);          // if there are such, since they stand in
//     static GE_FN Solid fixed(const W& w, int k);       // a table of the world: behind all others
//     static GE_FN Hills hills(const W& w);              // a field of columns, if there is one,
//     static GE_FN int height(const W& w, int x, int y); // and the cells of each
//     static GE_FN Mesh mesh(const W& w);                // or a triangle mesh behind all solids,
//     static GE_FN Paint paint(const W& w, int k);       // and how each triangle looks
//     static GE_FN Floats depth(const W& w, const Floats& metres);  // if depths are not in metres
//     static constexpr int kTurns = 2;                   // where many boxes are turned about z by
//     static GE_FN Turn turn(int k);                     // one of few angles: these
//   };
//   using Observe = Stages<For<&count, &make, Solids>, ge::Observe<&cameras::draw<View, W>>>;
//
// Params have a `picture` (settings.hpp). The result does not depend on which part is drawn, by how
// many lanes, or how many pixels a pack has: every number of a pixel is computed by the same
// operations.
#pragma once

#include "cameras/light.hpp"
#include "cameras/patterns.hpp"
#include "cameras/settings.hpp"
#include "cameras/tiles.hpp"
#include "geometry/height_field.hpp"
#include "geometry/mesh.hpp"

namespace ge::cameras {

inline constexpr float kNear = 0.01f, kFar = 120.0f;  // [m]

/// An overlay in front of everything: a bar in the lowest rows, centred, `length` is a share of the
/// picture's width.
struct Bar {
  float length;
  uint32_t colour;
};
/// A field of columns. It counts as the last of the solids.
struct Hills {
  HeightGrid grid;
  uint32_t colour;  // as of a solid
};
/// How a triangle of a mesh looks: colours of its corners, which fade into each other and are as
/// they are, whatever the light; its part, which segmentations number from that of the last solid
/// on; and a pattern (patterns.hpp).
struct Paint {
  uint32_t a, b, c;
  int32_t part, pattern = kPlain;
};
/// Rows of a bar: one of 72.
GE_FN int bar_rows(int rows) {
  return rows < 108 ? 1 : (rows + 36) / 72;
}

/// A turn about z. Boxes that have a turn of their View in common are as cheap as those along the
/// axes: rays are turned once for all of them.
struct Turn {
  float cosine, sine;

  template <class F>
  GE_FN Vector<F> into(const Vector<F>& v) const {
    return {v.x * cosine + v.y * sine, v.y * cosine - v.x * sine, v.z};
  }
  template <class F>
  GE_FN Vector<F> back(const Vector<F>& v) const {
    return {v.x * cosine - v.y * sine, v.x * sine + v.y * cosine, v.z};
  }
};

namespace detail {

template <class View>
consteval int turn_count() {
  if constexpr (requires { View::kTurns; })
    return View::kTurns;
  else
    return 0;
}

/// A solid, prepared for rays from one eye.
struct Target {
  Placed placed;
  Vec3 low, high;  // of a box in a frame, from the eye
  uint32_t colour;
  int32_t frame;  // 0: along the axes, k: turned by turn k - 1 of the View, -1: any other solid
};
template <class View>
GE_FN Target target_of(const Solid& solid, const Eye& eye) {
  const Placed p = placed(solid);
  const bool upright = (p.shape == kBox) & (p.turn.z.z == 1.0f);
  if constexpr (turn_count<View>() > 0) {
    GE_NO_UNROLL
    for (int k = 0; k < turn_count<View>(); ++k) {
      constexpr float kAlike = 1e-6f;  // [rad]
      const Turn turn = View::turn(k);
      const Vec3 along = turn.into(p.turn.x);
      if (!(upright & (along.x > 0.0f) & (abs(along.y) < kAlike))) continue;
      const Vec3 middle = turn.into(p.at - eye.at);
      return {p, middle - p.half, middle + p.half, solid.colour, k + 1};
    }
  }
  const bool along = upright & (p.turn.x.x == 1.0f) & (p.turn.y.y == 1.0f);
  return {p, (p.at - p.half) - eye.at, (p.at + p.half) - eye.at, solid.colour, along ? 0 : -1};
}

/// What takes the place of rays as a mesh wants them, where there is none.
struct NoBundle {};
template <class View>
using BundleOf = std::conditional_t<requires { &View::mesh; }, Bundle, NoBundle>;

/// Rays side by side, and the nearest hit of each.
template <class View>
struct Casting {
  static constexpr int kTurns = turn_count<View>();
  Vecs direction{}, inverse{};
  Vecs turned[kTurns > 0 ? kTurns : 1];  // inverses in the frames of turns
  Floats distance{};                     // kFar: nothing
  Floats number{};                       // the row of the solid, as a float; -1: none
  Floats axis{};                         // across which a face of hills was met
  BundleOf<View> bundle{};

  GE_FN void begin(const Vecs& along) {
    direction = along;
    inverse = inverses(along);
    if constexpr (kTurns > 0) {
      GE_UNROLL
      for (int k = 0; k < kTurns; ++k) turned[k] = inverses(View::turn(k).into(along));
    }
    distance = spread(kFar);
    number = spread(-1.0f);
  }
  /// Inverses in the frame of a box.
  GE_FN Vecs inverse_in(int frame) const {
    if constexpr (kTurns > 0) {
      GE_UNROLL
      for (int k = 0; k < kTurns; ++k)
        if (frame == k + 1) return turned[k];
    }
    return inverse;
  }
  GE_FN void meet(const Target& t, Vec3 eye, int row) {
    if (t.frame >= 0) {
      const auto span = span_along_axes(inverse_in(t.frame), t.low, t.high);
      return take(both(span.enter < span.leave, span.enter < distance), span.enter, row);
    }
    const Rays<Floats> rays{eye, direction};
    const Floats hit = is_scaled(t.placed) ? hit_scaled(rays, t.placed, distance)
                                           : hit_distance(rays, t.placed, distance);
    take(hit < distance, hit, row);
  }
  /// Takes hits that are nearer than all before, but those that are too near.
  GE_FN void take(const Mask& nearer, const Floats& hit, int row) {
    const auto taken = both(nearer, kNear < hit);
    distance = select(taken, hit, distance);
    number = select(taken, spread(float(row)), number);
  }
  GE_FN void meet(const Bundle& rays, const Mesh& mesh, int row) {
    bundle = rays;
    MeshHits hits{distance, number};
    hit_mesh(bundle, mesh, kNear, row, hits);
    distance = hits.distance;
    number = hits.number;
  }
  template <class H>
  GE_FN void meet(const HeightGrid& grid, Vec3 eye, int row, const H& height) {
    const HeightHits hits =
        hit_heights(Rays<Floats>{eye, direction}, inverse, grid, kNear, distance, height);
    const auto nearer = hits.distance < distance;
    distance = hits.distance;
    number = select(nearer, spread(float(row)), number);
    axis = hits.axis;
  }
};

template <class View>
GE_FN Vecs normal_of(const Target& t, const Casting<View>& cast, Vec3 eye) {
  if (t.frame >= 0) {
    const Vecs normal = normal_along_axes(cast.inverse_in(t.frame), t.low, t.high);
    if constexpr (turn_count<View>() > 0)
      if (t.frame > 0) return View::turn(t.frame - 1).back(normal);
    return normal;
  }
  const Vecs point = cast.direction * cast.distance + eye;
  return is_scaled(t.placed) ? normal_of_scaled(t.placed, point) : normal_at(t.placed, point);
}

/// A surface before its light: its normal and colour.
struct Surface {
  Vecs normal, colour;
  Floats unlit;  // 1: as it is

  GE_FN void clear() {
    normal = all_lanes<Floats>(Vec3{0.0f, 0.0f, 1.0f});
    colour = all_lanes<Floats>(Vec3{0.0f, 0.0f, 0.0f});
    unlit = spread(0.0f);
  }
  GE_FN void show(const Vecs& faces, uint32_t painted) {
    normal = faces;
    colour = all_lanes<Floats>(colour_of(painted));
    unlit = spread((painted & Solid::kUnlit) != 0 ? 1.0f : 0.0f);
  }
  /// Colours that are as they are.
  GE_FN void paint(const Vecs& colours, const Mask& where) {
    colour = choose(where, colours, colour);
    unlit = select(where, spread(1.0f), unlit);
  }
  GE_FN void show(const Vecs& faces, uint32_t painted, const Mask& where) {
    normal = choose(where, faces, normal);
    colour = choose(where, all_lanes<Floats>(colour_of(painted)), colour);
    unlit = select(where, spread((painted & Solid::kUnlit) != 0 ? 1.0f : 0.0f), unlit);
  }
};

/// Everything about one picture that does not change from pixel to pixel.
struct Scene {
  Eye eye;
  Lens lens;
  Headlamp light;
  Vec3 lamp;
  Bar bar;
  int supersample;
};

template <class View>
GE_FN Vecs lit_colours(const Scene& scene, const Casting<View>& cast, const Surface& surface) {
  const Lit<Floats> light =
      lit(scene.light, scene.lamp, cast.direction * cast.distance, surface.normal);
  const Floats none = spread(0.0f), one = spread(1.0f);
  const auto seen = cast.number >= 0.0f;
  const auto plain = surface.unlit > 0.0f;
  const Floats scale = select(plain, one, light.scale), shine = select(plain, none, light.shine);
  const auto shown = [&](const Floats& colour)
                         GE_LAMBDA { return select(seen, min(one, colour * scale + shine), none); };
  return {shown(surface.colour.x), shown(surface.colour.y), shown(surface.colour.z)};
}
/// Over colours: the bar, where it reaches.
GE_FN void put_bar(const Scene& scene, int row, const Floats& across, Vecs& colours) {
  if (row < scene.lens.rows - bar_rows(scene.lens.rows) || !(scene.bar.length > 0.0f)) return;
  const Floats from_middle = across - float(scene.lens.columns);
  const float reach = scene.bar.length * float(scene.lens.columns);
  const auto inside = both(-reach < from_middle, from_middle < reach);
  colours = choose(inside, all_lanes<Floats>(colour_of(scene.bar.colour)), colours);
}
/// Colours from 0 to 1 as bytes, rounded to nearest.
GE_FN Floats in_bytes(const Floats& colour) {
  return colour * 255.0f + 0.5f;
}

}  // namespace detail

namespace detail {

/// Room for the solids that a View has besides its table.
template <class View>
consteval int fixed_room() {
  if constexpr (requires { View::kFixed; })
    return View::kFixed;
  else
    return 0;
}

}  // namespace detail

/// Draws one part of one picture. Which solids a tile may show is found once: on lanes by all of a
/// squad side by side, a bit for each, else for the whole part, and kept.
template <class View, class W>
class Drawing {
  using SolidTable = typename View::Solids;
  using Casting = detail::Casting<View>;

 public:
  GE_FN Drawing(const W& w, const Canvas& canvas, const detail::Scene& scene, int viewer)
      : w_(w),
        canvas_(canvas),
        scene_(scene),
        viewer_(viewer),
        listed_(row_count<SolidTable>(w)),
        count_(listed_ + fixed_count(w)) {}

  // A function of its own: inlined into every kernel, it would take minutes to compile.
  GE_NOINLINE void run() {
    const Part all = canvas_.part();
    if constexpr (kOnLanes) {
      for (int row = 0; row < all.rows; row += kTileRows)
        for (int column = 0; column < all.columns; column += kTileColumns)
          draw_tile(tile_at(all, row, column), 0);
    } else {
      // Regions of as many tiles as a word has bits.
      constexpr int kAcross = 31 * kTileColumns, kDown = 31 * kTileRows;
      for (int row = 0; row < all.rows; row += kDown)
        for (int column = 0; column < all.columns; column += kAcross)
          draw_region({all.row + row, all.column + column,
                       all.rows - row < kDown ? all.rows - row : kDown,
                       all.columns - column < kAcross ? all.columns - column : kAcross});
    }
  }

 private:
  static constexpr bool kHasFixed = requires(const W& w) { View::fixed(w, 0); };
  static constexpr int kMost = SolidTable::capacity + detail::fixed_room<View>();
  static_assert(kMost > 0 && kMost <= 8192,
                "GE: a list of solids has a fixed capacity of at most 8192 rows");
  static constexpr bool kHasHills = requires(const W& w) { View::hills(w); };
  static constexpr bool kHasMesh = requires(const W& w) { View::mesh(w); };
  static_assert(!(kHasHills && kHasMesh), "GE: a View has hills or a mesh");
  static constexpr int kPacksOfRow = kTileColumns / kPack, kPacksOfTile = kPacksOfRow * kTileRows;

  static GE_FN int fixed_count([[maybe_unused]] const W& w) {
    if constexpr (kHasFixed)
      return View::fixed_count(w);
    else
      return 0;
  }
  GE_FN Solid solid_at(int row) const {
    if constexpr (kHasFixed)
      if (row >= listed_) return View::fixed(w_, row - listed_);
    return get<SolidTable, Solid>(w_, row);
  }

  // ---- a region, whose solids are found once

  /// A solid that the region may show, and the tiles that may show it: a bit per column and row.
  struct Found {
    detail::Target target;
    uint32_t columns, rows;
    int32_t row;  // of the table
  };
  struct Kept {
    Found found[kOnLanes ? 1 : kMost];
    uint16_t of_row[kOnLanes ? 1 : kMost], of_tile[kOnLanes ? 1 : kMost];
    uint16_t place[kOnLanes ? 1 : kMost];  // of a row of the table in `found`
    int count;
  };

  GE_NOINLINE void draw_region(const Part& region) {
    Kept kept;
    find(region, kept);
    kept_ = &kept;
    for (int i = 0; i * kTileRows < region.rows; ++i) {
      int in_row = 0;
      for (int k = 0; k < kept.count; ++k) {
        kept.of_row[in_row] = uint16_t(k);
        in_row += int(kept.found[k].rows >> i & 1u);
      }
      for (int j = 0; j * kTileColumns < region.columns; ++j) {
        int in_tile = 0;
        for (int k = 0; k < in_row; ++k) {
          kept.of_tile[in_tile] = kept.of_row[k];
          in_tile += int(kept.found[kept.of_row[k]].columns >> j & 1u);
        }
        draw_tile(tile_at(region, i * kTileRows, j * kTileColumns), in_tile);
      }
    }
  }
  GE_FN void find(const Part& region, Kept& kept) const {
    const int across = tiles_along(region.columns, kTileColumns),
              down = tiles_along(region.rows, kTileRows);
    float slopes[2][32];
    for (int k = 0; k <= across; ++k)
      slopes[0][k] = scene_.lens.to_right(float(2 * (region.column + k * kTileColumns)));
    for (int k = 0; k <= down; ++k)
      slopes[1][k] = scene_.lens.to_top(float(2 * (region.row + k * kTileRows)));
    kept.count = 0;
    for (int row = 0; row < count_; ++row) {
      const Solid solid = solid_at(row);
      if (solid.owner == viewer_) continue;
      const Outline o = outline(scene_.eye, placed(solid));
      if (!is_before(o)) continue;
      // Bit k: all of it is right of line k, left of it; above it, below it.
      uint32_t right = 0, left = 0, above = 0, below = 0;
      for (int k = 0; k <= across; ++k) {
        const int side = side_of<false>(o, slopes[0][k]);
        right |= uint32_t(side > 0) << k, left |= uint32_t(side < 0) << k;
      }
      for (int k = 0; k <= down; ++k) {
        const int side = side_of<true>(o, slopes[1][k]);
        above |= uint32_t(side > 0) << k, below |= uint32_t(side < 0) << k;
      }
      // A tile lies between lines k and k + 1.
      const uint32_t columns = ~(left | right >> 1) & ((1u << across) - 1u);
      const uint32_t rows = ~(above | below >> 1) & ((1u << down) - 1u);
      if (columns == 0 || rows == 0) continue;
      kept.place[row] = uint16_t(kept.count);
      kept.found[kept.count++] = {detail::target_of<View>(solid, scene_.eye), columns, rows, row};
    }
  }

  // ---- a tile

  /// The solids that a tile may show: on lanes bits, by words of 32 rows; else a prefix of
  /// `of_tile`. Every lane has all of a few words; of many, lane k of a squad has words k, k + 32,
  /// ... and the others ask it. A lane alone has the first, and tries the rest of the rows again for
  /// every pack of pixels.
  struct Shown {
    static constexpr int kWords = (kMost + 31) / 32;
    static constexpr bool spread = kWords > 4;
    static constexpr int kHeld = !kOnLanes ? 1 : spread ? (kWords + 31) / 32 : kWords;
    Edges edges;
    uint32_t held[kHeld];
    int count;
  };
  GE_FN bool is_spread() const { return Shown::spread && canvas_.squad().size() > 1; }
  GE_FN void list(Shown& shown) const {
    GE_UNROLL
    for (uint32_t& word : shown.held) word = 0;
    const int words = is_spread() ? Shown::kWords : Shown::kHeld;
    GE_NO_UNROLL
    for (int k = 0; k < words && 32 * k < count_; ++k) {
      const uint32_t word = listed(shown.edges, 32 * k);
      const int at = is_spread() ? k / Squad::kLanes : k;
      const bool mine = !is_spread() || canvas_.squad().lane() == k % Squad::kLanes;
      GE_UNROLL
      for (int i = 0; i < Shown::kHeld; ++i)
        shown.held[i] = mine & (i == at) ? word : shown.held[i];
    }
  }
  /// Word k, for all of a squad.
  GE_FN uint32_t word_of(const Shown& shown, int k) const {
    const int at = is_spread() ? k / Squad::kLanes : k;
    if (at >= Shown::kHeld) return listed(shown.edges, 32 * k);
    uint32_t word = 0;
    GE_UNROLL
    for (int i = 0; i < Shown::kHeld; ++i) word = i == at ? shown.held[i] : word;
    return is_spread() ? canvas_.squad().from(word, k % Squad::kLanes) : word;
  }
  /// Which of the solids `first`, ... a tile may show, a bit each.
  GE_FN uint32_t listed(const Edges& edges, int first) const {
    const Squad& squad = canvas_.squad();
    uint32_t bits = 0;
    for (int k = 0; k < 32; k += squad.size()) {
      const int row = first + k + squad.lane();
      bool shows = false;
      if (row < count_) {
        const Solid solid = solid_at(row);
        shows = (solid.owner != viewer_) & may_show(outline(scene_.eye, placed(solid)), edges);
      }
      bits |= squad.votes(shows) << k;
    }
    return bits;
  }
  /// Calls f(target, row) for every solid that a tile may show, in the order of the table.
  template <class F>
  GE_FN void each_target(const Shown& shown, const F& f) const {
    if constexpr (kOnLanes) {
      GE_NO_UNROLL
      for (int first = 0; first < count_; first += 32) {
        for (uint32_t bits = word_of(shown, first / 32); bits != 0; bits &= bits - 1u) {
          const int row = first + lowest_bit(bits);
          f(detail::target_of<View>(solid_at(row), scene_.eye), row);
        }
      }
    } else {
      for (int k = 0; k < shown.count; ++k) {
        const Found& found = kept_->found[kept_->of_tile[k]];
        f(found.target, found.row);
      }
    }
  }

  /// Where pack k of a tile lies; on lanes a pack is a pixel.
  struct Spot {
    int row, column, count;  // count: pixels of it that there are, 0 or less: none
  };
  static GE_FN Spot spot(const Part& tile, int k) {
    const int row = k / kPacksOfRow, column = k % kPacksOfRow * kPack;
    const int left = row < tile.rows ? tile.columns - column : 0;
    return {tile.row + row, tile.column + column, left < kPack ? left : kPack};
  }

  GE_FN void draw_tile(const Part& tile, int in_tile) const {
    Shown shown{edges_of(scene_.lens, tile), {}, in_tile};
    if constexpr (kOnLanes) list(shown);
    const Squad& squad = canvas_.squad();
    GE_NO_UNROLL
    for (int pack = squad.lane(); pack < kPacksOfTile; pack += squad.size()) {
      const Spot at = spot(tile, pack);
      // Lanes vote on solids, so all of a squad draw, also those whose pixel there is not.
      if (kOnLanes || at.count > 0) draw_pack(at, shown);
    }
  }
  GE_FN void draw_pack(const Spot& spot, const Shown& shown) const {
    Casting cast;
    const int n = scene_.supersample;
    const bool colours = canvas_.wants(kColours);
    const bool others = canvas_.wants(kDepths) || canvas_.wants(kSegments);
    if (others || n == 1) {
      meet_all(cast, spot, 1.0f, 1.0f, shown);
      if (others && spot.count > 0) put_others(cast, spot);
    }
    if (!colours) return;
    Vecs sum = all_lanes<Floats>(Vec3{0.0f, 0.0f, 0.0f});
    if (n == 1) {
      sum = colours_of(cast, shown);
    } else {
      const float each = 2.0f / float(n);
      GE_NO_UNROLL
      for (int sample = 0; sample < n * n; ++sample) {
        const int i = sample / n, j = sample - i * n;
        meet_all(cast, spot, (float(j) + 0.5f) * each, (float(i) + 0.5f) * each, shown);
        sum += colours_of(cast, shown);
      }
      sum = sum * (1.0f / float(n * n));
    }
    if (spot.count <= 0) return;
    detail::put_bar(scene_, spot.row, across(spot, 1.0f), sum);
    canvas_.put_colours(spot.row, spot.column, detail::in_bytes(sum.x), detail::in_bytes(sum.y),
                        detail::in_bytes(sum.z), spot.count);
  }
  /// Through a place within pixels, in halves of a pixel from their upper left corners.
  GE_FN void meet_all(Casting& cast, const Spot& spot, float right, float down,
                      const Shown& shown) const {
    const Floats columns = across(spot, right);
    const float row = float(2 * spot.row) + down;
    cast.begin(directions(scene_.eye, scene_.lens, columns, row));
    each_target(shown, [&](const detail::Target& target, int row)
                           GE_LAMBDA { cast.meet(target, scene_.eye.at, row); });
    if constexpr (kHasHills)
      cast.meet(View::hills(w_).grid, scene_.eye.at, count_,
                [&](int32_t x, int32_t y) GE_LAMBDA { return View::height(w_, x, y); });
    if constexpr (kHasMesh) cast.meet(bundle(cast, columns, row), View::mesh(w_), count_);
  }
  GE_FN Bundle bundle(const Casting& cast, const Floats& columns, float row) const {
    const Eye& eye = scene_.eye;
    return bundle_of(eye.at, eye.right, eye.up, eye.forward, slopes_of(scene_.lens, columns),
                     spread(scene_.lens.to_top(row)), cast.inverse);
  }
  static GE_FN Floats across(const Spot& spot, float right) {
    return lane_numbers() * 2.0f + (float(2 * spot.column) + right);
  }
  GE_FN void put_others(const Casting& cast, const Spot& spot) const {
    const auto seen = cast.number >= 0.0f;
    if (canvas_.wants(kDepths)) {
      Floats depths = select(seen, cast.distance, spread(0.0f));
      if constexpr (requires { View::depth(w_, depths); }) depths = View::depth(w_, depths);
      canvas_.put_depths(spot.row, spot.column, depths, spot.count);
    }
    if (canvas_.wants(kSegments))
      canvas_.put_segments(spot.row, spot.column, segments_of(cast), spot.count);
  }
  GE_FN Floats segments_of(const Casting& cast) const {
    if constexpr (kHasMesh) {
      const Floats parts = each_lane(
          cast.number, cast.number, cast.number >= float(count_),
          [&](int32_t number, int32_t) GE_LAMBDA { return View::paint(w_, number - count_).part; });
      return min(cast.number, spread(float(count_))) + 1.0f + parts;
    }
    return cast.number + 1.0f;
  }
  /// Triangle by triangle: most packs meet few.
  GE_FN void paint_mesh(const Casting& cast, detail::Surface& surface) const {
    const Mesh mesh = View::mesh(w_);
    auto left = cast.number >= float(count_);
    GE_NO_UNROLL
    for (int k = 0; k < kPack && any_of(left); ++k) {
      const auto here = both(left, cast.number == lane(cast.number, k));
      if (!any_of(here)) continue;
      const int32_t triangle = to_int(lane(cast.number, k)) - count_;
      const Paint paint = View::paint(w_, triangle);
      const Triangle& met = mesh.triangles[triangle];
      const Vecs weights = weights_in(met, cast.bundle);
      const Vec3 a = colour_of(paint.a), b = colour_of(paint.b), c = colour_of(paint.c);
      const auto mixed = [&](float of_a, float of_b, float of_c) GE_LAMBDA {
        return weights.x * of_a + weights.y * of_b + weights.z * of_c;
      };
      Vecs colours = {mixed(a.x, b.x, c.x), mixed(a.y, b.y, c.y), mixed(a.z, b.z, c.z)};
      if (paint.pattern != kPlain) {
        const Vec3 corner = vec(met.a);
        const Vec3 normal = cross(vec(met.b) - corner, vec(met.c) - corner);
        const Vecs at = cast.direction * cast.distance + all_lanes<Floats>(scene_.eye.at);
        colours = colours * kept_colour(paint.pattern, at, normal);
      }
      surface.paint(colours, here);
      left = both(left, is_not(here));
    }
  }
  GE_FN Vecs colours_of(const Casting& cast, const Shown& shown) const {
    detail::Surface surface;
    surface.clear();
    const auto show = [&](const detail::Target& target, const Mask& where) GE_LAMBDA {
      surface.show(detail::normal_of(target, cast, scene_.eye.at), target.colour, where);
    };
    if constexpr (kPack == 1) {
      // Every lane its own.
      const int row = to_int(lane(cast.number, 0));
      if ((row >= 0) & (row < count_))
        show(detail::target_of<View>(solid_at(row), scene_.eye), cast.number >= 0.0f);
    } else if (const float first = lane(cast.number, 0);
               (first >= 0.0f) & (first < float(count_)) && !any_of(cast.number != first)) {
      const detail::Target& target = kept_->found[kept_->place[to_int(first)]].target;
      surface.show(detail::normal_of(target, cast, scene_.eye.at), target.colour);
      return detail::lit_colours(scene_, cast, surface);
    } else {
      each_target(shown, [&](const detail::Target& target, int row) GE_LAMBDA {
        const auto here = cast.number == float(row);
        if (any_of(here)) show(target, here);
      });
    }
    if constexpr (kHasMesh) paint_mesh(cast, surface);
    if constexpr (kHasHills) {
      const auto here = cast.number == float(count_);
      if (any_of(here))
        surface.show(normal_of_height(cast.inverse, cast.axis), View::hills(w_).colour, here);
    }
    return detail::lit_colours(scene_, cast, surface);
  }

  const W& w_;
  const Canvas& canvas_;
  const detail::Scene& scene_;
  int viewer_, listed_, count_;  // listed_: rows of the table; count_: with those of the View
  const Kept* kept_ = nullptr;
};

/// The number of an agent in its world, from its row.
template <class View, class S>
GE_FN int viewer_of(const World<S>& w, Slot me) {
  if constexpr (has_one_role<S>) {
    return me.row;
  } else {
    static_assert(
        requires { typename View::Agents; },
        "GE: with roles, a View names the table of the role that looks: using Agents");
    return first_agent<S, role_with_table<S, typename View::Agents>>(w.params()) + me.row;
  }
}

/// Draws the picture of agent `me`, for ge::Observe. Black where the eye's pose is not finite.
template <class View, class W>
GE_FN void draw(const W& w, const Canvas& canvas, Slot me) {
  const Picture& picture = w.params().picture;
  const int viewer = viewer_of<View>(w, me);
  detail::Scene scene{};
  scene.eye = View::eye(w, me);
  if (!is_sound(scene.eye)) {
    // Counted once per picture, by the lane that draws its first part.
    const bool is_first = (canvas.part().row == 0) & (canvas.part().column == 0);
    if (is_first && canvas.squad().lane() == 0) w.count_lost_view(viewer);
    return canvas.clear();
  }
  scene.lens = {picture.form.rows, picture.form.columns, picture.slope};
  if constexpr (requires { View::light; }) scene.light = View::light;
  scene.lamp = scene.light.from(scene.eye);
  if constexpr (requires { View::bar(w, me); }) scene.bar = View::bar(w, me);
  scene.supersample = picture.supersample;
  Drawing<View, W>(w, canvas, scene, viewer).run();
}

}  // namespace ge::cameras
