// The rules of Rearrange on levels laid out by hand: where objects are put down, what is in place,
// who is paid, the end; and arrangements as they are drawn.
#include <map>
#include <set>

#include "playground.hpp"

using namespace ge;
using namespace ge::test;

namespace {

constexpr int kModelX = 5, kWorkX = 13, kMiddleY = 8, kFloor = 2;
constexpr size_t kObjectRows = 18;
enum Part { kMatch, kAll, kLift, kParts };

/// Two objects out of place, in opposite corners of the working area.
const std::string kTwo =
    "object drum red 0 0 0 at -2 -2 0; object ball green 1 0 0 at 2 -2 0; agent 13.5 5.2 2;";

class Room : public Playground {
 public:
  explicit Room(const std::string& layout, Values parameters = {},
                Autoreset autoreset = Autoreset::disabled)
      : Playground("Rearrange-v0", parameters, layout, autoreset) {}
  float part(int agent, Part which) const {
    return out<float>(kRewardParts)[size_t(kParts * agent + which)];
  }
  int size() const { return word("task.object_count"); }
  int best() const { return word("task.best"); }
  /// Takes the object that stands alone at a place of the working area.
  void take(int x, int y, const std::string& others = "") {
    stand(float(kWorkX + x) + 0.5f, float(kMiddleY + y) - 0.5f, float(kFloor) + 0.06f);
    act("i" + others);
    CHECK(carries() >= 0);
  }
  /// Lets it fall onto a place.
  void give(int x, int y, const std::string& others = "") {
    stand(float(kWorkX + x) + 0.5f, float(kMiddleY + y) - 0.5f, 5.75f);
    act("i" + others);
  }
};

void check_layout(const std::string& layout, const char* message) {
  CHECK_THROWS(Room{layout}, Error, message);
}

}  // namespace

GE_TEST(objects_are_put_down_in_the_working_area_alone) {
  Room room("object block grey 0 -1 0 at -2 2 0;" + kTwo);
  room.take(2, -2);
  for (int x = -4; x <= 4; ++x)
    for (int y = -4; y <= 4; ++y) {
      if (x == -2 && y == -1) continue;  // a body that reaches there stands in the drum
      room.give(x, y);
      const bool inside = std::max(std::abs(x), std::abs(y)) <= 2;
      CHECK_EQ(room.carries() == -1, inside);
      if (!inside) continue;
      const bool on_another = (x == -2 && std::abs(y) == 2);
      CHECK(room.box_is_at(5, kWorkX + x, kMiddleY + y, kFloor + (on_another ? 1 : 0)));
      room.stand(float(kWorkX + x) + 0.5f, float(kMiddleY + y) - 0.5f, on_another ? 3.06f : 2.06f);
      room.act("i");
      CHECK_EQ(room.carries(), 5);
    }
}

GE_TEST(objects_of_the_model_cannot_be_lifted) {
  Room room(kTwo);
  room.stand(float(kModelX) + 0.5f, float(kMiddleY) - 0.5f, 2.06f);
  room.act("i", 3);
  CHECK_EQ(room.carries(), -1);
}

GE_TEST(objects_in_place_are_paid_when_they_are_more_than_ever) {
  Room room(kTwo);
  CHECK_EQ(room.size(), 2);
  CHECK_EQ(room.best(), 0);
  room.take(-2, -2);
  CHECK_EQ(room.paid(), 0.0f);
  room.give(0, 0);
  CHECK_EQ(room.part(0, kMatch), 1.0f);
  CHECK_EQ(room.part(0, kAll), 0.0f);
  room.take(0, 0);
  CHECK_EQ(room.paid(), 0.0f);
  room.give(0, 0);
  CHECK_EQ(room.paid(), 0.0f);
  CHECK_EQ(room.best(), 1);
}

GE_TEST(the_first_lift_of_an_object_out_of_place_is_paid) {
  Room room("object block grey 0 -1 0;" + kTwo, {{"lift_reward", 0.5}});
  room.take(0, -1);
  CHECK_EQ(room.paid(), 0.0f);  // it was in place
  room.give(0, -2);
  room.take(0, -2);
  CHECK_EQ(room.paid(), 0.0f);  // it was lifted before
  room.give(0, -2);
  room.take(2, -2);
  CHECK_EQ(room.part(0, kLift), 0.5f);
  CHECK_EQ(room.paid(), 0.5f);
  room.give(2, -2);
  room.take(2, -2);
  CHECK_EQ(room.paid(), 0.0f);
}

GE_TEST(all_objects_in_place_are_paid_once_and_end_the_episode) {
  Room room(kTwo);
  room.take(-2, -2);
  room.give(0, 0);
  room.take(2, -2);
  room.give(1, 0);
  CHECK_EQ(room.part(0, kMatch), 1.0f);
  CHECK_EQ(room.part(0, kAll), 10.0f);
  CHECK_EQ(room.word("task.solved"), 1);
  room.take(1, 0);
  room.give(1, 0);
  CHECK_EQ(room.paid(), 0.0f);
  room.act("-");
  CHECK(!room.done());
  room.act("-");
  CHECK(room.done());
}

GE_TEST(twins_stand_for_each_other_and_others_do_not) {
  const struct {
    const char* second;
    int best;
  } cases[] = {{"ball green", 2}, {"ball red", 0}, {"block green", 0}};
  for (const auto& one : cases) {
    Room room("object ball green 0 0 0 at -2 0 0; object " + std::string(one.second) +
              " 1 0 0 at 2 0 0; agent 13.5 5.2 2");
    room.take(-2, 0);
    room.give(1, 0);
    room.take(2, 0);
    room.give(0, 0);
    CHECK_EQ(room.best(), one.best);
    CHECK_EQ(room.word("task.solved"), one.best == 2 ? 1 : 0);
  }
}

GE_TEST(team_spirit_divides_rewards_but_not_their_sum) {
  for (const int agents : {1, 2, 4})
    for (const double spirit : {0.0, 0.1, 1.0}) {
      std::string layout = kTwo, others;
      for (int k = 1; k < agents; ++k) {
        layout += "agent " + std::to_string(8.5 + k) + " 2.5 1.5;";
        others += " -";
      }
      Room room(layout, {{"agent_count", int64_t{agents}}, {"team_spirit", spirit}});
      room.take(-2, -2, others);
      room.give(0, 0, others);
      room.take(2, -2, others);
      room.give(1, 0, others);
      double matches = 0, alls = 0;
      for (int agent = 0; agent < agents; ++agent) {
        const double share = (agent == 0 ? 1 - spirit : 0) + spirit / agents;
        check_near("match", room.part(agent, kMatch), share, 1e-6);
        check_near("all", room.part(agent, kAll), 10 * share, 1e-5);
        matches += room.part(agent, kMatch), alls += room.part(agent, kAll);
      }
      check_near("sum of matches", matches, 1, 1e-6);
      check_near("sum of all", alls, 10, 1e-5);
    }
}

GE_TEST(episode_without_success_ends_with_its_time) {
  Room room(kTwo + "seconds 1");
  for (int step = 1; step <= 15; ++step) {
    room.act("fj");
    CHECK_EQ(room.done(), step == 15);
  }
  CHECK_EQ(room.word("task.solved"), 0);
  CHECK_EQ(Room("").word("task.length"), 900);
}

GE_TEST(impossible_layouts_are_refused_by_what_is_wrong) {
  const std::string good = "object ball green 0 0 0 at 2 2 0; object drum red 1 0 0;";
  check_layout(good + "floor 0 0 0 5 5 0", "known are object, walls, agent, seconds");
  check_layout(good + "agent 13.5 8.5 1.8", "agent 0 is inside of the floor or a pedestal");
  check_layout(good + "agent 15.5 10.5 2.06", "agent 0 is inside of an object of the copy");
  check_layout(good + "agent 5.5 8.5 2.06", "agent 0 is inside of an object of the model");
  check_layout(good + "agent 1.1 5 3", "agent 0 is inside of a wall");
  check_layout("object ball green 0 0 0; object drum red 1 0 0; agent 9.5 2.5 1.5",
               "every object is in its place already");
}

GE_TEST(arrangements_rest_on_something_and_their_copies_are_partly_out_of_place) {
  constexpr int64_t kWorlds = 2000;
  Config config;
  config.worlds = kWorlds;
  config.parameters = {{"resolution", "1x1"}};
  Simulation levels("Rearrange-v0", config);
  levels.reset(1);
  const auto cells = levels.get<int32_t>("crates.cell");
  const auto sizes = levels.get<int32_t>("task.object_count");
  const auto bests = levels.get<int32_t>("task.best");
  std::map<int, int> found;
  for (size_t world = 0; world < size_t(kWorlds); ++world) {
    const int size = sizes[world];
    ++found[size];
    std::set<std::tuple<int, int, int>> model, copy;
    int same = 0;
    for (int k = 0; k < size; ++k) {
      const int32_t* const a = &cells[3 * (world * kObjectRows + size_t(k))];
      const int32_t* const b = &cells[3 * (world * kObjectRows + size_t(size + k))];
      const std::tuple<int, int, int> first{a[0] - kModelX, a[1] - kMiddleY, a[2] - kFloor};
      const std::tuple<int, int, int> second{b[0] - kWorkX, b[1] - kMiddleY, b[2] - kFloor};
      CHECK(model.insert(first).second && copy.insert(second).second);
      CHECK(std::abs(std::get<0>(first)) <= 1 && std::abs(std::get<1>(first)) <= 1);
      CHECK(std::abs(std::get<0>(second)) <= 2 && std::abs(std::get<1>(second)) <= 2);
      same += first == second;
    }
    for (const auto& places : {model, copy})
      for (const auto& [x, y, z] : places)
        CHECK(z == 0 || (z == 1 && places.count({x, y, 0}) == 1));
    CHECK_EQ(same, bests[world]);
    CHECK(same < size);
  }
  CHECK_EQ(found.size(), size_t{6});
  CHECK_EQ(found.begin()->first, 2);
}
