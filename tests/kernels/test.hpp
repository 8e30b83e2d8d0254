// A test harness of one header: GE_TEST registers a test, the CHECK macros record what failed and
// go on. The native tests need nothing that a machine with g++ does not have, so they run wherever
// the package builds.
#pragma once

#include <cstdio>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

namespace ge::test {

/// How many of `n` rounds that are alike a program runs: a quarter under the address sanitizer,
/// where a round takes five times as long and one finds what many do.
constexpr int rounds(int n) {
#if defined(__SANITIZE_ADDRESS__)
  return (n + 3) / 4;
#else
  return n;
#endif
}

struct Case {
  const char* name;
  void (*run)();
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Register {
  Register(const char* name, void (*run)()) { cases().push_back({name, run}); }
};

inline void fail(const char* file, int line, const std::string& what) {
  ++failures();
  std::printf("%s:%d: %s\n", file, line, what.c_str());
}

template <class A, class B>
void check_equal(const char* file, int line, const char* text, const A& a, const B& b) {
  if (a == b) return;
  std::ostringstream out;
  out.precision(17);
  out << text << ": " << a << " against " << b;
  fail(file, line, out.str());
}

/// Runs the tests whose name contains one of the arguments (all without any), prints the closing
/// line that test runners look for, and returns the exit status.
inline int run_all(int argc, char** argv) {
  int passed = 0, failed = 0;
  for (const Case& test : cases()) {
    bool wanted = argc < 2;
    for (int i = 1; i < argc; ++i) wanted = wanted || std::strstr(test.name, argv[i]) != nullptr;
    if (!wanted) continue;
    const int before = failures();
    try {
      test.run();
    } catch (const std::exception& error) {
      fail(test.name, 0, std::string("threw ") + error.what());
    }
    const bool ok = failures() == before;
    ++(ok ? passed : failed);
    if (!ok) std::printf("FAILED %s\n", test.name);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace ge::test

#define GE_TEST(name)                                               \
  static void name();                                               \
  static const ::ge::test::Register name##_registered{#name, name}; \
  static void name()
#define CHECK(condition) \
  ((condition) ? (void)0 : ::ge::test::fail(__FILE__, __LINE__, "not true: " #condition))
#define CHECK_EQ(a, b) ::ge::test::check_equal(__FILE__, __LINE__, #a " == " #b, (a), (b))
#define CHECK_THROWS(expression, Type, text)                                                 \
  do {                                                                                       \
    bool thrown = false;                                                                     \
    try {                                                                                    \
      (void)(expression);                                                                    \
    } catch (const Type& error) {                                                            \
      thrown = true;                                                                         \
      if (std::string(error.what()).find(text) == std::string::npos)                         \
        ::ge::test::fail(__FILE__, __LINE__, std::string("wrong message: ") + error.what()); \
    }                                                                                        \
    if (!thrown) ::ge::test::fail(__FILE__, __LINE__, "did not throw: " #expression);        \
  } while (false)
