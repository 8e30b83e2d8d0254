// The learner's native code on a CPU: blocks of rows, whose categories are cached.
#include <algorithm>
#include <vector>

#include "learning/actions.hpp"

namespace ge::learning {
namespace {

constexpr int kRows = 16;

/// Categories of a block, side by side.
struct Kept {
  const Space& space;
  const float* outputs;
  const int8_t* mask;
  const Block<kRows>& block;
  std::vector<float>& logits;
  std::vector<float>& weights;

  Kept(const Space& s, const float* o, const int8_t* m, const Block<kRows>& b)
      : space(s), outputs(o), mask(m), block(b), logits(memory(0)), weights(memory(1)) {
    const size_t size = size_t(space.outputs) * kRows;
    if (logits.size() < size) logits.resize(size), weights.resize(size);
    for (int i = 0; i < kRows; ++i)
      for (int k = 0; k < space.outputs; ++k)
        logits[size_t(k * kRows + i)] =
            outputs == nullptr ? 0.0f : outputs[block.place[i] * space.outputs + k];
    for (int i = 0; mask != nullptr && i < kRows; ++i)
      for (int k = 0; k < space.outputs; ++k)
        if (!legal(k, i)) logits[size_t(k * kRows + i)] = kIllegal;
    finish();
  }
  static std::vector<float>& memory(int which) {
    thread_local std::vector<float> kept[2];
    return kept[which];
  }
  void finish() {
    int first = 0;
    for (int part = 0; part < space.parts; ++part) {
      float* const z = logits.data() + size_t(first) * kRows;
      float* const e = weights.data() + size_t(first) * kRows;
      const int count = space.counts[part];
      float greatest[kRows];
      for (int i = 0; i < kRows; ++i) greatest[i] = z[i];
      for (int k = 1; k < count; ++k)
        for (int i = 0; i < kRows; ++i) greatest[i] = max(greatest[i], z[k * kRows + i]);
      for (int k = 0; k < count; ++k)
        for (int i = 0; i < kRows; ++i) {
          z[k * kRows + i] -= greatest[i];
          e[k * kRows + i] = exp(z[k * kRows + i]);
        }
      first += count;
    }
  }

  bool legal(int k, int i) const {
    return mask == nullptr || mask[block.row[i] * space.outputs + k] != 0;
  }
  void begin(int, int) {}
  float logit(int k, int i) const { return logits[size_t(k * kRows + i)]; }
  float weight(int k, int i) const { return weights[size_t(k * kRows + i)]; }
};

/// Calls `use` with one block of places after the other; `row_of` says which rows these are.
template <class RowOf, class Use>
void for_blocks(int64_t places, RowOf row_of, Use use) {
  for (int64_t first = 0; first < places; first += kRows) {
    Block<kRows> block;
    block.count = int(std::min<int64_t>(kRows, places - first));
    for (int i = 0; i < kRows; ++i) {
      block.place[i] = first + std::min(i, block.count - 1);
      block.row[i] = row_of(block.place[i]);
    }
    use(block);
  }
}

}  // namespace

void draw(const Space& space, const Draw& d, int, void*) {
  for_blocks(
      d.count, [&](int64_t place) { return d.rows == nullptr ? place : d.rows[place]; },
      [&](const Block<kRows>& block) {
        if (space.numbers) return keep(d, block, draw_numbers(space, d, block));
        Kept categories(space, d.outputs, d.mask, block);
        keep(d, block, draw_categories(space, d, block, categories));
      });
}

void lose(const Space& space, const Loss& l, int, void*) {
  for_blocks(
      l.count * l.steps, [&](int64_t b) { return b / l.count * l.stride + l.index[b % l.count]; },
      [&](const Block<kRows>& block) {
        if (space.numbers) return lose_numbers(space, l, block);
        Kept categories(space, l.outputs, l.mask, block);
        lose_categories(space, l, block, categories);
      });
}

}  // namespace ge::learning
