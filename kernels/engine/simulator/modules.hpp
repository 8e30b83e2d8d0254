// Modules: shared objects with one environment each, for one machine and instruction set, loaded
// when first asked for. A module exports two C symbols (templates/module.in):
//
//   const char ge_module_stamp[]              what it was compiled for (stamp.hpp)
//   const ge::Entry* ge_module_entry()        its environment
//
// and takes from the engine the functions of namespace ge by versioned names, so that several
// engines live in one process whatever flags a library is opened with. docs/modules.md lists what
// crosses.
#pragma once

#include <string>
#include <vector>

#include "engine/simulator/simulator.hpp"

namespace ge {

/// The engine's own stamp, machine and instruction set; written by the build (templates/stamp.in).
const char* engine_stamp();
const char* engine_machine();
const char* engine_instruction_set();

/// Loads the module at `path` and returns its entry; a loaded module stays loaded, and a second
/// call for it does nothing. Throws if the file cannot be opened, is not a module, was made for
/// another engine, or has an id that another module has. The reference stays valid to the end of
/// the process, since no module is ever closed.
const Entry& load_module(const std::string& path);

/// Makes a simulator of an environment of the loaded modules; null if none has this id.
std::unique_ptr<Simulator> make_loaded(const std::string& id, const Config& config);

/// What parameters of an environment come to, as Entry::outline tells; empty if no module has it.
std::string outline_loaded(const std::string& id, const Values& parameters);

/// The launches of an environment on a GPU, which need not be present; null if no environment has
/// this id, or if it is for CPUs.
std::shared_ptr<const cuda::LaunchList> launches_loaded(const std::string& id,
                                                        const Config& config);

}  // namespace ge
