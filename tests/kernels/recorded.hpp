// Which environments' recorded cases a test program has to run. The build writes the list (its own
// list of headers, and the files that tests/golden has), so an environment that has dropped out of
// a program is missed.
#pragma once

#include <vector>

namespace ge::test {

struct Recorded {
  const char* stem;  // of its header, and of its file in tests/golden
  bool elsewhere;    // tests/contract/test_golden.py runs them: the same objects, as loaded modules
};
std::vector<Recorded> recorded();

}  // namespace ge::test
