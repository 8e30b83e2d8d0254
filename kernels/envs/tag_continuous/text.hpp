// A world as text for a terminal: the square from above, and in small worlds what each agent does.
// Host only.
#pragma once

#include <string>
#include <vector>

#include "envs/tag_continuous/rules.hpp"
#include "pictures/text.hpp"

namespace gpu_envs::envs::tag_continuous {

/// What a text tells of an agent.
struct Told {
  float x, y, heading, speed;
  bool tags, plays;
  char mark() const { return !plays ? 'x' : tags ? 'T' : 'r'; }
};

/// Agents in the game are drawn over those that left, taggers over runners, the viewer over all.
GE_COLD inline std::string map_of(const std::vector<Told>& agents, float side, int viewer) {
  PlaneText map(48, 24, {0, 0}, {side, side});
  for (const char layer : {'x', 'r', 'T'})
    for (const Told& agent : agents)
      if (layer == agent.mark()) map.mark(agent.x, agent.y, layer);
  if (viewer >= 0) map.mark(agents[size_t(viewer)].x, agents[size_t(viewer)].y, '@');
  return map.framed() + "T tagger, r runner, x tagged and out" + (viewer < 0 ? "\n" : ", @ you\n");
}
/// The lines below the map: of each agent of a small world, of the viewer in others.
GE_COLD inline std::string lines_of(const std::vector<Told>& agents, int viewer) {
  constexpr int kListed = 20;
  const int count = int(agents.size());
  int taggers = 0, running = 0;
  std::string text;
  for (int k = 0; k < count; ++k) {
    const Told& agent = agents[size_t(k)];
    taggers += agent.tags, running += agent.mark() == 'r';
    if (count > kListed && k != viewer) continue;
    add_number(text, agent.tags ? "tagger_" : "runner_", k, 0, k == viewer ? " (you)" : "");
    add_number(text, " at ", double(agent.x), 2);
    add_number(text, " ", double(agent.y), 2, agent.plays ? "" : ", tagged and out");
    if (agent.plays) {
      add_number(text, ", heading ", degrees(double(agent.heading)), 0, " degrees");
      add_number(text, ", speed ", double(agent.speed), 3);
    }
    text += '\n';
  }
  add_number(text, "taggers ", taggers, 0);
  add_number(text, ", runners in the game ", running, 0);
  add_number(text, " of ", count - taggers, 0, "\n");
  return text;
}

template <class T>
GE_COLD std::string world_text(const World<Schema<T>>& w, int viewer) {
  using Players = typename Schema<T>::Agent;
  std::vector<Told> agents;
  for (int agent = 0; agent < w.params().agent_count; ++agent)
    agents.push_back({get<Players, X>(w, agent).value, get<Players, Y>(w, agent).value,
                      get<Players, Heading>(w, agent).value, get<Players, Speed>(w, agent).value,
                      get<Players, Role>(w, agent).value != 0,
                      get<Players, InGame>(w, agent).value != 0});
  std::string text = map_of(agents, w.varied().side, viewer) + lines_of(agents, viewer);
  add_steps(text, w.step(), w.max_steps());
  return text + "\n";
}

}  // namespace gpu_envs::envs::tag_continuous
