// The palette of the voxel games, as 0xRRGGBB, and random colours from it.
#pragma once

#include "engine/maths/random.hpp"

namespace ge::voxel {

inline constexpr uint32_t kYellow = 0xffdd3c, kGreen = 0x3bb372, kLightGreen = 0x50c878;
inline constexpr uint32_t kBlue = 0x2eb5d0, kLightBlue = 0xadd8e6, kDarkBlue = 0x3a7fa6;
inline constexpr uint32_t kDarkNavy = 0x2c3e50, kOrange = 0xffb400, kGrey = 0xb3b3b3;
inline constexpr uint32_t kDarkGrey = 0x555555, kVeryDarkGrey = 0x222222, kWhite = 0xffffff;
inline constexpr uint32_t kRed = 0xff0000, kLightOrange = 0xffa770, kViolet = 0xd468ee;
inline constexpr uint32_t kLightPink = 0xffe6e6, kVeryLightYellow = 0xffffe6;
inline constexpr uint32_t kVeryLightGreen = 0xccffcc, kVeryLightBlue = 0xe6ecff;
inline constexpr uint32_t kVeryLightGrey = 0xd9d9d9, kVeryLightViolet = 0xf2e6ff;
inline constexpr uint32_t kVeryLightOrange = 0xffebcc;

inline constexpr int kLayoutColours = 14,
                     kBrightLayoutColours = 10;  // the latter without kDarkGrey
/// A colour for floors or walls, by word i of a draw: one of the first `count`.
GE_FN uint32_t layout_colour(const Draw& draw, int i, int count = kLayoutColours) {
  constexpr uint32_t kBright[] = {kWhite,         kVeryLightYellow, kVeryLightGreen,
                                  kVeryLightBlue, kVeryLightGrey,   kVeryLightOrange};
  // Each grey weighs as much as four of the bright ones.
  const uint32_t k = draw.below(i, uint32_t(count));
  return k < 6 ? kBright[k] : k < 10 ? kGrey : kDarkGrey;
}
inline constexpr int kObjectColours = 14;
/// A colour for things.
GE_FN uint32_t object_colour(int k) {
  constexpr uint32_t kColours[] = {kYellow,   kGreen,       kLightGreen, kBlue,     kLightBlue,
                                   kDarkBlue, kOrange,      kGrey,       kDarkGrey, kWhite,
                                   kRed,      kLightOrange, kViolet,     kLightPink};
  return kColours[k];
}
inline constexpr int kAnyColours = 22;
/// A colour of the whole palette.
GE_FN uint32_t any_colour(int k) {
  constexpr uint32_t kColours[] = {kYellow,
                                   kGreen,
                                   kLightGreen,
                                   kBlue,
                                   kLightBlue,
                                   kDarkBlue,
                                   kDarkNavy,
                                   kOrange,
                                   kGrey,
                                   kDarkGrey,
                                   kVeryDarkGrey,
                                   kWhite,
                                   kRed,
                                   kLightOrange,
                                   kViolet,
                                   kLightPink,
                                   kVeryLightYellow,
                                   kVeryLightGreen,
                                   kVeryLightBlue,
                                   kVeryLightGrey,
                                   kVeryLightViolet,
                                   kVeryLightOrange};
  return kColours[k];
}
GE_FN uint32_t agent_colour(int agent) {
  constexpr uint32_t kAgents[] = {kYellow, kGreen, kBlue, kOrange, kViolet, kVeryDarkGrey, kRed};
  return kAgents[agent % 7];
}

}  // namespace ge::voxel
