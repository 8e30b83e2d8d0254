// What a user sets in every voxel game, and its resolved form. A game joins these fields to its
// own, in an order of its choice:
//
//   struct Settings : voxel::Settings {
//     int32_t wall_low = 5, wall_high = 6;
//     static constexpr auto describe() {
//       return std::tuple_cat(fields(voxel::agents_field<Settings>(), field("wall_low", ...)),
//                             fields(voxel::spirit_field<Settings>()),
//                             voxel::view_fields<Settings>());
//     }
//   };
//   struct Params : voxel::Params { voxel::Span wall; };
//   inline Params resolve(Settings& s) {
//     Params p{voxel::common_of(s)};
//     p.wall = voxel::span("wall", s.wall_low, s.wall_high);
//     return p;
//   }
#pragma once

#include "cameras/settings.hpp"
#include "engine/base/error.hpp"

namespace ge::voxel {

inline constexpr int kMostAgents = 8;

struct Settings : cameras::Settings {
  int32_t agent_count = 1;
  float team_spirit = 0.0f;
  float episode_seconds = 60.0f;
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

/// Both ends included.
struct Span {
  int32_t low, high;
};
struct Params {
  int32_t agent_count;
  float team_spirit, episode_seconds, look_limit;
  cameras::Picture picture;
};

[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(Fault::value, message);
}
inline Span span(const char* name, int32_t low, int32_t high) {
  if (low > high)
    refuse(std::string(name) + "_low=" + std::to_string(low) + " is above " + name +
           "_high=" + std::to_string(high));
  return {low, high};
}
inline Params common_of(Settings& s) {
  Params p{};
  p.picture = cameras::picture_of(s);
  p.agent_count = s.agent_count;
  p.team_spirit = s.team_spirit;
  p.episode_seconds = s.episode_seconds;
  p.look_limit = s.look_limit;
  return p;
}

}  // namespace ge::voxel
