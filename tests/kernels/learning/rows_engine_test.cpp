// A thread of a GPU and a block of a CPU find the same bits, whichever rows share a block.
#include <cmath>
#include <vector>

#include "learning/actions.hpp"
#include "split_mix.hpp"
#include "test.hpp"

namespace {

using namespace ge::learning;

struct Source {
  ge::test::SplitMix bits;
  float number() { return float(bits.next() >> 40) * 0x1p-23f - 1.0f; }  // in [-1, 1)
  std::vector<float> numbers(size_t count, float factor) {
    std::vector<float> found(count);
    for (float& x : found) x = factor * number();
    return found;
  }
  std::vector<int8_t> flags(size_t count) {
    std::vector<int8_t> found(count);
    for (int8_t& x : found) x = int8_t(bits.next() % 3 != 0);
    return found;
  }
};

constexpr int kAll = 61;  // rows of the rollout; no multiple of a block
const int32_t kCounts[] = {11, 2, 5};
constexpr int kParts = 3, kOutputs = 18;
const float kLow[] = {-1, -ge::infinity<float>(), 0}, kHigh[] = {1, 3, 4};
const float kCentre[] = {0, 0, 2}, kReach[] = {1, 1, 2};

Space space_of(bool numbers) {
  return {numbers, kParts, numbers ? kParts : kOutputs, kCounts, kLow, kHigh, kCentre, kReach};
}

/// All that a draw reads and writes.
struct Drawn {
  std::vector<int64_t> rows, action;
  std::vector<float> outputs, log_std, value, numbers, bounded, log_prob, real, entropy;
  std::vector<int8_t> mask;
  int64_t clock = 5;
  float mean = 0.5f, deviation = 3;

  Draw draw(bool is_number, bool uniform, bool masked, bool some) {
    Draw d{};
    for (int64_t k = 2; k < kAll; k += 3) rows.push_back(kAll - 1 - k);
    d.rows = some ? rows.data() : nullptr;
    d.count = some ? int64_t(rows.size()) : kAll;
    d.noise = {0x1234567890abcdefu, &clock, 7, 3, 1000};
    Source source{{99}};
    outputs = source.numbers(kAll * kOutputs, 4), log_std = {-0.3f, 3.0f, -11.0f};
    value = source.numbers(kAll, 1), mask = source.flags(kAll * kOutputs);
    action.assign(kAll * kParts, -1), numbers.assign(kAll * kParts, -9);
    for (auto* array : {&bounded, &log_prob, &real, &entropy}) array->assign(kAll * kParts, -9);
    d.outputs = uniform ? nullptr : outputs.data();
    d.log_std = uniform || !is_number ? nullptr : log_std.data();
    d.mask = masked ? mask.data() : nullptr;
    d.value = value.data(), d.mean = &mean, d.deviation = &deviation;
    d.action = is_number ? static_cast<void*>(numbers.data()) : static_cast<void*>(action.data());
    d.bounded_action = is_number ? bounded.data() : nullptr;
    d.log_prob = log_prob.data(), d.real_value = uniform ? nullptr : real.data();
    d.entropy = entropy.data();
    return d;
  }
  bool operator==(const Drawn& other) const {
    return action == other.action && numbers == other.numbers && bounded == other.bounded &&
           log_prob == other.log_prob && real == other.real && entropy == other.entropy;
  }
};

/// As a thread of a GPU does it.
void draw_singly(const Space& space, const Draw& d) {
  for (int64_t i = 0; i < d.count; ++i) {
    const Block<1> block{{i}, {d.rows == nullptr ? i : d.rows[i]}, 1};
    Looked<1> categories(space, d.outputs, d.mask, block);
    keep(d, block,
         space.numbers ? draw_numbers(space, d, block)
                       : draw_categories(space, d, block, categories));
  }
}

GE_TEST(a_draw_has_the_same_bits_row_by_row_and_in_blocks) {
  for (int choice = 0; choice < 16; ++choice) {
    const bool numbers = choice & 1, uniform = choice & 2, masked = choice & 4, some = choice & 8;
    const Space space = space_of(numbers);
    Drawn one, other;
    draw(space, one.draw(numbers, uniform, masked && !numbers, some), 0, nullptr);
    draw_singly(space, other.draw(numbers, uniform, masked && !numbers, some));
    CHECK(one == other);
    const auto& untouched = numbers ? one.numbers[0] == -9 : one.action[0] == -1;
    CHECK_EQ(untouched, some && one.rows.back() != 0);
  }
}

GE_TEST(what_is_drawn_depends_on_its_row_and_not_on_its_neighbours) {
  const Space space = space_of(false);
  Drawn all, some;
  draw(space, all.draw(false, true, true, false), 0, nullptr);
  draw(space, some.draw(false, true, true, true), 0, nullptr);
  for (const int64_t row : some.rows)
    for (int part = 0; part < kParts; ++part)
      CHECK_EQ(all.action[size_t(row * kParts + part)], some.action[size_t(row * kParts + part)]);
}

GE_TEST(nothing_forbidden_is_drawn) {
  const Space space = space_of(false);
  Drawn drawn;
  Draw d = drawn.draw(false, false, true, false);
  for (drawn.clock = 0; drawn.clock < 200; ++drawn.clock) {
    draw(space, d, 0, nullptr);
    for (int row = 0; row < kAll; ++row)
      for (int part = 0, first = 0; part < kParts; first += kCounts[part++]) {
        const int8_t* const legal = &drawn.mask[size_t(row * kOutputs + first)];
        bool any = false;
        for (int k = 0; k < kCounts[part]; ++k) any = any || legal[k] != 0;
        const int64_t taken = drawn.action[size_t(row * kParts + part)];
        CHECK(taken >= 0 && taken < kCounts[part] && (legal[taken] != 0 || !any));
      }
  }
}

/// All that a loss reads and writes: two steps of some rows, of a rollout of three.
struct Lost {
  Drawn drawn;
  std::vector<int64_t> index;
  std::vector<float> outputs, value, old, advantage, target, gradient, spread, slope, stats;
  std::vector<int8_t> mask, known;
  std::vector<int64_t> action;
  std::vector<float> numbers, log_std{-0.3f, 3.0f, 0.2f};
  float entropy_weight = 0.01f, counted = 17;

  Loss loss(bool is_number, bool masked, bool weighted, float clip) {
    Source source{{7}};
    for (int64_t k = 0; k < kAll; k += 2) index.push_back(k * 7 % kAll);
    const size_t samples = 3 * kAll, places = 2 * index.size();
    outputs = source.numbers(places * kOutputs, 3), value = source.numbers(places, 2);
    old = source.numbers(samples, 1), advantage = source.numbers(samples, 2);
    for (float& x : old) x -= 3;
    target = source.numbers(samples, 2), numbers = source.numbers(samples * kParts, 2);
    mask = source.flags(samples * kOutputs), known = source.flags(samples);
    action.resize(samples * kParts);
    for (size_t k = 0; k < action.size(); ++k)
      action[k] = int64_t(source.bits.next() % uint64_t(kCounts[k % kParts]));
    gradient.assign(places * kOutputs, -9), spread.assign(places * kOutputs, -9);
    slope.assign(places, -9), stats.assign(places * kStats, -9);
    Loss l{};
    l.index = index.data(), l.count = int64_t(index.size()), l.steps = 2, l.stride = kAll;
    l.outputs = outputs.data(), l.log_std = log_std.data(), l.value = value.data();
    l.action = is_number ? static_cast<void*>(numbers.data()) : static_cast<void*>(action.data());
    l.old = old.data(), l.advantage = advantage.data(), l.target = target.data();
    l.mask = masked ? mask.data() : nullptr, l.known = weighted ? known.data() : nullptr;
    l.counted = weighted ? &counted : nullptr, l.entropy_weight = &entropy_weight;
    l.clip = clip, l.far = 0.2f, l.value_weight = 0.5f;
    l.gradient = gradient.data(), l.log_std_gradient = is_number ? spread.data() : nullptr;
    l.value_gradient = slope.data(), l.stats = stats.data();
    return l;
  }
  bool operator==(const Lost& other) const {
    return gradient == other.gradient && spread == other.spread && slope == other.slope &&
           stats == other.stats;
  }
};

GE_TEST(a_gradient_has_the_same_bits_row_by_row_and_in_blocks) {
  for (int choice = 0; choice < 16; ++choice) {
    const bool numbers = choice & 1, masked = (choice & 2) != 0 && !numbers, weighted = choice & 4;
    const float clip = (choice & 8) != 0 ? 0.2f : -1.0f;
    const Space space = space_of(numbers);
    Lost one, other;
    lose(space, one.loss(numbers, masked, weighted, clip), 0, nullptr);
    const Loss l = other.loss(numbers, masked, weighted, clip);
    for (int64_t b = 0; b < l.count * l.steps; ++b) {
      const Block<1> block{{b}, {b / l.count * l.stride + l.index[b % l.count]}, 1};
      Looked<1> categories(space, l.outputs, l.mask, block);
      if (numbers)
        lose_numbers(space, l, block);
      else
        lose_categories(space, l, block, categories);
    }
    CHECK(one == other);
  }
}

GE_TEST(tanh_is_close_everywhere_and_ends_at_one) {
  std::vector<float> x, wanted;
  for (float at = -100; at < 100; at += 0.0137f) x.push_back(at), wanted.push_back(std::tanh(at));
  x.push_back(ge::infinity<float>()), wanted.push_back(1);
  x.push_back(-ge::infinity<float>()), wanted.push_back(-1);
  ge::learning::tanh(x.data(), int64_t(x.size()));
  for (size_t k = 0; k < x.size(); ++k) CHECK(std::abs(x[k] - wanted[k]) < 2.5e-7f);
}

}  // namespace
