// Bodies: components of the table of bodies, rows of static geometry, and the table of kinds, which
// defines shapes, masses and friction. An environment fills `Setup` on the host, once; kind 0 is
// the floor.
//
// Units: metres, kilograms, seconds, radians. Body frames are principal or not: inertia is a full
// symmetric matrix about the origin, which is the centre of mass.
#pragma once

#include "engine/world/table.hpp"
#include "geometry/shapes.hpp"

namespace ge::physics {

using namespace geometry;  // its vectors and shapes are what physics speaks of

inline constexpr int kKinds = 8;  // of bodies and statics

/// State of a body, as bits.
enum State : uint32_t {
  kPresent = 1,
  kLocked = 2,  // immovable: infinite mass, pose kept to the bit
  kAsleep = 4
};

/// Where a body is: its centre of mass, and the rotation from body to world.
struct Pose {
  float position[3];
  float orientation[4];
  static constexpr auto describe() {
    return fields(field("position", &Pose::position, "centre of mass").in("m"),
                  field("orientation", &Pose::orientation, "quaternion w, x, y, z"));
  }
};

struct Velocity {
  float linear[3];
  float angular[3];
  static constexpr auto describe() {
    return fields(field("velocity", &Velocity::linear, "of the centre of mass").in("m/s"),
                  field("spin", &Velocity::angular, "angular velocity, in the world").in("rad/s"));
  }
};

inline constexpr uint32_t kMostQuiet = 1000;  // steps at rest that are counted

/// A locked or sleeping body keeps its row and is collided with like a static; its Frame has zero
/// inverse mass and inertia, so the solver cannot push it.
struct Body {
  uint32_t kind;   // row of Setup::kinds
  uint32_t state;  // bits of State
  uint32_t quiet;  // steps in a row at rest
  float rest[3];   // where it fell asleep; a sleeper that is elsewhere was moved from outside
  static constexpr auto describe() {
    return fields(
        field("kind", &Body::kind, "what it is: shape, mass and friction").within(0, kKinds - 1),
        field("state", &Body::state, "1: present, 2: locked, 4: asleep")
            .within(0, kPresent | kLocked | kAsleep),
        field("quiet", &Body::quiet, "steps in a row at rest").within(0, kMostQuiet),
        field("rest", &Body::rest, "where it fell asleep").in("m"));
  }
};
GE_FN bool present(const Body& b) {
  return (b.state & kPresent) != 0;
}
/// Whether a push moves the body, asleep or not.
GE_FN bool movable(const Body& b) {
  return (b.state & (kPresent | kLocked)) == kPresent;
}
GE_FN bool awake(const Body& b) {
  return (b.state & (kPresent | kLocked | kAsleep)) == kPresent;
}

/// Static geometry: an axis-aligned box, or a plane through `centre` with outward normal `half`. It
/// has no frame, velocity or sleep: rotated or movable geometry is a body, if necessary a locked
/// one.
struct Static {
  float centre[3];
  float half[3];
  uint32_t kind;
  static constexpr auto describe() {
    return fields(field("centre", &Static::centre, "middle of the box").in("m"),
                  field("half", &Static::half, "half extents").in("m"),
                  field("kind", &Static::kind, "what it is made of").within(0, kKinds - 1));
  }
};

/// Holds body b to body a: fixed (like a weld) or by a ball (a point only).
struct Joint {
  uint32_t type;  // kNoJoint, kFixedJoint, kBallJoint
  uint32_t a, b;  // rows of the bodies
  float anchor_a[3], anchor_b[3];
  float relative[4];  // orientation of b in a's frame; a ball leaves it unread
  // Warm start of the next substep: zero in a new joint.
  float pull[3], twist[3];  // impulses of the last substep
  static constexpr auto describe() {
    return fields(field("type", &Joint::type, "0: none, 1: fixed, 2: ball").one_of(3),
                  field("a", &Joint::a, "row of the body that holds").row_of("bodies"),
                  field("b", &Joint::b, "row of the body that is held").row_of("bodies"),
                  field("anchor_a", &Joint::anchor_a, "point in the frame of a").in("m"),
                  field("anchor_b", &Joint::anchor_b, "the same point in the frame of b").in("m"),
                  field("relative", &Joint::relative, "orientation of b in the frame of a"),
                  field("pull", &Joint::pull, "linear impulse on b in the last substep").in("N s"),
                  field("twist", &Joint::twist, "angular impulse on b").in("N m s"));
  }
};
enum JointType : uint32_t { kNoJoint, kFixedJoint, kBallJoint };

// ---- constant within a simulator

struct Kind {
  int32_t shape;  // Shape, whose measures `half` are (geometry/measures.hpp)
  float half[3];
  float slope[2];            // wedge: (y, z) of the slope's unit normal
  float bound;               // radius of the sphere around the origin that holds the shape
  float inverse_mass;        // 0: never moves
  float inertia[6];          // xx, yy, zz, xy, xz, yz about the origin
  float inverse_inertia[6];  // upright: only zz
  // 0: turns freely; 1: about z only, walks, and stands on one point; 2: about z only, and slides
  // on the corners of its base.
  int32_t upright;
  float damping[2];    // linear along x and y, along z [N s/m]
  float spin_damping;  // [N m s]
};

/// The coefficients of a soft constraint in one substep, made and derived by `soft` (setup.hpp).
/// With C the error, C' its rate, K = J M^-1 J^T, L the impulse so far, a sweep changes L by
///
///   dL = -mass (C' + bias C) / K - impulse L
///
/// (0, 1, 0) is the rigid constraint: it stops C' and leaves the error as it is.
struct Soft {
  float bias;     // share of the error that is corrected, per second
  float mass;     // scales the impulse
  float impulse;  // share of the old impulse that is given up
};

struct Setup {
  Kind kinds[kKinds];
  // Entry pair_of(a, b); both orders are written, so a contact need not sort its sides. Unless set,
  // 0: no friction, no bounce.
  float friction[kKinds * kKinds];     // Coulomb coefficient of a pair, symmetric
  float restitution[kKinds * kKinds];  // symmetric
  float gravity;                       // [m/s^2], downwards
  float time_step;                     // [s]
  float substep;                       // time_step / substeps
  int32_t substeps;
  int32_t solver_sweeps;  // of a substep's solver: biased, and as many relaxed
  int32_t rounds;         // of a step: each finds pairs again
  float round_time;       // time_step / rounds
  Soft contact;           // between movable bodies
  Soft hard_contact;      // with immovable bodies and statics
  Soft joint;
  float push;          // fastest separation of overlapping bodies [m/s]
  float bounce_speed;  // slower impacts do not bounce [m/s]
  float top_speed;     // of any body [m/s]
  float top_spin;      // [rad/s]
  float margin;        // smallest distance at which contacts are looked for [m]
  float reach;         // largest [m]
  float sweep;         // how far a hit may knock a body in a round [m]
  float edge_margin;   // by which an edge must beat a face as separating axis [m]
  float step_height;  // an upright body whose sole is within this of another's top stands on it [m]
  float match;        // contacts nearer than this in the old step are the same [m]
  float quiet_speed;  // slower bodies are at rest [m/s, rad/s]
  int32_t quiet_steps;  // steps at rest before a body sleeps; 0: never
};

GE_FN Sym3 sym(const float (&a)[6]) {
  return {a[0], a[1], a[2], a[3], a[4], a[5]};
}
GE_FN int pair_of(uint32_t a, uint32_t b) {
  return int(a) * kKinds + int(b);
}

}  // namespace ge::physics
