// Runs statements of PTX for the lanes of one warp, each lane with operands of its own. Registers
// are named by their width: h0 to h7 have 16 bits, w 32, l 64, and p is a predicate. A lane's
// operands are in h1, w1, l1 and p1 (where it is not 0), the next in h2 and so on; the result is
// what h0, w0, l0 or p0 holds in the end, whichever stands first, and p5 is a second one.
#pragma once

#include <array>
#include <bit>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "ptx/machine.hpp"
#include "test.hpp"

namespace ge::test {

/// A register's bits.
struct Bits {
  uint64_t value;
  Bits(int number) : value(uint64_t(int64_t(number))) {}
  Bits(long number) : value(uint64_t(number)) {}
  Bits(long long number) : value(uint64_t(number)) {}
  Bits(unsigned number) : value(number) {}
  Bits(unsigned long number) : value(number) {}
  Bits(unsigned long long number) : value(number) {}
  Bits(float number) : value(std::bit_cast<uint32_t>(number)) {}
  Bits(double number) : value(std::bit_cast<uint64_t>(number)) {}
};
/// What a statement makes of some operands.
struct Made {
  std::vector<Bits> given;
  Bits result;
  Bits second = 0;
};

inline constexpr int kOperands = 4;
struct Lane {
  std::array<uint64_t, 8> given{}, made{};
};

/// The kind of the first register with the number 0; 0: there is none.
inline char result_of(const std::string& statements) {
  for (size_t at = 1; at + 1 < statements.size(); ++at) {
    const bool begins = std::isalnum(static_cast<unsigned char>(statements[at - 1])) == 0;
    const bool ends = at + 2 == statements.size() ||
                      std::isalnum(static_cast<unsigned char>(statements[at + 2])) == 0;
    if (begins && ends && statements[at + 1] == '0' &&
        std::strchr("hwlp", statements[at]) != nullptr)
      return statements[at];
  }
  return 0;
}

/// The module that runs the statements. `outside`: directives in front of it.
inline std::string module_of(const std::string& statements, const std::string& outside = "") {
  std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n" + outside +
                     ".visible .entry step(.param .u64 given, .param .u64 made)\n{\n"
                     ".reg .pred p<8>;\n.reg .b16 h<8>;\n.reg .b32 w<8>;\n.reg .b64 l<8>;\n"
                     ".reg .b32 lane;\n.reg .b64 from, to, by;\n"
                     "mov.u32 lane, %tid.x;\nmul.wide.u32 by, lane, 128;\n"
                     "ld.param.u64 from, [given];\nld.param.u64 to, [made];\n"
                     "add.s64 from, from, by;\nadd.s64 to, to, by;\n";
  for (int k = 1; k <= kOperands; ++k) {
    const std::string n = std::to_string(k), at = "[from+" + std::to_string(8 * (k - 1)) + "];\n";
    text += "ld.global.u64 l" + n + ", " + at + "ld.global.u32 w" + n + ", " + at +
            "ld.global.u16 h" + n + ", " + at + "setp.ne.u64 p" + n + ", l" + n + ", 0;\n";
  }
  text += "mov.pred p5, 0;\n" + statements + "\n";
  if (const char c = result_of(statements); c != 0) {
    if (c == 'p') text += "selp.u32 w0, 1, 0, p0;\n";
    const std::string type = c == 'h' ? "u16" : c == 'l' ? "u64" : "u32";
    text += "st.global." + type + " [to], " + (c == 'p' ? 'w' : c) + "0;\n";
  }
  return text + "selp.u32 w7, 1, 0, p5;\nst.global.u32 [to+8], w7;\nret;\n}\n";
}

/// Runs the statements; raises the machine's Fault.
inline void run_lanes(const std::string& statements, std::vector<Lane>& lanes,
                      const std::string& outside = "", bool has_races = false) {
  ptx::Program program(module_of(statements, outside));
  ptx::Settings settings;
  settings.races = has_races;
  ptx::Machine machine(settings);
  struct Memory {
    std::array<uint64_t, 8> given, made;
  };
  std::vector<Memory> memory(lanes.size());
  for (size_t k = 0; k < lanes.size(); ++k) memory[k] = {lanes[k].given, {}};
  machine.memory.add(memory.data(), int64_t(memory.size() * sizeof(Memory)), true, "lanes");
  program.for_each_variable([&](const ptx::Variable& v, char* at) {
    machine.memory.add(at, v.bytes, v.space != "const", v.name);
  });
  const uint64_t at = reinterpret_cast<uint64_t>(memory.data());
  const std::array<uint64_t, 2> params{at, at + sizeof memory[0].given};
  ptx::Launch launch;
  launch.block.x = unsigned(lanes.size());
  machine.run(*program.kernel("step"), launch, reinterpret_cast<const char*>(params.data()));
  for (size_t k = 0; k < lanes.size(); ++k) lanes[k] = {lanes[k].given, memory[k].made};
}

/// The bits of a result that its register has.
inline uint64_t mask_of(const std::string& statements) {
  switch (result_of(statements)) {
    case 'h':
      return 0xffff;
    case 'w':
      return 0xffffffff;
    case 'p':
      return 1;
    default:
      return ~uint64_t{0};
  }
}

inline std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

/// Runs each case in a lane: once in as few lanes as there are cases, once in a full warp, which
/// handlers treat apart.
inline void check_made(const char* file, int line, const std::string& statements,
                       const std::vector<Made>& cases) {
  const uint64_t mask = mask_of(statements);
  for (const size_t count : {cases.size(), size_t(ptx::kLanes)}) {
    std::vector<Lane> lanes(count);
    for (size_t k = 0; k < count; ++k)
      for (size_t o = 0; o < cases[k % cases.size()].given.size(); ++o)
        lanes[k].given[o] = cases[k % cases.size()].given[o].value;
    try {
      run_lanes(statements, lanes);
    } catch (const std::exception& problem) {
      return fail(file, line, statements + ": " + problem.what());
    }
    for (size_t k = 0; k < cases.size(); ++k) {
      const Made& one = cases[k];
      if (lanes[k].made[0] == (one.result.value & mask) && lanes[k].made[1] == one.second.value)
        continue;
      std::string text = statements + " of";
      for (const Bits& given : one.given) text += " " + hex(given.value);
      text += ": " + hex(lanes[k].made[0]) + ", " + hex(lanes[k].made[1]) + " against " +
              hex(one.result.value & mask) + ", " + hex(one.second.value);
      fail(file, line, text);
    }
  }
}

/// What the first fault says; empty: there was none.
inline std::string fault_of(const std::string& statements, int count = ptx::kLanes,
                            const std::string& outside = "", bool has_races = false) {
  std::vector<Lane> lanes(static_cast<size_t>(count));
  try {
    run_lanes(statements, lanes, outside, has_races);
  } catch (const ptx::Fault& fault) {
    return fault.what();
  }
  return "";
}

}  // namespace ge::test

/// CHECK_PTX("add.s32 w0, w1, w2;", {{1, 2}, 3}, {{-1, 1}, 0}): operands and results, case by case.
#define CHECK_PTX(statements, ...) \
  ::ge::test::check_made(__FILE__, __LINE__, statements, {__VA_ARGS__})
/// The statements are refused, or fail, with a message that contains the text.
#define CHECK_FAULT(statements, text)                                                   \
  do {                                                                                  \
    const std::string said = ::ge::test::fault_of(statements);                          \
    if (said.find(text) == std::string::npos)                                           \
      ::ge::test::fail(__FILE__, __LINE__, std::string(statements) + ": said " + said); \
  } while (false)
