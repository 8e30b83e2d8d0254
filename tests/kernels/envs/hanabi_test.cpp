// The rules of Hanabi, one by one, on tables laid out by hand. Cards are named R1 to B5.
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

constexpr int kLives = 1, kWon = 2, kCards = 3;  // table.ended_by
constexpr int kToldColor = 1, kToldRank = 2, kHeld = 4;

Config config_of(Values parameters) {
  Config config;
  config.autoreset = Autoreset::disabled;
  config.parameters = std::move(parameters);
  return config;
}

/// "R1 Y2" as numbers: colour * 5 + rank.
std::vector<uint8_t> cards(const std::string& names) {
  std::vector<uint8_t> found;
  for (size_t i = 0; i + 1 < names.size(); i += 3)
    found.push_back(uint8_t(5 * int(std::string("RYGWB").find(names[i])) + (names[i + 1] - '1')));
  return found;
}

/// One world whose deck begins as a test says; everyone sees and moves through these few members.
class Game {
 public:
  explicit Game(const std::string& first, Values parameters = {})
      : simulation_("Hanabi-v0", config_of(std::move(parameters))) {
    simulation_.reset(1);
    auto deck = get("deck.card"), hands = get("hands.card");
    const auto own = cards(first);
    std::copy(own.begin(), own.end(), deck.begin());
    for (size_t row = 0; row < hands.size() && row < own.size(); ++row)
      if (get("hands.told")[row] & kHeld) hands[row] = own[row];
    simulation_.set("deck.card", deck);
    simulation_.set("hands.card", hands);
  }

  Simulation& operator*() { return simulation_; }
  int agents() { return int(simulation_->agents()); }
  std::vector<uint8_t> get(const std::string& name) { return simulation_.get<uint8_t>(name); }
  int table(const std::string& name) { return get("table." + name)[0]; }
  void lay(const std::string& name, int value) {
    simulation_.set<uint8_t>("table." + name, {uint8_t(value)});
  }
  /// The fireworks, as high as this in each colour.
  void build(const std::vector<int>& heights) {
    uint32_t bits = 0;
    int points = 0;
    for (size_t c = 0; c < heights.size(); ++c) {
      if (heights[c] > 0) bits |= 1u << (5 * c + size_t(heights[c]) - 1);
      points += heights[c];
    }
    simulation_.set<uint32_t>("table.fireworks", {bits});
    lay("points", points);
  }
  void empty_deck() { lay("deck_left", 0); }
  int height(int color) {
    const uint32_t bits = simulation_.get<uint32_t>("table.fireworks")[0] >> (5 * color) & 31;
    int height = 0;
    while (bits >> height != 0) ++height;
    return height;
  }
  int discarded(int color) {
    const uint64_t bits = simulation_.get<uint64_t>("table.discards")[0] >> (10 * color) & 1023;
    return __builtin_popcountll(bits);
  }

  /// The player on turn moves, the others wait.
  float move(int move) {
    std::vector<int32_t> actions(size_t(agents()), int32_t(simulation_->action_ranges()[1]));
    actions[size_t(table("player"))] = move;
    simulation_.step(actions);
    return simulation_.reward()[0];
  }
  bool is_over() { return simulation_.terminated()[0] != 0; }
  /// The legal moves of an agent.
  std::vector<int> legal(int agent) {
    const auto mask = simulation_.out<uint8_t>(kActionMask);
    const size_t count = mask.size() / size_t(agents());
    std::vector<int> moves;
    for (size_t k = 0; k < count; ++k)
      if (mask[size_t(agent) * count + k] != 0) moves.push_back(int(k));
    return moves;
  }
  void show() { simulation_->observe(simulation_.bound(), nullptr); }
  /// What an agent sees, from one element on.
  std::vector<int> seen(int agent, int first, int count) {
    const auto all = simulation_.out<uint8_t>(kObservation);
    const size_t each = all.size() / size_t(agents());
    const auto from = all.begin() + std::ptrdiff_t(size_t(agent) * each) + first;
    return {from, from + count};
  }
  std::vector<uint8_t> hand(int seat, const std::string& name = "hands.card") {
    const auto all = get(name);
    const auto from = all.begin() + 5 * seat;
    return {from, from + 5};
  }

 private:
  Simulation simulation_;
};

// Two players, five cards each, and what is drawn first. Moves: 0 discard, 5 play, 10 colours, 15
// ranks.
const std::string kTwo = "R1 R2 Y1 Y1 B5 R1 G1 G4 W2 W3 B1 B2";

}  // namespace

// ---- plays and discards

GE_TEST(discarded_card_leaves_its_place_and_the_newest_card_knows_nothing) {
  Game game(kTwo);
  game.lay("information_tokens", 3);
  game.move(10 + 2);  // player 1's two greens
  game.move(5);       // player 1 plays R1
  const auto told = game.hand(1, "hands.told");
  game.move(15);  // player 0 tells ones: G1
  game.move(1);   // player 1 discards G4
  CHECK(game.hand(1) == cards("G1 W2 W3 B1 B2"));
  CHECK_EQ(int(told[0]), kHeld | kToldColor);
  CHECK(game.hand(1, "hands.told") == std::vector<uint8_t>({kHeld | kToldColor | kToldRank, kHeld,
                                                            kHeld, kHeld | kToldRank, kHeld}));
  CHECK_EQ(int(game.hand(1, "hands.colors")[4]), 31);
  CHECK_EQ(int(game.hand(1, "hands.ranks")[4]), 31);
  CHECK_EQ(game.discarded(2), 1);
  CHECK_EQ(game.table("information_tokens"), 2);
}

GE_TEST(play_that_fits_raises_the_firework_and_pays_everyone) {
  Game game(kTwo);
  CHECK_EQ(game.move(5), 1.0f);
  CHECK_EQ((*game).reward()[1], 1.0f);
  CHECK_EQ(game.height(0), 1);
  CHECK_EQ(game.table("life_tokens"), 3);
  CHECK_EQ(game.table("scored"), 1);
  CHECK_EQ(game.discarded(0), 0);
}

GE_TEST(play_that_does_not_fit_costs_a_life_and_goes_to_the_discards) {
  Game game(kTwo);
  CHECK_EQ(game.move(6), 0.0f);  // R2 on nothing
  CHECK_EQ(game.table("life_tokens"), 2);
  CHECK_EQ(game.height(0), 0);
  CHECK_EQ(game.discarded(0), 1);
  CHECK_EQ(game.table("scored"), 0);
  CHECK(!game.is_over());
}

GE_TEST(card_that_was_played_before_does_not_fit_again) {
  Game game(kTwo);
  game.move(5);  // R1
  CHECK_EQ(game.move(5), 0.0f);
  CHECK_EQ(game.table("life_tokens"), 2);
}

GE_TEST(completed_colour_brings_a_token_unless_all_are_there) {
  for (const int tokens : {4, 8}) {
    Game game(kTwo);
    game.build({0, 0, 0, 0, 4});
    game.lay("information_tokens", tokens);
    CHECK_EQ(game.move(9), 1.0f);  // B5
    CHECK_EQ(game.table("information_tokens"), tokens == 4 ? 5 : 8);
    CHECK_EQ(game.table("token"), tokens == 4 ? 1 : 0);
    CHECK(game.seen(0, 306, 2) == std::vector<int>({1, tokens == 4 ? 1 : 0}));
  }
}

// ---- hints

GE_TEST(hint_tells_the_cards_it_names_and_excludes_it_for_the_others) {
  Game game(kTwo);
  game.move(10 + 3);  // whites: W2 W3
  CHECK(game.hand(1, "hands.colors") == std::vector<uint8_t>({23, 23, 23, 8, 8}));
  CHECK(game.hand(1, "hands.told") ==
        std::vector<uint8_t>({kHeld, kHeld, kHeld, kHeld | kToldColor, kHeld | kToldColor}));
  CHECK_EQ(game.table("information_tokens"), 7);
  CHECK_EQ((*game).get<uint32_t>("table.touched")[0], 24u);
}

GE_TEST(hint_given_twice_changes_no_knowledge_and_touches_the_same_cards) {
  Game game(kTwo);
  game.move(15);      // ones: R1 G1
  game.move(10 + 0);  // player 1 tells player 0 reds
  const auto ranks = game.hand(1, "hands.ranks"), told = game.hand(1, "hands.told");
  const auto touched = game.seen(0, 271, 5);
  game.move(15);
  CHECK(game.hand(1, "hands.ranks") == ranks);
  CHECK(game.hand(1, "hands.told") == told);
  CHECK_EQ((*game).get<uint32_t>("table.touched")[0], 3u);
  CHECK(game.seen(0, 271, 5) == std::vector<int>({1, 1, 0, 0, 0}));
  CHECK(touched == std::vector<int>({1, 1, 0, 0, 0}));
}

GE_TEST(rank_that_alone_is_left_was_not_told) {
  Game game("R1 R2 Y1 Y1 B5 R1 G2 G3 W4 W5 B1 B2");
  const int back[] = {15 + 0, 15 + 1, 15 + 4};
  for (const int rank : {1, 2, 3}) {
    game.move(15 + rank);
    game.move(back[rank - 1]);
  }
  game.move(15 + 4);  // all ranks but 1
  CHECK_EQ(int(game.hand(1, "hands.ranks")[0]), 1);
  CHECK_EQ(int(game.hand(1, "hands.told")[0]), kHeld);
  const auto knowledge = game.seen(1, 308, 35);  // player 1's own first card
  CHECK(std::vector<int>(knowledge.begin() + 30, knowledge.end()) ==
        std::vector<int>({0, 0, 0, 0, 0}));
  CHECK_EQ(knowledge[0], 1);
  CHECK_EQ(knowledge[1], 0);
}

GE_TEST(hints_count_seats_from_the_one_who_gives_them) {
  Game game("R1 R2 Y1 Y1 B5 R1 G1 G4 W2 W3 B1 B2 B3 B4 Y5", {{"player_count", int64_t{3}}});
  game.move(10 + 5 + 4);  // blues of the second next: player 2
  CHECK_EQ(game.table("target"), 2);
  CHECK_EQ((*game).get<uint32_t>("table.touched")[0], 15u);
  game.move(10 + 5 + 1);  // player 1 tells player 0 yellows
  CHECK_EQ(game.table("target"), 0);
  CHECK_EQ((*game).get<uint32_t>("table.touched")[0], 12u);
  CHECK(game.seen(0, 374, 3) == std::vector<int>({0, 1, 0}));  // actor
  CHECK(game.seen(0, 381, 3) == std::vector<int>({1, 0, 0}));  // target
  CHECK(game.seen(2, 374, 3) == std::vector<int>({0, 0, 1}));
  CHECK(game.seen(2, 381, 3) == std::vector<int>({0, 1, 0}));
}

GE_TEST(hints_touch_all_cards_of_large_hands) {
  Game game("R1 R2 Y1 Y1 B5 R1 G1 G4 W2 W3 B1 B2 Y1 Y2 Y2 Y3 Y3 Y4 Y4 Y5 G1 G2 G2 Y1",
            {{"hand_size", int64_t{12}}});
  game.move(24 + 1);
  CHECK_EQ((*game).get<uint32_t>("table.touched")[0], 0x8ffu);
}

// ---- legal moves

GE_TEST(discards_need_a_spent_token_and_hints_one_to_spend) {
  Game game(kTwo);
  const std::vector<int> plays{5, 6, 7, 8, 9}, discards{0, 1, 2, 3, 4},
      hints{10, 12, 13, 15, 16, 17, 18};
  for (const int tokens : {8, 0, 3}) {
    game.lay("information_tokens", tokens);
    game.show();
    std::vector<int> expected;
    if (tokens < 8) expected.insert(expected.end(), discards.begin(), discards.end());
    expected.insert(expected.end(), plays.begin(), plays.end());
    if (tokens > 0) expected.insert(expected.end(), hints.begin(), hints.end());
    CHECK(game.legal(0) == expected);
    CHECK(game.legal(1) == std::vector<int>({20}));
  }
}

GE_TEST(illegal_move_becomes_the_lowest_legal_one_and_is_counted) {
  Game game(kTwo);
  CHECK_EQ(game.move(0), 1.0f);  // no discard at full tokens: plays R1
  auto faults = (*game)->faults();
  CHECK_EQ(faults.illegal_actions, 1);
  CHECK_EQ(faults.first_illegal_agent, 0);
  game.lay("information_tokens", 0);
  game.move(12);  // no token for a hint: discards the oldest
  CHECK(game.table("type") == 2 && game.table("position") == 0);
  faults = (*game)->faults();
  CHECK_EQ(faults.illegal_actions, 1);
  CHECK_EQ(faults.first_illegal_agent, 1);
  (*game).step({5, 5});  // player 0 is on turn, player 1 should wait
  faults = (*game)->faults();
  CHECK_EQ(faults.illegal_actions, 1);
  CHECK_EQ(faults.first_illegal_agent, 1);
}

GE_TEST(without_the_noop_masks_of_those_who_wait_are_empty_and_their_moves_ignored) {
  Game game(kTwo, {{"noop", false}});
  CHECK(game.legal(1).empty());
  (*game).step({5, 0});
  CHECK_EQ(game.height(0), 1);
  CHECK_EQ((*game)->faults().illegal_actions, 0);
}

// ---- the end

GE_TEST(last_round_gives_everyone_one_move_after_the_last_card_is_drawn) {
  Game game("R1 R2 Y1 Y1 B5 R1 G1 G4 W2 W3 B1 B2 B3 B4 Y5", {{"player_count", int64_t{3}}});
  game.lay("deck_left", 1);
  game.lay("information_tokens", 7);
  game.move(0);  // draws the last card
  CHECK_EQ(game.table("deck_left"), 0);
  CHECK_EQ(game.table("turns_left"), 3);
  CHECK_EQ(game.table("short_hands"), 0);
  for (int turn = 1; turn <= 3; ++turn) {
    CHECK(!game.is_over());
    game.move(5 + 4);  // the newest card
    CHECK_EQ(game.table("turns_left"), 3 - turn);
    CHECK_EQ(game.table("short_hands"), turn == 1 ? 2 : turn == 2 ? 6 : 7);
  }
  CHECK(game.is_over());
}

GE_TEST(short_hand_shows_as_such_and_has_fewer_moves) {
  Game game(kTwo);
  game.empty_deck();
  game.lay("turns_left", 2);
  game.move(5);  // plays R1, draws nothing
  CHECK(game.seen(0, 125, 2) == std::vector<int>({1, 0}));
  CHECK(game.seen(1, 125, 2) == std::vector<int>({0, 1}));
  const auto missing = game.seen(1, 4 * 25, 25);  // player 0's last card, as player 1 sees it
  CHECK(missing == std::vector<int>(25, 0));
  CHECK(game.seen(0, 308 + 4 * 35, 35) == std::vector<int>(35, 0));
  game.lay("turns_left", 2);  // so that player 0 moves again
  game.move(15);
  CHECK(game.legal(0) == std::vector<int>({0, 1, 2, 3, 5, 6, 7, 8, 10, 12, 13, 15, 16, 17, 18}));
}

GE_TEST(last_life_costs_all_points_even_on_the_last_move_of_an_empty_deck) {
  for (const bool keep_score : {false, true}) {
    Game game(kTwo, {{"keep_score", keep_score}});
    game.build({3, 0, 0, 2, 0});
    game.empty_deck();
    game.lay("life_tokens", 1);
    game.lay("turns_left", 1);
    CHECK_EQ(game.move(9), keep_score ? 0.0f : -5.0f);  // B5
    CHECK(game.is_over());
    CHECK_EQ(game.table("ended_by"), kLives);
  }
}

GE_TEST(winning_on_the_last_move_counts_as_won) {
  Game game(kTwo);
  game.build({5, 5, 5, 5, 4});
  game.empty_deck();
  game.lay("turns_left", 1);
  CHECK_EQ(game.move(9), 1.0f);
  CHECK(game.is_over());
  CHECK_EQ(game.table("ended_by"), kWon);
}

GE_TEST(game_without_a_deck_lasts_one_round) {
  Game game("R1 R1 R2 R2 R3 R3 R4 R4 R5 R1",
            {{"preset", std::string("very_small")}, {"player_count", int64_t{5}}});
  for (int turn = 1; turn <= 5; ++turn) {
    CHECK_EQ(game.move(2), 1.0f);
    CHECK(game.is_over() == (turn == 5));
  }
  CHECK_EQ(game.table("ended_by"), kWon);
  Game slow("R1 R1 R2 R2 R3 R3 R4 R4 R5 R1",
            {{"preset", std::string("very_small")}, {"player_count", int64_t{5}}});
  for (int turn = 1; turn <= 5; ++turn) {
    CHECK(!slow.is_over());
    slow.move(turn <= 3 ? 4 : 0);  // red of the next player, then discards
  }
  CHECK(slow.is_over());
  CHECK_EQ(slow.table("ended_by"), kCards);
}

GE_TEST(card_after_the_last_move_is_dealt) {
  Game game(kTwo);
  game.lay("life_tokens", 1);
  game.move(6);
  CHECK(game.is_over());
  CHECK_EQ(game.table("deck_left"), 39);
  CHECK(game.hand(0) == cards("R1 Y1 Y1 B5 B1"));
}

GE_TEST(next_game_begins_with_player_0_and_nothing_known) {
  Config config = config_of({});
  config.autoreset = Autoreset::same_step;
  Simulation simulation("Hanabi-v0", config);
  simulation.reset(3);
  simulation.set<uint8_t>("table.life_tokens", {1});
  simulation.set<uint8_t>("hands.card", std::vector<uint8_t>(25, 24));  // B5: nothing fits
  simulation.step({5, 20});
  CHECK_EQ(int(simulation.ended()[0]), 1);
  CHECK_EQ(int(simulation.get<uint8_t>("table.player")[0]), 0);
  CHECK_EQ(int(simulation.get<uint8_t>("table.type")[0]), 0);
  CHECK_EQ(int(simulation.get<uint8_t>("table.life_tokens")[0]), 3);
  CHECK_EQ(simulation.get<uint64_t>("table.discards")[0], 0u);
  const auto told = simulation.get<uint8_t>("hands.told");
  for (size_t row = 0; row < 10; ++row) CHECK_EQ(int(told[row]), kHeld);
}

// ---- builds

GE_TEST(games_of_both_sizes_and_forms_of_belief_follow_the_same_rules) {
  Simulation bits("Hanabi-v0", config_of({{"player_count", int64_t{5}}}));
  Simulation beliefs("Hanabi-v0",
                     config_of({{"player_count", int64_t{5}}, {"belief", std::string("v0")}}));
  bits.reset(5), beliefs.reset(5);
  for (uint32_t step = 0; step < 20; ++step) {
    bits.step_random(6, step), beliefs.step_random(6, step);
    CHECK(bits.reward() == beliefs.reward());
    CHECK(bits.get<uint8_t>("deck.card") == beliefs.get<uint8_t>("deck.card"));
    const auto few = bits.get<uint8_t>("hands.ranks"), many = beliefs.get<uint8_t>("hands.ranks");
    CHECK(std::equal(few.begin(), few.end(), many.begin()));
  }
}

GE_TEST(hands_that_exceed_the_deck_are_refused_with_the_size_that_fits) {
  CHECK_THROWS(make_simulator("Hanabi-v0", config_of({{"player_count", int64_t{5}},
                                                      {"hand_size", int64_t{11}}})),
               Error,
               "hand_size must be at most 10 here: player_count=5 hands of 11 are 55 cards, and "
               "the deck of color_count=5, rank_count=5 has 50");
}
