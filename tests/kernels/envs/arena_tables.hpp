// What the Arena is made of: parameters, components, tables. Its rules are in arena.hpp.
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::arena {

using namespace ge;

// ---- what is described

struct Params {
  int32_t agent_count = 4;
  int32_t substeps = 2;
  float size = 2.0f;
  float drag = 0.1f;
  bool walls = true;

  static constexpr auto describe() {
    return fields(
        field("agent_count", &Params::agent_count, "fighters per world").within(1, 6),
        field("substeps", &Params::substeps, "moves per step").within(0, 8),
        field("size", &Params::size, "half the side of the arena").in("m").within(0.5, 100),
        field("drag", &Params::drag, "part of its speed that a body loses per move").within(0, 1),
        field("walls", &Params::walls, "bodies bounce at the border instead of leaving"));
  }
};

struct Options {
  float spread = 1.0f;
  int32_t ammunition = 5;

  static constexpr auto describe() {
    return fields(
        field("spread", &Options::spread, "part of the arena in which fighters start").within(0, 1),
        field("ammunition", &Options::ammunition, "shots that a fighter starts with")
            .within(0, 255));
  }
};

struct Steer {
  int32_t move, fire;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("move", &Steer::move, "0 stays, 1 to 4 push left, right, down, up").one_of(5),
        field("fire", &Steer::fire, "1 shoots").one_of(2));
  }
};

// ---- components

struct Body {
  float x, y, radius;
  static constexpr auto describe() {
    return fields(field("x", &Body::x, "position").in("m"),
                  field("y", &Body::y, "position").in("m"),
                  field("radius", &Body::radius, "size").in("m"));
  }
};
struct Speed {
  float x, y;
  static constexpr auto describe() {
    return fields(field("speed_x", &Speed::x, "metres per move").in("m"),
                  field("speed_y", &Speed::y, "metres per move").in("m"));
  }
};
struct Push {
  float x, y;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("push_x", &Push::x, "out of contacts").in("m"),
                  field("push_y", &Push::y, "out of contacts").in("m"));
  }
};
/// Number of a solid body: fighters first, then boxes.
struct Solid {
  int32_t id;
  static constexpr auto describe() {
    return fields(field("solid", &Solid::id, "number among the solid bodies").within(0, 8));
  }
};
struct Health {
  float value;
  static constexpr auto describe() {
    return fields(field("health", &Health::value, "0: out of the game"));
  }
};
struct Ammo {
  uint8_t shots, cooldown, firing;
  static constexpr auto describe() {
    return fields(field("shots", &Ammo::shots, "left").any_value(),
                  field("cooldown", &Ammo::cooldown, "steps until the next shot").any_value(),
                  field("firing", &Ammo::firing, "1: shoots in this step").within(0, 1));
  }
};
struct Lock {
  uint32_t slot, generation;
  static constexpr auto describe() {
    return fields(field("lock_slot", &Lock::slot, "the fighter's last shot").any_value(),
                  field("lock_generation", &Lock::generation, "of that shot").any_value());
  }
};
struct Heat {
  double value, peak;
  static constexpr auto describe() {
    return fields(field("heat", &Heat::value, "of the gun"),
                  field("peak", &Heat::peak, "highest heat so far"));
  }
};
struct Shot {
  int32_t owner, age;
  static constexpr auto describe() {
    return fields(field("owner", &Shot::owner, "fighter, or -1").row_of("fighters", -1),
                  field("age", &Shot::age, "steps since it was fired").within(0, 1 << 20));
  }
};
struct Mark {
  float x, y;
  uint32_t born;
  static constexpr auto describe() {
    return fields(field("mark_x", &Mark::x, "where"), field("mark_y", &Mark::y, "where"),
                  field("born", &Mark::born, "step at which it was made").any_value());
  }
};
struct Contact {
  int32_t first, second;
  float x, y;
  static constexpr auto describe() {
    return fields(field("first", &Contact::first, "solid body"),
                  field("second", &Contact::second, "solid body"),
                  field("x", &Contact::x, "what the first is pushed by"),
                  field("y", &Contact::y, "what the first is pushed by"));
  }
};
struct Hit {
  int32_t shot, fighter;
  static constexpr auto describe() {
    return fields(field("shot", &Hit::shot, "slot"), field("fighter", &Hit::fighter, "row"));
  }
};
struct Ray {
  float distance;
  int32_t fighter;
  static constexpr auto describe() {
    return fields(field("distance", &Ray::distance, "to the nearest box").in("m"),
                  field("fighter", &Ray::fighter, "row"));
  }
};
struct Spark {
  double heat;
  int32_t hit, kind;
  static constexpr auto describe() {
    return fields(field("heat", &Spark::heat, "how hot"), field("hit", &Spark::hit, "of which hit"),
                  field("kind", &Spark::kind, "0 or 1"));
  }
};
struct Pass {
  int32_t left, sparks;
  static constexpr auto describe() {
    return fields(field("left", &Pass::left, "rounds of cooling to go"),
                  field("sparks", &Pass::sparks, "alive"));
  }
};
struct Tally {
  float energy, nearest, farthest;
  int32_t alive, alarms, oldest;
  static constexpr auto describe() {
    return fields(field("energy", &Tally::energy, "of everything that moves"),
                  field("nearest", &Tally::nearest, "shortest ray"),
                  field("farthest", &Tally::farthest, "longest ray"),
                  field("alive", &Tally::alive, "fighters in the game").within(0, 6),
                  field("alarms", &Tally::alarms, "bit i: fighter i is hot").any_value(),
                  field("oldest", &Tally::oldest, "age of a shot").any_value());
  }
};
struct Ledger {
  double heat;
  static constexpr auto describe() {
    return fields(field("heat", &Ledger::heat, "that sparks ever gave off"));
  }
};

// ---- tables

struct Fighters : Agents<6, Body, Speed, Push, Solid, Health, Ammo, Lock, Heat, Steer> {
  static constexpr const char* name = "fighters";
  static GE_FN constexpr int count(const Params& params) { return params.agent_count; }
};
struct Boxes : Fixed<3, Body, Speed, Push, Solid> {
  static constexpr const char* name = "boxes";
};
struct Shots : Pool<40, Body, Speed, Shot> {
  static constexpr const char* name = "shots";
};
struct Marks : List<4, Mark> {
  static constexpr const char* name = "marks";
};
struct Board : Single<Tally, Ledger> {
  static constexpr const char* name = "board";
};
struct Contacts : List<2, Contact> {
  static constexpr const char* name = "contacts";
  static constexpr bool scratch = true;
};
struct BoxContacts : List<8, Contact> {
  static constexpr const char* name = "box_contacts";
  static constexpr bool scratch = true;
};
struct Hits : List<8, Hit> {
  static constexpr const char* name = "hits";
  static constexpr bool scratch = true;
};
struct Rays : List<12, Ray> {
  static constexpr const char* name = "rays";
  static constexpr bool scratch = true;
};
struct Warnings : List<3, Hit> {
  static constexpr const char* name = "warnings";
  static constexpr bool scratch = true;
};
struct Sparks : Pool<3, Spark> {
  static constexpr const char* name = "sparks";
  static constexpr bool scratch = true;
};
struct Work : Single<Pass> {
  static constexpr const char* name = "work";
  static constexpr bool scratch = true;
};

struct Schema {
  using Params = arena::Params;
  using Options = arena::Options;
  using Action = Steer;
  using Agent = Fighters;
  using tables = Types<Fighters, Boxes, Shots, Marks, Board, Contacts, BoxContacts, Hits, Rays,
                       Warnings, Sparks, Work>;
};
using W = World<Schema>;

}  // namespace gpu_envs::envs::arena
