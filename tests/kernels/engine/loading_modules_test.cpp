// Real modules: shared objects that an engine without environments loads, as users' processes do;
// and a second engine beside it.
// reads: tests/golden/arena.txt tests/golden/cartpole.txt
#include <dlfcn.h>

#include <set>

#include "engine/simulator/modules.hpp"
#include "golden.hpp"

using namespace ge;
using namespace ge::test;

namespace {

/// The folder of the build, by where this program lies: no path of a tree stands in it.
std::filesystem::path built() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}
std::string file_of(const std::string& name) {
  return built() / "modules" / (name + ".so");
}

std::string refusal_of(const std::string& name) {
  try {
    load_module(file_of(name));
  } catch (const Error& error) {
    return error.what();
  }
  return "loaded";
}
bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Every recorded case of an environment, by what was loaded.
void check_golden_of(const std::string& file) {
  std::ifstream in("tests/golden/" + file + ".txt");
  int cases = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const GoldenCase one = parse_golden(line);
    const auto simulator = make_loaded(one.id, one.config());
    CHECK(simulator != nullptr);
    const Golden found = golden_run(*simulator, std::stoi(one.steps), std::stoull(one.seed));
    CHECK_EQ(found.records, one.hashes.records);
    CHECK_EQ(found.outputs, one.hashes.outputs);
    ++cases;
  }
  CHECK(cases > 0);
}

/// The same function of the engine that this program does not link.
template <class F>
F* of_other_engine(F* own) {
  void* const engine = dlopen((built() / "libge_other.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
  Dl_info found;
  if (engine == nullptr || dladdr(reinterpret_cast<void*>(own), &found) == 0) return nullptr;
  return reinterpret_cast<F*>(dlvsym(engine, found.dli_sname, "GPU_ENVS_cpu_other"));
}

/// The libraries that the first virtual functions of a simulator come from.
std::string libraries_of(const Simulator& simulator) {
  constexpr int kLook = 20;  // of more
  void* const* const table = *reinterpret_cast<void* const* const*>(&simulator);
  std::set<std::string> names;
  for (int k = 0; k < kLook; ++k)
    if (Dl_info found; dladdr(table[k], &found) != 0)
      names.insert(std::filesystem::path(found.dli_fname).filename().string());
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : " ") + name;
  return all;
}

using Make = std::unique_ptr<Simulator>(const std::string&, const Config&);
/// What a module's own code throws comes here with its kind, whichever engine it is of.
void check_faults(Make* make) {
  for (const Fault fault : {Fault::value, Fault::type, Fault::memory, Fault::runtime, Fault::device,
                            Fault::reset_needed}) {
    Config config;
    config.parameters["fault"] = int64_t(fault);
    try {
      make("Refusing-v0", config);
      CHECK(!"made");
    } catch (const Error& error) {
      CHECK(error.kind() == fault);
      CHECK_EQ(std::string(error.what()), "fault " + std::to_string(int(fault)));
    }
  }
  Config config;
  config.parameters["fault"] = int64_t{99};
  CHECK_THROWS(make("Refusing-v0", config), std::out_of_range, "of the standard library");
  config.parameters["fault"] = true;
  try {
    make("Refusing-v0", config);
    CHECK(!"made");
  } catch (const Error& error) {
    CHECK(error.kind() == Fault::type);  // of the engine's own code
  }
}

}  // namespace

GE_TEST(nothing_is_there_before_it_is_loaded) {
  CHECK(make_loaded("CartPole-v0", Config{}) == nullptr);
}

GE_TEST(a_module_brings_its_environments_and_their_bits) {
  const Entry& entry = load_module(file_of("cartpole"));
  CHECK(says(entry.describe(), "\"id\": \"CartPole-v0\""));
  CHECK_EQ(&load_module(file_of("cartpole")), &entry);
  check_golden_of("cartpole");
}

GE_TEST(errors_cross_with_their_kind_and_message) {
  load_module(file_of("cartpole"));
  Config config;
  config.parameters["nonsense"] = true;
  try {
    make_loaded("CartPole-v0", config);
    CHECK(!"made");
  } catch (const Error& error) {
    CHECK(error.kind() == Fault::type);
    CHECK(says(error.what(), "unknown parameter 'nonsense'"));
  }
}

GE_TEST(errors_of_a_modules_own_code_cross_with_their_kind) {
  load_module(file_of("refusing"));
  check_faults(&make_loaded);
}

GE_TEST(two_engines_in_one_process_keep_to_their_own_modules) {
  for (const char* name : {"cartpole", "refusing", "other_cartpole", "other_refusing"})
    CHECK(dlopen(file_of(name).c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr);
  const auto load_other = of_other_engine(&load_module);
  const auto make_other = of_other_engine(&make_loaded);
  CHECK(load_other != nullptr && load_other != &load_module && make_other != nullptr);
  if (load_other == nullptr || make_other == nullptr) return;
  load_module(file_of("cartpole")), load_module(file_of("refusing"));
  load_other(file_of("other_cartpole")), load_other(file_of("other_refusing"));
  CHECK(says(refusal_of("other_cartpole"), "another engine (engine others, cpu_other, "));

  const auto own = make_loaded("CartPole-v0", Config{}), theirs = make_other("CartPole-v0", {});
  CHECK_EQ(libraries_of(*own), "cartpole.so libge_shared.so");
  CHECK_EQ(libraries_of(*theirs), "libge_other.so other_cartpole.so");
  const Golden a = golden_run(*own, 30, 3), b = golden_run(*theirs, 30, 3);
  CHECK_EQ(a.records + a.outputs, b.records + b.outputs);
  check_faults(&make_loaded);
  check_faults(make_other);
}

GE_TEST(several_modules_live_beside_each_other) {
  load_module(file_of("cartpole"));
  load_module(file_of("arena"));
  check_golden_of("arena");
}

GE_TEST(an_id_that_another_module_has_brought_is_refused) {
  load_module(file_of("arena"));
  CHECK(says(refusal_of("arena_again"), "which " + file_of("arena") + " has brought"));
}

GE_TEST(a_module_for_another_engine_is_refused_in_one_line) {
  const std::string message = refusal_of("stranger");
  CHECK(says(message, "was made for another engine (engine another, "));
  CHECK(!says(message, "\n"));
}

GE_TEST(a_library_that_is_no_module_is_refused) {
  CHECK(says(refusal_of("nothing"), "is not a module of gpu_envs"));
}

GE_TEST(a_file_that_is_not_there_is_refused) {
  CHECK(says(refusal_of("absent"), "cannot be loaded"));
}
