// Parameters that may differ by world, as plain data: checks of what a caller sets, and the rows of
// records that hold it. world/varied.hpp says what they are; planned.hpp fills in `VariedFacts`.
#pragma once

#include <string>
#include <vector>

#include "engine/described/field_info.hpp"
#include "engine/simulator/simulator.hpp"

namespace ge {

/// An environment's parameters that may vary, and where a record has its own of them.
struct VariedFacts {
  std::vector<FieldInfo> fields;     // of S::Varied
  std::vector<std::string> varying;  // names of those that each world has of its own, in order
  // Bytes in a canonical record. `derived` is `given` where nothing follows from the parameters.
  int64_t derived = 0, given = 0, ranges = 0, end = 0;
  int64_t begin() const { return derived; }
  bool own() const { return !varying.empty(); }
  /// What follows from parameters, into a Derived.
  void (*derive)(void* derived, const void* varied, const void* params) = nullptr;
  /// What is wrong with a combination of them; null: nothing.
  const char* (*problem)(const void* varied, const void* params) = nullptr;
  const void* params = nullptr;

  const FieldInfo& field(const std::string& name) const;
  /// The place of a field among those that vary; -1: it does not.
  int place(const FieldInfo& info) const;
};

/// Refuses names of parameters that may not vary.
void check_varying(const std::vector<FieldInfo>& parameters, const std::vector<FieldInfo>& varied,
                   const std::vector<std::string>& names);

/// Refuses a change by name: unknown parameters, numbers out of range, a wrong number of them.
/// `worlds`: how many the simulator has.
void check_change(const VariedFacts& facts, const ParameterChange& change, int64_t worlds);

/// Writes the i-th world's part of a change into its own row, which begins at `own`, or throws.
void change_own(const VariedFacts& facts, const ParameterChange& change, int64_t i, int64_t world,
                char* own);
/// Refuses an own row that no simulator writes, and computes what follows from its parameters.
void settle_own(const VariedFacts& facts, char* own, int64_t world);

}  // namespace ge
