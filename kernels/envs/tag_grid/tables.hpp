// The action, the components of an agent, and the tables.
#pragma once

#include "engine/graph/wide_rows.hpp"
#include "envs/tag_grid/settings.hpp"

namespace gpu_envs::envs::tag_grid {

/// Lifetimes of transient components: what a move leaves is read by `pay`, before observations, so
/// the two groups share memory.
inline constexpr int kMoving = 1, kLooking = 2;

/// Action of an agent.
struct Step {
  int32_t direction;
  static constexpr bool transient = true;
  static constexpr int lifetime = kMoving;

  static constexpr auto describe() {
    return fields(field("direction", &Step::direction,
                        "step of the agent, 0: stay, 1: x + 1, 2: x - 1, 3: y + 1, 4: y - 1")
                      .one_of(5));
  }
};

/// Cell of an agent.
struct Position {
  int32_t x, y;

  static constexpr auto describe() {
    return fields(field("x", &Position::x, "column of the agent's cell, 0 to grid_length")
                      .within(0, kLongestGrid),
                  field("y", &Position::y, "row of the agent's cell, 0 to grid_length")
                      .within(0, kLongestGrid));
  }
};

/// Whether the agent stepped against the wall in this step.
struct Bump {
  uint32_t hit;
  static constexpr bool transient = true;
  static constexpr int lifetime = kMoving;
  static constexpr auto describe() {
    return fields(field("hit", &Bump::hit, "whether the agent hit the wall; 1: yes"));
  }
};

// Two components of one number each, because a row of observations holds all x, then all y.
struct ShareX {
  float value;
  static constexpr bool transient = true;
  static constexpr int lifetime = kLooking;
  static constexpr auto describe() {
    return fields(field("share_x", &ShareX::value, "x of the agent / grid_length"));
  }
};
struct ShareY {
  float value;
  static constexpr bool transient = true;
  static constexpr int lifetime = kLooking;
  static constexpr auto describe() {
    return fields(field("share_y", &ShareY::value, "y of the agent / grid_length"));
  }
};

/// Tagger whom the runner sees where observations are short.
struct Nearest {
  uint32_t tagger;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("tagger", &Nearest::tagger, "tagger that is nearest to the runner"));
  }
};

// ---- tables. N is the capacity of a tier; kAny: as many rows as the parameters say.

struct Chase : Single<Nearest> {
  static constexpr const char* name = "chase";
  static constexpr bool scratch = true;
};

template <int N>
struct Schema {
  struct Agent : Agents<N, Position, Step, Bump, ShareX, ShareY> {
    static constexpr const char* name = "agents";
    static GE_FN constexpr int64_t count(const tag_grid::Params& p) { return p.num_taggers + 1; }
  };
  using Settings = tag_grid::Settings;
  using Params = tag_grid::Params;
  using Action = Step;
  using tables = Types<Agent, Chase>;
  // Small worlds run side by side on the lanes of a vector or a warp; a large world fills them with
  // its agents.
  static constexpr LaneCounts lanes = N <= 8     ? LaneCounts(1, 8)
                                      : N < kAny ? LaneCounts(32)
                                                 : LaneCounts(128, 32);
  static constexpr Tuning tuning{.cpu_block = N <= 128 ? 16 : 1,
                                 .cuda_block = N <= 8 ? 32 : 1,
                                 .step_lanes = lanes,
                                 .reset_lanes = lanes,
                                 .observe_lanes = lanes,
                                 .flat = N == kAny};
  using Assets = tag_grid::Assets;
  static Params resolve(Settings& settings) { return resolve_settings(settings); }
  static Assets make_assets(const Settings& settings, const Params&, AssetMaker& make) {
    return lay_out(settings, make);
  }
};

}  // namespace gpu_envs::envs::tag_grid
