// Vectors, quaternions and matrices of three dimensions, in plain IEEE operations of a fixed order.
// A vector's numbers are floats, or packs of floats (engine/maths/packs.hpp) where rays are cast
// side by side; both may meet in one sum or product. Physics and pictures speak of these as their
// own (`using namespace geometry`).
#pragma once

#include <type_traits>

#include "engine/maths/math.hpp"
#include "engine/maths/packs.hpp"

namespace ge::geometry {

using ge::abs;  // not hidden by those of vectors
using ge::spread;

template <class F>
struct Vector {
  F x, y, z;
};
using Vec3 = Vector<float>;
using Vecs = Vector<Floats>;

template <class F, class G>
GE_FN auto operator+(const Vector<F>& a, const Vector<G>& b) -> Vector<decltype(a.x + b.x)> {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class F, class G>
GE_FN auto operator-(const Vector<F>& a, const Vector<G>& b) -> Vector<decltype(a.x - b.x)> {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class F>
GE_FN Vector<F> operator-(const Vector<F>& a) {
  return {-a.x, -a.y, -a.z};
}
template <class F, class G>
GE_FN auto operator*(const Vector<F>& a, const G& s) -> Vector<decltype(a.x * s)> {
  return {a.x * s, a.y * s, a.z * s};
}
template <class F>
GE_FN void operator+=(Vector<F>& a, const Vector<F>& b) {
  a = a + b;
}
template <class F>
GE_FN void operator-=(Vector<F>& a, const Vector<F>& b) {
  a = a - b;
}
template <class F, class G>
GE_FN auto dot(const Vector<F>& a, const Vector<G>& b) -> decltype(a.x * b.x) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class F>
GE_FN Vector<F> cross(const Vector<F>& a, const Vector<F>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// `condition` is a bool, or a Mask where the vectors are packs.
template <class C, class F>
GE_FN Vector<F> choose(const C& condition, const Vector<F>& a, const Vector<F>& b) {
  return {select(condition, a.x, b.x), select(condition, a.y, b.y), select(condition, a.z, b.z)};
}
/// Broadcasts a vector to every lane.
GE_FN Vecs spread(const Vec3& a) {
  return {spread(a.x), spread(a.y), spread(a.z)};
}
/// Converts a float to F, which is a float or a pack.
template <class F>
GE_FN F all_lanes(float value) {
  if constexpr (std::is_same_v<F, float>)
    return value;
  else
    return spread(value);
}
template <class F>
GE_FN Vector<F> all_lanes(const Vec3& a) {
  return {all_lanes<F>(a.x), all_lanes<F>(a.y), all_lanes<F>(a.z)};
}
/// Square roots, of a float or lane by lane.
template <class F>
GE_FN F roots(F x) {
  if constexpr (std::is_same_v<F, float>) {
    return sqrt(x);
  } else {
    float lanes[kPack];
    store_pack(lanes, x);
    GE_LANES_LOOP
    for (int k = 0; k < kPack; ++k) lanes[k] = sqrt(lanes[k]);
    return load_pack(lanes);
  }
}

GE_FN float length(Vec3 a) {
  return sqrt(dot(a, a));
}
/// a / |a|; zero stays zero.
GE_FN Vec3 normalized(Vec3 a) {
  const float l = length(a);
  return a * select(l > 0.0f, 1.0f / l, 0.0f);
}
GE_FN float component(Vec3 a, int axis) {
  return select(axis == 0, a.x, select(axis == 1, a.y, a.z));
}
GE_FN Vec3 abs(Vec3 a) {
  return {abs(a.x), abs(a.y), abs(a.z)};
}

GE_FN Vec3 unit_axis(int axis) {
  return {select(axis == 0, 1.0f, 0.0f), select(axis == 1, 1.0f, 0.0f),
          select(axis == 2, 1.0f, 0.0f)};
}

GE_FN Vec3 vec(const float (&a)[3]) {
  return {a[0], a[1], a[2]};
}
GE_FN void put(float (&to)[3], Vec3 a) {
  to[0] = a.x, to[1] = a.y, to[2] = a.z;
}

/// Orientation: rotates body coordinates into the world's.
struct Quat {
  float w, x, y, z;
};
GE_FN Quat quat(const float (&a)[4]) {
  return {a[0], a[1], a[2], a[3]};
}
GE_FN void put(float (&to)[4], Quat q) {
  to[0] = q.w, to[1] = q.x, to[2] = q.y, to[3] = q.z;
}
GE_FN Quat operator*(Quat a, Quat b) {
  return {
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
GE_FN Quat conjugate(Quat q) {
  return {q.w, -q.x, -q.y, -q.z};
}
/// Scales a quaternion to unit length; zero becomes the identity.
GE_FN Quat normalized(Quat q) {
  const float l = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  if (!(l > 0.0f)) return {1.0f, 0.0f, 0.0f, 0.0f};
  const float s = 1.0f / l;
  return {q.w * s, q.x * s, q.y * s, q.z * s};
}
/// Turned about +z by `yaw` [rad], |yaw| <= kTrigBound.
GE_FN Quat yaw_quat(float yaw) {
  float sine, cosine;
  sincos_bounded(0.5f * yaw, sine, cosine);
  return {cosine, 0.0f, 0.0f, sine};
}
/// The orientation after turning at `spin` [rad/s] for `time` [s], to first order.
GE_FN Quat turned(Quat q, Vec3 spin, float time) {
  const Quat d = Quat{0.0f, spin.x, spin.y, spin.z} * q;
  const float h = 0.5f * time;
  return normalized(Quat{q.w + h * d.w, q.x + h * d.x, q.y + h * d.y, q.z + h * d.z});
}
/// Twice the vector part of a small rotation: its rotation vector, to first order.
GE_FN Vec3 small_rotation(Quat q) {
  const float s = select(q.w < 0.0f, -2.0f, 2.0f);
  return {q.x * s, q.y * s, q.z * s};
}

/// Three columns; of a rotation, the body's axes in the world.
struct Mat3 {
  Vec3 x, y, z;
};
GE_FN Mat3 matrix(Quat q) {
  const float x = q.x, y = q.y, z = q.z, w = q.w;
  return {{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
          {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
          {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)}};
}
template <class F>
GE_FN Vector<F> operator*(const Mat3& m, const Vector<F>& v) {
  return m.x * v.x + m.y * v.y + m.z * v.z;
}
/// Transposed m times v: world to body.
template <class F>
GE_FN Vector<F> to_body(const Mat3& m, const Vector<F>& v) {
  return {dot(m.x, v), dot(m.y, v), dot(m.z, v)};
}
GE_FN Mat3 identity() {
  return {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
}

/// Symmetric: inertia and its inverse.
struct Sym3 {
  float xx, yy, zz, xy, xz, yz;
};
GE_FN Vec3 operator*(const Sym3& s, Vec3 v) {
  return {s.xx * v.x + s.xy * v.y + s.xz * v.z, s.xy * v.x + s.yy * v.y + s.yz * v.z,
          s.xz * v.x + s.yz * v.y + s.zz * v.z};
}
GE_FN Sym3 operator+(const Sym3& a, const Sym3& b) {
  return {a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}
/// m s m^T.
GE_FN Sym3 rotated(const Mat3& m, const Sym3& s) {
  const Vec3 a = m.x * s.xx + m.y * s.xy + m.z * s.xz;  // columns of m s
  const Vec3 b = m.x * s.xy + m.y * s.yy + m.z * s.yz;
  const Vec3 c = m.x * s.xz + m.y * s.yz + m.z * s.zz;
  return {a.x * m.x.x + b.x * m.y.x + c.x * m.z.x, a.y * m.x.y + b.y * m.y.y + c.y * m.z.y,
          a.z * m.x.z + b.z * m.y.z + c.z * m.z.z, a.x * m.x.y + b.x * m.y.y + c.x * m.z.y,
          a.x * m.x.z + b.x * m.y.z + c.x * m.z.z, a.y * m.x.z + b.y * m.y.z + c.y * m.z.z};
}
/// Solves (columns a b c) x = r; zero where the matrix is singular.
GE_FN Vec3 solve(Vec3 a, Vec3 b, Vec3 c, Vec3 r) {
  const Vec3 bc = cross(b, c);
  const float determinant = dot(a, bc);
  const float scale = select(determinant != 0.0f, 1.0f / determinant, 0.0f);
  return Vec3{dot(r, bc), dot(a, cross(r, c)), dot(a, cross(b, r))} * scale;
}

/// Two directions that complete the unit vector n.
struct Tangents {
  Vec3 first, second;
};
GE_FN Tangents tangents(Vec3 n) {
  const bool steep = abs(n.x) >= 0.57735f;
  const Vec3 axis = {select(steep, 0.0f, 1.0f), select(steep, 1.0f, 0.0f), 0.0f};
  const Vec3 first = normalized(cross(n, axis));
  return {first, cross(n, first)};
}

}  // namespace ge::geometry
