// The one world builder of the native tests: a simulator of this binary's registry with arrays for
// all of its outputs.
#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/maths/blake2b.hpp"
#include "engine/maths/random.hpp"
#include "engine/simulator/records.hpp"
#include "engine/simulator/registry.hpp"
#include "test.hpp"

namespace ge::test {

inline constexpr Autoreset kModes[] = {Autoreset::next_step, Autoreset::same_step,
                                       Autoreset::disabled};

/// The files of a folder with the hashes that they have now.
inline DataFiles data_in(const std::filesystem::path& folder) {
  DataFiles found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string content(std::istreambuf_iterator<char>(file), {});
    const std::string hash = Blake2b(16).update(content.data(), content.size()).hex_digest();
    found.by_name[entry.path().filename().string()] = {entry.path().string(), hash};
  }
  found.remedy = "build it again";
  return found;
}

/// Every data file that this program is given: those of its environments.
inline DataFiles data_files() {
  DataFiles found;
  for (const char* const envs : {"kernels/envs", "tests/kernels/envs"})
    if (std::filesystem::is_directory(envs))
      for (const auto& entry : std::filesystem::recursive_directory_iterator(envs))
        if (entry.is_directory() && entry.path().filename() == "data")
          found.by_name.merge(data_in(entry.path()).by_name);
  return found;
}

/// Played by one thread where a test does not say by how many, so that every run is the same;
/// sources that say more have `// runs always`.
inline std::unique_ptr<Simulator> make_simulator(const Entry& entry, const std::string& id,
                                                 Config config) {
  if (config.threads == 0) config.threads = 1;
  return entry.make(id, config);
}
inline std::unique_ptr<Simulator> make_simulator(const std::string& id, Config config) {
  if (config.data_files.by_name.empty()) config.data_files = data_files();
  for (const Entry* entry : registry())
    if (auto made = make_simulator(*entry, id, config)) return made;
  throw Error(Fault::value, "no environment of this binary is called " + id);
}

class Simulation {
 public:
  Simulation(const std::string& id, const Config& config)
      : Simulation(make_simulator(id, config)) {}
  explicit Simulation(std::unique_ptr<Simulator> made) : simulator_(std::move(made)) {
    for (int o = 0; o < kOutputCount; ++o) {
      const OutputShape& shape = simulator_->output(Output(o));
      // Garbage first: what a call leaves unwritten shows.
      if (shape.exists)
        arrays_[o].assign(size_t(shape.bytes), char(0xcd)), bound_.at[o] = arrays_[o].data();
    }
  }

  Simulator& operator*() { return *simulator_; }
  Simulator* operator->() { return simulator_.get(); }
  const Bound& bound() const { return bound_; }
  Bound& bound() { return bound_; }
  int64_t rows() const { return simulator_->worlds() * simulator_->agents(); }

  void reset(uint64_t seed) {
    const uint64_t seeds[1] = {seed};
    ResetRequest request;
    request.seeds = seeds;
    simulator_->reset(request, bound_, nullptr);
  }
  void reset(const ResetRequest& request) { simulator_->reset(request, bound_, nullptr); }
  /// One action per agent (and word of it), or one for all.
  void step(std::vector<int32_t> actions) {
    const size_t wanted = size_t(rows()) * simulator_->action_ranges().size() / 2;
    if (actions.size() == 1) actions.assign(wanted, actions[0]);
    if (actions.size() != wanted)
      throw Error(Fault::value, "a test gave a wrong number of actions");
    simulator_->step({actions.data(), Type::int32}, bound_, nullptr);
  }
  /// Actions as a function of (seed, number, world under its seed, agent), the same in any batch.
  /// `stepped`: a byte per world, or none for all worlds.
  void step_random(uint64_t seed, uint32_t number, const std::vector<uint8_t>& stepped = {}) {
    const std::vector<int32_t> actions = random_actions(seed, number);
    step_words(simulator_->config().roles == RoleForm::split ? split_words(actions) : actions,
               stepped);
  }
  /// Words of the actions that are drawn, padded where roles' are of several lengths.
  std::vector<int32_t> random_actions(uint64_t seed, uint32_t number) {
    const int64_t words = int64_t(simulator_->action_ranges().size()) / 2,
                  per_world = simulator_->agents() * words;
    std::vector<int32_t> actions(size_t(simulator_->worlds() * per_world));
    for (int64_t i = 0; i < int64_t(actions.size()); ++i) {
      const RoleShape& role = simulator_->role_of(i % per_world / words);
      const auto& ranges = role.ranges;
      const size_t word = size_t(i % words);
      if (2 * word >= ranges.size()) continue;  // behind the action of its role
      const bool is_float = role.is_float;
      const uint32_t world = uint32_t(simulator_->config().first_world + i / per_world);
      const uint32_t slot = uint32_t(i % per_world);
      const Draw d = draw(uint32_t(seed), uint32_t(seed >> 32), world, 0, number, 0x7e57u, slot, 0);
      const double low = ranges[2 * word], high = ranges[2 * word + 1];
      const float number = is_float ? float(low) + float(high - low) * d.uniform(0) : 0.0f;
      actions[size_t(i)] = is_float ? __builtin_bit_cast(int32_t, number)
                                    : int32_t(low) + int32_t(d.below(0, uint32_t(high - low) + 1));
    }
    return actions;
  }
  /// The words of padded actions as they lie where roles are split.
  std::vector<int32_t> split_words(const std::vector<int32_t>& padded) const {
    const int64_t most = int64_t(simulator_->action_ranges().size()) / 2;
    std::vector<int32_t> words;
    for (const RoleShape& role : simulator_->roles())
      for (int64_t world = 0; world < simulator_->worlds(); ++world)
        for (int64_t agent = role.first; agent < role.first + role.count; ++agent)
          for (int k = 0; k < role.words(); ++k)
            words.push_back(padded[size_t((world * simulator_->agents() + agent) * most + k)]);
    return words;
  }
  void step_words(const std::vector<int32_t>& words, const std::vector<uint8_t>& stepped = {}) {
    const Type type = simulator_->action_is_float() ? Type::float32 : Type::int32;
    simulator_->step({words.data(), type, stepped.empty() ? nullptr : stepped.data()}, bound_,
                     nullptr);
  }

  /// One output, all rows; nothing where it does not exist.
  template <class T>
  std::vector<T> out(Output which) const {
    const auto& array = arrays_[which];
    if (array.size() % sizeof(T) != 0) throw Error(Fault::type, "an output of another type");
    std::vector<T> values(array.size() / sizeof(T));
    std::copy(array.begin(), array.end(), reinterpret_cast<char*>(values.data()));
    return values;
  }
  std::vector<float> observation() const { return out<float>(kObservation); }
  std::vector<float> reward() const { return out<float>(kReward); }
  std::vector<uint8_t> terminated() const { return out<uint8_t>(kTerminated); }
  std::vector<uint8_t> truncated() const { return out<uint8_t>(kTruncated); }
  std::vector<uint8_t> ended() const { return out<uint8_t>(kEnded); }
  /// The part of every output that belongs to one world.
  std::string outputs_of(int64_t world) const {
    std::string all;
    for (int o = 0; o < kOutputCount; ++o) {
      if (simulator_->output(Output(o)).split) {
        for (const RoleShape& role : simulator_->roles())
          for (int k = 0; k < role.count; ++k) all += row_of(Output(o), role, world, k);
        continue;
      }
      const size_t bytes = arrays_[o].size() / size_t(simulator_->worlds());
      all.append(arrays_[o].data() + size_t(world) * bytes, bytes);
    }
    return all;
  }
  /// The row of a role's k-th agent in an output whose roles are split; empty where it has none.
  std::string row_of(Output which, const RoleShape& role, int64_t world, int k) const {
    const RoleRows& rows = role.rows[which];
    if (!rows.exists) return "";
    const int64_t at = rows.first + (world * role.count + k) * rows.bytes();
    return {arrays_[which].data() + at, size_t(rows.bytes())};
  }
  /// The bytes of an agent's row, agents numbered over all worlds.
  std::span<char> row_of(Output which, int64_t agent) {
    const int64_t world = agent / simulator_->agents(), number = agent % simulator_->agents();
    std::vector<char>& array = arrays_[which];
    if (!simulator_->output(which).split) {
      const size_t bytes = array.size() / size_t(rows());
      return {array.data() + size_t(agent) * bytes, bytes};
    }
    const RoleShape& role = simulator_->role_of(number);
    const int64_t index = world * role.count + number - role.first;
    const RoleRows& own = role.rows[which];
    return {array.data() + own.first + index * own.bytes(), size_t(own.bytes())};
  }
  std::string outputs() const {
    std::string all;
    for (const auto& array : arrays_) all.append(array.data(), array.size());
    return all;
  }
  std::string record(int64_t world) const { return records(world, 1); }
  std::string records() const { return records(0, simulator_->worlds()); }
  std::string records(int64_t first, int64_t count) const {
    std::string bytes(size_t(count * simulator_->record_bytes()), '\0');
    simulator_->read_records(first, count, bytes.data());
    return bytes;
  }

  /// A column of all worlds; and set, in all worlds or in those listed.
  template <class T>
  std::vector<T> get(const std::string& name) const {
    const Column& column = find_column(*simulator_, name);
    std::vector<T> values(size_t(simulator_->worlds() * column.rows * column.bytes) / sizeof(T));
    get_column(*simulator_, column, values.data());
    return values;
  }
  template <class T>
  void set(const std::string& name, const std::vector<T>& values,
           const std::vector<int64_t>& worlds = {}) {
    const Column& column = find_column(*simulator_, name);
    const size_t count = worlds.empty() ? size_t(simulator_->worlds()) : worlds.size();
    if (values.size() * sizeof(T) != count * size_t(column.rows * column.bytes))
      throw Error(Fault::value, "a test set " + name + " with a wrong number of values");
    set_column(*simulator_, column, values.data(), worlds);
  }

 private:
  std::unique_ptr<Simulator> simulator_;
  std::vector<char> arrays_[kOutputCount];
  Bound bound_;
};

}  // namespace ge::test
