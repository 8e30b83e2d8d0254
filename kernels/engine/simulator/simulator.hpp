// The interface of a simulator outside of the engine: a plain virtual class, its configuration, its
// outputs, and its errors. Bindings, tests and tools hold a Simulator& and know no environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/boundary.hpp"
#include "engine/base/error.hpp"
#include "engine/described/describe.hpp"
#include "engine/described/symmetry.hpp"
#include "engine/described/values.hpp"

namespace ge {

/// One output of one simulator: per agent (worlds, agents, ...) or per world (worlds, ...).
struct OutputShape {
  Type type = Type::float32;
  bool exists = false;
  bool per_agent = true;
  std::vector<int64_t> row;  // shape of one row
  int64_t bytes = 0;         // of the whole array
  bool split = false;        // `row` is the whole shape: role after role, rows of their own lengths
};

/// A role's rows in one output: their type, the shape of one, and the byte of the array at which
/// they begin if roles are split.
struct RoleRows {
  bool exists = false;
  Type type = Type::float32;
  std::vector<int64_t> shape;
  int64_t first = 0;
  GE_API int64_t bytes() const;  // of one row; 0 where the role has none
};

/// A kind of agents: which of a world's agents they are, their actions, and the lengths of their
/// rows. An environment that names no roles has one, `player`.
struct RoleShape {
  std::string name;
  int first = 0, count = 0;
  bool is_float = false;
  std::vector<double> ranges;               // low and high of each word of an action
  int64_t elements = 0, mask_elements = 0;  // of a row
  bool has_mask = false;                    // that says what its actions may be
  RoleRows rows[kOutputCount];              // of outputs that have rows of agents
  int words() const { return int(ranges.size()) / 2; }
};

/// How a GPU runs a graph: lanes that own a world and run stage after stage, or a grid-wide kernel
/// per stage. The bits are the same; `own` leaves the choice to the environment.
enum class Schedule { own, group, flat };
template <>
struct Words<Schedule> {
  static constexpr const char* at[] = {"own", "group", "flat"};
};

/// A data file of an environment: its path, and the hash of its content (BLAKE2b of 16 bytes, in
/// hexadecimal digits).
struct DataFile {
  std::string path, hash;
};

/// The data files that a module was labelled with, by name.
struct DataFiles {
  std::map<std::string, DataFile> by_name;
  std::string remedy;  // what to do about a missing or different file; ends the error's text
};

/// New values of parameters that may differ by world, or ranges to draw them from at each reset.
struct ParameterChange {
  struct One {
    std::string name;
    Law law = Law::given;
    std::vector<double> numbers;  // one, or one per world; of a range as `Range` has them
  };
  std::vector<One> all;
  std::vector<int64_t> worlds;  // in which; empty: all
};

/// Options of every machine; each ignores those of others. Threads, device, tuning change no
/// result.
struct Config {
  int64_t worlds = 1;
  int64_t first_world = 0;
  int64_t first_level = 0, level_count = 0;  // of which episodes draw theirs; 0: no such limit
  Autoreset autoreset = Autoreset::same_step;
  Ends ends = Ends::agent;
  int64_t max_episode_steps = -1;  // -1: the header's; 0: none
  int threads = 0;                 // 0: as many as the process may use
  Elements elements = Elements::own;
  ActionForm actions = ActionForm::own;
  RoleForm roles = RoleForm::own;
  FinalRows final_rows = FinalRows::zero;  // `keep` holds for every call
  int device = 0;                          // CUDA ordinal
  Values parameters;
  std::vector<std::string> varying;  // names of parameters that each world has of its own
  ParameterChange own;               // of these, before the first reset
  DataFiles data_files;
  // Tuning, and what the tests vary; 0 leaves the choice to the engine.
  int tile = 0;                       // worlds per tile (cpu)
  int crew = 0;                       // threads that share one world (cpu); 1: none do
  int lanes = 0;                      // lanes per world (cuda, lanes)
  int block = 0;                      // threads per block (cuda)
  Schedule schedule = Schedule::own;  // (cuda)
  bool dependent_launch = true;
  uint64_t shuffle_seed = 0;  // order of rows (shuffled) and of lanes (lanes)
};

/// The actions of one step, in the caller's element type; (worlds, agents[, k]) contiguous. Of
/// roles, k is the most that one has, or split, role after role, (worlds, agents of the role[, k]);
/// where some are of floats and some of categories all are int32, floats by their bits.
struct Actions {
  const void* data = nullptr;
  Type type = Type::int64;
  /// One byte per world, in memory of the simulator's machine: where it is 0 the world does not
  /// step and its actions are not looked at; null: all worlds. On a GPU it is read when the stream
  /// comes to it.
  const uint8_t* worlds = nullptr;
};

/// Valid for the length of the call on a CPU; on a GPU the mask until the stream has passed it.
struct ResetRequest {
  /// None: unseeded. One: world i gets (seed, first_world + i). Else one per world.
  std::span<const uint64_t> seeds;
  /// One byte per world, in memory of the simulator's machine; null: all worlds.
  const uint8_t* mask = nullptr;
  Values options;
  /// Applied to the worlds that it resets, before they are.
  ParameterChange parameters;
};

/// What went wrong inside the worlds since the last call of `faults`.
/// Worlds are those of this simulator, without first_world; -1: there was none.
struct FaultReport {
  int64_t bad_actions = 0;
  int64_t first_bad_world = -1, first_bad_agent = -1;
  int64_t illegal_actions = 0;  // that the rules forbade and replaced
  int64_t first_illegal_world = -1, first_illegal_agent = -1;
  int64_t frozen_steps = 0;  // steps of worlds that waited for a reset (Disabled)
  int64_t lost_views = 0;    // pictures from eyes whose pose was not finite
  int64_t first_lost_world = -1, first_lost_agent = -1;
  struct Table {
    std::string name;
    int64_t dropped, needed, capacity;
  };
  std::vector<Table> tables;  // tables that were too small
};

/// The live rows of a world's table: the first `fixed`, or if a header at `header` of the canonical
/// bytes exists, those that it counts or whose bit it has. The others are zeros.
struct LiveRows {
  int64_t fixed = 0, header = -1;
  bool is_bitmap = false;
};
/// A described column of the record: rows of elements at fixed distances in the canonical bytes.
struct Column {
  std::string name;  // "agents.x"
  Type type;
  std::vector<int64_t> shape;  // of one element: () for a number
  int64_t rows, offset, stride, bytes;
  std::string unit, doc;
  double low = -kUnbounded, high = kUnbounded;  // what its description allows
  double last_high = kUnbounded;  // of the last row, where it is less: a bitmap's last word
  LiveRows live = {};
};

struct Sampling;
class AssetShelf;
struct Scene;

/// One simulator: N worlds of one environment on one machine.
/// Not for two threads at once: calls change counters and addresses in it, and the bindings refuse
/// a second caller. Different simulators may run at once.
class GE_API Simulator {
 public:
  virtual ~Simulator() = default;

  /// JSON: shapes, columns, resolved parameters; Python builds spaces and errors from it.
  virtual const std::string& instance() const = 0;
  virtual const OutputShape& output(Output which) const = 0;
  virtual int64_t worlds() const = 0;
  virtual int agents() const = 0;
  virtual int64_t memory_bytes() const = 0;
  virtual const Config& config() const = 0;
  virtual const std::string& id() const = 0;
  virtual const std::vector<Column>& columns() const = 0;
  virtual const std::string& layout() const = 0;  // hash of the columns: equal on every machine
  /// The assets that all worlds share; null where the environment has none.
  virtual const AssetShelf* assets() const = 0;
  /// Low and high of each element of one action.
  virtual const std::vector<double>& action_ranges() const = 0;
  virtual bool action_is_float() const = 0;
  /// Kinds of agents in the order in which agents are numbered; at least one.
  virtual const std::vector<RoleShape>& roles() const = 0;
  /// The role of an agent of a world.
  const RoleShape& role_of(int64_t agent) const;
  /// Whether some roles act in floats and some in categories.
  bool actions_are_mixed() const;
  /// Words of all actions of a step, as a caller gives them.
  int64_t action_count() const;
  /// Names of the actions, and the key that a person presses for each; empty if the environment has
  /// none.
  virtual std::vector<std::string> action_names() const = 0;
  virtual std::vector<std::string> action_keys() const = 0;
  /// Other names of what is seen and done; empty if the environment describes none.
  virtual std::vector<Symmetry> symmetries() const = 0;
  /// One world as text for a terminal, as agent `viewer` knows it, or whole with -1. Only in host
  /// memory; empty where the environment has no such view.
  virtual std::string text(int64_t world, int viewer) const = 0;
  /// One world as solids and lines, for kernels/pictures/; where it has secrets, as agent `viewer`
  /// knows it. Only in host memory; false where the environment describes none.
  virtual bool scene(int64_t world, Scene& into, int viewer = -1) const = 0;

  /// Enqueue on `stream` (CUDA) or run to the end (CPU).
  virtual void step(const Actions& actions, const Bound& out, void* stream) = 0;
  virtual void reset(const ResetRequest& request, const Bound& out, void* stream) = 0;
  virtual void observe(const Bound& out, void* stream) = 0;

  /// Canonical records (B = 1) of worlds [first, first + count), `record_bytes` each. These calls,
  /// and `faults`, are complete when they return; on a GPU they wait for the legacy default stream,
  /// and callers that enqueue on other streams wait for those first (machine.hpp).
  virtual int64_t record_bytes() const = 0;
  virtual void read_records(int64_t first, int64_t count, void* to) = 0;
  virtual void write_records(int64_t first, int64_t count, const void* from) = 0;
  /// Sets parameters that may differ by world (world/varied.hpp); refuses anything else by name,
  /// and then changes nothing.
  virtual void set_parameters(const ParameterChange& change) = 0;
  /// Refuses canonical records whose own parameters no simulator has, and computes what follows
  /// from them.
  virtual void settle(char* records, int64_t count) const = 0;
  /// Names of the parameters of which worlds have their own: all that may vary, or none.
  virtual std::vector<std::string> own_parameters() const = 0;
  virtual void copy_worlds(std::span<const int64_t> from, std::span<const int64_t> to,
                           bool reseed) = 0;
  virtual FaultReport faults() = 0;
  /// Illegal actions since the last `faults`, as far as they can be read without waiting: on a GPU
  /// always 0.
  virtual int64_t illegal_actions() const { return 0; }
  /// Draws a word of the action of each row (sampling.hpp) into `to`, 32 bits each on the
  /// simulator's machine; each call draws others, and so does each replay of a captured one.
  virtual void sample_actions(const Sampling& sampling, int32_t* to, void* stream) = 0;

  /// Memory of the simulator's machine, for callers without an array library (tests, golden runs).
  virtual void* allocate(int64_t bytes) = 0;
  virtual void release(void* memory) = 0;
  virtual void copy_to_host(void* to, const void* from, int64_t bytes) = 0;
  virtual void copy_from_host(void* to, const void* from, int64_t bytes) = 0;
};

namespace cuda {
struct LaunchList;
}  // namespace cuda

/// One registered environment on one machine.
/// Plain functions, so that a module needs no type of the environment's to be asked.
struct Entry {
  std::string (*describe)();  // JSON objects, one per id, between commas: no brackets around them
  /// JSON: what parameters come to, and who the agents of a world are; makes no assets. Empty for
  /// an unknown id.
  std::string (*outline)(const std::string& id, const Values& parameters);
  std::unique_ptr<Simulator> (*make)(const std::string& id, const Config& config);
  /// The launches of a GPU; null on the CPU.
  std::shared_ptr<const cuda::LaunchList> (*list_launches)(const std::string& id,
                                                           const Config& config);
};

}  // namespace ge
