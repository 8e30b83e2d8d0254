// Roles and positions at the start: drawn from start_seed once for all worlds and episodes, or
// given by a text with one agent per line or between semicolons:
//
//   tagger 0.5 0.25 0.375; runner 1.25 7.75 1.0
//
// The numbers are x, y and heading [rad]. The text is read on the host; draws run on all machines.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "envs/tag_continuous/settings.hpp"

namespace gpu_envs::envs::tag_continuous {

/// Four words for the start that all worlds share: x, y, heading, and a key. The agents with the
/// lowest keys are taggers.
GE_FN Draw shared_draw(uint32_t seed, int agent) {
  constexpr Name stream = "tag_continuous_roles";
  constexpr uint32_t hash = stream.hash();
  return draw(seed, 0, 0, 0, 0, hash, uint32_t(agent), 0);
}
GE_FN bool is_tagger(const Params& p, int agent) {
  if (p.laid != 0) return (p.laid_taggers[agent >> 5 & 1] >> (agent & 31) & 1u) != 0;
  const uint32_t key = shared_draw(p.start_seed, agent).word[3];
  return (key < p.last_key) | ((key == p.last_key) & (agent <= p.last_tagger));
}

// ---- the text

struct LaidAgent {
  bool tagger;
  float x, y, heading;
};

/// Words between white space and commas. No stream: its locales would be a seventh of a module.
inline std::vector<std::string> words_of(const std::string& text) {
  constexpr char kBetween[] = " \t\r\v\f,";
  std::vector<std::string> words;
  size_t end = 0;
  for (size_t begin; (begin = text.find_first_not_of(kBetween, end)) != std::string::npos;) {
    end = std::min(text.find_first_of(kBetween, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
  }
  return words;
}
inline float start_number(const std::string& word, const std::string& where, double low,
                          double high) {
  double value = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), value);
  if (read.ec != std::errc() || read.ptr != word.data() + word.size())
    refuse("start: " + where + ": a number was expected, got '" + word.substr(0, 40) + "'");
  if (!(value >= low && value <= high))
    refuse("start: " + where + ": " + word.substr(0, 40) + " is not from " + std::to_string(low) +
           " to " + std::to_string(high));
  return float(value);
}
inline std::vector<LaidAgent> read_start(const std::string& text, float side) {
  std::vector<LaidAgent> agents;
  std::string entry;
  for (size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] != ';' && text[at] != '\n') {
      entry += text[at];
      continue;
    }
    const std::vector<std::string> words = words_of(entry);
    entry.clear();
    if (words.empty()) continue;
    const std::string where = "agent " + std::to_string(agents.size());
    if (words.size() != 4 || (words[0] != "tagger" && words[0] != "runner"))
      refuse("start: " + where + " must be 'tagger' or 'runner' and x, y, heading");
    agents.push_back({words[0] == "tagger", start_number(words[1], where, 0, double(side)),
                      start_number(words[2], where, 0, double(side)),
                      start_number(words[3], where, -1000, 1000)});
  }
  return agents;
}

// ---- into parameters

inline void lay_start(const Settings& s, Params& p) {
  const std::vector<LaidAgent> agents = read_start(s.start, s.grid_length);
  if (agents.size() > size_t(kMostLaid))
    refuse("start: at most " + std::to_string(kMostLaid) + " agents, got " +
           std::to_string(agents.size()) + "; more can be set as columns after a reset");
  int taggers = 0;
  for (size_t k = 0; k < agents.size(); ++k) {
    taggers += agents[k].tagger;
    p.laid_taggers[k / 32] |= uint32_t(agents[k].tagger) << (k % 32);
    p.laid_x[k] = agents[k].x, p.laid_y[k] = agents[k].y, p.laid_heading[k] = agents[k].heading;
  }
  if (taggers != s.num_taggers || int(agents.size()) - taggers != s.num_runners)
    refuse("start: it has " + std::to_string(taggers) + " taggers and " +
           std::to_string(agents.size() - size_t(taggers)) + " runners, but num_taggers=" +
           std::to_string(s.num_taggers) + " and num_runners=" + std::to_string(s.num_runners));
  if (s.resample_start) refuse("start and resample_start exclude each other");
  p.laid = 1;
}
/// Sets the key, and among equal keys the agent, of the last tagger.
inline void draw_roles(const Settings& s, Params& p) {
  std::vector<std::pair<uint32_t, int>> keys;
  for (int agent = 0; agent < p.agent_count; ++agent)
    keys.emplace_back(shared_draw(p.start_seed, agent).word[3], agent);
  const auto last = keys.begin() + (s.num_taggers - 1);
  std::nth_element(keys.begin(), last, keys.end());
  p.last_key = last->first, p.last_tagger = last->second;
}

inline Params resolve_settings(Settings& s) {
  Params p{};
  p.agent_count = s.num_taggers + s.num_runners;
  if (p.agent_count > kMostAgents)
    refuse("at most " + std::to_string(kMostAgents) + " agents are possible, got " +
           std::to_string(s.num_taggers) + " taggers and " + std::to_string(s.num_runners) +
           " runners");
  p.full = s.use_full_observation;
  if (!s.use_full_observation && s.num_other_agents_observed > p.agent_count)
    refuse("num_other_agents_observed must be at most the number of agents, " +
           std::to_string(p.agent_count) + ", got " + std::to_string(s.num_other_agents_observed));
  p.seen_count = p.full != 0 ? p.agent_count - 1 : s.num_other_agents_observed;
  p.runners_leave = s.runner_exits_game_after_tagged;
  p.acceleration_choices = s.num_acceleration_levels + 1, p.turn_choices = s.num_turn_levels + 1;
  p.made = s;
  p.start_seed = uint32_t(s.start_seed), p.resample = s.resample_start;
  if (!s.start.empty())
    lay_start(s, p);
  else
    draw_roles(s, p);
  return p;
}

}  // namespace gpu_envs::envs::tag_continuous
