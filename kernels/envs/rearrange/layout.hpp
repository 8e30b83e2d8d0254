// Levels by hand: an arrangement and where the copy's objects lie. Host only.
//
//   object ball green 0 0 0 at 2 1 0   by its place in the model, right, ahead, up of the middle,
//   object drum red 1 0 0              and that of its copy, the same where nothing is said
//   agent 9.5 2.5 1.5                  as in all voxel games; so are walls and seconds
#pragma once

#include "envs/rearrange/room.hpp"
#include "voxel/draft.hpp"

namespace gpu_envs::envs::rearrange {

struct LaidObject {
  int8_t model[3], copy[3];  // cells from the middles
  uint8_t form, colour;      // voxel::Form, of voxel::object_colour
};
struct Options : voxel::Laid {
  int32_t object_count;
  LaidObject objects[kMostObjects];
};
static_assert(sizeof(Options) < 1024, "GE: options travel with every launch");

inline bool operator==(const int8_t (&a)[3], const Cell& b) {
  return a[0] == b.x && a[1] == b.y && a[2] == b.z;
}

class ObjectLayout : public voxel::Layout {
 public:
  ObjectLayout(const voxel::Grammar& grammar, const Params& p)
      : Layout(grammar, p.agent_count), room_{kLength, kWidth, p.wall.high} {}

  Options read_all(const std::string& text) {
    static_cast<voxel::Laid&>(options_) = read(text);
    return options_;
  }

 protected:
  void read_own(TextLine& line, const std::string&) override {
    LaidObject& object = next_row(options_.objects, options_.object_count, line, "objects");
    object.form = uint8_t(voxel::kBlockForm + choice(line, "a shape", kShapes));
    object.colour = uint8_t(choice(line, "a colour", kColours));
    read_place(line, object.model, kReach);
    std::copy(std::begin(object.model), std::end(object.model), object.copy);
    if (!line.done()) {
      const std::string word = line.take("at");
      if (word != "at") line.wrong("unknown word " + quoted(word) + "; known is at");
      read_place(line, object.copy, kWorkReach);
    }
    line.end();
  }
  void check_own() const override {
    if (options_.object_count < 2) refuse_layout("there are fewer than 2 objects");
    bool is_done = true;
    for (int k = 0; k < options_.object_count; ++k) {
      const LaidObject& object = options_.objects[k];
      check_place(k, &LaidObject::model, "in the model");
      check_place(k, &LaidObject::copy, "in the copy");
      is_done &= std::equal(std::begin(object.model), std::end(object.model), object.copy);
    }
    if (is_done) refuse_layout("every object is in its place already");
    for (int k = 0; k < kFixtures; ++k)
      check_agents(bounds_of(fixture(k)), "the floor or a pedestal");
    for (int k = 0; k < 4; ++k)
      check_agents(bounds_of(voxel::wall_of_room(k, room_, 0, 0)), "a wall");
    for (int k = 0; k < options_.object_count; ++k) {
      const LaidObject& object = options_.objects[k];
      check_agents(object_bounds(object, model_middle(), object.model), "an object of the model");
      check_agents(object_bounds(object, work_middle(), object.copy), "an object of the copy");
    }
  }

 private:
  static constexpr const char* kShapes[] = {"block", "ball", "pill", "drum"};
  static constexpr const char* kColours[voxel::kObjectColours] = {
      "yellow", "green",     "light_green", "blue", "light_blue",   "dark_blue", "orange",
      "grey",   "dark_grey", "white",       "red",  "light_orange", "violet",    "light_pink"};

  template <size_t N>
  static int choice(TextLine& line, const char* what, const char* const (&names)[N]) {
    const std::string word = line.take(what);
    std::string known;
    for (size_t k = 0; k < N; ++k) {
      if (word == names[k]) return int(k);
      known += (k == 0 ? "" : ", ") + std::string(names[k]);
    }
    line.wrong(quoted(word) + " is not " + what + "; known are " + known);
  }
  static void read_place(TextLine& line, int8_t (&at)[3], int reach) {
    at[0] = int8_t(line.number<int32_t>("x", -reach, reach));
    at[1] = int8_t(line.number<int32_t>("y", -reach, reach));
    at[2] = int8_t(line.number<int32_t>("z", 0, kHighest - 1));
  }
  static voxel::Bounds object_bounds(const LaidObject& object, const Cell& middle,
                                     const int8_t (&place)[3]) {
    return crate_bounds(object.form,
                        {middle.x + place[0], middle.y + place[1], middle.z + place[2]});
  }
  /// Objects have a cell of their own each, on the pedestal or on another one.
  void check_place(int k, int8_t (LaidObject::*place)[3], const char* where) const {
    const auto& at = options_.objects[k].*place;
    const auto has = [&](const Cell& cell, int but) {
      for (int row = 0; row < options_.object_count; ++row)
        if (row != but && options_.objects[row].*place == cell) return true;
      return false;
    };
    const auto wrong = [&](const std::string& what) {
      refuse_layout("object " + std::to_string(k) + " " + what + " " + where);
    };
    if (has({at[0], at[1], at[2]}, k)) wrong("is where another one is");
    if (at[2] > 0 && !has({at[0], at[1], at[2] - 1}, k)) wrong("has nothing beneath it");
  }

  Cell room_;  // cells along each axis, walls included
  Options options_{};
};

inline Options read_layout(const std::string& text, const Params& p) {
  const voxel::Grammar grammar{.words = {"object", "walls", "agent", "seconds"},
                               .needs_floor = false};
  return ObjectLayout(grammar, p).read_all(text);
}

}  // namespace gpu_envs::envs::rearrange
