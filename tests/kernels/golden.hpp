// The recorded hashes in tests/golden: one line per case,
//
//   id | name=value,... or - | autoreset mode | worlds | steps | seed | hash of records | hash of
//   outputs
//
// `max_episode_steps` among the parameters is the time limit, `dtype` the observations' element
// type, `level_count` and `first_level` are options of the simulator; `0.5..2` is a range that each
// world's resets draw from. Lines that begin with # are comments.
// A program that is run by itself in the tree's folder with GE_WRITE_GOLDEN=1 in its environment
// writes the hashes it finds into the files instead of comparing; say in the commit why they
// changed.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "recorded.hpp"
#include "simulation.hpp"

namespace ge::test {

struct GoldenCase {
  std::string id, parameters, mode, worlds, steps, seed;
  Golden hashes;

  std::string line() const {
    std::string out;
    for (const std::string* part :
         {&id, &parameters, &mode, &worlds, &steps, &seed, &hashes.records})
      out += *part + " | ";
    return out + hashes.outputs;
  }
  Config config() const {
    Config config;
    config.worlds = std::stoll(worlds);
    for (const Autoreset each : kModes)
      if (mode == name_of(each)) config.autoreset = each;
    std::istringstream list(parameters == "-" ? "" : parameters);
    for (std::string one; std::getline(list, one, ',');) {
      const auto equals = one.find('=');
      const std::string name = one.substr(0, equals), value = one.substr(equals + 1);
      if (name == "max_episode_steps")
        config.max_episode_steps = std::stoll(value);
      else if (name == "level_count")
        config.level_count = std::stoll(value);
      else if (name == "first_level")
        config.first_level = std::stoll(value);
      else if (name == "dtype")
        config.elements = value == "bits" ? Elements::bits : Elements::float32;
      else if (const auto dots = value.find(".."); dots != std::string::npos)
        add_range(config, name, std::stod(value), std::stod(value.substr(dots + 2)));
      else if (value == "true" || value == "false")
        config.parameters[name] = value == "true";
      else if (std::isalpha(static_cast<unsigned char>(value[0])) ||
               value.find_first_of(" x") != std::string::npos)
        config.parameters[name] = value;
      else if (value.find_first_of(".e") != std::string::npos)
        config.parameters[name] = std::stod(value);
      else
        config.parameters[name] = int64_t(std::stoll(value));
    }
    return config;
  }
  static void add_range(Config& config, const std::string& name, double low, double high) {
    config.parameters[name] = high;
    config.varying.push_back(name);
    config.own.all.push_back({name, Law::uniform, {low, high}});
  }
  /// The case on a simulator of this binary, its configuration changed by `change`.
  template <class F>
  Golden run(F&& change) const {
    Config changed = config();
    change(changed);
    const auto simulator = make_simulator(id, changed);
    return golden_run(*simulator, std::stoi(steps), std::stoull(seed));
  }
  Golden run() const {
    return run([](Config&) {});
  }
};

inline bool writes_golden() {
  const char* const text = std::getenv("GE_WRITE_GOLDEN");
  return text != nullptr && std::strcmp(text, "1") == 0;
}

/// The files of the environments whose recorded cases this binary has to run.
inline std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> files;
  for (const char* const* stem = kRecorded; *stem != nullptr; ++stem)
    files.push_back(std::filesystem::path("tests/golden") / (std::string(*stem) + ".txt"));
  if (files.empty()) throw Error(Fault::runtime, "tests/golden has nothing for this binary");
  std::sort(files.begin(), files.end());
  return files;
}

inline GoldenCase parse_golden(const std::string& line) {
  std::vector<std::string> parts;
  std::istringstream stream(line);
  for (std::string part; std::getline(stream, part, '|');) {
    const auto first = part.find_first_not_of(' '), last = part.find_last_not_of(' ');
    parts.push_back(first == std::string::npos ? "" : part.substr(first, last - first + 1));
  }
  if (parts.size() != 8) throw Error(Fault::value, "tests/golden: not a case: " + line);
  return {parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], {parts[6], parts[7]}};
}

inline bool is_case(const std::string& line) {
  return !line.empty() && line[0] != '#';
}
inline std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  if (std::none_of(lines.begin(), lines.end(), is_case))
    throw Error(Fault::runtime, file.string() + " has no case of an environment of this binary");
  return lines;
}

/// All cases of this binary, in the order of files and lines.
inline std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> cases;
  for (const auto& file : golden_files())
    for (const std::string& line : lines_of(file))
      if (is_case(line)) cases.push_back(parse_golden(line));
  return cases;
}

/// The environments that have recorded hashes; those with planted faults have none.
inline std::vector<std::string> all_ids() {
  std::vector<std::string> ids;
  for (const GoldenCase& one : golden_cases())
    if (std::find(ids.begin(), ids.end(), one.id) == ids.end()) ids.push_back(one.id);
  return ids;
}

/// A short run of each environment, its worlds as small as a recorded case has them.
inline std::vector<std::pair<std::string, Values>> small_runs() {
  std::vector<std::pair<std::string, Values>> runs;
  for (const std::string& id : all_ids()) {
    Values best;
    int64_t least = -1;
    for (const GoldenCase& one : golden_cases()) {
      if (one.id != id) continue;
      Config config = one.config();
      config.worlds = 1;
      const auto simulator = make_simulator(id, config);
      const int64_t size = simulator->record_bytes() + simulator->output(kObservation).bytes;
      if (least < 0 || size < least) least = size, best = config.parameters;
    }
    runs.push_back({id, best});
  }
  return runs;
}

/// Runs every case and compares, or writes.
inline void check_golden() {
  for (const auto& file : golden_files()) {
    std::string rewritten;
    for (std::string line : lines_of(file)) {
      if (is_case(line)) {
        GoldenCase one = parse_golden(line);
        const Golden found = one.run();
        if (!writes_golden() &&
            (found.records != one.hashes.records || found.outputs != one.hashes.outputs))
          fail(file.c_str(), 0,
               "the hashes of " + one.line() + " are now " + found.records + " | " + found.outputs);
        one.hashes = found;
        line = one.line();
      }
      rewritten += line + "\n";
    }
    if (writes_golden()) std::ofstream(file) << rewritten;
  }
}

/// What a run of the arena counts, the same on every executor.
inline constexpr const char* kFaultsOfArena = "frozen 183, warnings 4 of 4, sparks 1 of 4";
inline std::string faults_of_arena(int parts = 1) {
  Config config;
  config.worlds = 9;
  config.autoreset = Autoreset::disabled;
  Simulation simulation("Arena-v0", config);
  simulation.reset(4);
  for (int step = 0; step < 40; ++step)
    for (int part = 0; part < parts; ++part) {
      std::vector<uint8_t> stepped;
      for (int world = 0; world < 9; ++world) stepped.push_back(world % parts == part ? 1 : 0);
      simulation.step_random(1, uint32_t(step), stepped);
    }
  const FaultReport report = simulation->faults();
  std::string seen = "frozen " + std::to_string(report.frozen_steps);
  for (const FaultReport::Table& table : report.tables)
    seen += ", " + table.name + " " + std::to_string(table.dropped) + " of " +
            std::to_string(table.needed);
  return seen;
}

}  // namespace ge::test
