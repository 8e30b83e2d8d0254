// A room of the gallery (envs/gallery.hpp) as tests lay it out and read it: things by columns, eyes
// by poses, pictures by layers.
#pragma once

#include "envs/gallery.hpp"
#include "slow_pictures.hpp"

namespace ge::test {

inline Config gallery_config(const Values& parameters, int64_t worlds = 1, int threads = 1) {
  Config config;
  config.worlds = worlds;
  config.threads = threads;
  config.parameters = parameters;
  return config;
}

/// Where somebody stands, and looks to.
struct Stand {
  Vec3 at;
  float yaw, pitch;
};

class Gallery : public Simulation {
 public:
  explicit Gallery(const Config& config) : Simulation("Gallery-v0", config) {}
  explicit Gallery(const Values& parameters, int64_t worlds = 1)
      : Gallery(gallery_config(parameters, worlds)) {}

  Picture picture() {
    gpu_envs::envs::gallery::Settings settings;
    set_fields(&settings, field_infos<gpu_envs::envs::gallery::Settings>(true),
               (*this)->config().parameters, "parameter");
    return cameras::picture_of(settings);
  }
  int things() { return int(get<int32_t>("things.shape").size() / size_t((*this)->worlds())); }
  int visitors() { return int((*this)->agents()); }

  /// Lays out the things of every world, the rest of them far away.
  void lay(const std::vector<Solid>& solids) {
    lay_each(std::vector<std::vector<Solid>>(size_t((*this)->worlds()), solids));
  }
  /// A list per world.
  void lay_each(const std::vector<std::vector<Solid>>& rooms) {
    const auto worlds = size_t((*this)->worlds()), room = size_t(things());
    std::vector<int32_t> shapes(worlds * room, geometry::kBox), owners(worlds * room, -1);
    std::vector<uint32_t> colours(worlds * room, 0);
    std::vector<float> halves(3 * worlds * room, 1e-3f), at(3 * worlds * room, -1e4f),
        turns(4 * worlds * room, 0);
    for (size_t k = 0; k < worlds * room; ++k) {
      turns[4 * k] = 1;
      const std::vector<Solid>& solids = rooms[k / room];
      if (k % room >= solids.size()) continue;
      const Solid& s = solids[k % room];
      shapes[k] = s.shape, owners[k] = s.owner, colours[k] = s.colour;
      std::copy(s.half, s.half + 3, &halves[3 * k]);
      std::copy(s.at, s.at + 3, &at[3 * k]);
      std::copy(s.turn, s.turn + 4, &turns[4 * k]);
    }
    set("things.shape", shapes), set("things.owner", owners), set("things.colour", colours);
    set("things.half", halves), set("things.at", at), set("things.turn", turns);
  }
  /// The pose of every visitor of every world.
  void stand(Vec3 at, float yaw, float pitch) {
    stand_each(std::vector<Stand>(get<float>("visitors.yaw").size(), {at, yaw, pitch}));
  }
  /// A pose per visitor: as many to a world as its table has rows.
  void stand_each(const std::vector<Stand>& stands) {
    std::vector<float> places, yaws, pitches;
    for (const Stand& s : stands) {
      places.insert(places.end(), {s.at.x, s.at.y, s.at.z});
      yaws.push_back(s.yaw), pitches.push_back(s.pitch);
    }
    set("visitors.at", places), set("visitors.yaw", yaws), set("visitors.pitch", pitches);
  }
  void look() { (*this)->observe(bound(), nullptr); }

  /// What visitor `me` of a world has around him.
  SlowRoom room(int64_t world, int me) {
    SlowRoom made;
    const size_t count = size_t(things()), first = size_t(world) * count;
    const auto shapes = get<int32_t>("things.shape"), owners = get<int32_t>("things.owner");
    const auto colours = get<uint32_t>("things.colour");
    const auto halves = get<float>("things.half"), at = get<float>("things.at"),
               turns = get<float>("things.turn");
    for (size_t k = first; k < first + size_t(thing_count()); ++k) {
      Solid solid{};
      solid.shape = shapes[k], solid.owner = owners[k], solid.colour = colours[k];
      std::copy(&halves[3 * k], &halves[3 * k] + 3, solid.half);
      std::copy(&at[3 * k], &at[3 * k] + 3, solid.at);
      std::copy(&turns[4 * k], &turns[4 * k] + 4, solid.turn);
      made.solids.push_back(solid);
    }
    const auto places = get<float>("visitors.at"), yaws = get<float>("visitors.yaw"),
               pitches = get<float>("visitors.pitch");
    const size_t each = yaws.size() / size_t((*this)->worlds());
    for (int other = 0; other < visitors(); ++other) {
      const size_t k = size_t(world) * each + size_t(other);
      const Vec3 place = {places[3 * k], places[3 * k + 1], places[3 * k + 2]};
      made.solids.push_back(cameras::solid(geometry::kPill, {0.35f, 0.35f, 0.36f}, place, 0x2eb5d0,
                                           cameras::upright(), other));
      if (other == me) made.eye = cameras::eye_at(place, yaws[k], pitches[k]);
    }
    made.viewer = me;
    // Things without rows of solids are behind the visitors.
    const auto listed = made.solids.begin() + (thing_count() - fixed_count());
    std::rotate(listed, listed + fixed_count(), made.solids.end());
    namespace gallery = gpu_envs::envs::gallery;
    const geometry::HeightGrid grid = gallery::hill_grid();
    const auto cells = get<int32_t>("hills.cells");
    made.hills = 0xb9a37c;
    for (int k = 0; k < gallery::kSide * gallery::kSide; ++k) {
      const int height = cells[size_t(world * gallery::kSide * gallery::kSide + k)];
      if (height == 0) continue;
      const int x = k % gallery::kSide, y = k / gallery::kSide;
      const auto at = [&](int i, int j, int z) -> Vec3 {
        return {float(i) * grid.cell + grid.corner.x, float(j) * grid.cell + grid.corner.y,
                float(z) * grid.cell + grid.corner.z};
      };
      made.columns.push_back({at(x, y, 0), at(x + 1, y + 1, height)});
    }
    const auto steps = get<uint32_t>("world.step");
    made.bar = {1.0f - float(steps[size_t(world)]) * 0.05f, 0x1a6574};
    return made;
  }
  int thing_count() { return int(parameter("thing_count", 24)); }
  int fixed_count() { return int(parameter("fixed_count", 0)); }

  /// One layer of one picture, as bytes; "" where it is not drawn.
  std::string layer(Layer which, int64_t row) {
    const ImageForm form = picture().form;
    const Output output = output_of_layer(form, which, false);
    if ((form.layers & which) == 0) return "";
    const auto all = out<char>(output);
    const auto bytes = size_t(form.pixels() * bytes_of_pixel(which));
    return {&all[size_t(row) * bytes], bytes};
  }
  std::vector<float> depths(int64_t row) {
    const std::string bytes = layer(kDepths, row);
    std::vector<float> values(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::vector<int> segments(int64_t row) {
    const std::string bytes = layer(kSegments, row);
    std::vector<uint16_t> values(bytes.size() / 2);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return {values.begin(), values.end()};
  }
  /// Red, green, blue of a pixel; channels first.
  std::vector<int> colour(int64_t picture_row, int row, int column) {
    const ImageForm form = picture().form;
    const std::string bytes = layer(kColours, picture_row);
    std::vector<int> found;
    for (int c = 0; c < 3; ++c)
      found.push_back(
          uint8_t(bytes[size_t(c * form.pixels() + int64_t{row} * form.columns + column)]));
    return found;
  }

 private:
  int64_t parameter(const std::string& name, int64_t otherwise) {
    const auto& parameters = (*this)->config().parameters;
    const auto found = parameters.find(name);
    return found == parameters.end() ? otherwise : std::get<int64_t>(found->second);
  }
};

}  // namespace ge::test
