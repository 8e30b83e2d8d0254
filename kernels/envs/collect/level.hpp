// What is on the land of a new level: agents, diamonds, half of them on the highest places, and
// boxes; each in a cell of its own.
#pragma once

#include "envs/collect/land.hpp"
#include "voxel/laying.hpp"

namespace gpu_envs::envs::collect {

using Draft = voxel::Draft<Game>;

/// The cells that are left for things, dealt in a random order.
struct Deck {
  const W& w;
  Rows<Places, Place> rows;
  int first = 0, count = 0, draws = 0;

  GE_FN int left() const { return count - first; }
  GE_FN voxel::Cell cell_at(int row) const {
    const int cell = rows.get(row).cell, x = cell / kSide, y = cell % kSide;
    return {x, y, 1 + voxel::height_at<Game>(w, x, y)};
  }
  GE_FN void exchange(int a, int b) {
    const Place place = rows.get(a);
    rows.set(a, rows.get(b));
    rows.set(b, place);
  }
  /// One of the next `among`.
  GE_FN voxel::Cell deal(int among) {
    const Draw d = draw<"collect_places">(w, draws / 4);
    exchange(first, first + int(d.below(draws % 4, uint32_t(among))));
    ++draws;
    return cell_at(first++);
  }
  /// Brings the cells of this height to the front; returns how many there are.
  GE_FN int sort_out(int z) {
    int found = 0;
    for (int row = first; row < count; ++row)
      if (cell_at(row).z == z) exchange(row, first + found++);
    return found;
  }
};
GE_FN Deck full_deck(const W& w, const Land& land, const Rows<Places, Place>& rows) {
  Deck deck{w, rows};
  for (int x = 1; x + 1 < land.side_x; ++x)
    for (int y = 1; y + 1 < land.side_y; ++y) rows.set(deck.count++, {uint16_t(x * kSide + y)});
  return deck;
}

GE_FN void deal_diamonds(Deck& deck, Draft& draft, int wanted) {
  const int anywhere = max(wanted / 2, 1);
  for (int k = 0; k < anywhere; ++k) draft.add_diamond(deck.deal(deck.left()), voxel::kRed);
  int rest = wanted - anywhere;
  for (int z = 1 + kHighest; z > 0 && rest > 0; --z)
    for (int found = deck.sort_out(z); found > 0 && rest > 0; --found, --rest)
      draft.add_diamond(deck.deal(found), voxel::kRed);
}
/// Green or red; drawn again until one is green.
GE_FN int colour_diamonds(const W& w, Draft& draft) {
  constexpr int kTries = 32;
  int good = 0;
  for (int attempt = 0; attempt < kTries && good == 0; ++attempt)
    for (int k = 0; k < draft.diamonds; ++k) {
      voxel::Diamond diamond = draft.gems.get(k);
      const bool is_good =
          draw<"collect_colours">(w, k, attempt).uniform(0) < w.varied().good_share ||
          (attempt + 1 == kTries && k == 0);
      diamond.colour = is_good ? voxel::kGreen : voxel::kRed;
      good += is_good ? 1 : 0;
      draft.gems.set(k, diamond);
    }
  return good;
}

GE_FN int draw_level(const W& w, const Land& land, Draft& draft,
                     const Rows<Places, Place>& places) {
  const Varied v = w.varied();
  const int cells = land.side_x * land.side_y;
  draft.add({{0, 0, 0}, {land.side_x, land.side_y, 1}, land.floor_colour, 1u});
  Deck deck = full_deck(w, land, places);
  for (int agent = 0; agent < w.params().agent_count; ++agent) {
    const voxel::Cell home = deck.deal(deck.left());
    draft.add_agent(agent, home, voxel::dropping_into(home, draw<"collect_agents">(w, agent), 0));
  }
  const int most = most_diamonds(v, cells);
  deal_diamonds(deck, draft,
                min(voxel::between(draw<"collect_count">(w, 0), 0, 1, most), deck.left()));
  const int boxes = boxes_on(v, cells);
  if (boxes < deck.left())
    for (int k = 0; k < boxes; ++k) draft.add_crate(deck.deal(deck.left()));
  return colour_diamonds(w, draft);
}
GE_FN int laid_good(const voxel::Laid& laid) {
  int good = 0;
  for (int k = 0; k < laid.diamond_count; ++k) good += laid.diamonds[k].kind == 0 ? 1 : 0;
  return good;
}

GE_FN void make_level(const World<Game::Schema>& w, const Land& land, voxel::Counts& counts,
                      Harvest& harvest, voxel::Timer& timer,
                      Rows<Game::Canvas, voxel::Painted> canvas,
                      Rows<Game::Stock, voxel::Crate> stock, Rows<Game::Gems, voxel::Diamond> gems,
                      Rows<Players, voxel::Home> homes, Rows<Players, voxel::Body> bodies,
                      Rows<Places, Place> places) {
  Draft draft{canvas, stock, homes, bodies, {}, gems};
  if (w.options().laid != 0) {
    voxel::lay<Game>(w, draft);
    harvest.good_left = laid_good(w.options());
  } else {
    harvest.good_left = draw_level(w, land, draft, places);
  }
  voxel::count(draft, counts);
  const Varied v = w.varied();
  timer = voxel::timer_of<Game>(w, v.episode_seconds + v.diamond_seconds * float(counts.diamonds));
}
GE_FN void begin_agent(const W&, voxel::Hands& hands) {
  hands = {voxel::kEmpty};
}

}  // namespace gpu_envs::envs::collect
