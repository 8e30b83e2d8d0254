// The narrow phase of one pair: up to four contact points and their normal. Pure functions of two
// shapes in place; other files choose the pairs and use the contacts.
//
//   hull with hull           hull_contacts.hpp
//   spheres, capsules, any   round_contacts.hpp
#pragma once

#include "physics/hull_contacts.hpp"
#include "physics/round_contacts.hpp"

namespace ge::physics {

namespace detail {

/// Pairs are computed with the higher rank first: spheres, capsules, hulls, planes.
/// So that each of the mixed pairs is written once, and its mirror is swap_sides().
GE_FN int rank(const Placed& p) {
  return select(p.shape == kSphere, 3, select(p.shape == kCapsule, 2, select(is_hull(p), 1, 0)));
}

template <ShapeSet kShapes>
GE_NOINLINE inline void collide_ranked(const Placed& a, const Placed& b, float reach,
                                       ContactSet& out) {
  out.count = 0;
  if (rank(b) == 0) {
    if (rank(a) != 0) collide_plane(a, b, reach, out);  // two planes never meet
  } else if (rank(b) >= 2) {
    collide_segments(segment_of(a), segment_of(b), reach, out);
  } else if (rank(a) == 3) {
    collide_sphere_hull(a, b, reach, out);
  } else if constexpr (may_be(kShapes, kCapsule)) {
    collide_capsule_hull(a, b, reach, out);
  }
}

GE_FN void swap_sides(ContactSet& set) {
  set.normal = -set.normal;
  for (int i = 0; i < set.count; ++i) {
    const Vec3 on_a = set.at[i].on_a;
    set.at[i].on_a = set.at[i].on_b;
    set.at[i].on_b = on_a;
  }
}

}  // namespace detail

/// Contacts of a and b with a gap within the reach; none (count 0) where they are farther apart.
/// Both have one of `kShapes`.
template <ShapeSet kShapes = kAnyShape>
GE_NOINLINE inline void collide(const Placed& a, const Placed& b, const CollideOptions& options,
                                ContactSet& out) {
  if (is_hull(a) & is_hull(b)) {
    collide_hulls(a, b, options, out);
  } else if (detail::rank(a) >= detail::rank(b)) {
    detail::collide_ranked<kShapes>(a, b, options.reach, out);
  } else {
    detail::collide_ranked<kShapes>(b, a, options.reach, out);
    if (out.count > 0) detail::swap_sides(out);
  }
}

}  // namespace ge::physics
