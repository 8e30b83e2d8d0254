// Records in motion: between interleaved blocks and canonical bytes, word by word; saves, loads,
// columns and hashes are built on these for every machine. Nothing here knows a component.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "engine/record.hpp"
#include "engine/simulator.hpp"

namespace ge {

template <int B, bool kUnpack>
inline void move_records(const std::vector<Segment>& segments, int64_t record, int64_t block_bytes,
                         char* base, int64_t first, int64_t count, char* canonical) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t world = first + i;
    char* const block = base + world / B * block_bytes;
    const int64_t lane = world % B;
    char* const plain = canonical + i * record;
    if (kUnpack) std::memset(plain, 0, size_t(record));
    for (const Segment& segment : segments) {
      for (int64_t at = segment.offset; at < segment.offset + segment.bytes; at += segment.unit) {
        char* const word = block + at * B + lane * segment.unit;
        if (kUnpack)
          std::memcpy(plain + at, word, size_t(segment.unit));
        else
          std::memcpy(word, plain + at, size_t(segment.unit));
      }
    }
  }
}
template <int B>
void unpack_records(const std::vector<Segment>& segments, int64_t record, int64_t block_bytes,
                    char* base, int64_t first, int64_t count, char* to) {
  move_records<B, true>(segments, record, block_bytes, base, first, count, to);
}
template <int B>
void pack_records(const std::vector<Segment>& segments, int64_t record, int64_t block_bytes,
                  char* base, int64_t first, int64_t count, const char* from) {
  move_records<B, false>(segments, record, block_bytes, base, first, count,
                         const_cast<char*>(from));
}

/// Refuses lists of different lengths, worlds that do not exist, and destinations that overlap.
void check_copy(std::span<const int64_t> from, std::span<const int64_t> to, int64_t worlds);

/// All of a simulator's state: magic, JSON header, canonical records, BLAKE2b-128 of everything
/// before it.
std::string save(Simulator& simulator);
/// Restores what `save` wrote; refuses anything else by name, before it writes a byte.
void load(Simulator& simulator, const char* data, int64_t bytes);

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
/// output, every step.
Golden golden_run(Simulator& simulator, int steps, uint64_t seed);

}  // namespace ge
