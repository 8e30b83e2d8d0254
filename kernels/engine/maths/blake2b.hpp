// BLAKE2b (RFC 7693) without a key, streaming: the hash of golden traces, record layouts and saves.
// Host only, written for little-endian machines and others alike. Not a service for secrets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "engine/base/platform.hpp"

namespace ge {

class Blake2b {
 public:
  /// The size of the digest, 1 to 64 [bytes], is part of the hashed input: a short digest is not a
  /// prefix of a long one.
  explicit Blake2b(size_t digest_size = 64) : digest_size_(digest_size) {
    if (digest_size < 1 || digest_size > 64)
      throw std::invalid_argument("Blake2b: digest_size must be 1 to 64, not " +
                                  std::to_string(digest_size));
    state_ = kInitial;
    state_[0] ^= 0x01010000u ^ digest_size;  // no key, a single leaf of no tree
  }

  /// Appends bytes; pieces of any size give the hash of their concatenation.
  Blake2b& update(const void* data, size_t size) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    while (size > 0) {
      // A full block waits for more: the last one is compressed differently, and only digest knows
      // which it is.
      if (filled_ == kBlock) {
        compress(block_.data(), kBlock, false);
        filled_ = 0;
      }
      if (filled_ == 0 && size > kBlock) {
        compress(bytes, kBlock, false);
        bytes += kBlock, size -= kBlock;
        continue;
      }
      const size_t taken = size < kBlock - filled_ ? size : kBlock - filled_;
      std::memcpy(block_.data() + filled_, bytes, taken);
      filled_ += taken, bytes += taken, size -= taken;
    }
    return *this;
  }

  /// The hash of everything so far, in the first digest_size bytes, zeros behind. More may be
  /// appended afterwards.
  std::array<uint8_t, 64> digest() const {
    Blake2b last = *this;
    std::memset(last.block_.data() + filled_, 0, kBlock - filled_);
    last.compress(last.block_.data(), filled_, true);
    std::array<uint8_t, 64> result{};
    for (size_t i = 0; i < digest_size_; ++i)
      result[i] = static_cast<uint8_t>(last.state_[i / 8] >> (8 * (i % 8)));
    return result;
  }

  /// The digest in lower-case hexadecimal digits, two for each byte.
  std::string hex_digest() const {
    const std::array<uint8_t, 64> bytes = digest();
    std::string text;
    for (size_t i = 0; i < digest_size_; ++i) {
      text += "0123456789abcdef"[bytes[i] >> 4];
      text += "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
  }

 private:
  static constexpr size_t kBlock = 128;  // [bytes]

  static constexpr std::array<uint64_t, 8> kInitial = {
      0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
      0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u};

  /// Which message word each half of a mixing step takes, round by round; rounds 10 and 11 repeat 0
  /// and 1.
  static constexpr uint8_t kOrder[10][16] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
      {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
      {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
      {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
      {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
      {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

  static uint64_t rotate_right(uint64_t x, int bits) { return x >> bits | x << (64 - bits); }

  static void mix(uint64_t& a, uint64_t& b, uint64_t& c, uint64_t& d, uint64_t x, uint64_t y) {
    a += b + x;
    d = rotate_right(d ^ a, 32);
    c += d;
    b = rotate_right(b ^ c, 24);
    a += b + y;
    d = rotate_right(d ^ a, 16);
    c += d;
    b = rotate_right(b ^ c, 63);
  }

  static uint64_t load(const uint8_t* bytes) {
    uint64_t word = 0;
    for (int i = 7; i >= 0; --i)
      word = word << 8 | bytes[i];  // one instruction where the order is the machine's
    return word;
  }

  /// Takes in one block, of which `size` bytes count towards the length and the rest is zero.
  void compress(const uint8_t* block, size_t size, bool last) {
    length_low_ += size;
    if (length_low_ < size) ++length_high_;
    uint64_t m[16];
    for (int i = 0; i < 16; ++i) m[i] = load(block + 8 * i);
    std::array<uint64_t, 8> h = state_, v = kInitial;
    v[4] ^= length_low_;
    v[5] ^= length_high_;
    if (last) v[6] = ~v[6];
    // Unrolled, so that the order of words becomes constant and the sixteen words of work stay in
    // registers.
    GE_UNROLL
    for (int round = 0; round < 12; ++round) {
      const uint8_t* s = kOrder[round % 10];
      mix(h[0], h[4], v[0], v[4], m[s[0]], m[s[1]]);
      mix(h[1], h[5], v[1], v[5], m[s[2]], m[s[3]]);
      mix(h[2], h[6], v[2], v[6], m[s[4]], m[s[5]]);
      mix(h[3], h[7], v[3], v[7], m[s[6]], m[s[7]]);
      mix(h[0], h[5], v[2], v[7], m[s[8]], m[s[9]]);
      mix(h[1], h[6], v[3], v[4], m[s[10]], m[s[11]]);
      mix(h[2], h[7], v[0], v[5], m[s[12]], m[s[13]]);
      mix(h[3], h[4], v[1], v[6], m[s[14]], m[s[15]]);
    }
    for (size_t i = 0; i < 8; ++i) state_[i] ^= h[i] ^ v[i];
  }

  std::array<uint64_t, 8> state_;
  std::array<uint8_t, kBlock> block_{};
  size_t filled_ = 0;  // bytes waiting in block_, up to and including a full block
  uint64_t length_low_ = 0;
  uint64_t length_high_ = 0;
  size_t digest_size_;
};

}  // namespace ge
