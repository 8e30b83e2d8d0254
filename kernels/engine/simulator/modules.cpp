// See modules.hpp.
#include "engine/simulator/modules.hpp"

#include <dlfcn.h>

#include <mutex>

namespace ge {
namespace {

struct Loaded {
  std::string path;
  const Entry* entry;
  std::vector<std::string> ids;
};
struct Modules {
  std::mutex mutex;
  std::vector<Loaded> all;
};
Modules& modules() {
  // Never destroyed: threads may still make simulators when the process ends.
  static Modules& found = *new Modules;
  return found;
}

/// A symbol of an opened library; null where it has none.
template <class T>
T symbol(void* library, const char* name) {
  return reinterpret_cast<T>(dlsym(library, name));
}

/// Closes a library before any function of it ran, so that a file rebuilt in its place is opened.
[[noreturn]] void refuse_unused(void* library, const std::string& message) {
  dlclose(library);
  throw Error(Fault::runtime, message);
}

/// The ids that a description names: `"id": "..."` is the first member of each object.
/// By search, not by a parser of JSON: the text was written by describe_build, which begins so.
std::vector<std::string> ids_of(const std::string& description) {
  const std::string key = "{\"id\": \"";
  std::vector<std::string> ids;
  for (size_t at = description.find(key); at != std::string::npos;
       at = description.find(key, at + 1)) {
    const size_t first = at + key.size();
    ids.push_back(description.substr(first, description.find('"', first) - first));
  }
  return ids;
}

const Entry* entry_of(void* library, const std::string& path) {
  const char* const stamp = symbol<const char*>(library, "ge_module_stamp");
  const auto entry = symbol<const Entry* (*)()>(library, "ge_module_entry");
  if (stamp == nullptr || entry == nullptr)
    refuse_unused(library, path + " is not a module of gpu_envs");
  // Before any function of it runs: with another layout of Config even the first call would fail.
  if (std::string(stamp) != engine_stamp())
    refuse_unused(library, path + " was made for another engine (" + stamp +
                               "; this one: " + engine_stamp() + "): build it again");
  return entry();
}

const Entry* find(const std::string& id) {
  Modules& known = modules();
  const std::lock_guard lock(known.mutex);
  for (const Loaded& one : known.all)
    for (const std::string& own : one.ids)
      if (own == id) return one.entry;
  return nullptr;
}

}  // namespace

const Entry& load_module(const std::string& path) {
  Modules& known = modules();
  const std::lock_guard lock(known.mutex);
  for (const Loaded& one : known.all)
    if (one.path == path) return *one.entry;
  // Local, so that equal names of two modules never meet.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    throw Error(Fault::runtime, path + " cannot be loaded: " + (why != nullptr ? why : "unknown"));
  }
  // From here on never closed, refused or not: its code has run, and clocks, threads and simulators
  // may hold on to it.
  Loaded made{path, entry_of(library, path), {}};
  made.ids = ids_of(made.entry->describe());
  for (const Loaded& one : known.all)
    for (const std::string& id : one.ids)
      for (const std::string& own : made.ids)
        if (id == own)
          throw Error(Fault::runtime,
                      path + " brings " + id + ", which " + one.path + " has brought");
  known.all.push_back(made);
  return *made.entry;
}

std::unique_ptr<Simulator> make_loaded(const std::string& id, const Config& config) {
  // Outside of the lock: making a simulator may take seconds.
  const Entry* const found = find(id);
  return found == nullptr ? nullptr : found->make(id, config);
}

std::string outline_loaded(const std::string& id, const Values& parameters) {
  const Entry* const found = find(id);
  return found == nullptr ? "" : found->outline(id, parameters);
}

std::shared_ptr<const cuda::LaunchList> launches_loaded(const std::string& id,
                                                        const Config& config) {
  const Entry* const found = find(id);
  if (found == nullptr || found->list_launches == nullptr) return nullptr;
  return found->list_launches(id, config);
}

}  // namespace ge
