// The tables of a world of bodies, and the values that its stages pass to each other within a step.
//
//   Bodies    one row per body, absent ones included; `Extra` are the environment's own components
//   Statics   boxes and planes that never move
//   Joints    any number of bodies may be held by one and the same other
//   Pairs     of bodies, or of a body and a static, that may touch within this round
//   Close     those that may touch within this substep
//   Contacts  row i: the contact of close pair i, perhaps without points
//   Kept      row i: impulses of contact i in the last substep, with the features that match them
//
// An environment names what it uses in a model:
//
//   struct Model {
//     using Schema = ...;                                  // its tables include Physics::all
//     using Physics = physics::Tables<17, 30, 6, 160, 48, Owner>;
//     static GE_FN const physics::Setup& setup(const Params& p) { return p.physics; }
//     // Where masses, friction or gravity differ by world, also
//     static GE_FN const physics::Setup& setup(const World<Schema>& w);
//     // Shapes of its bodies; without it, any. What it does not name is not compiled.
//     static constexpr ShapeSet body_shapes = set_of_shapes(kBox, kWedge);
//   };
#pragma once

#include "engine/graph/graph.hpp"
#include "engine/world/world.hpp"
#include "physics/bodies.hpp"

namespace ge::physics {

/// Load that the environment applies to a body throughout a step; it writes every row in every
/// step.
struct Load {
  float force[3];
  float torque[3];
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("force", &Load::force, "at the centre of mass").in("N"),
                  field("torque", &Load::torque, "about the centre of mass").in("N m"));
  }
};

/// A body's orientation as a matrix (columns), and its inverse mass and inertia: zero unless awake.
struct Frame {
  float turn[9];
  float inverse_inertia[6];  // in the world
  float inverse_mass;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("turn", &Frame::turn, "axes of the body in the world"),
                  field("inverse_inertia", &Frame::inverse_inertia, "xx, yy, zz, xy, xz, yz"),
                  field("inverse_mass", &Frame::inverse_mass, "0: not awake").in("1/kg"));
  }
};
/// The matrix that a Frame keeps, or anything else with a `turn`.
template <class C>
GE_FN Mat3 turn_of(const C& f) {
  return {{f.turn[0], f.turn[1], f.turn[2]},
          {f.turn[3], f.turn[4], f.turn[5]},
          {f.turn[6], f.turn[7], f.turn[8]}};
}
template <class C>
GE_FN void set_turn(C& f, const Mat3& m) {
  f.turn[0] = m.x.x, f.turn[1] = m.x.y, f.turn[2] = m.x.z;
  f.turn[3] = m.y.x, f.turn[4] = m.y.y, f.turn[5] = m.y.z;
  f.turn[6] = m.z.x, f.turn[7] = m.z.y, f.turn[8] = m.z.z;
}
GE_FN void set_inertia(Frame& f, const Sym3& s) {
  f.inverse_inertia[0] = s.xx, f.inverse_inertia[1] = s.yy, f.inverse_inertia[2] = s.zz;
  f.inverse_inertia[3] = s.xy, f.inverse_inertia[4] = s.xz, f.inverse_inertia[5] = s.yz;
}

/// Swept bounds of a body within this round, or (from its first substep on) within this substep.
/// Written by `bound_body` for the broad phase and by `touch_floor` for awake bodies; the others
/// keep the round's bounds, which are wider and so still valid.
struct Bounds {
  float low[3], high[3];
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("low", &Bounds::low, "lowest corner").in("m"),
                  field("high", &Bounds::high, "highest corner").in("m"));
  }
};

/// Bit k: body k of those behind this one, or static k, is within bounds.
/// Pairs of bodies stand once, in the lower row, which gives the list of pairs its order.
template <int kBodyWords, int kStaticWords>
struct Near {
  uint32_t bodies[kBodyWords];
  uint32_t statics[kStaticWords];
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("near_bodies", &Near::bodies, "bitmap of later rows within bounds"),
                  field("near_statics", &Near::statics, "bitmap of statics within bounds"));
  }
};

/// How a body moved in this substep, and how far it may move in one. `shift` and `turn` are this
/// substep's from `integrate_position` on; only the relaxed sweep reads them, to move a contact's
/// arms and gap along; zero for bodies that are not awake.
struct Stride {
  float shift[3];
  float turn[3];
  float reach;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("shift", &Stride::shift, "of the centre of mass").in("m"),
                  field("rotation", &Stride::turn, "rotation vector").in("rad"),
                  field("reach", &Stride::reach, "farthest way of any point in a substep").in("m"));
  }
};

/// Colours of a body's contacts so far, as bits.
/// `colour_contacts` goes on to count with it: how many turns a body has among its fixed contacts.
struct Used {
  uint32_t colours;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("used_colours", &Used::colours, "bitmap of colours of its contacts"));
  }
};

/// Impulses between a body and the floor, per vertex that touched it.
/// Kept from step to step, as `Kept` is: else each step would begin as if nothing lay on anything,
/// and a saved world would not go on with the same bits.
struct Sole {
  uint32_t vertices;  // four of 8 bits: number of the vertex + 1; 0: none
  float normal[4], first[4], second[4];
  static constexpr auto describe() {
    return fields(
        field("sole_vertices", &Sole::vertices, "vertices on the floor, 8 bits each").any_value(),
        field("sole_normal", &Sole::normal, "impulses along z").in("N s"),
        field("sole_first", &Sole::first, "impulses along x").in("N s"),
        field("sole_second", &Sole::second, "impulses along y").in("N s"));
  }
};
/// The geometry of a body's contact with the floor in this substep. Filled by `touch_floor`; K of
/// the equations is here 1 / mass along z, and in the plane [slide0 slide1; slide1 slide2]. [kg],
/// [1/kg]
struct Floor {
  uint32_t count;
  float friction, restitution;
  float arm[12];      // from the centre of mass to each point
  float gap[4];       // height of each point
  float mass[4];      // effective, along z
  float slide[12];    // inverse effective mass along x, x y, y
  float approach[4];  // speed along z before this substep
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("floor_count", &Floor::count, "points near the floor"),
                  field("floor_friction", &Floor::friction, "Coulomb coefficient"),
                  field("floor_restitution", &Floor::restitution, "share of speed given back"),
                  field("floor_arm", &Floor::arm, "from the centre of mass").in("m"),
                  field("floor_gap", &Floor::gap, "height above the floor").in("m"),
                  field("floor_mass", &Floor::mass, "effective mass along z").in("kg"),
                  field("floor_slide", &Floor::slide, "inverse effective mass in the plane"),
                  field("floor_approach", &Floor::approach, "speed along z").in("m/s"));
  }
};

/// Rows of two bodies, or of a body and (from kBodies on) a static.
struct Pairing {
  uint32_t a, b;
  static constexpr auto describe() {
    return fields(field("pair_a", &Pairing::a, "row of a body"),
                  field("pair_b", &Pairing::b, "row of a body; beyond: a static"));
  }
};

/// Geometry of a contact, fixed within a substep. Up to four points; the normal leads from a to b.
/// Filled by `touch`, read by all sweeps; `slide` is K in the tangents [1/kg], `mass` 1 / K along
/// the normal [kg], 0 where neither side moves. The second tangent is normal x tangent, not stored.
struct Manifold {
  uint32_t a, b, count;
  float friction, restitution;
  float normal[3], tangent[3];
  float arm_a[12], arm_b[12];  // from the centres of mass
  float gap[4];                // at the beginning of the substep
  float mass[4];               // effective, along the normal
  float slide[12];             // inverse effective mass in the tangents, xx, xy, yy
  float approach[4];           // normal speed before this substep
  static constexpr auto describe() {
    return fields(
        field("contact_a", &Manifold::a, "row of a body"),
        field("contact_b", &Manifold::b, "row of a body; beyond: a static"),
        field("contact_count", &Manifold::count, "points"),
        field("contact_friction", &Manifold::friction, "Coulomb coefficient"),
        field("contact_restitution", &Manifold::restitution, "share of speed given back"),
        field("normal", &Manifold::normal, "from a to b"),
        field("tangent", &Manifold::tangent, "first direction across the normal"),
        field("arm_a", &Manifold::arm_a, "of each point from the centre of a").in("m"),
        field("arm_b", &Manifold::arm_b, "of each point from the centre of b").in("m"),
        field("gap", &Manifold::gap, "negative: overlap").in("m"),
        field("mass", &Manifold::mass, "effective mass along the normal").in("kg"),
        field("slide", &Manifold::slide, "inverse effective mass in the tangents"),
        field("approach", &Manifold::approach, "normal speed, negative: closing").in("m/s"));
  }
};
/// Accumulated over the sweeps of a substep.
struct Impulse {
  float normal[4], first[4], second[4];
  static constexpr auto describe() {
    return fields(field("normal_impulse", &Impulse::normal, "along the normal").in("N s"),
                  field("first_impulse", &Impulse::first, "along the tangent").in("N s"),
                  field("second_impulse", &Impulse::second, "across both").in("N s"));
  }
};
/// Identifies a contact point across steps: which features touch, and where on a.
struct Feature {
  uint32_t key[4];
  float local[12];  // in the frame of a
  static constexpr auto describe() {
    return fields(field("feature_key", &Feature::key, "which features touch"),
                  field("feature_point", &Feature::local, "in the frame of a").in("m"));
  }
};
/// The tangents of a contact may turn from one substep to the next, so friction is remembered as a
/// world vector and projected onto the new ones.
struct Memory {
  uint32_t a, b, count;
  uint32_t key[4];
  float local[12];
  float normal[4];
  float slip[12];  // friction impulses, in the world
  static constexpr auto describe() {
    return fields(field("kept_a", &Memory::a, "row of a body").any_value(),
                  field("kept_b", &Memory::b, "row of a body; beyond: a static").any_value(),
                  field("kept_count", &Memory::count, "points").within(0, 4),
                  field("kept_key", &Memory::key, "which features touch").any_value(),
                  field("kept_point", &Memory::local, "in the frame of a").in("m"),
                  field("kept_normal", &Memory::normal, "normal impulses").in("N s"),
                  field("kept_slip", &Memory::slip, "friction impulses in the world").in("N s"));
  }
};

/// How many pairs and colours this step, or substep, has.
struct Counts {
  uint32_t pairs, colours, joint_colours;
  static constexpr auto describe() {
    return fields(field("pair_count", &Counts::pairs, "pairs that may touch"),
                  field("colour_count", &Counts::colours, "of contacts"),
                  field("joint_colour_count", &Counts::joint_colours, "of joints"));
  }
};

/// N bodies, M statics, J joints, P pairs within a round, C contacts within a substep. Columns
/// outside of scratch tables that are not transient are a world's state: poses, soles, joints and
/// Kept.
template <int N, int M, int J, int P, int C, class... Extra>
struct Tables {
  static constexpr int kBodies = N, kStatics = M, kJoints = J, kPairs = P;
  using NearOf = Near<(N + 31) / 32, (M + 31) / 32>;

  struct Bodies : Fixed<N, Pose, Velocity, Body, Sole, Extra..., Load, Frame, Bounds, NearOf,
                        Stride, Used, Floor> {
    static constexpr const char* name = "bodies";
  };
  struct Statics : List<M, Static> {
    static constexpr const char* name = "statics";
  };
  struct Joints : Fixed<J, Joint, Colour> {
    static constexpr const char* name = "joints";
  };
  // The lists of pairs and contacts have room for crowds and mostly hold a few: an environment may
  // give their lifetime to Tuning::roomy_lifetime.
  static constexpr int kListed = 1;
  struct Pairs : Fixed<P, Pairing> {
    static constexpr const char* name = "pairs";
    static constexpr bool scratch = true;
    static constexpr int lifetime = kListed;
  };
  struct Close : List<C, Pairing> {
    static constexpr const char* name = "close";
    static constexpr bool scratch = true;
    static constexpr int lifetime = kListed;
  };
  struct Contacts : List<C, Manifold, Impulse, Feature, Colour> {
    static constexpr const char* name = "contacts";
    static constexpr bool scratch = true;
    static constexpr int lifetime = kListed;
  };
  // Not scratch: read in the next substep, whose first may lie in the next step.
  struct Kept : List<C, Memory> {
    static constexpr const char* name = "kept";
  };
  struct Solver : Single<Counts> {
    static constexpr const char* name = "solver";
    static constexpr bool scratch = true;
  };
  using all = Types<Bodies, Statics, Joints, Pairs, Close, Contacts, Kept, Solver>;
};

template <class M>
using WorldOf = World<typename M::Schema>;
template <class M>
using BodiesOf = typename M::Physics::Bodies;
/// Shapes of a model's bodies, and of statics.
template <class M>
inline constexpr ShapeSet kBodyShapes = [] {
  if constexpr (requires { M::body_shapes; })
    return M::body_shapes;
  else
    return kAnyShape;
}();
inline constexpr ShapeSet kStaticShapes = set_of_shapes(kBox, kPlane);
/// Shapes and constants of the solver, which are common to all worlds: for what asks for nothing
/// else, since loops keep what no row of a world can change.
template <class M>
GE_FN const Setup& common_setup_of(const WorldOf<M>& w) {
  return M::setup(w.params());
}
/// A reference, unless worlds with parameters of their own are interleaved.
template <class M>
GE_FN decltype(auto) setup_of(const WorldOf<M>& w) {
  if constexpr (requires { M::setup(w); })
    return M::setup(w);
  else
    return M::setup(w.params());
}

}  // namespace ge::physics
