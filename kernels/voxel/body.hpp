// An agent's body: its measures, how it turns and looks, where its eyes and hands are.
#pragma once

#include "voxel/tables.hpp"

namespace ge::voxel {

// An upright capsule [m].
inline constexpr float kRadius = 0.33f;
inline constexpr float kCore = 0.525f;  // half of the segment that its round ends surround
inline constexpr float kTall = kRadius + kCore;
/// Height of an agent's place, as rules call it, above the middle of its body [m].
inline constexpr float kPlaceAbove = 0.05f;
inline constexpr float kEyesAbove = 0.41f;  // above that place [m]
/// The spot that the hands reach, in the frame of the eyes: below, and ahead [m].
inline constexpr float kSpotBelow = 0.44f, kSpotAhead = 1.0f;

inline constexpr float kTurn = 3.5f * kStep;  // a step's turn [rad]
// Looking down is quicker: an agent that looks at the sky by chance soon looks back.
inline constexpr float kLookUp = 1.5f * kStep, kLookDown = 1.65f * kStep;  // [rad]

GE_FN Vec3 place_of(const Body& body) {
  return geometry::vec(body.position) + Vec3{0.0f, 0.0f, kPlaceAbove};
}
template <class M>
GE_FN Cell cell_of(const Body& body) {
  return cell_of<M>(place_of(body));
}

/// -1, 0 or 1 of a head whose value 1 is positive and whose value 2 is negative.
GE_FN float sign_of(int32_t head) {
  return float((head == 1) - (head == 2));
}

GE_FN void turn(Body& body, const Act& act, float look_limit) {
  constexpr float kPi = 0x1.921fb6p+1f;
  const float yaw = body.yaw + sign_of(act.turn) * kTurn;
  // Kept within a circle, so that it never loses digits.
  body.yaw = yaw - select(yaw > kPi, 2.0f * kPi, 0.0f) + select(yaw < -kPi, 2.0f * kPi, 0.0f);
  const float pitch =
      body.pitch + select(act.gaze == 1, kLookUp, 0.0f) - select(act.gaze == 2, kLookDown, 0.0f);
  body.pitch = clamp(pitch, -look_limit, look_limit);
}

/// Where a camera stands and how it is turned: x of the frame points to the right of the picture, y
/// ahead, z up.
struct View {
  Vec3 at;
  Mat3 turn;
};
/// |yaw| and |pitch| are small: see turn().
GE_FN View eyes_of(const Body& body) {
  float sine, cosine, lift, level;
  sincos_bounded(body.yaw, sine, cosine);
  sincos_bounded(body.pitch, lift, level);
  return {place_of(body) + Vec3{0.0f, 0.0f, kEyesAbove},
          {{cosine, sine, 0.0f},
           {-sine * level, cosine * level, lift},
           {sine * lift, -cosine * lift, level}}};
}
/// The point at which the hands reach, `below` metres under it in the frame of the eyes.
GE_FN Vec3 spot_of(const View& eyes, float below = 0.0f) {
  const float ahead = kSpotAhead;  // device code has no address of a constant
  return eyes.at + eyes.turn.y * ahead - eyes.turn.z * (kSpotBelow + below);
}

}  // namespace ge::voxel
