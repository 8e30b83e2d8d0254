// What a user sets in every voxel game, and its resolved form. A game joins these fields to its
// own, in an order of its choice:
//
//   struct Varied {  // what may differ by world
//     int32_t wall_low = 5, wall_high = 6;
//     float team_spirit = 0.0f;
//     static constexpr auto describe();
//   };
//   struct Settings : voxel::Settings, Varied {
//     static constexpr auto describe() {
//       return std::tuple_cat(fields(voxel::agents_field<Settings>(), field("wall_low", ...)),
//                             fields(voxel::spirit_field<Settings>()),
//                             voxel::view_fields<Settings>());
//     }
//   };
//   constexpr auto Varied::describe() { return fields_of<Varied>(Settings::describe()); }
//   inline constexpr voxel::Ends<Varied> kEnds[] = {
//       {"wall", &Varied::wall_low, &Varied::wall_high, "wall_low is above wall_high"}};
//   struct Params : voxel::Params {};
//   inline const char* problem_of(const Varied& v, const Params&) {
//     return voxel::problem_of(v, kEnds);
//   }
//   inline Params resolve_settings(Settings& s) {
//     voxel::check(s, kEnds);
//     return {voxel::common_of(s)};
//   }
#pragma once

#include "cameras/settings.hpp"
#include "engine/base/error.hpp"

namespace ge::voxel {

inline constexpr int kMostAgents = 8;

struct Settings : cameras::Settings {
  int32_t agent_count = 1;
  float look_limit = 0.2f;
};

template <class S>
constexpr auto agents_field() {
  return field("agent_count", &S::agent_count, "agents of each world, one team")
      .within(1, kMostAgents);
}
template <class S>
constexpr auto spirit_field() {
  return field("team_spirit", &S::team_spirit,
               "share of one's rewards that is divided among the team")
      .within(0, 1);
}
/// How far an agent looks up and down, and its picture.
template <class S>
constexpr auto view_fields() {
  return std::tuple_cat(
      fields(field("look_limit", &S::look_limit, "largest angle of the gaze up or down")
                 .in("rad")
                 .within(0, 1.5)),
      cameras::picture_fields<S>());
}
/// A reward of an event.
template <class S>
constexpr auto reward_field(const char* name, float S::* member, const char* doc) {
  return field(name, member, doc).within(-1000, 1000);
}

/// A time limit of an episode, or a part of it.
template <class S>
constexpr auto limit_field(float S::* member, const char* doc) {
  return field("episode_seconds", member, doc).in("s").within(1, 3600).from_reset();
}

/// Both ends included.
struct Span {
  int32_t low, high;
};
struct Params {
  int32_t agent_count;
  float look_limit;
  cameras::Picture picture;
};

[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(Fault::value, message);
}
/// Two parameters, of which one must not be above the other.
template <class V>
struct Ends {
  const char* name;
  int32_t V::* low;
  int32_t V::* high;
  const char* problem;
};
template <class V, int N>
const char* problem_of(const V& v, const Ends<V> (&all)[N]) {
  for (const Ends<V>& ends : all)
    if (v.*ends.low > v.*ends.high) return ends.problem;
  return nullptr;
}
inline void check_ends(const char* name, int32_t low, int32_t high) {
  if (low > high)
    refuse(std::string(name) + "_low=" + std::to_string(low) + " is above " + name +
           "_high=" + std::to_string(high));
}
/// Says it with the numbers.
template <class V, int N>
void check(const std::type_identity_t<V>& v, const Ends<V> (&all)[N]) {
  for (const Ends<V>& ends : all) check_ends(ends.name, v.*ends.low, v.*ends.high);
}
inline Params common_of(Settings& s) {
  Params p{};
  p.picture = cameras::picture_of(s);
  p.agent_count = s.agent_count;
  p.look_limit = s.look_limit;
  return p;
}

}  // namespace ge::voxel
