// The things of HexMemory: pillars, diamonds and balls, and the large one in the maze's middle.
#pragma once

#include "envs/hex/hexagons.hpp"
#include "voxel/solids.hpp"

namespace gpu_envs::envs::hex {

inline constexpr int kMostThings = kMostCells - 1;
inline constexpr int kSolidsOfThing = 3;  // at most

enum ThingForm { kPillarForm, kDiamondForm, kBallForm, kThingForms };

/// Shapes and colours of those that match, as the one in the middle, and of those that do not.
struct Looks {
  int32_t good_form, good_colour, bad_form, bad_colour;
  static constexpr auto describe() {
    return fields(
        field("good_form", &Looks::good_form, "what matches: 0 pillars, 1 diamonds, 2 balls")
            .within(0, kThingForms - 1),
        field("good_colour", &Looks::good_colour, "its colour, one of 14")
            .within(0, voxel::kObjectColours - 1),
        field("bad_form", &Looks::bad_form, "what does not: 0 pillars, 1 diamonds, 2 balls")
            .within(0, kThingForms - 1),
        field("bad_colour", &Looks::bad_colour, "its colour, one of 14")
            .within(0, voxel::kObjectColours - 1));
  }
};
struct Harvest {
  int32_t good_left, things;
  static constexpr auto describe() {
    return fields(
        field("good_left", &Harvest::good_left, "things that match and are left")
            .within(0, kMostThings),
        field("thing_count", &Harvest::things, "things at the start").within(0, kMostThings));
  }
};
struct Thing {
  float at[2];  // where it was put down, without its shift
  int32_t good, left;
  static constexpr auto describe() {
    return fields(field("at", &Thing::at, "where it was put").in("m"),
                  field("good", &Thing::good, "1: it matches").within(0, 1),
                  field("left", &Thing::left, "1: nobody has taken it").within(0, 1));
  }
};
struct Things : List<kMostThings, Thing> {
  static constexpr const char* name = "things";
};
struct RawThings : Fixed<kMostThings, Thing> {
  static constexpr const char* name = "raw_things";
  static constexpr bool scratch = true;
};

/// Two looks that differ, all of them alike.
GE_FN Looks draw_looks(const Draw& d) {
  constexpr int kAll = kThingForms * voxel::kObjectColours;
  const int good = int(d.below(0, kAll)), next = int(d.below(1, kAll - 1));
  const int bad = next < good ? next : next + 1;
  return {good / voxel::kObjectColours, good % voxel::kObjectColours, bad / voxel::kObjectColours,
          bad % voxel::kObjectColours};
}

/// Where a thing is, and how large.
struct Placing {
  Vec3 at;  // its middle; of a diamond that of its upper half
  float scale;
};
GE_FN Placing placing(Vec3 base, float scale, int form) {
  const float up = form == kPillarForm ? 0.05f : form == kDiamondForm ? 0.6f : 0.1f;
  return {base + Vec3{0.5f, 0.5f, up} * scale, scale};
}
GE_FN Placing model_of(const Looks& looks) {
  return placing({0.0f, 0.0f, 1.0f}, 1.0f, looks.good_form);
}
GE_FN Placing copy_of(const Looks& looks, const Thing& thing) {
  return placing({thing.at[0], thing.at[1], 0.5f}, 0.6f,
                 thing.good != 0 ? looks.good_form : looks.bad_form);
}
GE_FN int solids_of(int form) {
  return form == kPillarForm ? 3 : form == kDiamondForm ? 2 : 1;
}
/// A pillar has two caps.
GE_FN cameras::Solid pillar_part(const Placing& thing, uint32_t colour, int part) {
  constexpr float kCap = 0.075f;  // half of its thickness [m]
  const float wide = (part == 0 ? 0.5f : 0.6f) * thing.scale;
  const float away = part == 0 ? 0.0f : part == 1 ? 0.94f : -0.94f;
  return cameras::solid(geometry::kCylinder, {wide, wide, part == 0 ? thing.scale : kCap},
                        thing.at + Vec3{0.0f, 0.0f, away * thing.scale}, colour);
}
GE_FN cameras::Solid solid_of(const Placing& thing, int form, int colour, int part) {
  const uint32_t painted = voxel::object_colour(colour);
  const float s = thing.scale;
  if (form == kPillarForm) return pillar_part(thing, painted, part);
  if (form == kDiamondForm)
    return voxel::diamond_cone({0.374f * s, 0.99f * s, 0.0f}, thing.at, painted, part != 0);
  return cameras::solid(geometry::kSphere, {0.75f * s, 0.75f * s, 0.75f * s}, thing.at, painted);
}

}  // namespace gpu_envs::envs::hex
