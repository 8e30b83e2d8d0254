// TagGrid: taggers chase one runner over the cells of a square board.
//
//   who acts    1 or more taggers and one runner, all at once: stay, or step along x or y
//   reward      taggers pay a little for every step, the runner earns it; a tag pays every tagger
//               and costs the runner; pushing against the wall costs anybody
//   ends        for everybody when a tagger stands on the runner's cell; cut short after 100 steps
//   rules from  "WarpDrive: Fast End-to-End Deep Multi-Agent Reinforcement Learning on a GPU" (Lan
//               et al., JMLR 2022), its TagGridWorld
//
// Parts: settings.hpp (what a user sets), tables.hpp, pictures.hpp (for people).
#pragma once

#include "envs/tag_grid/pictures.hpp"
#include "envs/tag_grid/tables.hpp"

namespace gpu_envs::envs::tag_grid {

/// The minimum of `closeness`, which reduces to the tagger nearest to the runner.
struct Closest {
  static GE_FN constexpr uint64_t identity() { return ~uint64_t{0}; }
  static GE_FN constexpr uint64_t combine(uint64_t a, uint64_t b) { return a < b ? a : b; }
};

// ---- rules

template <int N>
struct Rules {
  using W = World<Schema<N>>;
  using Players = typename Schema<N>::Agent;

  struct Observation : WideRow<float> {
    static constexpr int capacity = N == kAny ? 1 << 30 : 4 * N + 1;
    static constexpr bool complete = true;
    static GE_FN int elements(const Params& p) { return p.full ? 4 * p.num_taggers + 5 : 6; }
    // Rows of a world differ in one element, which marks the observer.
    static GE_FN bool alike(const Params& p) { return p.full != 0; }
    static GE_FN void turn(const Params& p, FloatRow& row, int other, int me) {
      const int self = 3 * (p.num_taggers + 1);
      row.set(self + other, 0.0f);
      row.set(self + me, 1.0f);
    }
    static std::vector<FieldInfo> describe(const Params& p) {
      const int64_t agents = p.num_taggers + 1;
      const FieldInfo time =
          wide_field("time", {}, "steps taken, as a share of the time limit; 0 without one");
      if (p.full)
        return {wide_field("x", {agents}, "x / grid_length of every agent, the runner last"),
                wide_field("y", {agents}, "y / grid_length of every agent, the runner last"),
                wide_field("type", {agents}, "type of every agent: 0 tagger, 1 runner"),
                wide_field("self", {agents}, "one-hot of the observer"), time};
      return {wide_field("own", {2}, "x and y of the observer / grid_length"),
              wide_field("other", {2},
                         "x and y / grid_length of the runner, or of the nearest tagger where the "
                         "runner looks"),
              wide_field("type", {}, "type of the observer: 0 tagger, 1 runner"), time};
    }
  };

  // ---- the start

  /// The start that the settings give, the same in every episode.
  static GE_FN void place(const W& w, Slot agent, Position& at) {
    const Start start = w.assets().starts[agent.row];
    at = {start.x, start.y};
  }

  static GE_FN bool has_pool(const W& w) { return w.params().pool_size > 0; }
  // Each episode draws a row of the pool. The rows depend only on the seed, so all worlds and
  // episodes of a seed share one pool.
  static GE_FN void place_from_pool(const W& w, Slot agent, Position& at) {
    const Params& p = w.params();
    const Identity id = get<Identity>(w);
    constexpr uint32_t stream = Name("tag_pool").hash();
    const uint32_t row = draw<"tag_start">(w, 0).below(0, uint32_t(p.pool_size));
    const Draw drawn =
        ge::draw(id.seed_low, id.seed_high, 0, 0, 0, stream, uint32_t(agent.row), row);
    const int x = p.pool_low + int(drawn.below(0, uint32_t(p.pool_span)));
    const int y = p.pool_low + int(drawn.below(1, uint32_t(p.pool_span)));
    const bool runs = agent.row == p.num_taggers;
    at = {runs ? 0 : x, runs ? 0 : y};
  }

  // ---- a step

  /// Moves an agent by one cell and stops it at the wall.
  static GE_FN void move(const W& w, Position& at, Bump& bump, const Step& step) {
    const int length = w.params().grid_length, way = step.direction;
    const int x = at.x + int(way == 1) - int(way == 2), y = at.y + int(way == 3) - int(way == 4);
    at = {max(0, min(x, length)), max(0, min(y, length))};
    bump.hit = uint32_t((at.x != x) | (at.y != y));
  }

  // Only positions after the move count: two agents that swap cells do not touch.
  static GE_FN int32_t touches(const W& w, Slot agent, const Position& at) {
    const int runner = w.params().num_taggers;
    const Position its = get<Players, Position>(w, runner);
    return int(agent.row != runner) & int(at.x == its.x) & int(at.y == its.y);
  }
  /// A tag ends the episode for all agents.
  static GE_FN void judge(const W&, int32_t touched, Verdict& verdict) {
    verdict.terminated = uint32_t(touched);
  }

  /// Four rewards for each side: with and without a tag, with and without a wall.
  static GE_FN void pay(const W& w, Slot agent, Reward& reward, const Bump& bump) {
    const Pay tagger = w.params().tagger, runner = w.params().runner;
    const bool tagged = get<Verdict>(w).terminated != 0, hit = bump.hit != 0;
    const float chases = select(tagged, select(hit, tagger.tagged_bumped, tagger.tagged),
                                select(hit, tagger.bumped, tagger.quiet));
    const float runs = select(tagged, select(hit, runner.tagged_bumped, runner.tagged),
                              select(hit, runner.bumped, runner.quiet));
    reward.value = agent.row == w.params().num_taggers ? runs : chases;
  }

  // ---- observation

  /// Coordinates as observations show them, divided once per agent instead of once per observer.
  static GE_FN void take_shares(const W& w, ShareX& x, ShareY& y, const Position& at) {
    const float length = float(w.params().grid_length);
    x.value = float(at.x) / length, y.value = float(at.y) / length;
  }

  static GE_FN bool shows_everybody(const W& w) { return w.params().full != 0; }
  static GE_FN bool shows_nearest(const W& w) { return w.params().full == 0; }
  static GE_FN uint64_t closeness(const W& w, Slot agent, const Position& at) {
    const int runner = w.params().num_taggers;
    const Position its = get<Players, Position>(w, runner);
    const int x = at.x - its.x, y = at.y - its.y;
    // Squared distance above the tagger's number: the minimum is the nearest tagger, of equally
    // near ones the first, in whatever order rows are reduced.
    const uint64_t key = uint64_t(uint32_t(x * x + y * y)) << 32 | uint32_t(agent.row);
    return agent.row == runner ? Closest::identity() : key;
  }
  /// Keeps the nearest tagger for the row of the runner.
  static GE_FN void name_nearest(const W&, uint64_t closest, Nearest& nearest) {
    nearest.tagger = uint32_t(closest);
  }

  /// Share of the time limit that is over; 0 without a limit.
  static GE_FN float time_share(const W& w) {
    const uint32_t limit = w.max_steps();
    return limit == 0 ? 0.0f : float(w.step()) / float(limit);
  }

  /// The row of use_full_observation: all x, all y, all types, the observer, the time.
  static GE_FN void fill_everybody(const W& w, FloatRow& row, int me) {
    const int taggers = w.params().num_taggers, agents = taggers + 1;
    row.fill(0, agents, [&w](int k) GE_LAMBDA { return get<Players, ShareX>(w, k).value; });
    row.fill(agents, agents, [&w](int k) GE_LAMBDA { return get<Players, ShareY>(w, k).value; });
    row.fill(2 * agents, agents, [taggers](int k) GE_LAMBDA { return k == taggers ? 1.0f : 0.0f; });
    row.fill(3 * agents, agents, [me](int k) GE_LAMBDA { return k == me ? 1.0f : 0.0f; });
    const float time = time_share(w);
    row.fill(4 * agents, 1, [time](int) GE_LAMBDA { return time; });
  }
  /// Sets what fill_everybody sets, where one lane makes the whole row of few agents: in one loop,
  /// whose stores lie at fixed distances. On the CPU it is faster to fill column after column.
  static GE_FN void put_everybody(const W& w, FloatRow& row, int me) {
    const int taggers = w.params().num_taggers, agents = taggers + 1;
    GE_UNROLL
    for (int k = 0; k < N; ++k) {
      if (k >= agents) break;
      row.put(k, get<Players, ShareX>(w, k).value);
      row.put(agents + k, get<Players, ShareY>(w, k).value);
      row.put(2 * agents + k, 0.0f);
      row.put(3 * agents + k, 0.0f);
    }
    row.put(2 * agents + taggers, 1.0f);
    row.put(3 * agents + me, 1.0f);
    row.put(4 * agents, time_share(w));
  }
  static GE_FN void show_everybody(const W& w, FloatRow& row, Slot me) {
    if constexpr (kOnLanes)
      put_everybody(w, row, me.row);
    else
      fill_everybody(w, row, me.row);
  }
  // For long rows: `FloatRow::fill` divides them among the lanes of the squad.
  static GE_FN void show_everybody_together(const W& w, FloatRow& row, const Squad&, Slot me) {
    fill_everybody(w, row, me.row);
  }

  /// The short row: the observer, and the runner or the nearest tagger.
  static GE_FN void show_nearest(const W& w, FloatRow& row, Slot me) {
    const int runner = w.params().num_taggers;
    const bool runs = me.row == runner;
    const int other = runs ? int(get<Nearest>(w).tagger) : runner;
    row.set(0, get<Players, ShareX>(w, me.row).value);
    row.set(1, get<Players, ShareY>(w, me.row).value);
    row.set(2, get<Players, ShareX>(w, other).value);
    row.set(3, get<Players, ShareY>(w, other).value);
    row.set(4, runs ? 1.0f : 0.0f);
    row.set(5, time_share(w));
  }
};

// ---- the graphs

inline constexpr const char* kActionNames[] = {"stay", "right", "left", "up", "down"};
inline std::string agent_name(const Params& p, int agent) {
  return agent == p.num_taggers ? "runner_0" : "tagger_" + std::to_string(agent);
}

template <int N>
struct Environment {
  using Schema = tag_grid::Schema<N>;
  using R = Rules<N>;
  using Observation = typename R::Observation;
  using Reset = Stages<Each<&R::place>, When<&R::has_pool, Each<&R::place_from_pool>>>;
  // All agents have moved before one is tagged.
  using Step = Stages<Each<&R::move>, Reduce<&R::touches, AnyOf, &R::judge>, Each<&R::pay>>;
  using Everybody = std::conditional_t<N <= 8, ge::Observe<&R::show_everybody>,
                                       ge::Observe<&R::show_everybody_together>>;
  using Observe = Stages<Each<&R::take_shares>, When<&R::shows_everybody, Everybody>,
                         When<&R::shows_nearest, Reduce<&R::closeness, Closest, &R::name_nearest>,
                              ge::Observe<&R::show_nearest>>>;
  static constexpr Card card{.doc = "Taggers chase one runner over a board.",
                             .max_episode_steps = 100,
                             .agents = "num_taggers + 1",
                             .render_fps = 8};
  static constexpr Hooks<Schema> hooks{
      .fits = [](const Params& p) { return p.num_taggers < N; },
      .agent_name = &agent_name,
      .action_name = [](const Params&, int action) { return std::string(kActionNames[action]); },
      .action_key = [](const Params&, int action) { return std::string(1, ".daws"[action]); },
      .text = &Pictures<N>::board_text,
      .scene = &Pictures<N>::board_scene,
      .scene_for = &Pictures<N>::scene_for};
};

using Builds = ge::Builds<
    Build<"TagGrid-v0", Environment<8>, Environment<32>, Environment<128>, Environment<kAny>>>;

}  // namespace gpu_envs::envs::tag_grid
