// See modules.hpp.
#include "engine/modules.hpp"

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
  static Modules found;
  return found;
}

/// A symbol of an opened library; null where it has none.
template <class T>
T symbol(void* library, const char* name) {
  return reinterpret_cast<T>(dlsym(library, name));
}

[[noreturn]] void refuse(void* library, const std::string& message) {
  if (library != nullptr) dlclose(library);
  throw Error(Fault::runtime, message);
}

/// The ids that a description names: `"id": "..."` is the first member of each object.
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
  if (stamp == nullptr || entry == nullptr) refuse(library, path + " is no module of gpu_envs");
  if (std::string(stamp) != engine_stamp())
    refuse(library, path + " was made for another engine (" + stamp +
                        "; this one: " + engine_stamp() + "): build it anew");
  return entry();
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
  Loaded made{path, entry_of(library, path), {}};
  made.ids = ids_of(made.entry->describe());
  for (const Loaded& one : known.all)
    for (const std::string& id : one.ids)
      for (const std::string& own : made.ids)
        if (id == own)
          refuse(library, path + " brings " + id + ", which " + one.path + " has brought");
  // Never closed: simulators, clocks and threads may hold on to it.
  known.all.push_back(made);
  return *made.entry;
}

std::unique_ptr<Simulator> make_loaded(const std::string& id, const Config& config) {
  const Entry* found = nullptr;
  {
    Modules& known = modules();
    const std::lock_guard lock(known.mutex);
    for (const Loaded& one : known.all)
      for (const std::string& own : one.ids)
        if (own == id) found = one.entry;
  }
  return found == nullptr ? nullptr : found->make(id, config);
}

}  // namespace ge
