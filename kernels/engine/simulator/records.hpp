// Records in motion: between interleaved blocks and canonical bytes, word by word; saves, loads,
// columns and hashes are built on these for every machine. Nothing here knows a component.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "engine/simulator/simulator.hpp"
#include "engine/world/record.hpp"

namespace ge {

/// Where a simulator's records lie in host memory, and which of their bytes are meant.
/// For the length of a call: it refers to the simulator's list of segments.
struct RecordBlocks {
  const std::vector<Segment>& segments;
  RecordPlace place;
  int64_t begin = 0;  // of a canonical record: the bytes from here on
};
/// The records of worlds [first, first + count) as canonical bytes, one after the other, and back.
void unpack_records(const RecordBlocks& blocks, int64_t first, int64_t count, char* to);
void pack_records(const RecordBlocks& blocks, int64_t first, int64_t count, const char* from);

/// Refuses lists of different lengths, worlds that do not exist, and destinations that overlap.
void check_copy(std::span<const int64_t> from, std::span<const int64_t> to, int64_t worlds);

/// The state of some worlds, null: of all: magic, JSON header, canonical records, BLAKE2b-128 of
/// everything before it. Scratch memory is left out: it has no meaning between steps.
std::string save(Simulator& simulator, const std::vector<int64_t>* worlds = nullptr);
/// Restores what `save` wrote; refuses anything else by name, before it writes a byte. `worlds`
/// names as many worlds as the save has, or any number for a save of one; null: all, in order.
void load(Simulator& simulator, const char* data, int64_t bytes,
          const std::vector<int64_t>* worlds = nullptr);

const Column& find_column(const Simulator& simulator, const std::string& name);
/// Values of a column: (worlds, rows, ...) contiguous.
void get_column(Simulator& simulator, const Column& column, void* to);
/// Sets it in the listed worlds (all if empty), values (count, rows, ...).
void set_column(Simulator& simulator, const Column& column, const void* from,
                std::span<const int64_t> worlds);

/// Hashes of a run of random actions: of the records after the last step, and of everything a user
/// received.
struct Golden {
  std::string records, outputs;
};
/// Resets with `seed`, then takes `steps` steps whose actions are drawn from the seed; api: every
/// output, every step. FinalRows::clear_ended comes to the same as zero. So does any number of
/// calls `in_a_row`, which have arrays of their own each and nothing between them: on a GPU each
/// may begin before the one in front has ended. And so do steps that are taken in `parts` calls,
/// each of which steps some worlds.
Golden golden_run(Simulator& simulator, int steps, uint64_t seed,
                  FinalRows final_rows = FinalRows::zero, int in_a_row = 1, int parts = 1);

}  // namespace ge
