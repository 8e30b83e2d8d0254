// The distributions of a policy's outputs, row by row: drawing actions, their log-probability, and
// the gradient of the loss. In blocks of L rows: 16 on a CPU, so that inner loops become vectors,
// and 1 per thread of a GPU. Both compute a row in the same order, so they get the same bits.
#pragma once

#include "engine/maths/math.hpp"
#include "learning/learning.hpp"

namespace ge::learning {

inline constexpr float kIllegal = -1e9f;  // logit of what the mask forbids: its probability is 0
inline constexpr float kLowLogStd = -10, kHighLogStd = 2;
inline constexpr float kHalfLogTau = 0x1.d67f1cp-1f;  // log(2 pi) / 2

// ---- random numbers: those of gpu_envs/policies/noise.py

GE_FN uint64_t mixed(uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return bits ^ bits >> 31;
}
/// In (0, 1): the middles of 2^23 equal parts.
GE_FN float uniform(const Noise& noise, uint64_t step, int64_t row, int column) {
  const uint64_t counter = step * 0xd1b54a32d192ed03u +
                           uint64_t(noise.first_row + row) * 0xabc98388fb8fac03u +
                           uint64_t(column) * 0x8cb92ba72f3d8dd7u;
  const uint64_t bits = mixed(mixed(counter + noise.key));
  return (float(int32_t(bits >> 41 & 0x7fffff)) + 0.5f) * 0x1p-23f;
}

// ---- a block of rows, and the categories of each

/// The rows of a block; the last row repeats where a block is not full.
template <int L>
struct Block {
  int64_t place[L];  // among the outputs
  int64_t row[L];    // among all rows, or samples
  int count;         // that are the block's own

  /// The number of the block's own rows; a constant for L = 1, so that a GPU keeps arrays in
  /// registers.
  GE_FN int own() const { return L == 1 ? 1 : count; }
};

/// Categories of a block, read from memory at each use, as a thread of a GPU does.
template <int L>
struct Looked {
  const Space& space;
  const float* outputs;  // null: all alike
  const int8_t* mask;    // null: all legal
  const Block<L>& block;
  float greatest[L] = {};

  GE_FN Looked(const Space& s, const float* o, const int8_t* m, const Block<L>& b)
      : space(s), outputs(o), mask(m), block(b) {}

  GE_FN float raw(int k, int i) const {
    if (mask != nullptr && mask[block.row[i] * space.outputs + k] == 0) return kIllegal;
    return outputs == nullptr ? 0.0f : outputs[block.place[i] * space.outputs + k];
  }
  GE_FN bool legal(int k, int i) const {
    return mask == nullptr || mask[block.row[i] * space.outputs + k] != 0;
  }
  GE_FN void begin(int first, int count) {
    for (int i = 0; i < L; ++i) greatest[i] = raw(first, i);
    for (int k = first + 1; k < first + count; ++k)
      for (int i = 0; i < L; ++i) greatest[i] = max(greatest[i], raw(k, i));
  }
  /// Logit less the largest of its head, and its exponential.
  GE_FN float logit(int k, int i) const { return raw(k, i) - greatest[i]; }
  GE_FN float weight(int k, int i) const { return exp(logit(k, i)); }
};

/// Sums over the categories of one head.
template <int L>
struct Head {
  float total[L] = {}, mean[L] = {}, log_total[L];  // mean: of the logits, times `total`

  template <class Categories>
  GE_FN Head(const Categories& c, int first, int count) {
    for (int k = first; k < first + count; ++k)
      for (int i = 0; i < L; ++i) {
        const float weight = c.weight(k, i);
        total[i] += weight;
        mean[i] += weight * c.logit(k, i);
      }
    for (int i = 0; i < L; ++i) log_total[i] = log(total[i]);
  }
  GE_FN float entropy(int i) const { return log_total[i] - mean[i] / total[i]; }
};

// ---- drawing

/// Log-probabilities of the actions of a block.
template <int L>
struct Likely {
  float log_prob[L] = {}, entropy[L] = {};
};

/// The first category whose cumulative weight reaches a share of all; one of weight 0 never does.
template <int L, class Categories>
GE_FN Likely<L> draw_categories(const Space& space, const Draw& d, const Block<L>& block,
                                Categories& c) {
  Likely<L> found;
  int64_t* const action = static_cast<int64_t*>(d.action);
  int first = 0;
  for (int part = 0; part < space.parts; ++part) {
    const int count = space.counts[part];
    c.begin(first, count);
    const Head<L> head(c, first, count);
    float bound[L], sum[L] = {};
    int pick[L] = {};
    for (int i = 0; i < L; ++i)
      bound[i] = uniform(d.noise, d.step(), block.row[i], part) * head.total[i];
    for (int k = first; k < first + count; ++k)
      for (int i = 0; i < L; ++i) {
        sum[i] += c.weight(k, i);
        pick[i] += sum[i] < bound[i] ? 1 : 0;
      }
    for (int i = 0; i < L; ++i) {
      found.log_prob[i] += c.logit(first + pick[i], i) - head.log_total[i];
      found.entropy[i] += head.entropy(i);
    }
    for (int i = 0; i < block.own(); ++i) action[block.row[i] * space.parts + part] = pick[i];
    first += count;
  }
  return found;
}

GE_FN float limited(float log_std) {
  return clamp(log_std, kLowLogStd, kHighLogStd);
}
/// Normal numbers by Box and Muller; without outputs uniform within the bounds, if there are any.
template <int L>
GE_FN Likely<L> draw_numbers(const Space& space, const Draw& d, const Block<L>& block) {
  Likely<L> found;
  float* const action = static_cast<float*>(d.action);
  for (int part = 0; part < space.parts; ++part) {
    const float log_std = d.log_std == nullptr ? 0.0f : limited(d.log_std[part]);
    const float std = exp(log_std), inverse = exp(-log_std);
    const bool even = d.outputs == nullptr && space.bounded(part);
    for (int i = 0; i < L; ++i) {
      const float radius = uniform(d.noise, d.step(), block.row[i], part);
      const float turn = uniform(d.noise, d.step(), block.row[i], space.parts + part);
      const float normal = sqrt(-2.0f * log(radius)) * cos_bounded(turn * 0x1.921fb6p+2f);
      const float mean =
          d.outputs == nullptr ? 0.0f : d.outputs[block.place[i] * space.outputs + part];
      const float number = even ? 2.0f * radius - 1.0f : mean + std * normal;
      const float away = (number - mean) * inverse;
      found.log_prob[i] += -0.5f * (away * away) - log_std - kHalfLogTau;
      found.entropy[i] += log_std + (kHalfLogTau + 0.5f);
      if (i < block.own()) action[block.row[i] * space.parts + part] = number;
      if (i < block.own() && d.bounded_action != nullptr)
        d.bounded_action[block.row[i] * space.parts + part] = space.within(part, number);
    }
  }
  return found;
}

template <int L>
GE_FN void keep(const Draw& d, const Block<L>& block, const Likely<L>& found) {
  for (int i = 0; i < block.own(); ++i) {
    const int64_t row = block.row[i];
    if (d.log_prob != nullptr) d.log_prob[row] = found.log_prob[i];
    if (d.entropy != nullptr) d.entropy[row] = found.entropy[i];
    if (d.real_value != nullptr) {
      const float value = d.value[block.place[i]];
      d.real_value[row] = value * *d.deviation + *d.mean;
    }
  }
}

// ---- the loss and its gradient

/// A sample's loss, and its derivative by the logarithm of the action's probability.
struct Judged {
  float policy, slope, apart, far;
};
GE_FN Judged judge(const Loss& l, float log_prob, float old, float advantage) {
  const float log_ratio = log_prob - old, ratio = exp(log_ratio), plain = ratio * advantage;
  float gain = plain;
  bool follows = true;
  if (l.clip >= 0) {
    const float bounded = clamp(ratio, 1.0f - l.clip, 1.0f + l.clip) * advantage;
    follows = plain <= bounded;
    gain = min(plain, bounded);
  }
  const float limit = l.clip < 0 ? l.far : l.clip;
  return {-gain, follows ? -plain : 0.0f, ratio - 1.0f - log_ratio,
          abs(ratio - 1.0f) > limit ? 1.0f : 0.0f};
}

/// Values that all parts of a block's gradient need: weights in the mean, and losses.
template <int L>
struct Sums {
  float share[L], slope[L], uncertain;  // uncertain: weight of the entropy

  /// Writes the statistics of each sample, and the gradient with respect to its value.
  GE_FN Sums(const Loss& l, const Block<L>& block, const Likely<L>& found) {
    uncertain = l.entropy_weight == nullptr ? 0.0f : *l.entropy_weight;
    const float each =
        l.counted == nullptr ? 1.0f / float(l.count * l.steps) : 1.0f / max(*l.counted, 1.0f);
    for (int i = 0; i < L; ++i) {
      const int64_t place = block.place[i], sample = block.row[i];
      share[i] = l.known == nullptr || l.known[sample] != 0 ? each : 0.0f;
      const Judged j = judge(l, found.log_prob[i], l.old[sample], l.advantage[sample]);
      slope[i] = j.slope * share[i];
      if (i >= block.own()) continue;
      const float miss = l.value[place] - l.target[sample];
      l.value_gradient[place] = 2.0f * miss * l.value_weight * share[i];
      float* const stats = l.stats + place * kStats;
      stats[0] = j.policy * share[i];
      stats[1] = miss * miss * share[i];
      stats[2] = found.entropy[i] * share[i];
      stats[3] = j.apart * share[i];
      stats[4] = j.far * share[i];
    }
  }
};

template <int L, class Categories>
GE_FN void lose_categories(const Space& space, const Loss& l, const Block<L>& block,
                           Categories& c) {
  const int64_t* const action = static_cast<const int64_t*>(l.action);
  Likely<L> found;
  int first = 0;
  for (int part = 0; part < space.parts; ++part) {
    c.begin(first, space.counts[part]);
    const Head<L> head(c, first, space.counts[part]);
    for (int i = 0; i < L; ++i) {
      const int taken = first + int(action[block.row[i] * space.parts + part]);
      found.log_prob[i] += c.logit(taken, i) - head.log_total[i];
      found.entropy[i] += head.entropy(i);
    }
    first += space.counts[part];
  }
  const Sums<L> sums(l, block, found);
  first = 0;
  for (int part = 0; part < space.parts; ++part) {
    c.begin(first, space.counts[part]);
    const Head<L> head(c, first, space.counts[part]);
    for (int k = first; k < first + space.counts[part]; ++k)
      for (int i = 0; i < block.own(); ++i) {
        const bool taken = int(action[block.row[i] * space.parts + part]) == k - first;
        const float log_prob = c.logit(k, i) - head.log_total[i];
        const float prob = c.weight(k, i) / head.total[i];
        // The entropy's derivative is -p (log p + entropy).
        const float slope = sums.slope[i] * ((taken ? 1.0f : 0.0f) - prob) +
                            sums.uncertain * sums.share[i] * (prob * (log_prob + head.entropy(i)));
        l.gradient[block.place[i] * space.outputs + k] = c.legal(k, i) ? slope : 0.0f;
      }
    first += space.counts[part];
  }
}

template <int L>
GE_FN void lose_numbers(const Space& space, const Loss& l, const Block<L>& block) {
  const float* const action = static_cast<const float*>(l.action);
  Likely<L> found;
  for (int part = 0; part < space.parts; ++part) {
    const float log_std = limited(l.log_std[part]), inverse = exp(-log_std);
    for (int i = 0; i < L; ++i) {
      const float mean = l.outputs[block.place[i] * space.outputs + part];
      const float away = (action[block.row[i] * space.parts + part] - mean) * inverse;
      found.log_prob[i] += -0.5f * (away * away) - log_std - kHalfLogTau;
      found.entropy[i] += log_std + (kHalfLogTau + 0.5f);
    }
  }
  const Sums<L> sums(l, block, found);
  for (int part = 0; part < space.parts; ++part) {
    const float log_std = limited(l.log_std[part]), inverse = exp(-log_std);
    const bool moves = log_std == l.log_std[part];
    for (int i = 0; i < block.own(); ++i) {
      const int64_t at = block.place[i] * space.outputs + part;
      const float away = (action[block.row[i] * space.parts + part] - l.outputs[at]) * inverse;
      l.gradient[at] = sums.slope[i] * away * inverse;
      const float spread = sums.slope[i] * (away * away - 1.0f) - sums.uncertain * sums.share[i];
      l.log_std_gradient[at] = moves ? spread : 0.0f;
    }
  }
}

}  // namespace ge::learning
