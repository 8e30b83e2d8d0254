// The record: which bytes belong to what, where words of interleaved worlds lie, and their way to
// canonical order and back.
// environment: arena herd
#include "engine/simulator/build.hpp"
#include "engine/simulator/records.hpp"
#include "envs/arena.hpp"
#include "envs/herd.hpp"
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;
namespace arena = gpu_envs::envs::arena;

namespace {

using S = arena::Schema;
using Tables = AllTables<S>;
constexpr S::Params kParams;

struct Layout {
  std::vector<Column> columns;
  std::vector<Segment> segments;
  explicit Layout(bool scratch) {
    if (scratch)
      list_columns<true, Tables>(columns, segments, kParams);
    else
      list_columns<false, Tables>(columns, segments, kParams);
  }
};

/// How often each byte of a record is covered.
template <class List, class Bytes>
std::vector<int> cover(const List& list, int size, Bytes bytes) {
  std::vector<int> times(size_t(size), 0);
  for (const auto& one : list) bytes(one, [&](int64_t at) { ++times.at(size_t(at)); });
  return times;
}

std::vector<int> cover_segments(const std::vector<Segment>& segments, int size) {
  return cover(segments, size, [](const Segment& s, auto add) {
    for (int64_t at = s.offset; at < s.offset + s.bytes; ++at) add(at);
  });
}
std::vector<int> cover_columns(const std::vector<Column>& columns, int size) {
  return cover(columns, size, [](const Column& c, auto add) {
    for (int64_t row = 0; row < c.rows; ++row)
      for (int64_t k = 0; k < c.bytes; ++k) add(c.offset + row * c.stride + k);
  });
}

}  // namespace

GE_TEST(segments_and_columns_cover_the_same_bytes_once) {
  for (const bool scratch : {false, true}) {
    const Layout layout(scratch);
    const int size = scratch ? kScratchBytes<Tables> : kRecordBytes<Tables>;
    const auto by_segment = cover_segments(layout.segments, size),
               by_column = cover_columns(layout.columns, size);
    CHECK(by_segment == by_column);
    CHECK_EQ(*std::max_element(by_segment.begin(), by_segment.end()), 1);
    CHECK_EQ(size % 8, 0);
  }
}

GE_TEST(bytes_outside_segments_are_few_and_only_for_alignment) {
  const Layout layout(false);
  const auto times = cover_segments(layout.segments, kRecordBytes<Tables>);
  CHECK(std::count(times.begin(), times.end(), 0) < 16);
}

GE_TEST(segments_begin_on_a_multiple_of_their_word) {
  const Layout layout(false);
  for (const Segment& segment : layout.segments) {
    CHECK_EQ(segment.offset % std::max(segment.unit, 4), 0);
    CHECK_EQ(segment.bytes % segment.unit, 0);
  }
}

GE_TEST(transient_components_and_scratch_tables_are_not_in_the_record) {
  const Layout layout(false);
  for (const Column& column : layout.columns)
    for (const char* name :
         {"push_x", "move", "reward", "terminated", "contacts", "rays", "sparks", "work"})
      CHECK(column.name.find(name) == std::string::npos);
}

GE_TEST(words_of_a_block_lie_where_the_record_says) {
  using Cells = ge::Cells<S>;
  constexpr int B = kBlock<S>;
  std::vector<char> memory(size_t((block_bytes<Tables, B>(kParams)))),
      scratch(size_t(kScratchBytes<Tables>) * B);
  Shared<S> shared{};
  shared.params = kParams;
  for (int lane = 0; lane < B; ++lane) {
    const Cells cells{&shared, lane, memory.data(), lane, scratch.data(), B, lane};
    const auto word = [&](int offset, int unit) {
      return memory.data() + offset * B + lane * unit;
    };
    for (const int row : {0, 5}) {
      using arena::Fighters;
      const int body = kOffset<Tables, Fighters, arena::Body> + row * 12;
      CHECK((cells.at<Fighters, arena::Body>(row) == word(body, 4)));
      cells.store<Fighters, arena::Body>(row, {1.0f + float(lane), 2.0f, 3.0f});
      float third;
      std::memcpy(&third, word(body + 8, 4), 4);
      CHECK_EQ(third, 3.0f);
      CHECK_EQ((cells.load<Fighters, arena::Body>(row).x), 1.0f + float(lane));
      const int ammo = kOffset<Tables, Fighters, arena::Ammo> + row * 3;
      cells.store<Fighters, arena::Ammo>(row, {7, 8, uint8_t(lane)});
      CHECK_EQ(int(*word(ammo + 2, 1)), lane);
      const int heat = kOffset<Tables, Fighters, arena::Heat> + row * 16;
      cells.store<Fighters, arena::Heat>(row, {0.5, 0.25 + lane});
      double peak;
      std::memcpy(&peak, word(heat + 8, 8), 8);
      CHECK_EQ(peak, 0.25 + lane);
      CHECK((cells.at<Fighters, arena::Push>(row) ==
             scratch.data() + (kOffset<Tables, Fighters, arena::Push> + row * 8) * B + lane * 4));
    }
  }
}

namespace {
/// `is_apart`: the last column lies aside of the blocks.
template <int B>
void check_round_trip(bool is_apart) {
  const Layout layout(false);
  constexpr int kRecord = kRecordBytes<Tables>;
  constexpr int kWorlds = 45;
  RecordShape shape = record_shape<Tables, B>(kParams);
  CHECK_EQ(shape.bytes_in_block, int64_t{kRecord});
  CHECK_EQ(shape.aside_bytes, int64_t{0});
  if (is_apart) {
    shape.bytes_in_block = layout.segments.back().offset;
    shape.block_bytes = round_up(shape.bytes_in_block * B, 64);
    shape.aside_bytes = round_up((kRecord - shape.bytes_in_block) * B, 64);
  }
  std::vector<char> blocks(size_t(shape.all_bytes(kWorlds))), in(size_t(kRecord) * kWorlds),
      out(in.size());
  const auto covered = cover_segments(layout.segments, kRecord);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = covered[i % kRecord] ? char(draw(1, 2, 3, 4, 5, 6, uint32_t(i), 0).word[0]) : 0;
  char* const aside = blocks.data() + shape.aside_of(kWorlds);
  const RecordBlocks stored{layout.segments, {shape, blocks.data(), aside}};
  pack_records(stored, 0, kWorlds, in.data());
  unpack_records(stored, 0, kWorlds, out.data());
  CHECK(in == out);
  // The layout of design: a word of the canonical record and its place in the block.
  for (const Segment& segment : layout.segments)
    for (int at = segment.offset; at < segment.offset + segment.bytes; at += segment.unit)
      for (const int world : {0, 1, 31, 44}) {
        const bool in_block = at < shape.bytes_in_block;
        const char* const block =
            in_block ? blocks.data() + world / B * shape.block_bytes + int64_t(at) * B
                     : aside + world / B * shape.aside_bytes + (at - shape.bytes_in_block) * B;
        CHECK(std::memcmp(in.data() + world * kRecord + at, block + world % B * segment.unit,
                          size_t(segment.unit)) == 0);
      }
  // One world alone touches no other.
  std::vector<char> one(in.begin() + 7 * kRecord, in.begin() + 8 * kRecord);
  std::fill(blocks.begin(), blocks.end(), 0);
  pack_records(stored, 7, 1, one.data());
  unpack_records(stored, 0, kWorlds, out.data());
  for (int world = 0; world < kWorlds; ++world)
    CHECK_EQ(std::all_of(out.begin() + world * kRecord, out.begin() + (world + 1) * kRecord,
                         [](char c) { return c == 0; }),
             world != 7);
  // The bytes from some place on.
  const int64_t begin = layout.segments.back().offset;
  const RecordBlocks last{layout.segments, stored.place, begin};
  pack_records(stored, 0, kWorlds, in.data());
  unpack_records(last, 0, kWorlds, out.data());
  for (int world = 0; world < kWorlds; ++world)
    CHECK(std::memcmp(out.data() + world * (kRecord - begin), in.data() + world * kRecord + begin,
                      size_t(kRecord - begin)) == 0);
}
}  // namespace

GE_TEST(records_of_any_block_size_come_back_from_their_block) {
  for (const bool is_apart : {false, true}) {
    check_round_trip<1>(is_apart);
    check_round_trip<16>(is_apart);
    check_round_trip<32>(is_apart);
  }
}

GE_TEST(blocks_are_whole_cache_lines) {
  CHECK_EQ((block_bytes<Tables, 1>(kParams) % 64), 0);
  CHECK_EQ((block_bytes<Tables, 16>(kParams) % 64), 0);
}

GE_TEST(columns_read_what_was_set_in_the_listed_worlds_only) {
  Config config;
  config.worlds = 20;
  Simulation simulation("Arena-v0", config);
  simulation.reset(1);
  const auto before = simulation.get<uint8_t>("fighters.cooldown");
  simulation.set<uint8_t>("fighters.cooldown", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {19, 3});
  auto expected = before;
  for (size_t row = 0; row < 6; ++row)
    expected[19 * 6 + row] = uint8_t(1 + row), expected[3 * 6 + row] = uint8_t(7 + row);
  CHECK(simulation.get<uint8_t>("fighters.cooldown") == expected);
}

GE_TEST(columns_that_do_not_exist_are_refused_with_those_that_do) {
  Config config;
  Simulation simulation("Arena-v0", config);
  CHECK_THROWS(simulation.get<float>("fighters.wings"), Error,
               "unknown column 'fighters.wings'; there are: world.");
  const float value[6] = {};
  const std::vector<int64_t> worlds{1};
  CHECK_THROWS(set_column(*simulation, find_column(*simulation, "fighters.x"), value, worlds),
               Error, "set: world 1 is not one of 0 to 0");
}

// Columns of tables whose number of rows is known at run time only lie behind all others.
GE_TEST(columns_of_any_number_of_rows_do_not_overlap) {
  namespace herd = gpu_envs::envs::herd;
  using Herd = AllTables<herd::Schema>;
  for (const int count : {1, 2, 7, 1000}) {
    herd::Params params;
    params.beast_count = count;
    for (const bool scratch : {false, true}) {
      std::vector<Column> columns;
      std::vector<Segment> segments;
      if (scratch)
        list_columns<true, Herd>(columns, segments, params);
      else
        list_columns<false, Herd>(columns, segments, params);
      const int64_t size = scratch ? scratch_bytes<Herd>(params) : record_bytes<Herd>(params);
      const auto by_segment = cover_segments(segments, int(size)),
                 by_column = cover_columns(columns, int(size));
      CHECK(by_segment == by_column);
      CHECK_EQ(*std::max_element(by_segment.begin(), by_segment.end()), 1);
      CHECK_EQ(size % 8, 0);
    }
    CHECK_EQ((any_offset<Herd, herd::Beasts, herd::Spot>(params)), kRecordBytes<Herd>);
  }
}

// ---- scratch memory that tables share

namespace {

struct Word {
  uint32_t value;
  static constexpr auto describe() { return fields(field("value", &Word::value, "any")); }
};
template <int N, int kLifetime>
struct Scratch : Fixed<N, Word> {
  static constexpr const char* name = "scratch";
  static constexpr bool scratch = true;
  static constexpr int lifetime = kLifetime;
};
struct Late : List<6, Word> {
  static constexpr const char* name = "late";
  static constexpr bool scratch = true;
  static constexpr int lifetime = 2;
};
using Sharing = Types<Scratch<10, 1>, Scratch<2, 0>, Late, Scratch<4, 1>>;

}  // namespace

GE_TEST(tables_of_two_lifetimes_share_memory_behind_what_is_always_there) {
  // Two words and the length of the list, which is always there, up to a multiple of 8.
  constexpr int begin = 16;
  CHECK_EQ((kOffset<Sharing, Scratch<2, 0>, Word>), 0);
  CHECK_EQ((kOffset<Sharing, Late, void>), 8);
  CHECK_EQ((kOffset<Sharing, Scratch<10, 1>, Word>), begin);
  CHECK_EQ((kOffset<Sharing, Scratch<4, 1>, Word>), begin + 40);
  CHECK_EQ((kOffset<Sharing, Late, Word>), begin);
  CHECK_EQ(kScratchBytes<Sharing>, begin + 56);
}
GE_TEST(phase_has_the_scratch_memory_of_the_lifetimes_that_it_names) {
  CHECK_EQ(scratch_of_lifetimes<Sharing>(0), 16);
  CHECK_EQ(scratch_of_lifetimes<Sharing>(1u << 1), 16 + 56);
  CHECK_EQ(scratch_of_lifetimes<Sharing>(1u << 2), 16 + 24);
  CHECK_EQ(scratch_of_lifetimes<Sharing>(1u << 1 | 1u << 2), kScratchBytes<Sharing>);
}
GE_TEST(one_lifetime_lies_between_two_offsets) {
  // Both tables of lifetime 1, the second from 40 bytes on.
  CHECK_EQ(lifetime_in_scratch<Sharing>(1).first, 16);
  CHECK_EQ(lifetime_in_scratch<Sharing>(1).end, 16 + 56);
  CHECK_EQ(lifetime_in_scratch<Sharing>(2).first, 16);
  CHECK_EQ(lifetime_in_scratch<Sharing>(2).end, 16 + 24);
}
