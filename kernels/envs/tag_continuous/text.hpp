// A world as text for a terminal: the square from above, and in small worlds what each agent does.
// Host only.
#pragma once

#include <string>

#include "envs/tag_continuous/rules.hpp"
#include "pictures/text.hpp"

namespace gpu_envs::envs::tag_continuous {

template <class T>
struct Texts {
  using W = World<Schema<T>>;
  using Players = typename Schema<T>::Agent;

  static constexpr int kListed = 20;  // agents of a world in which each has a line

  static bool is_tagging(const W& w, int agent) { return get<Players, Role>(w, agent).value != 0; }
  static bool plays(const W& w, int agent) { return get<Players, InGame>(w, agent).value != 0; }

  /// Agents in the game are drawn over those that left, taggers over runners, the viewer over all.
  static std::string map_text(const W& w, int viewer) {
    const Params& p = w.params();
    PlaneText map(48, 24, {0, 0}, {p.side, p.side});
    const auto mark = [&](int agent, char with) {
      map.mark(get<Players, X>(w, agent).value, get<Players, Y>(w, agent).value, with);
    };
    for (const char layer : {'x', 'r', 'T'})
      for (int agent = 0; agent < p.agent_count; ++agent)
        if (layer == (!plays(w, agent) ? 'x' : is_tagging(w, agent) ? 'T' : 'r'))
          mark(agent, layer);
    if (viewer >= 0) mark(viewer, '@');
    return map.framed();
  }
  static std::string agent_text(const W& w, int agent, int viewer) {
    const bool tagging = is_tagging(w, agent);
    return (tagging ? "tagger_" : "runner_") + std::to_string(agent) +
           (agent == viewer ? " (you)" : "") + " at " +
           in_decimals(double(get<Players, X>(w, agent).value), 2) + " " +
           in_decimals(double(get<Players, Y>(w, agent).value), 2) +
           (!plays(w, agent)
                ? ", tagged and out\n"
                : ", heading " + in_degrees(double(get<Players, Heading>(w, agent).value), 0) +
                      ", speed " + in_decimals(double(get<Players, Speed>(w, agent).value), 3) +
                      "\n");
  }

  static std::string world_text(const W& w, int viewer) {
    const int agents = w.params().agent_count;
    int taggers = 0, running = 0;
    std::string lines;
    for (int agent = 0; agent < agents; ++agent) {
      taggers += is_tagging(w, agent);
      running += !is_tagging(w, agent) && plays(w, agent);
      if (agents <= kListed || agent == viewer) lines += agent_text(w, agent, viewer);
    }
    return map_text(w, viewer) + "T tagger, r runner, x tagged and out" +
           (viewer < 0 ? "" : ", @ you") + "\n" + lines + "taggers " + std::to_string(taggers) +
           ", runners in the game " + std::to_string(running) + " of " +
           std::to_string(agents - taggers) + "\n" + step_text(w.step(), w.max_steps()) + "\n";
  }
};

}  // namespace gpu_envs::envs::tag_continuous
