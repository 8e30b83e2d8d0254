// Ranges of columns, checked where values come from outside: `set` and `load`. Integers name rows,
// kinds and counts, and rules use them unchecked; one beyond its range would index outside of
// tables.
#pragma once

#include "engine/simulator/simulator.hpp"

namespace ge {

/// Refuses what `set` would write into the column of a world, `values` (rows, ...), where it is out
/// of range. A value that `record` holds already may stay: floats may have left their range, and
/// what `get_column` gave can be written back.
void check_values(const Column& column, const char* values, const char* record, int64_t world);

/// Refuses canonical records of all worlds, one behind the other, with a whole number out of its
/// range; a row that is not live may hold zeros. Floats are taken as they are, since rules may
/// leave their range.
void check_records(const std::vector<Column>& columns, const char* records, int64_t worlds,
                   int64_t record_bytes);

}  // namespace ge
