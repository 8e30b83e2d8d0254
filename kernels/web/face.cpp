// The functions that a web page calls: one simulator of this module's environment, its arrays, and
// pictures and texts of its worlds. A module is made once per worker and holds one simulator.
//
// Text and bytes go in as an address and a length, from memory of ge_alloc. Texts come out as the
// address of UTF-8 that ends with 0 and is valid until the next call. A call that fails returns 0
// (-1 where it returns a number); ge_error then has the message, and ge_fault its kind. Nothing is
// left half done, so the simulator can be used further.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/base/platform_web.hpp"
#include "engine/described/field_info.hpp"
#include "engine/maths/blake2b.hpp"
#include "engine/simulator/action_draws.hpp"
#include "engine/simulator/records.hpp"
#include "engine/simulator/simulator.hpp"
#include "engine/web/files.hpp"
#include "pictures/memory.hpp"
#include "pictures/picture.hpp"
#include "views/world.hpp"
#include "web/settings.hpp"

extern "C" const ge::Entry* ge_module_entry();

using namespace ge;

namespace {

/// All that a module holds between two calls.
struct Held {
  std::unique_ptr<Simulator> simulator;
  DataFiles files;
  std::vector<uint8_t> outputs[kOutputCount];
  Bound bound;
  std::vector<int32_t> actions;
  pictures::Memory memory;  // of the picture that was drawn last
  std::vector<uint8_t> picture, canvas;
  std::vector<float> past;  // readings of charts, a row each
  std::vector<char> bytes;  // of the last save or column
  std::string text, error;
  int fault = -1;  // of the last call; -1: it succeeded
};
Held& held() {
  static Held all;
  return all;
}

Simulator& made() {
  if (held().simulator == nullptr)
    throw Error(Fault::runtime, "no simulator was made: call ge_make first");
  return *held().simulator;
}
int64_t checked_world(int64_t world) {
  if (world < 0 || world >= made().worlds())
    throw Error(Fault::value, "world " + std::to_string(world) + " does not exist: there are " +
                                  std::to_string(made().worlds()));
  return world;
}

/// Runs a call and returns its result, or `failed`, with the error in `held`.
template <class F, class R = std::invoke_result_t<F>>
R call(F&& body, R failed = {}) {
  Held& all = held();
  all.fault = -1, all.error.clear();
  try {
    return body();
  } catch (const Error& problem) {
    all.fault = int(problem.kind()), all.error = problem.what();
  } catch (const std::bad_alloc&) {
    all.fault = int(Fault::memory), all.error = "there is not enough memory for this";
  } catch (const std::exception& problem) {
    all.fault = int(Fault::runtime), all.error = problem.what();
  }
  return failed;
}
const char* shown(std::string text) {
  held().text = std::move(text);
  return held().text.c_str();
}
const char* json_of(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + json(word);
  return shown("[" + list + "]");
}
std::string json_of(const std::vector<int64_t>& numbers) {
  std::string list;
  for (const int64_t n : numbers) list += (list.empty() ? "" : ", ") + std::to_string(n);
  return "[" + list + "]";
}

Config config_of(const char* settings, size_t bytes) {
  Config config = web::config_of({settings, bytes});
  config.data_files = held().files;
  config.data_files.remedy = "the page has to load the file that belongs to this module";
  return config;
}

/// Whether an output is what agents see: the present state alone decides it.
constexpr bool is_sight(Output output) {
  return has_trait(output, kAlways) && !has_trait(output, kByAStep);
}
/// The outputs that are what agents see, or the other ones.
Bound outputs_of(bool sight) {
  Bound some = held().bound;
  for (int k = 0; k < kOutputCount; ++k)
    if (is_sight(Output(k)) != sight) some.at[k] = nullptr;
  return some;
}

void take_outputs(Simulator& simulator) {
  Held& all = held();
  for (int k = 0; k < kOutputCount; ++k) {
    const OutputShape& shape = simulator.output(ge::Output(k));
    all.outputs[k].assign(shape.exists ? size_t(shape.bytes) : 0, 0);
    all.bound.at[k] = shape.exists ? all.outputs[k].data() : nullptr;
  }
  all.actions.assign(size_t(simulator.action_count()), 0);
}

/// A picture of red, green and blue as a canvas takes it: with a fourth byte that says opaque.
uint8_t* as_canvas(const std::vector<uint8_t>& picture) {
  std::vector<uint8_t>& canvas = held().canvas;
  const size_t pixels = picture.size() / 3;
  canvas.resize(4 * pixels);
  for (size_t k = 0; k < pixels; ++k) {
    std::memcpy(&canvas[4 * k], &picture[3 * k], 3);
    canvas[4 * k + 3] = 255;
  }
  return canvas.data();
}

}  // namespace

// ---- memory and errors

GE_PAGE_CALLS(ge_alloc) void* ge_alloc(size_t bytes) {
  return std::malloc(bytes);
}
GE_PAGE_CALLS(ge_free) void ge_free(void* memory) {
  std::free(memory);
}
GE_PAGE_CALLS(ge_error) const char* ge_error() {
  return held().error.c_str();
}
/// The kind of the last call's failure, as `Fault` lists them; -1: it succeeded.
GE_PAGE_CALLS(ge_fault) int ge_fault() {
  return held().fault;
}
/// Hands over a data file of the environment, before ge_make.
GE_PAGE_CALLS(ge_hold_file)
int ge_hold_file(const char* name, size_t name_bytes, const void* data, size_t bytes) {
  return call(
      [&] {
        const std::string key(name, name_bytes);
        std::vector<std::byte> content(bytes);
        if (bytes > 0) std::memcpy(content.data(), data, bytes);
        held().files.by_name[key] = {key, Blake2b(16).update(data, bytes).hex_digest()};
        web::keep_file(key, std::move(content));
        return 0;
      },
      -1);
}

// ---- making

/// What the module describes: a JSON list, an object per id.
GE_PAGE_CALLS(ge_describe) const char* ge_describe() {
  return call([] { return shown("[" + ge_module_entry()->describe() + "]"); });
}
/// Makes the simulator; the earlier one ends, unless this call fails.
GE_PAGE_CALLS(ge_make)
int ge_make(const char* id, size_t id_bytes, const char* settings, size_t bytes) {
  return call(
      [&] {
        const std::string name(id, id_bytes);
        auto simulator = ge_module_entry()->make(name, config_of(settings, bytes));
        if (simulator == nullptr)
          throw Error(Fault::value, "this module has no environment '" + name + "'");
        Held& all = held();
        all.simulator = std::move(simulator);
        all.memory = {}, all.past.clear();
        take_outputs(*all.simulator);
        return 0;
      },
      -1);
}
/// What the simulator is: a JSON object, as the package reads it.
GE_PAGE_CALLS(ge_instance) const char* ge_instance() {
  return call([] { return shown(made().instance()); });
}
GE_PAGE_CALLS(ge_action_names) const char* ge_action_names() {
  return call([] { return json_of(made().action_names()); });
}
GE_PAGE_CALLS(ge_action_keys) const char* ge_action_keys() {
  return call([] { return json_of(made().action_keys()); });
}
/// The arrays that a step writes: a JSON object of type, shape of a row, address and bytes by name.
GE_PAGE_CALLS(ge_outputs) const char* ge_outputs() {
  return call([] {
    std::string list;
    for (int k = 0; k < kOutputCount; ++k) {
      const OutputShape& shape = made().output(ge::Output(k));
      if (!shape.exists) continue;
      list += (list.empty() ? "" : ", ") + json(name_of(ge::Output(k))) +
              ": {\"type\": " + json(std::string(name_of(shape.type))) +
              ", \"row\": " + json_of(shape.row) +
              ", \"per_agent\": " + (shape.per_agent ? "true" : "false") +
              ", \"split\": " + (shape.split ? "true" : "false") +
              ", \"is_sight\": " + (is_sight(ge::Output(k)) ? "true" : "false") +
              ", \"at\": " + std::to_string(reinterpret_cast<uintptr_t>(held().bound.at[k])) +
              ", \"bytes\": " + std::to_string(shape.bytes) + "}";
    }
    return shown("{" + list + "}");
  });
}

// ---- running

/// Begins an episode in every world, or where `mask` is not 0; `seeded` says whether `seed` counts.
GE_PAGE_CALLS(ge_reset)
int ge_reset(uint64_t seed, int seeded, const uint8_t* mask, const char* options, size_t bytes) {
  return call(
      [&] {
        const uint64_t seeds[1] = {seed};
        ResetRequest request;
        if (seeded != 0) request.seeds = seeds;
        request.mask = mask;
        request.options = web::values_in({options, bytes});
        made().reset(request, held().bound, nullptr);
        return 0;
      },
      -1);
}
/// The actions of the next step: words of 32 bits, worlds x agents x words of an action.
GE_PAGE_CALLS(ge_actions) int32_t* ge_actions() {
  return held().actions.data();
}
GE_PAGE_CALLS(ge_action_count) int ge_action_count() {
  return int(held().actions.size());
}
/// Draws the actions of the next step as the package's `sample_actions` does: legal ones.
GE_PAGE_CALLS(ge_sample_actions) int ge_sample_actions(uint64_t seed) {
  return call(
      [&] {
        Simulator& simulator = made();
        const auto* const mask = static_cast<const int8_t*>(held().bound.at[kActionMask]);
        for (const PlacedDraw& draw : action_draws(simulator, mask, seed, held().actions.data()))
          simulator.sample_actions(draw.sampling, draw.to, nullptr);
        return 0;
      },
      -1);
}
/// A step, with or without what agents see, which ge_see writes later.
GE_PAGE_CALLS(ge_step) int ge_step(int sight) {
  return call(
      [sight] {
        Simulator& simulator = made();
        simulator.step(
            {held().actions.data(), simulator.action_is_float() ? Type::float32 : Type::int32},
            sight != 0 ? held().bound : outputs_of(false), nullptr);
        return 0;
      },
      -1);
}
/// Writes what agents see now, and no other output.
GE_PAGE_CALLS(ge_see) int ge_see() {
  return call([] { return made().observe(outputs_of(true), nullptr), 0; }, -1);
}
/// Writes the outputs of the present state, as after a record was written.
GE_PAGE_CALLS(ge_observe) int ge_observe() {
  return call([] { return made().observe(held().bound, nullptr), 0; }, -1);
}

// ---- state

GE_PAGE_CALLS(ge_layout) const char* ge_layout() {
  return call([] { return shown(made().layout()); });
}
/// How many bytes ge_read_record writes of a world; they are the same on every machine.
GE_PAGE_CALLS(ge_record_bytes) int ge_record_bytes() {
  return call([] { return int(made().record_bytes()); }, -1);
}
GE_PAGE_CALLS(ge_read_record) int ge_read_record(int world, void* to) {
  return call([&] { return made().read_records(checked_world(world), 1, to), 0; }, -1);
}
/// Saves everything that the simulator keeps. Returns its address; ge_bytes returns its length.
GE_PAGE_CALLS(ge_save) const char* ge_save() {
  return call([] {
    const std::string all = save(made());
    held().bytes.assign(all.begin(), all.end());
    return static_cast<const char*>(held().bytes.data());
  });
}
GE_PAGE_CALLS(ge_bytes) int ge_bytes() {
  return int(held().bytes.size());
}
/// Restores what ge_save wrote, here or on another machine; refuses anything else.
GE_PAGE_CALLS(ge_load) int ge_load(const char* data, size_t bytes) {
  return call([&] { return load(made(), data, int64_t(bytes)), 0; }, -1);
}
/// Copies a column of all worlds. Returns its address; ge_bytes returns its length.
GE_PAGE_CALLS(ge_column) const char* ge_column(const char* name, size_t name_bytes) {
  return call([&] {
    const Column& column = find_column(made(), std::string(name, name_bytes));
    held().bytes.resize(size_t(column.rows * column.bytes * made().worlds()));
    get_column(made(), column, held().bytes.data());
    return static_cast<const char*>(held().bytes.data());
  });
}
/// Runs a recorded case on the simulator; returns the hash of its records and that of its outputs.
GE_PAGE_CALLS(ge_golden) const char* ge_golden(int steps, uint64_t seed) {
  return call([&] {
    const Golden found = golden_run(made(), steps, seed);
    return shown(found.records + " " + found.outputs);
  });
}

// ---- views

/// The text of a world, as agent `viewer` may see it; -1: all of it.
GE_PAGE_CALLS(ge_text) const char* ge_text(int world, int viewer) {
  return call([&] { return shown(views::text_of_world(made(), checked_world(world), viewer)); });
}
/// Rows and columns of a world's picture, as a JSON list.
GE_PAGE_CALLS(ge_picture_size) const char* ge_picture_size(int world) {
  return call([&] {
    const pictures::Size size =
        pictures::default_size(views::scene_of_world(made(), checked_world(world)));
    return shown(json_of({int64_t(size.rows), int64_t(size.columns)}));
  });
}
/// Notes what the charts of a world show now, for later pictures; returns how many notes there are.
GE_PAGE_CALLS(ge_note_charts) int ge_note_charts(int world) {
  return call(
      [&] {
        const auto now = views::reading_of_world(made(), checked_world(world));
        std::vector<float>& past = held().past;
        if (now.empty()) return 0;
        const size_t width = now.size();
        // Notes of another episode or of other charts are dropped, and those of later steps where an
        // earlier state was loaded.
        if (past.size() % width != 0 || (!past.empty() && past[0] != now[0])) past.clear();
        while (!past.empty() && past[past.size() - width + 1] >= now[1])
          past.resize(past.size() - width);
        past.insert(past.end(), now.begin(), now.end());
        return int(past.size() / width);
      },
      -1);
}
/// A picture of width x height pixels of four bytes, with samples x samples rays each.
GE_PAGE_CALLS(ge_picture)
uint8_t* ge_picture(int world, int width, int height, const char* view, size_t view_bytes,
                    int samples) {
  return call([&]() -> uint8_t* {
    const pictures::Request request{width, height, std::string(view, view_bytes), samples};
    pictures::check(request);
    Held& all = held();
    Scene scene = views::scene_of_world(made(), checked_world(world), request.view);
    const int64_t numbers = int64_t(pictures::reading_of(scene).size());
    if (numbers > 0 && int64_t(all.past.size()) % numbers == 0)
      pictures::give_past(scene, all.past.data(), int64_t(all.past.size()) / numbers, numbers);
    all.picture.resize(3 * size_t(width) * size_t(height));
    pictures::draw(scene, request, all.picture.data(), &all.memory);
    return as_canvas(all.picture);
  });
}
