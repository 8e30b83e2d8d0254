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

/// Loads the module at `path` and returns its entry; a module that is loaded stays so, and a second
/// call for it does nothing. Throws where the file cannot be opened, is no module, was made for
/// another engine, or brings an id that another module has brought.
/// The reference holds to the end of the process, since no module is ever closed.
const Entry& load_module(const std::string& path);

/// A simulator of an environment of the loaded modules; null where none is called so.
std::unique_ptr<Simulator> make_loaded(const std::string& id, const Config& config);

/// What a simulator would launch on a GPU, which need not be there; null where no environment is
/// called so, or where it is one for CPUs.
std::shared_ptr<const cuda::LaunchList> launches_loaded(const std::string& id,
                                                        const Config& config);

}  // namespace ge
