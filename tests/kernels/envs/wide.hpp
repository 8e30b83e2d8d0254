// Wide: a test-only environment with rows whose length is a parameter, of bytes, bits or floats,
// longer than any staging memory where they can be. Its players count down and leave one by one, so
// that final observations are scattered; nobody is meant to learn it.
//
//   bytes   a background, lengths that are no multiple of four, a state in pieces
//   bits    the mask and the state of all three
//   floats  several kilobytes a row
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::wide {

using namespace ge;

struct Params {
  int32_t player_count = 3;
  int32_t length = 1001;

  static constexpr auto describe() {
    return fields(field("player_count", &Params::player_count, "of a world").within(1, 5),
                  field("length", &Params::length, "elements of a row").within(70, 20'000));
  }
};

struct Push {
  int32_t place;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("place", &Push::place, "which element is set").one_of(64));
  }
  static GE_FN int choices(const Params& p) { return p.player_count + 5; }
};
struct Fuse {
  int32_t left, place;
  static constexpr auto describe() {
    return fields(field("left", &Fuse::left, "steps until the player leaves").any_value(),
                  field("place", &Fuse::place, "the last push").one_of(64));
  }
};
struct Pushes {
  int32_t sum;
  static constexpr auto describe() {
    return fields(field("sum", &Pushes::sum, "of all places in this episode").any_value());
  }
};
struct Parts {
  float pushed, lasted;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("pushed", &Parts::pushed, "by this player"),
                  field("lasted", &Parts::lasted, "1 for being there"));
  }
};

struct Players : Agents<5, Push, Fuse, Parts> {
  static constexpr const char* name = "players";
  static GE_FN constexpr int count(const Params& params) { return params.player_count; }
};
struct Board : Single<Pushes> {
  static constexpr const char* name = "board";
};
/// What rows of bytes begin with.
struct Assets {
  Asset<uint8_t> row, state;
};
struct Schema {
  using Params = wide::Params;
  using Assets = wide::Assets;
  using Action = Push;
  using Agent = Players;
  using tables = Types<Players, Board>;
  static constexpr Tuning tuning{.rare_resets = true};
  static Assets make_assets(const Params& p, AssetMaker& make) {
    const auto row = make.array<uint8_t>("row", p.length);
    const auto state = make.array<uint8_t>("state", p.length + 3);
    for (size_t i = 0; i < row.size(); ++i) row[i] = uint8_t(i % 251);
    for (size_t i = 0; i < state.size(); ++i) state[i] = uint8_t(i % 7);
    return {row, state};
  }
};
using W = World<Schema>;

// Row by row, as a game would; a player who pushes what the mask forbids is counted.
GE_FN void push_all(const W& w, Pushes& pushes, Rows<Players, Fuse> fuses) {
  for (int i = 0; i < w.params().player_count; ++i) {
    Fuse fuse = fuses.get(i);
    const int place = get<Players, Push>(w, i).place;
    if (place == 1) w.count_illegal(i);
    fuse.place = place;
    fuse.left = fuse.left - 1;
    pushes.sum = pushes.sum + place;
    fuses.set(i, fuse);
  }
}
GE_FN void judge(const W&, Reward& reward, Ending& ending, Parts& parts, const Fuse& fuse) {
  parts = {float(fuse.place), 1.0f};
  reward.value = parts.pushed + parts.lasted;
  ending.terminated = fuse.left <= 0 ? 1u : 0u;
}
GE_FN void light(const W& w, Slot player, Fuse& fuse) {
  fuse = {1 + int32_t(draw<"fuse">(w, player.row).below(0, 9)), 0};
}
GE_FN void clear(const W&, Pushes& pushes) {
  pushes = Pushes{};
}

template <class Element>
struct Observation : WideRow<Element> {
  static constexpr int capacity = 20'000;
  static GE_FN int elements(const Params& p) { return p.length; }
  static std::vector<FieldInfo> describe(const Params& p) {
    return {wide_field("row", {p.length}, "what was pushed", 0, 255)};
  }
};
struct Bytes : Observation<uint8_t> {
  static GE_FN const Asset<uint8_t>& background(const Assets& assets) { return assets.row; }
};
struct Mask : WideRow<bool> {
  static constexpr int capacity = 10;
  static GE_FN int elements(const Params& p) { return Push::choices(p); }
  static std::vector<FieldInfo> describe(const Params& p) {
    return {wide_field("legal", {Push::choices(p)}, "which places are free")};
  }
};
struct State : WideRow<uint8_t> {
  static constexpr int capacity = 20'003;
  static GE_FN int elements(const Params& p) { return p.length + 3; }
  static std::vector<FieldInfo> describe(const Params& p) {
    return {wide_field("row", {p.length}, "zeros but for one", 0, 255),
            wide_field("sum", {3}, "of all pushes", 0, 255)};
  }
  static GE_FN const Asset<uint8_t>& background(const Assets& assets) { return assets.state; }
};

/// The same elements are set whatever their type: three at run-time places, the last one among
/// them.
template <class Row>
GE_FN void set_elements(const W& w, Row& row, Slot player, const Fuse& fuse) {
  const int last = w.params().length - 1;
  row.set(fuse.place * 7 % (last + 1), 3);
  row.set((player.row * 8191 + fuse.left) % (last + 1), 2);
  row.set(last, 1);
}
GE_FN void observe_bits(const W& w, BitRow& row, Slot player, const Fuse& fuse) {
  const int length = w.params().length;
  row.append64(uint64_t{0xf0f0} << fuse.place, 64);
  for (int at = 64; at + 3 <= length; at += 3) row.append(uint32_t(at + player.row) & 7u, 3);
  row.zeros((length - 64) % 3);
}
GE_FN void allow(const W& w, BitRow& row, Slot) {
  row.append((1u << Push::choices(w.params())) - 1u - 2u, Push::choices(w.params()));
}
GE_FN void show(const W& w, ByteRow& row, const Pushes& pushes) {
  row.set(pushes.sum % w.params().length, 200);
  row.set(w.params().length + 2, uint8_t(pushes.sum));
}

GE_FN bool is_turn_of(const W& w, int player) {
  return (w.step() + uint32_t(player)) % 2 == 0;
}

template <class Observation_, auto kObserve>
struct Environment {
  using Schema = wide::Schema;
  using Observation = Observation_;
  using ActionMask = Mask;
  using State = wide::State;
  using RewardParts = Parts;
  using Reset = Stages<Each<&light>, EachWorld<&clear>>;
  using Step = Stages<EachWorld<&push_all>, Each<&judge>>;
  using Observe = Stages<ge::Observe<kObserve>, ObserveMask<&allow>, ObserveState<&show>>;
  static constexpr Hooks<Schema> hooks{.acts = &is_turn_of};
  static constexpr Card card{.doc = "Rows as long as a parameter says.",
                             .max_episode_steps = 12,
                             .agents = "player_count"};
};
/// Bits have to fit whole into a team's staging memory, others do not.
using Builds =
    ge::Builds<Build<"WideBytes-v0", Environment<Bytes, &set_elements<ByteRow>>>,
               Build<"WideBits-v0", Environment<Observation<bool>, &observe_bits>>,
               Build<"WideFloats-v0", Environment<Observation<float>, &set_elements<FloatRow>>>>;

}  // namespace gpu_envs::envs::wide
