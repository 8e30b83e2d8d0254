// Makes, proves and solves levels; scripts/make_sokoban_levels builds and runs it.
//
//   make SEED FILE        a bank, with as many levels as kWanted says
//   check FILE            proves every level of a bank again, and that all differ
//   text FILE FIRST N     levels of a bank as text
//   solve                 reads text from the standard input; writes a line of pushes per level,
//                         each a cell (8 row + column of the inner ones) and n, s, w or e
#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <thread>

#include "envs/sokoban/bank.hpp"
#include "envs/sokoban/text_levels.hpp"
#include "maker.hpp"
#include "solver.hpp"

namespace gpu_envs::envs::sokoban {
namespace {

constexpr uint32_t kWanted[kSplits][kGrades] = {
    {30'000, 50'000, 20'000}, {300, 500, 200}, {300, 500, 200}};
constexpr size_t kLimit = size_t{1} << 20;  // positions of a proof
constexpr size_t kChunk = 1 << 12;          // candidates

/// Calls f(thread's own State, k) for all k below count, on all cores.
template <class State, class F>
void on_all_cores(size_t count, const F& f) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    State state;
    for (size_t k; (k = next++) < count;) f(state, k);
  };
  std::vector<std::thread> threads(std::max(1u, std::thread::hardware_concurrency()));
  for (std::thread& thread : threads) thread = std::thread(work);
  for (std::thread& thread : threads) thread.join();
}

struct Bench {
  Maker maker;
  Solver solver{kLimit};
};

// ---- symmetries

using Canonical = std::array<uint64_t, 4>;
/// The least of a level's eight images: equal for levels that are turned or mirrored copies.
Canonical canonical(const Position& position) {
  Canonical least;
  least.fill(~uint64_t{0});
  for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
    const Position image = turned(position, symmetry);
    least = std::min(least, {image.walls, image.boxes, image.goals, uint64_t(image.player)});
  }
  return least;
}

// ---- commands

int make(uint64_t seed, const char* path) {
  std::vector<Level> parts[kSplits][kGrades];
  std::set<Canonical> known;
  uint64_t wanted = 0, made = 0, twice = 0, cut = 0, none = 0, first = 0;
  for (const auto& grades : kWanted)
    for (const uint32_t count : grades) wanted += count;
  for (; made < wanted; first += kChunk) {
    std::vector<std::optional<Position>> found(kChunk);
    std::vector<uint8_t> given_up(kChunk);
    on_all_cores<Bench>(kChunk, [&](Bench& bench, size_t k) {
      std::optional<Position> position = bench.maker.make(seed, first + k);
      if (!position) return;
      const auto pushes = bench.solver.solve(*position);
      given_up[k] = !pushes;
      if (!pushes) return;
      position->pushes = int(pushes->size());
      found[k] = position;
    });
    for (size_t k = 0; k < kChunk; ++k) {
      cut += given_up[k];
      none += !found[k] && given_up[k] == 0;
      if (!found[k]) continue;
      const int grade = grade_of(found[k]->pushes);
      int split = 0;
      while (split < kSplits && parts[split][grade].size() == kWanted[split][grade]) ++split;
      if (split == kSplits) continue;  // there are enough of these
      if (!known.insert(canonical(*found[k])).second) {
        ++twice;
        continue;
      }
      parts[split][grade].push_back(packed(*found[k]));
      ++made;
    }
    std::fprintf(stderr, "\r%llu of %llu levels, %llu candidates", (unsigned long long)made,
                 (unsigned long long)wanted, (unsigned long long)(first + kChunk));
  }
  Bank bank;
  bank.seed = seed;
  for (int split = 0; split < kSplits; ++split)
    for (int grade = 0; grade < kGrades; ++grade) {
      bank.counts[split][grade] = uint32_t(parts[split][grade].size());
      bank.levels.insert(bank.levels.end(), parts[split][grade].begin(), parts[split][grade].end());
    }
  const std::vector<std::byte> bytes = bytes_of(bank);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  if (!file.flush()) throw Error(Fault::value, std::string("cannot write ") + path);
  std::fprintf(stderr, "\n%llu rooms without a level, %llu levels made twice, %llu not proven\n",
               (unsigned long long)none, (unsigned long long)twice, (unsigned long long)cut);
  return 0;
}

std::string content_of(std::istream& in) {
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
Bank bank_in(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content = content_of(file);
  Bank bank;
  if (const char* problem = read_bank(std::as_bytes(std::span(content)), bank))
    throw Error(Fault::value, std::string(path) + ": " + problem);
  return bank;
}

/// Whether a level is complete, and what it says of its pushes is true.
bool is_right(const Position& position, Solver& solver) {
  const Cells things = position.boxes | position.goals | bit_of(position.player);
  if (std::popcount(position.boxes) != kBoxes || std::popcount(position.goals) != kBoxes)
    return false;
  if ((things & position.walls) != 0 || has(position.boxes, position.player)) return false;
  const auto pushes = solver.solve(position);
  return pushes && int(pushes->size()) == position.pushes;
}
int check(const char* path) {
  const Bank bank = bank_in(path);
  std::atomic<size_t> wrong = 0;
  on_all_cores<Bench>(bank.levels.size(), [&](Bench& bench, size_t k) {
    if (!is_right(position_of(bank.levels[k]), bench.solver)) ++wrong;
  });
  std::set<Canonical> known;
  for (const Level& level : bank.levels) known.insert(canonical(position_of(level)));
  for (int split = 0; split < kSplits; ++split)
    for (int grade = 0; grade < kGrades; ++grade) {
      int least = kMostPushes, most = 0;
      for (const Level& level : bank.part(split, grade)) {
        const int pushes = position_of(level).pushes;
        least = std::min(least, pushes), most = std::max(most, pushes);
        wrong += grade_of(pushes) != grade;
      }
      std::printf("%s, %s: %u levels of %d to %d pushes\n", kSplitNames[split], kGradeNames[grade],
                  bank.counts[split][grade], least, most);
    }
  std::printf("%zu wrong, %zu that are another one's image\n", wrong.load(),
              bank.levels.size() - known.size());
  return wrong == 0 && known.size() == bank.levels.size() ? 0 : 1;
}

int show(const char* path, size_t first, size_t count) {
  const Bank bank = bank_in(path);
  for (size_t k = first; k < std::min(first + count, bank.levels.size()); ++k) {
    const Position position = position_of(bank.levels[k]);
    std::printf("; %zu, %d pushes\n%s\n", k, position.pushes, text_of(position).c_str());
  }
  return 0;
}
int solve() {
  Solver solver(kLimit);
  for (const Position& position : TextLevels::read(content_of(std::cin), "levels")) {
    const auto pushes = solver.solve(position);
    if (!pushes) std::printf(solver.was_cut() ? "given up" : "unsolvable");
    if (pushes)
      for (const Push& push : *pushes) std::printf("%d%c ", push.cell, "nswe"[push.way]);
    std::printf("\n");
  }
  return 0;
}

uint64_t whole(const char* text) {
  const std::string_view digits = text;
  uint64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size())
    throw Error(Fault::value, std::string("not a whole number: ") + text);
  return value;
}
int run(int count, char** words) {
  const std::string command = count > 1 ? words[1] : "";
  if (command == "make" && count == 4) return make(whole(words[2]), words[3]);
  if (command == "check" && count == 3) return check(words[2]);
  if (command == "text" && count == 5) return show(words[2], whole(words[3]), whole(words[4]));
  if (command == "solve" && count == 2) return solve();
  throw Error(Fault::value,
              "usage: make SEED FILE, check FILE, text FILE FIRST COUNT, or solve <TEXT");
}

}  // namespace
}  // namespace gpu_envs::envs::sokoban

int main(int count, char** words) {
  try {
    return gpu_envs::envs::sokoban::run(count, words);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "make_sokoban_levels: %s\n", problem.what());
    return 2;
  }
}
