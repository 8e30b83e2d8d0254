// See action_draws.hpp.
#include "engine/simulator/action_draws.hpp"

#include <string>
#include <utility>

#include "engine/base/error.hpp"

namespace ge {

namespace {

/// The draws of a simulator's actions.
class DrawList {
 public:
  DrawList(const Simulator& simulator, const int8_t* mask, uint64_t seed, int32_t* to)
      : simulator_(simulator), seed_(seed) {
    if (simulator.config().roles == RoleForm::split)
      add_split(mask, to);
    else
      add_rows(mask, to);
  }

  std::vector<PlacedDraw> take() { return std::move(draws_); }

 private:
  /// Rows of actions that lie one after the other.
  struct Rows {
    std::string role;  // "" where all agents have the same spaces
    const std::vector<double>& ranges;
    bool is_float;
    int64_t rows;
    const int8_t* mask;
    int64_t mask_elements;  // of a row
  };

  /// Elements of a mask's row; where the environment has no mask, a caller's has one per category.
  int64_t mask_elements() const {
    const OutputShape& shape = simulator_.output(kActionMask);
    if (shape.exists && !shape.row.empty()) return shape.row.back();
    return simulator_.action_is_float() ? 0 : categories_of(simulator_.action_ranges());
  }
  static int64_t categories_of(const std::vector<double>& ranges) {
    int64_t categories = 0;
    for (size_t k = 0; k < ranges.size(); k += 2)
      categories += int64_t(ranges[k + 1] - ranges[k]) + 1;
    return categories;
  }

  /// Adds the rows of agents that share their spaces.
  void add_rows(const int8_t* mask, int32_t* to) {
    const int64_t rows = simulator_.worlds() * simulator_.agents();
    const bool is_float = simulator_.action_is_float();
    add_words({"", simulator_.action_ranges(), is_float, rows, mask, mask_elements()}, to);
    const bool chooses = mask == nullptr && !is_float;
    if (chooses && simulator_.roles().size() > 1) list_roles(draws_.front().sampling);
  }
  void add_split(const int8_t* mask, int32_t* to) {
    for (const RoleShape& role : simulator_.roles()) {
      const int64_t rows = simulator_.worlds() * role.count;
      const bool masked = mask != nullptr && role.has_mask;
      const int8_t* const own = masked ? mask + role.rows[kActionMask].first : nullptr;
      add_words({role.name, role.ranges, role.is_float, rows, own, role.mask_elements}, to);
      to += rows * role.words();
    }
  }

  /// The mask of a row has the categories of the first word, then those of the second, ...
  void add_words(const Rows& of, int32_t* to) {
    check_mask(of);
    const int64_t words = int64_t(of.ranges.size()) / 2;
    const int8_t* mask = of.mask;
    for (int64_t word = 0; word < words; ++word) {
      const double low = of.ranges[size_t(2 * word)], high = of.ranges[size_t(2 * word + 1)];
      Sampling one{mask, of.rows, 0, uint32_t(seed_), uint32_t(seed_ >> 32)};
      one.stride = words, one.mask_stride = of.mask_elements;
      if (of.is_float)
        one.low = lowest(low, high), one.high = highest(low, high);
      else
        one.choices = int64_t(high - low) + 1, one.first = int32_t(low);
      if (mask != nullptr) mask += one.choices;
      draws_.push_back({one, to + word});
    }
  }

  /// Range of floats drawn: within 1 of a single bound, [-1, 1] without bounds.
  static float lowest(double low, double high) {
    if (is_finite(low)) return float(low);
    return is_finite(high) ? float(high) - 1.0f : -1.0f;
  }
  static float highest(double low, double high) {
    if (is_finite(high)) return float(high);
    return is_finite(low) ? float(low) + 1.0f : 1.0f;
  }
  static bool is_finite(double bound) { return abs(bound) <= 0x1.fffffep+127; }

  void check_mask(const Rows& of) const {
    if (of.mask == nullptr) return;
    const std::string whose =
        simulator_.id() + (of.role.empty() ? "" : " for role '" + of.role + "'");
    bool are_categories = !of.is_float;
    for (size_t k = 0; k < of.ranges.size(); k += 2)
      are_categories = are_categories && of.ranges[k] == 0;
    if (!are_categories)
      throw Error(Fault::value,
                  "sample_actions: mask= is for actions that are categories; those of " + whose +
                      " are not");
    const int64_t categories = categories_of(of.ranges);
    if (categories != of.mask_elements)
      throw Error(Fault::value, "sample_actions: the action mask of " + whose + " has " +
                                    std::to_string(of.mask_elements) + " elements for " +
                                    std::to_string(categories) +
                                    " categories; one per category is needed");
  }

  /// Lists the number of choices of each role, where all roles share a space and no mask is given.
  void list_roles(Sampling& sampling) const {
    if (simulator_.roles().size() > Sampling::kRoles)
      throw Error(Fault::value, "sample_actions: at most " + std::to_string(Sampling::kRoles) +
                                    " roles without a mask");
    sampling.agents = simulator_.agents();
    for (const RoleShape& role : simulator_.roles())
      sampling.roles[sampling.role_count++] = {role.first + role.count,
                                               int32_t(role.ranges[1]) + 1};
  }

  const Simulator& simulator_;
  uint64_t seed_;
  std::vector<PlacedDraw> draws_;
};

}  // namespace

std::vector<PlacedDraw> action_draws(const Simulator& simulator, const int8_t* mask, uint64_t seed,
                                     int32_t* to) {
  return DrawList(simulator, mask, seed, to).take();
}

}  // namespace ge
