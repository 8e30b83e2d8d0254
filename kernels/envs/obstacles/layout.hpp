// Levels by hand: the text of reset(options={"layout": ...}) becomes Options, which the reset lays
// out instead of drawing a level. Host only.
//
//   floor 0 0 0 9 4 0             cells from one corner to the other, both of them included
//   wall 0 0 0 0 4 4; walls hidden
//   lava 3 1 1 5 3 1              a field on the floor below it
//   pad 7 1 1 8 3 2               the exit's pad, on the floor below it
//   box 2 2 1; diamond 4 2 1      in a cell; a box needs something beneath it
//   agent 1.5 2.5 1 yaw 1.57      where its feet are, in metres; yaw 0 looks along +y, in radians
//   seconds 20                    length of the episode; else as in a level that is drawn
//
// Later floors and walls replace earlier ones in the cells that they share.
#pragma once

#include "engine/described/text_lines.hpp"
#include "envs/obstacles/settings.hpp"
#include "voxel/body.hpp"

namespace gpu_envs::envs::obstacles {

namespace voxel = ge::voxel;

inline constexpr int kLaidParts = 24, kLaidBoxes = 24, kLaidDiamonds = 8, kLaidMarks = 8;
inline constexpr int kFarthest = 96, kHighest = 48;  // cells

struct LaidPart {
  int16_t low[3], high[3];  // cells; `high` is exclusive
  int16_t kind;             // of a part: 1 for walls; of a mark: voxel::MarkKind
};
struct LaidCell {
  int16_t at[3];
};
struct LaidAgent {
  float feet[3], yaw;
};
/// The level that a reset lays out; it draws one where `laid` is 0. The size is fixed, since
/// kernels take it as a parameter.
struct Options {
  int32_t laid, hidden, part_count, mark_count, box_count, diamond_count;
  float seconds;  // 0: by obstacles and boxes
  LaidPart parts[kLaidParts], marks[kLaidMarks];
  LaidCell boxes[kLaidBoxes], diamonds[kLaidDiamonds];
  LaidAgent agents[kMostAgents];
};
static_assert(sizeof(Options) < 1024, "GE: options travel with every launch");

struct ResetSettings {
  std::string layout;
  static constexpr auto describe() {
    return fields(field("layout", &ResetSettings::layout,
                        "a level by hand, one thing per line; empty: a new level"));
  }
};

/// The level as far as it has been read.
struct Layout {
  const Params& p;
  Options options{};
  int agents = 0;
  std::vector<std::pair<TextLine, int>> stacked = {};  // lines of boxes, and which

  bool is_solid(int x, int y, int z) const {
    for (int k = 0; k < options.part_count; ++k) {
      const LaidPart& part = options.parts[k];
      if (x >= part.low[0] && x < part.high[0] && y >= part.low[1] && y < part.high[1] &&
          z >= part.low[2] && z < part.high[2])
        return true;
    }
    return false;
  }
  /// How many boxes stand in a cell.
  int boxes_in(int x, int y, int z) const {
    int found = 0;
    for (int k = 0; k < options.box_count; ++k) {
      const LaidCell& box = options.boxes[k];
      found += box.at[0] == x && box.at[1] == y && box.at[2] == z;
    }
    return found;
  }
};

inline void read_cell(TextLine& line, int16_t (&at)[3]) {
  at[0] = line.number<int16_t>("x", 0, kFarthest - 1);
  at[1] = line.number<int16_t>("y", 0, kFarthest - 1);
  at[2] = line.number<int16_t>("z", 0, kHighest - 1);
}
inline void read_part(TextLine& line, LaidPart& part, int16_t kind) {
  read_cell(line, part.low);
  read_cell(line, part.high);
  for (int k = 0; k < 3; ++k) {
    if (part.high[k] < part.low[k]) std::swap(part.high[k], part.low[k]);
    ++part.high[k];
  }
  part.kind = kind;
  line.end();
}
inline void read_agent(Layout& scene, TextLine& line) {
  if (scene.agents == scene.p.agent_count)
    line.wrong("one agent more than agent_count=" + std::to_string(scene.p.agent_count));
  LaidAgent& agent = scene.options.agents[scene.agents++];
  agent.feet[0] = line.number<float>("x", 0, kFarthest);
  agent.feet[1] = line.number<float>("y", 0, kFarthest);
  agent.feet[2] = line.number<float>("z", 0, kHighest);
  if (!line.done()) {
    const std::string word = line.take("yaw");
    if (word != "yaw") line.wrong("unknown word " + quoted(word) + "; known is yaw");
    agent.yaw = line.number<float>("yaw", -3.2, 3.2);
  }
  line.end();
}

inline void read_thing(Layout& scene, TextLine& line) {
  Options& o = scene.options;
  const std::string word = line.take("a thing");
  if (word == "floor" || word == "wall") {
    read_part(line, next_row(o.parts, o.part_count, line, "floors and walls"), word == "wall");
  } else if (word == "lava" || word == "pad") {
    read_part(line, next_row(o.marks, o.mark_count, line, "fields of lava and pads"),
              word == "pad" ? voxel::kPadMark : voxel::kLavaMark);
  } else if (word == "box") {
    read_cell(line, next_row(o.boxes, o.box_count, line, "boxes").at);
    line.end();
    scene.stacked.emplace_back(line, o.box_count - 1);
  } else if (word == "diamond") {
    read_cell(line, next_row(o.diamonds, o.diamond_count, line, "diamonds").at);
    line.end();
  } else if (word == "agent") {
    read_agent(scene, line);
  } else if (word == "walls") {
    const std::string how = line.take("hidden or shown");
    if (how != "hidden" && how != "shown")
      line.wrong("walls are hidden or shown, got " + quoted(how));
    o.hidden = how == "hidden" ? 1 : 0;
    line.end();
  } else if (word == "seconds") {
    o.seconds = line.number<float>("seconds", 0.0625, 3600);
    line.end();
  } else {
    line.wrong("unknown thing " + quoted(word) +
               "; known are floor, wall, walls, lava, pad, box, diamond, agent, seconds");
  }
}

// ---- checks

inline void check_boxes(const Layout& scene) {
  for (const auto& [line, k] : scene.stacked) {
    const auto& at = scene.options.boxes[k].at;
    if (scene.is_solid(at[0], at[1], at[2])) line.wrong("the box is inside of a floor or a wall");
    if (scene.boxes_in(at[0], at[1], at[2]) > 1) line.wrong("there is a box in this cell already");
    if (!scene.is_solid(at[0], at[1], at[2] - 1) && scene.boxes_in(at[0], at[1], at[2] - 1) == 0)
      line.wrong("the box has nothing beneath it");
  }
}
/// Whether a body lies inside of the box from low to high.
inline bool is_inside(const LaidAgent& agent, const float (&low)[3], const float (&high)[3]) {
  // Against the upright cylinder around the body, less what rounding may add.
  constexpr float kLoose = 1e-3f;
  const float dx = agent.feet[0] - clamp(agent.feet[0], low[0], high[0]);
  const float dy = agent.feet[1] - clamp(agent.feet[1], low[1], high[1]);
  const float radius = voxel::kRadius - kLoose;
  return dx * dx + dy * dy < radius * radius && agent.feet[2] < high[2] - kLoose &&
         agent.feet[2] + 2 * voxel::kTall > low[2] + kLoose;
}
inline void check_agents(const Layout& scene) {
  const Options& o = scene.options;
  const auto wrong = [](int agent, const std::string& what) {
    refuse_layout("agent " + std::to_string(agent) + " " + what);
  };
  for (int k = 0; k < scene.agents; ++k) {
    const LaidAgent& agent = o.agents[k];
    for (int row = 0; row < o.part_count; ++row) {
      const LaidPart& part = o.parts[row];
      const float low[3] = {float(part.low[0]), float(part.low[1]), float(part.low[2])};
      const float high[3] = {float(part.high[0]), float(part.high[1]), float(part.high[2])};
      if (is_inside(agent, low, high)) wrong(k, "is inside of a floor or a wall");
    }
    for (int row = 0; row < o.box_count; ++row) {
      float low[3], high[3];
      for (int axis = 0; axis < 3; ++axis) {
        const float centre = float(o.boxes[row].at[axis]) + 0.5f - (axis == 2 ? 0.05f : 0.0f);
        low[axis] = centre - 0.4485f, high[axis] = centre + 0.4485f;
      }
      if (is_inside(agent, low, high)) wrong(k, "is inside of a box");
    }
    for (int other = 0; other < k; ++other) {
      float low[3], high[3];
      for (int axis = 0; axis < 2; ++axis) low[axis] = high[axis] = o.agents[other].feet[axis];
      low[2] = o.agents[other].feet[2], high[2] = low[2] + 2 * voxel::kTall;
      LaidAgent twice = agent;  // both have a radius
      for (int axis = 0; axis < 2; ++axis)
        twice.feet[axis] = low[axis] + 0.5f * (agent.feet[axis] - low[axis]);
      if (is_inside(twice, low, high)) wrong(k, "is inside of agent " + std::to_string(other));
    }
  }
}

inline Options read_layout(const std::string& text, const Params& p) {
  Layout scene{p};
  if (text.empty()) return scene.options;
  scene.options.laid = 1;
  for (TextLine& line : text_lines(text)) read_thing(scene, line);
  if (scene.options.part_count == 0) refuse_layout("there is no floor");
  require_places(scene.agents, "agents", "agent_count", p.agent_count);
  check_boxes(scene);
  check_agents(scene);
  return scene.options;
}

}  // namespace gpu_envs::envs::obstacles
