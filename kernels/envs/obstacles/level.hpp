// A new level, drawn or laid by hand: platforms become static boxes and marks, then agents, boxes
// to carry and diamonds get their cells.
#pragma once

#include "envs/obstacles/plan.hpp"
#include "voxel/laying.hpp"
#include "voxel/levels.hpp"

namespace gpu_envs::envs::obstacles {

inline constexpr int kStack = 2;       // spare boxes go only on stacks lower than this
inline constexpr int kCellTries = 10;  // random cells tried for a box or a diamond

/// A cell of a platform's floor.
struct Place {
  int a, c;
};
/// How levels of game G are made.
template <class G>
struct Levels {
  using T = typename G::T;
  using W = typename Plans<G>::W;
  using PlanRows = typename Plans<G>::PlanRows;

  /// A level that is being made.
  struct Builder {
    const W& w;
    PlanRows plan;
    voxel::Draft<G> draft;
    Level level = {};
    int platforms = 0;
    uint64_t taken = 0;  // cells of the start where agents begin, numbered along it
  };

  // ---- platforms

  static GE_FN void build_platforms(Builder& b) {
    const Draw d = draw<"obstacles_looks">(b.w, 0);
    const uint32_t floor = voxel::layout_colour(d, 0), wall = voxel::layout_colour(d, 1);
    b.level.walls_shown = d.uniform(2) < b.w.varied().hidden_walls ? 0 : 1;
    for (int k = 0; k < b.platforms; ++k) {
      const Platform p = b.plan.get(k);
      visit_parts(p, [&](const Block& block, bool is_wall) {
        voxel::Painted part = {{0, 0, 0}, {0, 0, 0}, is_wall ? wall : floor, 1u};
        if (is_wall) part.shown = uint32_t(b.level.walls_shown);
        place(p, block, part);
        b.draft.add(part);
      });
      if ((p.kind != kLava) & (p.kind != kExit)) continue;
      voxel::Mark mark = {};
      mark.kind = p.kind == kLava ? voxel::kLavaMark : voxel::kPadMark;
      // The pad is two cells high: a jump does not leave it. An agent that jumps over lava is safe.
      const Block field = p.kind == kLava ? Block{p.first, p.first + p.size, 1, p.width - 1, 1, 2}
                                          : Block{p.length - 3, p.length - 1, 1, p.width - 1, 1, 3};
      place(p, field, mark);
      b.draft.add(mark);
    }
  }

  // ---- cells

  /// How high a cell is filled, above the floor of its platform: by the obstacle, by an agent who
  /// begins there (whom nothing shall stand on), and by boxes.
  static GE_FN int filled(const Builder& b, const Platform& p, const Place& at) {
    int height = 0;
    if (p.kind == kWall && at.a >= p.first && at.a < p.first + p.size) height = p.rise;
    if (p.kind == kStepUp && at.a >= p.first) height = p.rise;
    if (p.kind == kStart) {
      const int number = (at.a - 1) * (p.width - 2) + at.c - 1;
      height = int(b.taken >> number & 1) * kStack;
    }
    const voxel::Cell floor = cell_at(p, at.a, at.c, 0);
    const int boxes = min(b.draft.crates, int{T::boxes});
    for (int row = 0; row < boxes; ++row) {
      const voxel::Crate crate = b.draft.stock.get(row);
      if ((crate.cell[0] == floor.x) & (crate.cell[1] == floor.y))
        height = max(height, crate.cell[2] - floor.z);
    }
    return height;
  }
  /// The lowest free cell above a place of the platform that is not filled too high already.
  static GE_FN voxel::Cell find_cell(const Builder& b, const Platform& p, const auto& draw_of) {
    Place at = {1, 1};
    int height = 0;
    for (int attempt = 0; attempt < kCellTries; ++attempt) {
      const Draw d = draw_of(attempt);
      at.c = between(d, 1, 1, p.width - 2);
      if (p.kind == kGap) {
        const int a = between(d, 0, 0, p.length - p.size - 1);
        at.a = a < p.first ? a : a + p.size;
      } else {
        at.a = between(d, 0, 1, p.length - 2);
      }
      height = filled(b, p, at);
      if ((height < kStack) | (p.kind == kGap)) break;
    }
    return cell_at(p, at.a, at.c, height + 1);
  }

  // ---- agents, boxes and diamonds

  static GE_FN void place_agents(Builder& b) {
    const Platform start = b.plan.get(0);
    const int across = start.width - 2, cells = (start.length - 2) * across;
    for (int agent = 0; agent < b.w.params().agent_count; ++agent) {
      const Draw d = draw<"obstacles_agents">(b.w, agent);
      int k = int(d.below(0, uint32_t(cells - agent))), number = 0;
      // The k-th cell that is free.
      while ((b.taken >> number & 1) != 0 || k-- > 0) ++number;
      b.taken |= uint64_t{1} << number;
      const voxel::Cell home = cell_at(start, 1 + number / across, 1 + number % across, 1);
      b.draft.add_agent(agent, home, voxel::dropping_into(home, d, 1));
    }
  }

  /// How many boxes each platform gets: those that obstacles behind it need, and some more.
  static GE_FN void share_out(Builder& b) {
    const Varied v = b.w.varied();
    for (int k = 1; k < b.platforms; ++k) {
      const Platform obstacle = b.plan.get(k);
      const bool by_height = (obstacle.kind == kWall) | (obstacle.kind == kStepUp);
      const int needed = boxes_needed(obstacle.kind, by_height ? obstacle.rise : obstacle.size);
      for (int box = 0; box < needed; ++box) {
        const Draw d = draw<"obstacles_shares">(b.w, k * 32 + box);
        const int at = between(d, 0, max(0, k - 2), k - 1);
        Platform before = b.plan.get(at);
        ++before.boxes;
        b.plan.set(at, before);
      }
    }
    for (int k = 0; k < b.platforms; ++k) {
      const Draw d = draw<"obstacles_extras">(b.w, k);
      Platform at = b.plan.get(k);
      at.boxes += to_int(floor(d.uniform(0) * v.extra_boxes * float(at.boxes) + 0.5f)) +
                  between(d, 1, 0, v.stray_boxes);
      b.plan.set(k, at);
    }
  }
  static GE_FN void place_things(Builder& b) {
    for (int k = 0; k < b.platforms; ++k) {
      const Platform p = b.plan.get(k);
      for (int box = 0; box < p.boxes; ++box)
        b.draft.add_crate(find_cell(b, p, [&](int attempt) {
          return draw<"obstacles_boxes">(b.w, k * 256 + box, attempt);
        }));
    }
    for (int k = 1; k + 1 < b.platforms; ++k) {
      if (draw<"obstacles_diamonds">(b.w, k).uniform(0) >= b.w.varied().diamonds) continue;
      b.draft.add_diamond(
          find_cell(b, b.plan.get(k),
                    [&](int attempt) { return draw<"obstacles_gems">(b.w, k, attempt); }),
          voxel::kGreen);
    }
  }

  static GE_FN void draw_level(Builder& b) {
    b.platforms = Plans<G>::plan_course(b.w, b.level, b.plan);
    build_platforms(b);
    place_agents(b);
    share_out(b);
    place_things(b);
  }

  // ---- drawn or laid

  static GE_FN void make_level(
      const World<typename G::Schema>& w, Level& level, voxel::Timer& timer, PlanRows plan,
      Rows<typename G::Canvas, voxel::Painted> canvas, Rows<typename G::Fields, voxel::Mark> fields,
      Rows<typename G::Stock, voxel::Crate> stock, Rows<typename G::Gems, voxel::Diamond> gems,
      Rows<typename G::Agents, voxel::Home> homes, Rows<typename G::Agents, voxel::Body> bodies) {
    Builder b{w, plan, {canvas, stock, homes, bodies, fields, gems}};
    const bool laid = w.options().laid != 0;
    if (laid) {
      b.level.walls_shown = w.options().hidden != 0 ? 0 : 1;
      for (int k = 0; k < kMostPlatforms; ++k) b.level.kinds[k] = -1;
      voxel::lay<G>(w, b.draft);
    } else {
      draw_level(b);
    }
    level = b.level;
    voxel::count(b.draft, level);
    const Varied v = w.varied();
    timer =
        voxel::timer_of<G>(w, max(v.episode_seconds, v.platform_seconds * float(level.obstacles) +
                                                         v.box_seconds * float(level.boxes)));
  }
  static GE_FN void begin_agent(const W&, voxel::Hands& hands, Score& score) {
    hands = {voxel::kEmpty};
    score = {};
  }

  using NewLevel = chain<Stages<Each<&begin_agent>, EachWorld<&make_level>>,
                         typename voxel::Levels<G, Level>::Finish>;
};

}  // namespace gpu_envs::envs::obstacles
