// Overcooked, one rule per test, in kitchens laid out by hand. Layouts, random starts and what is
// refused: tests/envs/test_overcooked*.py.
#include "kitchen.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(dispensers_give_to_empty_hands_alone) {
  Kitchen k(small());
  k.place(0, 1, 1, kWest), k.place(1, 3, 1, kEast);
  k.step("II");
  CHECK_EQ(k.held(0), kOnion);
  CHECK_EQ(k.held(1), kTomato);
  k.place(0, 1, 2, kWest, kOnion);
  k.step("I.");
  CHECK_EQ(k.held(0), kOnion);
  k.place(0, 1, 2, kWest);
  k.step("I.");
  CHECK_EQ(k.held(0), kDish);
  k.step("I.");
  CHECK_EQ(k.held(0), kDish);
  CHECK_EQ(k.shaped(0), 0.0f);
}

GE_TEST(counter_takes_one_thing_and_gives_it_back) {
  for (const int thing : {int(kOnion), int(kTomato), int(kDish), kSoup + 9}) {
    Kitchen k(small());
    k.place(0, 1, 1, kNorth, thing), k.place(1, 2, 2, kSouth, kOnion);
    k.step("I.");
    CHECK_EQ(k.held(0), kNothing);
    CHECK_EQ(k.item(1, 0), thing);
    k.place(0, 1, 1, kNorth, kDish);
    k.step("I.");  // occupied
    CHECK_EQ(k.held(0), kDish);
    CHECK_EQ(k.item(1, 0), thing);
    k.place(0, 1, 1, kNorth);
    k.step("I.");
    CHECK_EQ(k.held(0), thing);
    CHECK_EQ(k.item(1, 0), kNothing);
    CHECK_EQ(k.reward(0), 0.0f);
  }
}

GE_TEST(floor_and_chefs_in_front_take_nothing) {
  Kitchen k(small());
  k.place(0, 1, 1, kEast, kOnion), k.place(1, 2, 1, kSouth);
  k.step("II");
  CHECK_EQ(k.held(0), kOnion);
  CHECK_EQ(k.held(1), kNothing);
}

GE_TEST(pot_takes_three_ingredients_and_refuses_a_fourth) {
  Kitchen k(small());
  for (int n = 1; n <= 3; ++n) {
    k.place(0, 2, 1, kNorth, n == 2 ? kTomato : kOnion);
    k.step("I.");
    CHECK_EQ(k.held(0), kNothing);
    CHECK_EQ(k.shaped(0), 3.0f);
    CHECK_EQ(k.shaped(1), 0.0f);
  }
  CHECK_EQ(k.item(2, 0), kOpen + 9);
  k.place(0, 2, 1, kNorth, kOnion);
  k.step("I.");
  CHECK_EQ(k.held(0), kOnion);
  CHECK_EQ(k.reward(0), 0.0f);
  for (const int left : {7, 0}) {  // cooking, ready
    k.put(2, 0, kSoup + 8, left);
    k.step("I.");
    CHECK_EQ(k.held(0), kOnion);
    CHECK_EQ(k.item(2, 0), kSoup + 8);
  }
}

GE_TEST(new_dynamics_empty_hands_start_any_filled_pot) {
  for (const int recipe : {4, 1, 5, 12, 3}) {
    Kitchen k(small());
    k.place(0, 2, 1, kNorth);
    k.step("I.");  // an empty pot
    CHECK_EQ(k.item(2, 0), kNothing);
    k.put(2, 0, kOpen + recipe);
    k.steps(3, "..");
    CHECK_EQ(k.item(2, 0), kOpen + recipe);
    k.step("I.");
    CHECK_EQ(k.item(2, 0), kSoup + recipe);
    CHECK_EQ(k.left(2, 0), 19);
    k.step("I.");  // does not start again
    CHECK_EQ(k.left(2, 0), 18);
    k.steps(18, "..");
    CHECK_EQ(k.left(2, 0), 0);
    k.step("I.");
    CHECK_EQ(k.held(0), kNothing);
  }
}

GE_TEST(old_dynamics_the_third_ingredient_starts_the_pot) {
  Kitchen k(small({{"dynamics", std::string("old")}}));
  k.put(2, 0, kOpen + 8);
  k.place(0, 2, 1, kNorth);
  k.step("I.");
  CHECK_EQ(k.item(2, 0), kOpen + 8);
  k.place(0, 2, 1, kNorth, kOnion);
  k.step("I.");
  CHECK_EQ(k.item(2, 0), kSoup + 12);
  CHECK_EQ(k.left(2, 0), 19);
}

GE_TEST(dish_becomes_the_soup_of_a_ready_pot_only) {
  Kitchen k(small());
  k.place(0, 2, 1, kNorth, kDish);
  for (const int item : {int(kNothing), kOpen + 12, kSoup + 12}) {
    k.put(2, 0, item, item >= kSoup ? 5 : 0);
    k.step("I.");
    CHECK_EQ(k.held(0), kDish);
    CHECK_EQ(k.reward(0), 0.0f);
  }
  k.put(2, 0, kSoup + 12, 0);
  k.step("I.");
  CHECK_EQ(k.held(0), kSoup + 12);
  CHECK_EQ(k.item(2, 0), kNothing);
  CHECK_EQ(k.shaped(0), 5.0f);
  CHECK_EQ(k.reward(1), 0.0f);
  k.step("I.");  // a soup does not go back
  CHECK_EQ(k.held(0), kSoup + 12);
}

GE_TEST(window_takes_soups_and_pays_everybody) {
  Kitchen k(small({{"orders", std::string("OOO,OT")}}));
  k.place(0, 3, 2, kEast, kOnion);
  k.step("I.");
  CHECK_EQ(k.held(0), kOnion);
  for (const int recipe : {12, 5, 8}) {
    k.place(0, 3, 2, kEast, kSoup + recipe);
    k.step("I.");
    CHECK_EQ(k.held(0), kNothing);
    const float paid = recipe == 8 ? 0.0f : 20.0f;  // not ordered: gone all the same
    CHECK_EQ(k.sparse(0), paid);
    CHECK_EQ(k.sparse(1), paid);
    CHECK_EQ(k.reward(1), paid);
  }
  CHECK_EQ(k.world.get<int32_t>("board.score")[0], 40);
  CHECK_EQ(k.world.get<int32_t>("board.soups")[0], 2);
}

GE_TEST(values_and_times_follow_the_ingredients_and_the_bonus) {
  Kitchen k(small({{"orders", std::string("OT,OOO")},
                   {"bonus_orders", std::string("OT")},
                   {"onion_value", int64_t{21}},
                   {"tomato_value", int64_t{13}},
                   {"onion_time", int64_t{15}},
                   {"tomato_time", int64_t{7}}}));
  k.place(0, 3, 2, kEast, kSoup + 5);
  k.step("I.");
  CHECK_EQ(k.sparse(), 68.0f);
  k.place(0, 3, 2, kEast, kSoup + 12);
  k.step("I.");
  CHECK_EQ(k.sparse(), 63.0f);
  k.put(2, 0, kOpen + 5);
  k.place(0, 2, 1, kNorth);
  k.step("I.");
  CHECK_EQ(k.left(2, 0), 21);
}

GE_TEST(lists_of_values_and_times_belong_to_the_orders_and_yield_to_one_for_all) {
  const Values lists = {{"orders", std::string("OOO, OT")},
                        {"recipe_values", std::string("9, 8")},
                        {"recipe_times", std::string("5,0")}};
  Kitchen k(small(lists));
  k.place(0, 3, 2, kEast, kSoup + 5);
  k.step("I.");
  CHECK_EQ(k.sparse(), 8.0f);
  k.place(0, 2, 1, kNorth);
  for (const auto& [recipe, left] : {std::pair{12, 4}, {5, 0}, {8, 19}}) {
    k.put(2, 0, kOpen + recipe);
    k.step("I.");
    CHECK_EQ(k.left(2, 0), left);
  }
  Values all = lists;
  all["delivery_reward"] = int64_t{7}, all["cook_time"] = int64_t{3};
  Kitchen one(small(all));
  one.place(0, 3, 2, kEast, kSoup + 5);
  one.step("I.");
  CHECK_EQ(one.sparse(), 7.0f);
  one.place(0, 2, 1, kNorth);
  one.put(2, 0, kOpen + 12);
  one.step("I.");
  CHECK_EQ(one.left(2, 0), 2);
}

GE_TEST(dish_pays_while_pots_need_more_than_there_are) {
  const auto pays = [](int pot, int counter, int other) {
    Kitchen k(small());
    k.put(2, 0, pot), k.put(1, 0, counter);
    k.place(0, 1, 2, kWest), k.place(1, 3, 2, kSouth, other);
    k.step("I.");
    return k.shaped(0);
  };
  CHECK_EQ(pays(kNothing, kNothing, kNothing), 0.0f);
  for (const int pot : {kOpen + 4, kOpen + 8, kSoup + 12}) {
    CHECK_EQ(pays(pot, kNothing, kNothing), 3.0f);
    CHECK_EQ(pays(pot, kNothing, kOnion), 3.0f);
    CHECK_EQ(pays(pot, kNothing, kDish), 0.0f);
    CHECK_EQ(pays(pot, kDish, kNothing), 0.0f);
    CHECK_EQ(pays(pot, kOnion, kNothing), 3.0f);
  }
  CHECK_EQ(pays(kOpen + 12, kNothing, kNothing), 0.0f);  // full, but nobody has started it
}

GE_TEST(dish_bonus_counts_pots_as_the_step_found_them) {
  Kitchen k(small());
  k.place(0, 2, 1, kNorth, kOnion), k.place(1, 1, 2, kWest);
  k.step("II");  // the pot was empty when the step began
  CHECK_EQ(k.shaped(0), 3.0f);
  CHECK_EQ(k.shaped(1), 0.0f);
  // Dishes are counted as they are: the first takes the bonus, the second sees the first's dish.
  Kitchen both({{"layout", std::string("XXPXX\nD1 2D\nO   S\nXXXXX")}});
  both.put(2, 0, kOpen + 4);
  both.place(0, 1, 1, kWest), both.place(1, 3, 1, kEast);
  both.step("II");
  CHECK_EQ(both.shaped(0), 3.0f);
  CHECK_EQ(both.shaped(1), 0.0f);
}

GE_TEST(dish_bonus_is_for_two_chefs) {
  for (const int64_t chefs : {1, 3}) {
    Kitchen k(small({{"player_count", chefs}, {"extra_starts", true}}));
    k.put(2, 0, kOpen + 4);
    k.place(0, 1, 2, kWest);
    k.step(std::string(chefs == 1 ? "I" : "I.."));
    CHECK_EQ(k.held(0), kDish);
    CHECK_EQ(k.shaped(0), 0.0f);
  }
}

GE_TEST(interactions_run_in_the_order_of_players) {
  const std::string ring = "coordination_ring";
  Kitchen k({{"layout", ring}});
  k.place(0, 1, 2, kEast, kOnion), k.place(1, 3, 2, kWest);
  k.step("II");
  CHECK_EQ(k.held(0), kNothing);
  CHECK_EQ(k.held(1), kOnion);
  k.place(0, 1, 2, kEast), k.place(1, 3, 2, kWest, kOnion);
  k.step("II");
  CHECK_EQ(k.held(0), kNothing);
  CHECK_EQ(k.held(1), kNothing);
  CHECK_EQ(k.item(2, 2), kOnion);
}

GE_TEST(interaction_aims_from_before_the_movement) {
  Kitchen k(small());
  k.place(0, 1, 1, kWest), k.place(1, 3, 2, kNorth);
  k.step("IN");
  CHECK_EQ(k.held(0), kOnion);
  CHECK(k.stands(1, 3, 1));
}

GE_TEST(walking_into_a_counter_turns_only) {
  Kitchen k(small());
  k.place(0, 1, 1, kSouth), k.place(1, 3, 2, kNorth);
  k.step("N.");
  CHECK(k.stands(0, 1, 1));
  CHECK_EQ(k.facing(0), kNorth);
  k.step("E.");
  CHECK(k.stands(0, 2, 1));
  CHECK_EQ(k.facing(0), kEast);
}

GE_TEST(two_who_want_one_cell_stay_and_turn) {
  Kitchen k(small());
  k.place(0, 1, 1, kNorth), k.place(1, 3, 1, kNorth);
  k.step("EW");
  CHECK(k.stands(0, 1, 1) && k.stands(1, 3, 1));
  CHECK_EQ(k.facing(0), kEast);
  CHECK_EQ(k.facing(1), kWest);
}

GE_TEST(swaps_are_blocked_and_followers_move) {
  for (const auto& [dx, dy, there, back] : {std::tuple{1, 0, "E", "W"}, {0, 1, "S", "N"}}) {
    Kitchen k(small());
    k.place(0, 1, 1, kNorth), k.place(1, 1 + dx, 1 + dy, kNorth);
    k.step(std::string(there) + back);
    CHECK(k.stands(0, 1, 1) && k.stands(1, 1 + dx, 1 + dy));
  }
  Kitchen k(small());
  k.place(0, 1, 1, kNorth), k.place(1, 2, 1, kNorth);
  k.step("EE");
  CHECK(k.stands(0, 2, 1) && k.stands(1, 3, 1));
  k.step("E.");  // into one who stays
  CHECK(k.stands(0, 2, 1) && k.stands(1, 3, 1));
}

GE_TEST(one_collision_freezes_everybody) {
  Kitchen k(small({{"player_count", int64_t{4}}, {"extra_starts", true}}));
  const auto line_up = [&] {
    k.place(0, 1, 1, kNorth), k.place(1, 3, 1, kNorth);
    k.place(2, 1, 2, kNorth), k.place(3, 3, 2, kNorth);
  };
  line_up();
  k.step("EWE.");
  CHECK(k.stands(0, 1, 1) && k.stands(1, 3, 1) && k.stands(2, 1, 2) && k.stands(3, 3, 2));
  CHECK_EQ(k.facing(2), kEast);
  line_up();
  k.step("E.E.");
  CHECK(k.stands(0, 2, 1) && k.stands(2, 2, 2));
}

GE_TEST(rings_of_four_rotate) {
  Kitchen k(small({{"player_count", int64_t{4}}, {"extra_starts", true}}));
  k.place(0, 1, 1, kNorth), k.place(1, 2, 1, kNorth);
  k.place(2, 2, 2, kNorth), k.place(3, 1, 2, kNorth);
  k.step("ESWN");
  CHECK(k.stands(0, 2, 1) && k.stands(1, 2, 2) && k.stands(2, 1, 2) && k.stands(3, 1, 1));
}

GE_TEST(first_observation_of_cramped_room_is_as_specified) {
  Kitchen k({});
  CHECK_EQ(k.planes, 26);
  int ones = 0;
  for (const uint8_t value : k.world.out<uint8_t>(kObservation)) ones += value;
  CHECK_EQ(ones, 2 * (4 + 1 + 9 + 2 + 1 + 1));
  for (const int me : {0, 1}) {
    CHECK_EQ(k.plane(me, 1, 2, me == 0 ? 0 : 1), 1);
    CHECK_EQ(k.plane(me, 3, 1, me == 0 ? 1 : 0), 1);
    CHECK_EQ(k.plane(me, 1, 2, me == 0 ? 2 : 6), 1);
    CHECK_EQ(k.plane(me, 3, 1, me == 0 ? 6 : 2), 1);
    CHECK_EQ(k.seen(me, 2, 0, 0), 1);
    CHECK_EQ(k.seen(me, 0, 0, 1), 1);
    CHECK_EQ(k.seen(me, 0, 1, 2), 1);
    CHECK_EQ(k.seen(me, 4, 1, 2), 1);
    CHECK_EQ(k.seen(me, 1, 3, 4), 1);
    CHECK_EQ(k.seen(me, 3, 3, 5), 1);
  }
}

GE_TEST(planes_show_what_lies_and_what_is_held) {
  Kitchen k(small());
  k.put(2, 0, kOpen + 9), k.put(1, 0, kSoup + 6), k.put(1, 3, kTomato);
  k.place(0, 1, 1, kNorth, kDish), k.place(1, 3, 2, kWest, kSoup + 1);
  k.step("..");
  CHECK_EQ(k.seen(0, 2, 0, 6), 2);  // onions and tomatoes of an open pot
  CHECK_EQ(k.seen(0, 2, 0, 7), 1);
  CHECK_EQ(k.seen(0, 1, 0, 8), 1);  // of a soup
  CHECK_EQ(k.seen(0, 1, 0, 9), 2);
  CHECK_EQ(k.seen(0, 1, 0, 10), 0);
  CHECK_EQ(k.seen(0, 1, 0, 11), 1);
  CHECK_EQ(k.seen(0, 1, 3, 14), 1);  // tomato
  CHECK_EQ(k.seen(0, 1, 1, 12), 1);  // dish
  CHECK_EQ(k.seen(1, 3, 2, 9), 1);
  CHECK_EQ(k.seen(1, 3, 2, 11), 1);
  k.put(2, 0, kSoup + 9, 13);
  k.step("..");
  CHECK_EQ(k.seen(0, 2, 0, 6), 0);
  CHECK_EQ(k.seen(0, 2, 0, 8), 2);
  CHECK_EQ(k.seen(0, 2, 0, 10), 12);
  CHECK_EQ(k.seen(0, 2, 0, 11), 0);
}

GE_TEST(encoding_of_20_planes_shows_onions_and_time_cooked) {
  Kitchen k({{"encoding", std::string("lossless20")}});
  CHECK_EQ(k.planes, 20);
  k.put(2, 0, kOpen + 8), k.put(1, 0, kSoup + 12), k.put(3, 0, kOnion);
  k.place(0, 1, 2, kNorth, kDish);
  k.step("..");
  CHECK_EQ(k.seen(0, 2, 0, 5), 2);
  CHECK_EQ(k.seen(0, 2, 0, 6), 0);
  CHECK_EQ(k.seen(0, 1, 0, 7), 1);
  CHECK_EQ(k.seen(0, 1, 2, 8), 1);
  CHECK_EQ(k.seen(0, 3, 0, 9), 1);
  CHECK_EQ(k.seen(0, 1, 3, 3), 1);
  CHECK_EQ(k.seen(0, 3, 3, 4), 1);
  k.put(2, 0, kSoup + 12, 14);
  k.step("..");
  CHECK_EQ(k.seen(0, 2, 0, 5), 3);
  CHECK_EQ(k.seen(0, 2, 0, 6), 7);
  CHECK_EQ(k.seen(0, 2, 0, 7), 0);
}

GE_TEST(urgency_turns_on_in_the_last_forty_steps) {
  for (const int64_t horizon : {100, 400, 0, 30}) {
    Kitchen k({}, horizon);
    for (int step = 0; step < (horizon == 0 ? 450 : int(horizon)); ++step) {
      const int urgent = horizon != 0 && horizon - step < 40 ? 1 : 0;
      for (const int x : {0, 2, 4}) CHECK_EQ(k.seen(1, x, 3, 15), urgent);
      k.step("..");
      CHECK_EQ(int(k.world.truncated()[0]), step + 1 == horizon ? 1 : 0);
      CHECK_EQ(int(k.world.terminated()[0]), 0);
    }
  }
}

GE_TEST(starts_come_from_the_layout_and_then_from_free_floor) {
  Kitchen two({{"layout", std::string("coordination_ring")}});
  CHECK(two.stands(0, 2, 1) && two.stands(1, 1, 2));
  Kitchen five({{"layout", std::string("coordination_ring")},
                {"player_count", int64_t{5}},
                {"extra_starts", true}});
  CHECK(five.stands(2, 1, 1) && five.stands(3, 3, 1) && five.stands(4, 3, 2));
  Kitchen all({{"layout", std::string("many_player")}, {"player_count", int64_t{0}}});
  CHECK_EQ(all.chefs, 40);
  CHECK_EQ(all.planes, 216);
  CHECK(all.stands(9, 13, 3) && all.stands(39, 13, 15));
}

GE_TEST(small_and_large_tier_play_alike) {
  // The same kitchen, once in the small build and once, widened by counters, in the large one.
  std::string wide;
  for (const char* line : {"XXPXX", "O  2O", "X1  X", "XDXSX", "XXXXX"})
    wide += std::string(line) + std::string(10, 'X') + "\n";
  Kitchen a({}), b({{"layout", wide}, {"orders", std::string("OOO")}});
  CHECK(a.world->record_bytes() < b.world->record_bytes());
  for (int step = 0; step < 300; ++step) {
    std::string letters;
    for (const int chef : {0, 1})
      letters += "NSEW.III"[draw(7, 7, 0, 0, uint32_t(step), 1, uint32_t(chef), 0).below(0, 8)];
    a.step(letters), b.step(letters);
    CHECK(a.world.reward() == b.world.reward());
    for (int x = 0; x < 5; ++x)
      for (int y = 0; y < 3; ++y)
        for (int plane = 0; plane < 26; ++plane)
          CHECK_EQ(a.plane(1, x, y, plane), b.plane(1, x, y, plane));
  }
}
