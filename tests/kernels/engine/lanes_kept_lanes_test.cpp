// For how many lanes per world a phase is compiled (cuda/lanes_kept.hpp): one number, and those
// that a tuning table names.
#include "engine/checking/lanes_entry.hpp"
//
#include "test.hpp"

namespace {

using namespace ge;

struct Push {
  int32_t by;
  static constexpr bool transient = true;
  static constexpr auto describe() { return fields(field("by", &Push::by, "how far").one_of(3)); }
};
struct Place {
  int32_t at;
  static constexpr auto describe() { return fields(field("at", &Place::at, "where it is")); }
};
template <int N>
struct Walkers : Agents<N, Place, Push> {
  static constexpr const char* name = "walkers";
};
template <int N>
struct Schema {
  using Params = None;
  using Action = Push;
  using Agent = Walkers<N>;
  using tables = Types<Agent>;
};
template <int N>
GE_FN void walk(const World<Schema<N>>&, Place& place) {
  place.at += 1;
}
template <int N>
GE_FN void walk_together(const World<Schema<N>>&, const Squad&, Place& place) {
  place.at += 1;
}
template <int N>
struct Environment {
  using Schema = ::Schema<N>;
};

template <int N, class L, class... X>
constexpr int own(Phase<"step", L, X...> phase = {}) {
  return own_lanes<Environment<N>>(phase);
}
using Usual = Lanes<1, 8, 32>;

using Small = Environment<8>;
using Large = Environment<1000>;
using Made = Builds<Build<"Walk-v0", Small, Large>, Build<"Run-v0", Large>>;
constexpr cuda::Tuning kRows[] = {
    {"Walk-v0", 0, "step", 90, 8192, 8, 64, true}, {"Walk-v0", 0, "step", 80, 0, 8, 64, true},
    {"Walk-v0", 0, "step", 90, 0, 32, 64, true},   {"Walk-v0", 1, "step", 90, 0, 1, 64, true},
    {"Walk-v0", 0, "renew", 90, 0, 2, 64, true},   {"Crawl-v0", 0, "step", 90, 0, 16, 64, true},
    {"Run-v0", 0, "step", 90, 0, 4, 64, true},
};
template <class E, Name kPhase>
std::vector<int> tuned() {
  constexpr LaneCounts found = tuned_lanes<E, kPhase, kRows>(Made{});
  std::vector<int> lanes;
  for (const int each : found.at)
    if (each != 0) lanes.push_back(each);
  return lanes;
}

}  // namespace

GE_TEST(worlds_of_one_row_have_one_lane_where_it_is_listed) {
  CHECK_EQ((own<1, Lanes<8, 1, 32>, Each<&walk<1>>>()), 1);
  CHECK_EQ((own<1, Lanes<8, 32>, Each<&walk<1>>>()), 8);
  CHECK_EQ((own<1, Lanes<8, 1, 32>, EachTogether<&walk_together<1>>>()), 8);  // lanes share the row
}
GE_TEST(small_worlds_have_the_first_number_that_is_listed) {
  CHECK_EQ((own<8, Usual, Each<&walk<8>>>()), 1);
  CHECK_EQ((own<8, Lanes<8, 1, 32>, Each<&walk<8>>>()), 8);
  CHECK_EQ((own<kAny, Lanes<128, 32>, Each<&walk<kAny>>>()), 128);
}
GE_TEST(large_worlds_are_few_and_have_as_many_lanes_as_leave_room_on_a_gpu) {
  CHECK_EQ((own<200, Usual, Each<&walk<200>>>()), 1);  // 5,242 worlds
  CHECK_EQ((own<256, Usual, Each<&walk<256>>>()), 8);  // 4,096: 32,768 lanes of 33,792
  CHECK_EQ((own<1000, Usual, Each<&walk<1000>>>()), 32);
  CHECK_EQ((own<1000, Lanes<32, 1>, Each<&walk<1000>>>()), 32);
}
GE_TEST(lanes_that_a_row_of_the_table_names_are_kept_for_that_phase_and_tier) {
  CHECK((tuned<Small, "step">() == std::vector{8, 32}));
  CHECK((tuned<Large, "step">() == std::vector{1, 4}));  // of each id that it is a tier of
  CHECK((tuned<Small, "renew">() == std::vector{2}));
  CHECK((tuned<Small, "observe">().empty()));
  CHECK(keeps_lanes<LaneCounts(8, 32)>(32));
  CHECK(!keeps_lanes<LaneCounts(8, 32)>(1));
  CHECK(!keeps_lanes<LaneCounts(0)>(8));
}
