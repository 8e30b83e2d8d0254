// The recorded hashes in tests/golden: one line per case,
//
//   id | name=value,... or - | autoreset mode | worlds | steps | seed | hash of records | hash of
//   outputs
//
// `max_episode_steps` among the parameters is the time limit, `dtype` the observations' element
// type. Lines that begin with # are comments.
// A test with GE_WRITE_GOLDEN=1 in its environment writes the hashes it finds into the files
// instead of comparing; say in the commit why they changed.
#pragma once

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

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
      else if (name == "dtype")
        config.elements = value == "bits" ? Elements::bits : Elements::float32;
      else if (value == "true" || value == "false")
        config.parameters[name] = value == "true";
      else if (std::isalpha(static_cast<unsigned char>(value[0])) ||
               value.find(' ') != std::string::npos)
        config.parameters[name] = value;
      else if (value.find_first_of(".e") != std::string::npos)
        config.parameters[name] = std::stod(value);
      else
        config.parameters[name] = int64_t(std::stoll(value));
    }
    return config;
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

inline std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden"))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
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

/// Whether the environment is in this binary: all that have hashes are, but for builds that say so.
inline bool is_built([[maybe_unused]] const std::string& id) {
#if defined(GE_SOME_ENVS)
  for (const Entry* entry : registry())
    if (entry->describe().find("\"id\": \"" + id + "\"") != std::string::npos) return true;
  return false;
#else
  return true;
#endif
}

/// All cases of this binary, in the order of files and lines.
inline std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> cases;
  for (const auto& file : golden_files()) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
      if (!line.empty() && line[0] != '#')
        if (GoldenCase one = parse_golden(line); is_built(one.id)) cases.push_back(std::move(one));
  }
  return cases;
}

inline bool writes_golden() {
  const char* const text = std::getenv("GE_WRITE_GOLDEN");
  return text != nullptr && std::strcmp(text, "1") == 0;
}

/// Runs every case and compares, or writes.
inline void check_golden() {
  for (const auto& file : golden_files()) {
    std::ifstream in(file);
    std::string rewritten;
    for (std::string line; std::getline(in, line);) {
      if (!line.empty() && line[0] != '#') {
        GoldenCase one = parse_golden(line);
        const Golden found = is_built(one.id) ? one.run() : one.hashes;
        if (!writes_golden() &&
            (found.records != one.hashes.records || found.outputs != one.hashes.outputs))
          fail(file.c_str(), 0,
               "the hashes of " + one.line() + " are now " + found.records + " | " + found.outputs);
        one.hashes = found;
        line = one.line();
      }
      rewritten += line + "\n";
    }
    in.close();
    if (writes_golden()) std::ofstream(file) << rewritten;
  }
}

/// What a run of the arena counts, the same on every executor.
inline constexpr const char* kFaultsOfArena = "frozen 183, warnings 4 of 4, sparks 1 of 4";
inline std::string faults_of_arena() {
  Config config;
  config.worlds = 9;
  config.autoreset = Autoreset::disabled;
  Simulation simulation("Arena-v0", config);
  simulation.reset(4);
  for (int step = 0; step < 40; ++step) simulation.step_random(1, uint32_t(step));
  const FaultReport report = simulation->faults();
  std::string seen = "frozen " + std::to_string(report.frozen_steps);
  for (const FaultReport::Table& table : report.tables)
    seen += ", " + table.name + " " + std::to_string(table.dropped) + " of " +
            std::to_string(table.needed);
  return seen;
}

}  // namespace ge::test
