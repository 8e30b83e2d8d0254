// See varying.hpp.
#include "engine/simulator/varying.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/world/varied.hpp"

namespace ge {

namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(Fault::value, message);
}
bool is_whole(const FieldInfo& info) {
  return info.type == Type::int32;
}
std::string names_of(const std::vector<FieldInfo>& fields) {
  std::string known;
  for (const FieldInfo& info : fields) known += (known.empty() ? "" : ", ") + info.name;
  return known;
}

void check_number(const FieldInfo& info, double x, const std::string& where) {
  // Floats are compared as the parameter holds them, so that a bound is within its own range; no
  // comparison with NaN is true.
  const bool single = info.type == Type::float32;
  const double low = single ? double(float(info.low)) : info.low;
  const double high = single ? double(float(info.high)) : info.high;
  const double own = single ? double(float(x)) : x;
  const bool fits = own >= low && own <= high;
  if (fits && !(is_whole(info) && x != std::floor(x))) return;
  refuse("parameter '" + info.name + "' must be " +
         (is_whole(info) ? "a whole number" : "a number") + " from " + json_number(info.low) +
         " to " + json_number(info.high) + ", got " +
         (std::isnan(x)   ? "nan"
          : std::isinf(x) ? "inf"
                          : spelled(x)) +
         where);
}

void check_range(const FieldInfo& info, const ParameterChange::One& one) {
  const std::vector<double>& x = one.numbers;
  const std::string what = std::string(name_of(one.law)) + " of parameter '" + info.name + "'";
  const size_t wanted = one.law == Law::normal ? 4 : 2;
  if (one.law == Law::choice) {
    if (x.empty() || x.size() > size_t(Range::kNumbers))
      refuse(what + ": a choice is of 1 to " + std::to_string(Range::kNumbers) + " numbers, got " +
             std::to_string(x.size()));
  } else if (x.size() != wanted) {
    refuse(what + " needs " + std::to_string(wanted) + " numbers, got " + std::to_string(x.size()));
  }
  const size_t bounds = one.law == Law::choice ? x.size() : 2;
  for (size_t k = 0; k < bounds; ++k) check_number(info, x[k], " in a range");
  if (one.law == Law::choice) return;
  if (x[0] > x[1])
    refuse(what + ": the lowest, " + spelled(x[0]) + ", is above the highest, " + spelled(x[1]));
  if (one.law == Law::log_uniform && !(x[0] > 0)) refuse(what + ": the lowest must be above 0");
  if (one.law == Law::normal && !(std::isfinite(x[2]) && std::isfinite(x[3]) && x[3] >= 0))
    refuse(what + ": mean and standard deviation must be finite, and the latter at least 0");
}

/// The values at which relations between parameters are judged: the ends of what a range draws,
/// whatever numbers it holds, or its choices.
std::vector<double> ends_of(const Range& range, const FieldInfo& field) {
  if (Law(range.law) != Law::choice) {
    const Bounds bounds = bounds_of(range, field.low, field.high);
    return {bounds.low, bounds.high};
  }
  std::vector<double> choices(range.number, range.number + choices_of(range));
  for (double& choice : choices) choice = clamped(choice, field.low, field.high);
  return choices;
}

Range range_at(const VariedFacts& facts, const char* own, int place) {
  Range range;
  std::memcpy(&range, own + facts.ranges - facts.begin() + place * int64_t(sizeof range),
              sizeof range);
  return range;
}

void refuse_problem_of(const VariedFacts& facts, const char* varied, int64_t world) {
  if (facts.problem == nullptr) return;
  const char* const problem = facts.problem(varied, facts.params);
  if (problem != nullptr)
    refuse(std::string("parameters: ") + problem +
           (world < 0 ? "" : " (world " + std::to_string(world) + ")"));
}

/// Judges the relations of parameters at every pair of ends of two ranges, the others at each of
/// their lowest and highest ends in turn; of few ranges at all combinations.
void check_relations(const VariedFacts& facts, const char* own, int64_t world) {
  if (facts.problem == nullptr) return;
  std::vector<char> varied(own + facts.given - facts.begin(), own + facts.ranges - facts.begin());
  struct Ranged {
    const FieldInfo* field;
    std::vector<double> ends;
  };
  std::vector<Ranged> ranged;
  int64_t combinations = 1;
  for (size_t k = 0; k < facts.varying.size(); ++k) {
    const Range range = range_at(facts, own, int(k));
    if (Law(range.law) == Law::given) continue;
    const FieldInfo& field = facts.field(facts.varying[k]);
    ranged.push_back({&field, ends_of(range, field)});
    combinations = std::min<int64_t>(combinations * int64_t(ranged.back().ends.size()), 1 << 20);
  }
  const auto put = [&](const Ranged& one, size_t end) {
    put_number(one.field->type, varied.data() + one.field->offset,
               one.ends[std::min(end, one.ends.size() - 1)]);
  };
  constexpr int64_t kMostCombinations = 256;
  if (combinations <= kMostCombinations) {
    for (int64_t i = 0; i < combinations; ++i) {
      int64_t rest = i;
      for (const Ranged& one : ranged) {
        put(one, size_t(rest % int64_t(one.ends.size())));
        rest /= int64_t(one.ends.size());
      }
      refuse_problem_of(facts, varied.data(), world);
    }
    return;
  }
  for (const size_t others : {size_t{0}, size_t{Range::kNumbers}})
    for (size_t a = 0; a < ranged.size(); ++a)
      for (size_t b = 0; b < a; ++b) {
        for (const Ranged& one : ranged) put(one, others);
        for (size_t i = 0; i < ranged[a].ends.size(); ++i)
          for (size_t j = 0; j < ranged[b].ends.size(); ++j) {
            put(ranged[a], i), put(ranged[b], j);
            refuse_problem_of(facts, varied.data(), world);
          }
      }
}

}  // namespace

const FieldInfo& VariedFacts::field(const std::string& name) const {
  for (const FieldInfo& info : fields)
    if (info.name == name) return info;
  throw Error(
      Fault::type,
      "'" + name + "' is not a parameter that may differ by world; there are: " + names_of(fields));
}

int VariedFacts::place(const FieldInfo& info) const {
  const auto found = std::find(varying.begin(), varying.end(), info.name);
  return found == varying.end() ? -1 : int(found - varying.begin());
}

void check_varying(const std::vector<FieldInfo>& parameters, const std::vector<FieldInfo>& varied,
                   const std::vector<std::string>& names) {
  const auto has = [](const std::vector<FieldInfo>& all, const std::string& name) {
    return std::any_of(all.begin(), all.end(),
                       [&](const FieldInfo& info) { return info.name == name; });
  };
  for (const std::string& name : names) {
    if (has(varied, name)) continue;
    const std::string known = (varied.empty() ? "none may" : "these may") +
                              std::string(" differ by world") +
                              (varied.empty() ? "" : ": " + names_of(varied));
    if (has(parameters, name))
      throw Error(Fault::value, "parameter '" + name + "' has one value for all worlds; " + known);
    throw Error(Fault::type, "unknown parameter '" + name + "'; " + known);
  }
}

void check_change(const VariedFacts& facts, const ParameterChange& change, int64_t worlds) {
  for (const int64_t world : change.worlds)
    if (world < 0 || world >= worlds)
      refuse("set_parameters: world " + std::to_string(world) + " is not one of 0 to " +
             std::to_string(worlds - 1));
  const int64_t count = change.worlds.empty() ? worlds : int64_t(change.worlds.size());
  for (const ParameterChange::One& one : change.all) {
    const FieldInfo& info = facts.field(one.name);
    const bool by_world = one.law != Law::given || one.numbers.size() > 1 || !change.worlds.empty();
    if (by_world && facts.place(info) < 0)
      refuse("parameter '" + one.name +
             "' has one value for all worlds of this simulator: name it in varies=('" + one.name +
             "',) where the simulator is made");
    if (one.law != Law::given) {
      check_range(info, one);
      continue;
    }
    if (one.numbers.size() != 1 && int64_t(one.numbers.size()) != count)
      refuse("parameter '" + one.name + "' needs one number, or one for each of " +
             std::to_string(count) + " worlds, got " + std::to_string(one.numbers.size()));
    for (size_t i = 0; i < one.numbers.size(); ++i) {
      const int64_t world = change.worlds.empty() ? int64_t(i) : change.worlds[i];
      check_number(info, one.numbers[i],
                   one.numbers.size() > 1 ? " for world " + std::to_string(world) : "");
    }
  }
}

void change_own(const VariedFacts& facts, const ParameterChange& change, int64_t i, int64_t world,
                char* own) {
  for (const ParameterChange::One& one : change.all) {
    const FieldInfo& info = facts.field(one.name);
    const int place = facts.place(info);
    Range range{};
    range.law = int32_t(one.law);
    if (one.law == Law::given) {
      put_number(info.type, own + facts.given - facts.begin() + info.offset,
                 one.numbers[one.numbers.size() > 1 ? size_t(i) : 0]);
    } else {
      range.count = int32_t(one.numbers.size());
      std::copy(one.numbers.begin(), one.numbers.end(), range.number);
    }
    if (place >= 0)
      std::memcpy(own + facts.ranges - facts.begin() + place * int64_t(sizeof range), &range,
                  sizeof range);
  }
  settle_own(facts, own, world);
}

void settle_own(const VariedFacts& facts, char* own, int64_t world) {
  const char* const varied = own + facts.given - facts.begin();
  for (const FieldInfo& info : facts.fields)
    check_number(info, number_at(info.type, varied + info.offset),
                 " for world " + std::to_string(world));
  refuse_problem_of(facts, varied, world);
  check_relations(facts, own, world);
  if (facts.derived == facts.given) return;
  // Through memory of its own: the row may lie at any byte.
  std::vector<double> given(size_t(facts.ranges - facts.given + 7) / 8),
      derived(size_t(facts.given - facts.derived + 7) / 8);
  std::memcpy(given.data(), varied, size_t(facts.ranges - facts.given));
  facts.derive(derived.data(), given.data(), facts.params);
  std::memcpy(own, derived.data(), size_t(facts.given - facts.derived));
}

}  // namespace ge
