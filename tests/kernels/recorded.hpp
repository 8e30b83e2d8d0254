// The environments of a test program, and those whose recorded cases it has to run. The build
// writes both lists (kernels/cmake/environments.cmake) from its own list of headers and from the
// files of tests/golden, so an environment that has dropped out of a program is missed. There are
// many lists: nothing is included here, so that they compile in no time.
#pragma once

namespace ge {

struct Entry;

namespace test {

using EntryOf = const Entry& (*)();
extern const EntryOf kEntries[];       // ends with a null pointer
extern const char* const kRecorded[];  // stems of files in tests/golden; ends with a null pointer

}  // namespace test
}  // namespace ge
