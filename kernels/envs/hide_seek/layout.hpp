// Levels by hand: the text of reset(options={"layout": ...}) becomes Options, which the reset lays
// out instead of drawing a level. Host only.
//
//   hider -5 0 yaw 0; hider -5 3; hider -5 6; seeker 4 4; seeker 4 8 yaw 3.14
//   cube 0 0 5 roll 0.5 velocity 0 0 -3 spin 0 0 1
//   long 8 0 locked hiders
//   ramp 0 9 yaw 1.57
//   wall -18 4 18 4 height 2
//   plane 0 0 40 0 0 -1
//
// One thing per line, or between semicolons; # begins a comment. Numbers are metres, radians,
// seconds; a height that is left out puts the thing on the floor. "debug:NAME" is a scene of its
// own.
#pragma once

#include "engine/described/text_lines.hpp"
#include "envs/hide_seek/settings.hpp"
#include "geometry/vectors.hpp"

namespace gpu_envs::envs::hide_seek {

inline constexpr int kLaidBodies = 24, kLaidWalls = 32;
inline constexpr double kFarthest = 1000;  // of all numbers [m], [rad], [m/s]

struct LaidBody {
  uint32_t row, kind;
  uint32_t team;  // that has locked it: Team
  physics::Pose pose;
  physics::Velocity velocity;
};
struct LaidWall {
  float centre[3], half[3];  // of a plane: a point and its normal
};
/// The level that a reset lays out; it draws one where `laid` is 0.
/// A struct of fixed size, since it goes to the kernels as a parameter: hence the limits on bodies
/// and walls.
struct Options {
  int32_t laid, body_count, wall_count;
  uint32_t planes;  // bit k: wall k is a plane
  LaidBody bodies[kLaidBodies];
  LaidWall walls[kLaidWalls];
};
static_assert(sizeof(Options) < 2560, "GE: options travel with every launch");

/// Options of reset().
struct ResetSettings {
  std::string layout;
  static constexpr auto describe() {
    return fields(field("layout", &ResetSettings::layout,
                        "a level by hand, one thing per line, or debug:NAME; empty: a new level"));
  }
};

// ---- things

inline float laid_number(TextLine& line, const char* what) {
  return float(line.number<double>(what, -kFarthest, kFarthest));
}

/// The level as far as it has been read.
struct Layout {
  const Params& p;
  Options options{};
  int hiders = 0, seekers = 0, boxes = 0, ramps = 0;

  uint32_t take_row(const TextLine& line, const std::string& word) {
    const auto next = [&](int& count, int most, int first, const char* parameter) {
      if (count == most)
        line.wrong("one " + word + " more than " + parameter + "=" + std::to_string(most) +
                   ", which the simulator was made with");
      return uint32_t(first + count++);
    };
    if (word == "hider") return next(hiders, p.hider_count, 0, "hider_count");
    if (word == "seeker") return next(seekers, p.seeker_count, p.hider_count, "seeker_count");
    if (word == "ramp") return next(ramps, p.ramp_count, p.first_ramp, "ramp_count");
    return next(boxes, p.box_slots, p.first_box, "box_slots");
  }
  LaidBody& new_body(const TextLine& line, const std::string& word, uint32_t kind) {
    LaidBody& body = next_row(options.bodies, options.body_count, line, "bodies");
    body.row = take_row(line, word);
    body.kind = kind;
    return body;
  }
};

struct Angles {
  float yaw = 0, pitch = 0, roll = 0;
};
/// Roll about y (forward) first, then pitch about x, then yaw about z.
inline physics::Quat orientation_of(const Angles& angles) {
  float s[3], c[3];
  const float half[3] = {0.5f * angles.yaw, 0.5f * angles.pitch, 0.5f * angles.roll};
  for (int k = 0; k < 3; ++k) ge::sincos(half[k], s[k], c[k]);
  const physics::Quat yaw{c[0], 0, 0, s[0]}, pitch{c[1], s[1], 0, 0}, roll{c[2], 0, s[2], 0};
  return physics::normalized(yaw * (pitch * roll));
}

inline constexpr const char* kVelocity[] = {"x of velocity", "y of velocity", "z of velocity",
                                            "x of spin",     "y of spin",     "z of spin"};
/// The words behind the place of a body.
inline void read_body_words(TextLine& line, const std::string& thing, bool upright, Angles& angles,
                            LaidBody& body) {
  const bool agent = body.kind == kAgentKind;
  while (!line.done()) {
    const std::string word = line.take("a word");
    if (word == "yaw") {
      angles.yaw = laid_number(line, "yaw");
    } else if (word == "pitch" || word == "roll") {
      const float angle = laid_number(line, word.c_str());
      if (upright && angle != 0) line.wrong("a " + thing + " is upright here: only yaw turns it");
      (word == "pitch" ? angles.pitch : angles.roll) = angle;
    } else if (word == "velocity") {
      for (int k = 0; k < 3; ++k) body.velocity.linear[k] = laid_number(line, kVelocity[k]);
    } else if (word == "spin") {
      for (int k = 0; k < 3; ++k) body.velocity.angular[k] = laid_number(line, kVelocity[k + 3]);
      if (upright && (body.velocity.angular[0] != 0 || body.velocity.angular[1] != 0))
        line.wrong("a " + thing + " is upright here: its spin has only the third number");
    } else if (word == "locked") {
      if (agent) line.wrong("agents cannot be locked");
      const std::string whose = line.done() ? "" : line.take("a team");
      if (whose != "hiders" && whose != "seekers")
        line.wrong("locked must be followed by hiders or seekers, got " + quoted(whose));
      body.team = whose == "hiders" ? 2 : 1;
    } else {
      line.wrong("unknown word " + quoted(word) +
                 "; known are yaw, pitch, roll, velocity, spin, locked");
    }
  }
}

inline void read_body(Layout& scene, TextLine& line, const std::string& thing, uint32_t kind) {
  const Params& p = scene.p;
  const physics::Kind& shape = p.shapes.kinds[kind];
  LaidBody& body = scene.new_body(line, thing, kind);
  body.pose.position[0] = laid_number(line, "x");
  body.pose.position[1] = laid_number(line, "y");
  body.pose.position[2] = standing_height(shape);
  if (line.has_number()) body.pose.position[2] = laid_number(line, "z");
  if (!(body.pose.position[2] > 0))
    line.wrong("z of " + quoted(line.thing()) + " must be above the floor, 0, got " +
               shown(body.pose.position[2]));
  Angles angles;
  read_body_words(line, thing, shape.upright != 0, angles, body);
  physics::put(body.pose.orientation, orientation_of(angles));
}

inline LaidWall& new_wall(Layout& scene, const TextLine& line) {
  return next_row(scene.options.walls, scene.options.wall_count, line, "walls and planes");
}

inline void read_wall(Layout& scene, TextLine& line) {
  const Params& p = scene.p;
  LaidWall& wall = new_wall(scene, line);
  const char* const names[] = {"x0", "y0", "x1", "y1"};
  float at[4];
  for (int k = 0; k < 4; ++k) at[k] = laid_number(line, names[k]);
  float height = p.wall_height;
  while (!line.done()) {
    const std::string word = line.take("a word");
    if (word != "height") line.wrong("unknown word " + quoted(word) + "; known is height");
    height = laid_number(line, "height");
  }
  if (height <= 0) line.wrong("the height of a wall must be above 0");
  const float along_x = ge::abs(at[2] - at[0]), along_y = ge::abs(at[3] - at[1]);
  if ((along_x > 0) == (along_y > 0))
    line.wrong("a wall runs along x or along y: from (x0, y0) to (x1, y0) or (x0, y1)");
  // As thick as walls of the level are, about the line that was given.
  wall = {{0.5f * (at[0] + at[2]), 0.5f * (at[1] + at[3]), 0.5f * height},
          {max(0.5f * along_x, p.wall_half), max(0.5f * along_y, p.wall_half), 0.5f * height}};
}

inline void read_plane(Layout& scene, TextLine& line) {
  scene.options.planes |= 1u << scene.options.wall_count;
  LaidWall& plane = new_wall(scene, line);
  const char* const names[] = {
      "x", "y", "z", "x of the normal", "y of the normal", "z of the normal"};
  for (int k = 0; k < 3; ++k) plane.centre[k] = laid_number(line, names[k]);
  for (int k = 0; k < 3; ++k) plane.half[k] = laid_number(line, names[3 + k]);
  if (!line.done())
    line.wrong("a plane has six numbers, a point and its normal, got another word " +
               quoted(line.words[line.at]));
  const physics::Vec3 normal = physics::normalized(physics::vec(plane.half));
  if (physics::dot(normal, normal) == 0) line.wrong("a plane's normal must not be zero");
  physics::put(plane.half, normal);
}

inline void read_thing(Layout& scene, TextLine& line) {
  const std::string word = line.take("a thing");
  if (word == "hider" || word == "seeker") return read_body(scene, line, word, kAgentKind);
  if (word == "cube") return read_body(scene, line, word, kCubeKind);
  if (word == "long") return read_body(scene, line, word, kLongKind);
  if (word == "ramp") return read_body(scene, line, word, kRampKind);
  if (word == "wall") return read_wall(scene, line);
  if (word == "plane") return read_plane(scene, line);
  line.wrong("unknown thing " + quoted(word) +
             "; known are hider, seeker, cube, long, ramp, wall, plane");
}

// ---- scenes with a name; lengths in halves of a cube's edge

struct NamedScene {
  const char* name;
  const char* text;
};
inline constexpr NamedScene kScenes[] = {
    {"corner_cube", "cube 0 0 5 pitch 0.6154797 roll -0.7853982"},
    {"flat_cube", "cube 0 0 5"},
    {"tilted_long", "long 0 0 10 roll 0.7853982"},
    {"falling_cubes",
     "plane 0 0 40 0 0 -1; cube -6 -6 5 roll 0.3; cube 6 -6 9 pitch 0.7; cube -6 6 13 roll 1.1; "
     "cube 6 6 17 pitch 1.3"},
    {"wall_and_agents",
     "wall -10 0 10 0; cube 0 -5 1; hider -15 -15 yaw -0.7853982; seeker -15 -10 yaw 0.7853982"},
    {"stacked_cubes",
     "plane -20 0 0 1 0 0; plane 20 0 0 -1 0 0; cube 0 0 5 roll 0.2; cube 0 0 10 pitch 0.2"},
    {"thrown_ramp",
     "plane -20 0 0 1 0 0; plane 20 0 0 -1 0 0; ramp 0 0 1 roll 1.5707963 locked hiders; "
     "ramp 0 0 10 velocity 0 0 -30"},
};

inline void scale(Layout& scene, float unit) {
  for (int k = 0; k < scene.options.body_count; ++k)
    for (int axis = 0; axis < 3; ++axis) scene.options.bodies[k].pose.position[axis] *= unit;
  for (int k = 0; k < scene.options.wall_count; ++k) {
    LaidWall& wall = scene.options.walls[k];
    const bool plane = (scene.options.planes >> k & 1u) != 0;
    wall.centre[0] *= unit, wall.centre[1] *= unit;
    if (plane) wall.centre[2] *= unit;
    // Its length scales; thickness and height are those of the simulator's walls.
    const int along = wall.half[0] > wall.half[1] ? 0 : 1;
    if (!plane) wall.half[along] *= unit;
  }
}
inline void read_scene(Layout& scene, const std::string& name) {
  std::string known;
  for (const NamedScene& named : kScenes) {
    known += (known.empty() ? "" : ", ") + std::string(named.name);
    if (name != named.name) continue;
    for (TextLine& line : text_lines(named.text)) {
      line.where = "debug:" + name;
      read_thing(scene, line);
    }
    scale(scene, scene.p.shapes.kinds[kCubeKind].half[0]);
    for (int k = 0; k < scene.options.body_count; ++k)  // agents stand, whatever their size
      if (scene.options.bodies[k].kind == kAgentKind)
        scene.options.bodies[k].pose.position[2] = agent_half(scene.p);
    // Agents that the scene does not name stand in rows at its lower edge.
    const float space = 3.0f * agent_half(scene.p), edge = -0.9f * scene.p.arena_half;
    const int row = to_int(-2.0f * edge / space) + 1;
    for (int k = 0; scene.hiders + scene.seekers < scene.p.agent_count; ++k) {
      TextLine line;
      line.where = "debug:" + name;
      const char* const word = scene.hiders < scene.p.hider_count ? "hider" : "seeker";
      LaidBody& body = scene.new_body(line, word, kAgentKind);
      physics::put(body.pose.position, {edge + float(k % row) * space,
                                        edge + float(k / row) * space, agent_half(scene.p)});
      body.pose.orientation[0] = 1;
    }
    return;
  }
  refuse_layout("no scene is called " + quoted("debug:" + name) + "; known are " + known);
}

inline Options read_layout(const ResetSettings& settings, const Params& p) {
  const std::string& text = settings.layout;
  Layout scene{p};
  if (text.empty()) return scene.options;
  scene.options.laid = 1;
  if (text.rfind("debug:", 0) == 0) {
    read_scene(scene, text.substr(6));
    return scene.options;
  }
  std::vector<TextLine> lines = text_lines(text);
  if (lines.empty()) refuse_layout("the text names nothing");
  for (TextLine& line : lines) read_thing(scene, line);
  require_places(scene.hiders, "hiders", "hider_count", p.hider_count);
  require_places(scene.seekers, "seekers", "seeker_count", p.seeker_count);
  return scene.options;
}

}  // namespace gpu_envs::envs::hide_seek
