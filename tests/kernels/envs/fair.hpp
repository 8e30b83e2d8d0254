// Fair: a test-only environment of three roles whose rows are of three kinds, so that they cannot
// be padded to one length.
//
//   painters   see a picture, and numbers beside it; two parts of a reward; leave one by one, some
//              are absent
//   readers    see a wide row and have a wide mask; one part of a reward; leave one by one
//   judge      sees three floats, acts in floats, names neither a mask nor parts
//
// Fair-v0 has readers of bytes over a background, Hall-v0 readers of floats made by a squad,
// Court-v0 a judge alone.
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::fair {

using namespace ge;

struct Params {
  int32_t painter_count = 2;
  int32_t reader_count = 3;
  int32_t length = 701;
  int32_t layers = 1;
  int32_t channels_last = 1;

  static constexpr auto describe() {
    return fields(field("painter_count", &Params::painter_count, "of a world").within(1, 3),
                  field("reader_count", &Params::reader_count, "of a world").within(1, 3),
                  field("length", &Params::length, "elements of a reader's row").within(70, 9000),
                  field("layers", &Params::layers, "bits of Layer").within(1, 15),
                  field("channels_last", &Params::channels_last, "1: colours of a pixel together")
                      .within(0, 1));
  }
};

// ---- actions, components and tables

struct Stroke {
  int32_t shade;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("shade", &Stroke::shade, "added to the painter's own").one_of(5));
  }
};
struct Turn {
  int32_t pages;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("pages", &Turn::pages, "turned at once").one_of(8));
  }
  static GE_FN int choices(const Params& p) { return p.reader_count + 4; }
};
struct Mark {
  float praise, blame;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("praise", &Mark::praise, "added to the score").within(0, 1),
                  field("blame", &Mark::blame, "taken from the score").within(-2, 2));
  }
};
struct Paint {
  int32_t shade, left;
  static constexpr auto describe() {
    return fields(field("shade", &Paint::shade, "of the picture").within(0, 199),
                  field("left", &Paint::left, "steps until the painter leaves").any_value());
  }
};
struct Page {
  int32_t at, left;
  static constexpr auto describe() {
    return fields(field("at", &Page::at, "place in the book").within(0, 8999),
                  field("left", &Page::left, "steps until the reader leaves").any_value());
  }
};
struct Score {
  float sum;
  static constexpr auto describe() { return fields(field("sum", &Score::sum, "of all marks")); }
};
struct PaintParts {
  float stroke, lasted;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("stroke", &PaintParts::stroke, "for the shade"),
                  field("lasted", &PaintParts::lasted, "1 for being there"));
  }
};
struct ReadParts {
  float read;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("read", &ReadParts::read, "pages turned"));
  }
};

struct Painters : Agents<3, Stroke, Paint, PaintParts> {
  static constexpr const char* name = "painters";
  static GE_FN constexpr int count(const Params& p) { return p.painter_count; }
};
struct Readers : Agents<3, Turn, Page, ReadParts> {
  static constexpr const char* name = "readers";
  static GE_FN constexpr int count(const Params& p) { return p.reader_count; }
};
struct Judges : Agents<1, Mark, Score> {
  static constexpr const char* name = "judges";
};

// ---- rows

/// What a painter's episode has come to.
struct PaintMeasures {
  float shade, left;
  static constexpr auto describe() {
    return fields(field("last_shade", &PaintMeasures::shade, "of the picture").within(0, 199),
                  field("steps_left", &PaintMeasures::left, "until the painter leaves"));
  }
  template <class W>
  static GE_FN PaintMeasures of(const W& w, int agent) {
    const Paint paint = get<Painters, Paint>(w, agent);
    return {float(paint.shade), float(paint.left)};
  }
};
/// Beside the picture.
struct PaintNumbers {
  float shade, place[2];
  static constexpr auto describe() {
    return fields(field("shade", &PaintNumbers::shade, "of the picture").within(0, 199),
                  field("place", &PaintNumbers::place, "the painter's number, and the step"));
  }
};
struct Picture : Image {
  static constexpr int rows = 13, columns = 37;
  static GE_FN ImageForm form(const Params& p) {
    return {rows, columns, uint32_t(p.layers), p.channels_last, RowShape<PaintNumbers>::elements};
  }
};
struct Assets {
  Asset<uint8_t> paper;
};
template <class Element>
struct Book : WideRow<Element> {
  static constexpr int capacity = 9000;
  static GE_FN int elements(const Params& p) { return p.length; }
  static std::vector<FieldInfo> describe(const Params& p) {
    return {wide_field("book", {p.length}, "what is read", 0, 9200)};
  }
};
struct Bytes : Book<uint8_t> {
  static std::vector<FieldInfo> describe(const Params& p) {
    return {wide_field("book", {p.length}, "what is read", 0, 255)};
  }
  static GE_FN const Asset<uint8_t>& background(const Assets& assets) { return assets.paper; }
};
struct PaintMask {
  uint8_t legal[5];
  static constexpr auto describe() {
    return fields(field("legal", &PaintMask::legal, "1: there is such a shade").within(0, 1));
  }
};
struct TurnMask : WideRow<bool> {
  static constexpr int capacity = 8;
  static GE_FN int elements(const Params& p) { return Turn::choices(p); }
  static std::vector<FieldInfo> describe(const Params& p) {
    return {wide_field("legal", {Turn::choices(p)}, "1: this number of pages may be turned")};
  }
};
struct Sheet {
  float time, sum, readers;
  static constexpr auto describe() {
    return fields(field("time", &Sheet::time, "steps of the episode"),
                  field("sum", &Sheet::sum, "of all marks"),
                  field("readers", &Sheet::readers, "where the first reader is"));
  }
};

struct Painter {
  static constexpr const char* name = "painter";
  using Agent = Painters;
  using Action = Stroke;
  using Observation = Picture;
  using Numbers = PaintNumbers;
  using Measures = PaintMeasures;
  using ActionMask = PaintMask;
  using RewardParts = PaintParts;
};
template <class Row>
struct Reader {
  static constexpr const char* name = "reader";
  using Agent = Readers;
  using Action = Turn;
  using Observation = Row;
  using ActionMask = TurnMask;
  using RewardParts = ReadParts;
};
struct Judge {
  static constexpr const char* name = "judge";
  using Agent = Judges;
  using Action = Mark;
  using Observation = Sheet;
};

template <class Row>
struct Schema {
  using Params = fair::Params;
  using Assets = fair::Assets;
  using roles = Types<Painter, Reader<Row>, Judge>;
  using tables = Types<Painters, Readers, Judges>;
  // 32: squads share pictures and rows.
  static constexpr Tuning tuning{
      .step_lanes = {32, 1}, .reset_lanes = {32, 1}, .observe_lanes = {32, 1}, .flat = true};
  static Assets make_assets(const Params& p, AssetMaker& make) {
    const auto paper = make.array<uint8_t>("paper", p.length);
    for (size_t i = 0; i < paper.size(); ++i) paper[i] = uint8_t(i % 251);
    return {paper};
  }
};

// ---- rules

template <class Row>
struct Rules {
  using W = World<Schema<Row>>;

  static GE_FN void begin_painter(const W& w, Slot me, Paint& paint, Fate& fate) {
    const Draw words = draw<"painter">(w, me.row);
    paint = {int32_t(words.below(0, 50)), 1 + int32_t(words.below(1, 9))};
    if (words.below(3, 2) == 0) fate = Fate::absent();
  }
  static GE_FN void begin_reader(const W& w, Slot me, Page& page) {
    const Draw words = draw<"reader">(w, me.row);
    page = {int32_t(words.below(0, uint32_t(w.params().length))), 1 + int32_t(words.below(1, 9))};
  }
  static GE_FN void begin_judge(const W&, Score& score) { score.sum = 0.0f; }

  static GE_FN void paint(const W&, Paint& paint, PaintParts& parts, Reward& reward, Ending& ending,
                          const Stroke& stroke) {
    paint.shade = (paint.shade + stroke.shade) % 200;
    paint.left -= 1;
    parts = {0.25f * float(stroke.shade), 1.0f};
    reward.value = parts.stroke + parts.lasted;
    ending.terminated = paint.left <= 0 ? 1u : 0u;
  }
  static GE_FN void read(const W& w, Page& page, ReadParts& parts, Reward& reward, Ending& ending,
                         const Turn& turn) {
    page.at = (page.at + turn.pages) % w.params().length;
    page.left -= 1;
    parts = {float(turn.pages)};
    reward.value = parts.read;
    ending.truncated = page.left <= 0 ? 1u : 0u;
  }
  static GE_FN void judge(const W&, Score& score, Reward& reward, const Mark& mark) {
    score.sum += mark.praise - mark.blame;
    reward.value = mark.praise;
  }

  /// Pixel (row, column): red shade + row, green column, blue the step; as deep as its column.
  static GE_FN void paint_part(const W& w, const Canvas& canvas, Slot me, const Paint& paint) {
    const Part part = canvas.part();
    for (int row = part.row; row < part.row + part.rows; ++row)
      for (int k = canvas.squad().lane() * kPack; k < part.columns;
           k += canvas.squad().size() * kPack) {
        const int column = part.column + k, left = part.columns - k;
        const int count = left < kPack ? left : kPack;
        const Floats across = spread(float(column)) + lane_numbers();
        if (canvas.wants(kColours))
          canvas.put_colours(row, column, spread(float(paint.shade + row)), across,
                             spread(float(w.step())), count);
        if (canvas.wants(kDepths)) canvas.put_depths(row, column, across, count);
        if (canvas.wants(kSegments))
          canvas.put_segments(row, column, spread(float(1 + me.row)), count);
      }
  }
  static GE_FN void show_numbers(const W& w, PaintNumbers& row, Slot me, const Paint& paint) {
    row = {float(paint.shade), {float(me.row), float(w.step())}};
  }
  static GE_FN void show_bytes(const W& w, ByteRow& row, Slot me, const Page& page) {
    row.set(page.at, 253);
    row.set(w.params().length - 1, uint8_t(me.row));
  }
  static GE_FN void show_floats(const W& w, FloatRow& row, Squad, Slot, const Page& page) {
    row.fill(0, w.params().length, [&page](int k) GE_LAMBDA { return float(page.at + k % 200); });
  }
  static GE_FN void show_sheet(const W& w, Sheet& sheet, const Score& score) {
    sheet = {float(w.step()), score.sum, float(get<Readers, Page>(w, 0).at)};
  }
  static GE_FN void mask_painter(const W&, PaintMask& mask, Slot me, const Paint& paint) {
    for (int k = 0; k < 5; ++k) mask.legal[k] = (k + paint.shade + me.row) % 3 == 0 ? 0 : 1;
  }
  static GE_FN void mask_reader(const W& w, BitRow& row, Slot, const Page& page) {
    const int choices = Turn::choices(w.params());
    row.append(((1u << choices) - 1u) & ~(2u << page.at % 2), choices);
  }
};

template <class Row, auto kRead>
struct Environment {
  using Schema = fair::Schema<Row>;
  using R = Rules<Row>;
  using Reset = Stages<Each<&R::begin_painter>, Each<&R::begin_reader>, Each<&R::begin_judge>>;
  using Step = Stages<Each<&R::paint>, Each<&R::read>, Each<&R::judge>>;
  using Observe =
      Stages<ObserveAs<Painter, &R::paint_part>, ObserveNumbersAs<Painter, &R::show_numbers>,
             ObserveAs<Reader<Row>, kRead>, ObserveAs<Judge, &R::show_sheet>,
             ObserveMaskAs<Painter, &R::mask_painter>, ObserveMaskAs<Reader<Row>, &R::mask_reader>>;
  static constexpr Card card{.doc = "painters, readers and a judge",
                             .max_episode_steps = 12,
                             .agents = "painter_count + reader_count + 1"};
};

// ---- one role, which has a name

struct LoneJudge {
  struct Schema {
    using Params = fair::Params;
    using roles = Types<Judge>;
    using tables = Types<Judges>;
  };
  using W = World<Schema>;
  static GE_FN void begin(const W&, Score& score) { score.sum = 0.0f; }
  static GE_FN void judge(const W&, Score& score, Reward& reward, const Mark& mark) {
    score.sum += mark.praise - mark.blame;
    reward.value = mark.praise;
  }
  static GE_FN void show_sheet(const W& w, Sheet& sheet, const Score& score) {
    sheet = {float(w.step()), score.sum, 0.0f};
  }
  using Reset = Stages<Each<&LoneJudge::begin>>;
  using Step = Stages<Each<&LoneJudge::judge>>;
  using Observe = Stages<ObserveAs<Judge, &LoneJudge::show_sheet>>;
  static constexpr Card card{.doc = "a judge alone", .max_episode_steps = 12};
};

using Builds =
    ge::Builds<Build<"Fair-v0", Environment<Bytes, &Rules<Bytes>::show_bytes>>,
               Build<"Hall-v0", Environment<Book<float>, &Rules<Book<float>>::show_floats>>,
               Build<"Court-v0", LoneJudge>>;

}  // namespace gpu_envs::envs::fair
