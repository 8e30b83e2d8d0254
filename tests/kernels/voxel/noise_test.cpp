// Noise on a plane, against Perlin's noise of space at z = 0 in 64 bits, as he wrote it down.
#include "voxel/noise.hpp"

#include <cmath>
#include <numeric>

#include "engine/maths/random.hpp"
#include "test.hpp"

using namespace ge;
using namespace ge::test;

namespace {

struct Permutation {
  int numbers[512];
  explicit Permutation(uint32_t seed) {
    std::iota(numbers, numbers + 256, 0);
    for (int k = 255; k > 0; --k) {
      const Draw d = draw(seed, 0, 0, 0, uint32_t(k), 0x0153u, 0, 0);
      std::swap(numbers[k], numbers[d.below(0, uint32_t(k + 1))]);
    }
    std::copy(numbers, numbers + 256, numbers + 256);
  }
};

double fade(double t) {
  return t * t * t * (t * (t * 6 - 15) + 10);
}
double lerp(double t, double a, double b) {
  return a + t * (b - a);
}
double grad(int hash, double x, double y, double z) {
  const int h = hash & 15;
  const double u = h < 8 ? x : y, v = h < 4 ? y : h == 12 || h == 14 ? x : z;
  return ((h & 1) == 0 ? u : -u) + ((h & 2) == 0 ? v : -v);
}
double noise_of_space(const int* p, double x, double y, double z) {
  const int i = int(std::floor(x)) & 255, j = int(std::floor(y)) & 255;
  const int k = int(std::floor(z)) & 255;
  x -= std::floor(x), y -= std::floor(y), z -= std::floor(z);
  const double u = fade(x), v = fade(y), w = fade(z);
  const auto at = [p](int n) { return p[n & 511]; };
  const int a = at(i) + j, aa = at(a) + k, ab = at(a + 1) + k;
  const int b = at(i + 1) + j, ba = at(b) + k, bb = at(b + 1) + k;
  return lerp(
      w,
      lerp(v, lerp(u, grad(at(aa), x, y, z), grad(at(ba), x - 1, y, z)),
           lerp(u, grad(at(ab), x, y - 1, z), grad(at(bb), x - 1, y - 1, z))),
      lerp(v, lerp(u, grad(at(aa + 1), x, y, z - 1), grad(at(ba + 1), x - 1, y, z - 1)),
           lerp(u, grad(at(ab + 1), x, y - 1, z - 1), grad(at(bb + 1), x - 1, y - 1, z - 1))));
}

}  // namespace

GE_TEST(noise_is_perlins_at_height_0) {
  double most = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Permutation permutation(seed);
    const auto number = [&](int k) { return permutation.numbers[k]; };
    for (uint32_t k = 0; k < 500; ++k) {
      const Draw d = draw(seed, 0, 0, 0, k, 0x0154u, 0, 0);
      // Near the end of a period of 256 too.
      const float x = d.uniform(0) * (k % 2 == 0 ? 10.0f : 600.0f), y = d.uniform(1) * 300.0f;
      const double wanted = noise_of_space(permutation.numbers, double(x), double(y), 0);
      const double found = voxel::noise_at(x, y, number);
      most = std::fmax(most, std::fabs(wanted));
      if (std::fabs(found - wanted) > 2e-6)
        fail("noise", 0, std::to_string(found) + " against " + std::to_string(wanted));
    }
  }
  CHECK(most > 0.8 && most <= 1);
}

GE_TEST(noise_is_zero_at_whole_places) {
  const Permutation permutation(1);
  const auto number = [&](int k) { return permutation.numbers[k]; };
  for (int x = 0; x < 300; x += 7)
    for (int y = 0; y < 300; y += 5) CHECK_EQ(voxel::noise_at(float(x), float(y), number), 0.0f);
}

GE_TEST(octaves_halve_in_size_and_weight) {
  const Permutation permutation(2);
  const auto number = [&](int k) { return permutation.numbers[k]; };
  for (uint32_t k = 0; k < 200; ++k) {
    const Draw d = draw(5, 0, 0, 0, k, 0x0155u, 0, 0);
    const float x = d.uniform(0) * 10.0f, y = d.uniform(1) * 10.0f;
    for (int octaves = 1; octaves <= 9; ++octaves) {
      double wanted = 0;
      for (int i = 0; i < octaves; ++i) {
        const double size = std::ldexp(1.0, i);
        wanted += noise_of_space(permutation.numbers, double(x) * size, double(y) * size, 0) / size;
      }
      const double found = voxel::octaves_at(x, y, octaves, number);
      if (std::fabs(found - wanted) > 5e-6)
        fail("octaves", 0, std::to_string(found) + " against " + std::to_string(wanted));
    }
  }
}
