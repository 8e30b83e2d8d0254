// Packs: several floats at once. On the CPU a pack is a vector of kPack floats (packs_cpu.hpp), in
// code for lanes it is one float, whose neighbours are other lanes (packs_lane.hpp). Code written
// over `Floats` computes rays side by side on both, with the same bits, since every operation is
// one IEEE operation per float. ForPacks (graph.hpp) fills the rows of a list by packs; neighbours
// that lie side by side in a table are read by packs too (world/pack_reads.hpp).
#pragma once

#include "engine/maths/scalar.hpp"
//
#include GE_CPU_OR_LANES("engine/maths/packs_cpu.hpp", "engine/maths/packs_lane.hpp")

namespace ge {

/// Loads contiguous floats.
GE_FN Floats load_pack(const float* from) {
  Floats pack;
  __builtin_memcpy(&pack, from, sizeof pack);
  return pack;
}
GE_FN void store_pack(float* to, const Floats& pack) {
  __builtin_memcpy(to, &pack, sizeof pack);
}

}  // namespace ge
