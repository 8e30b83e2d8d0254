// The squad: the lanes that work on one row together. On the CPU it is one lane, on a GPU a warp
// where a warp or more owns a world (Group) or a row (Flat). It is an argument of systems of
// EachTogether, and of functions that make rows in place: observations and states that are wide
// rows of floats, and observations of fixed length that are complete:
//
//   void feel(const W& w, const Squad& squad, Slot me, Company& company) {
//     int64_t sum = 0;
//     for (int k = squad.lane(); k < n; k += squad.size()) sum += ...;
//     company.sum = squad.sum(sum);                      // every lane has the total
//   }
//
// All lanes run the function for the same row and must meet equally often: `meet`, and functions
// that read other lanes, stand outside of loops and branches that differ between lanes. Integer
// sums are equal in any order, so results do not depend on the number of lanes; sums of floats
// would.
#pragma once

#include "engine/base/platform_lanes.hpp"
#include "engine/base/types.hpp"

namespace ge {

class Squad {
 public:
  static constexpr int kLanes = kWarp;  // of one that is more than a lane

  GE_FN Squad(int lane, int size) : lane_(lane), size_(size) {}
  // Known to the compiler where a lane is alone, so that loops over a row stay vectorised.
  GE_FN int lane() const { return kOnLanes ? lane_ : 0; }
  GE_FN int size() const { return kOnLanes ? size_ : 1; }

  /// Makes what any lane wrote before visible to all lanes after.
  GE_FN void meet() const {
    if (size_ != 1) meet_warp();
  }
  /// Squad-wide sum, returned to every lane.
  GE_FN int64_t sum(int64_t value) const { return size_ == 1 ? value : sum_of_warp(value); }
  /// Squad-wide sum of non-negative counts; the total must fit in 31 bits.
  GE_FN int32_t count(int32_t mine) const { return size_ == 1 ? mine : count_of_warp(mine); }
  /// The bits that any lane has.
  GE_FN uint32_t bits(uint32_t mine) const { return size_ == 1 ? mine : bits_of_warp(mine); }
  /// Inclusive prefix sum over the lanes.
  GE_FN int32_t sum_so_far(int32_t value) const { return size_ == 1 ? value : sum_to_lane(value); }
  /// Reads a value of four bytes from lane `lane` modulo 32, which may differ from lane to lane.
  template <class T>
  GE_FN T from(T value, int lane) const {
    static_assert(sizeof(T) == 4);
    if (size_ == 1) return value;
    return __builtin_bit_cast(T, word_of_lane(__builtin_bit_cast(uint32_t, value), lane));
  }
  /// Ballot: one bit per lane; and whether any lane votes yes.
  GE_FN uint32_t votes(bool mine) const {
    return size_ == 1 ? uint32_t(mine) : votes_of_warp(mine);
  }
  GE_FN bool any(bool mine) const { return votes(mine) != 0; }

 private:
  int lane_, size_;
};

template <class Arg>
inline constexpr bool is_squad = std::is_same_v<bare<Arg>, Squad>;
template <class List>
inline constexpr bool asks_for_squad = false;
template <class... Args>
inline constexpr bool asks_for_squad<Types<Args...>> = (is_squad<Args> || ...);
/// Whether a system or an observation function wants the lanes of a squad.
template <auto F>
inline constexpr bool wants_squad = asks_for_squad<Arguments<F>>;

}  // namespace ge
