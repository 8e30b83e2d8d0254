// engine/maths/blake2b.hpp against RFC 7693 and against digests that Python's hashlib gave for the
// same bytes.
#include "engine/maths/blake2b.hpp"

#include <algorithm>

#include "test.hpp"

namespace {

using ge::Blake2b;

std::string hash(const std::string& bytes, size_t digest_size) {
  return Blake2b(digest_size).update(bytes.data(), bytes.size()).hex_digest();
}

/// bytes((i * 131 + 7) & 255 for i in range(size))
std::string pattern(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 131 + 7);
  return bytes;
}

/// The byte sequence of RFC 7693, appendix E.
std::string fibonacci(size_t size, uint32_t seed) {
  std::string bytes(size, '\0');
  uint32_t a = 0xdead4badu * seed, b = 1;
  for (size_t i = 0; i < size; ++i) {
    const uint32_t next = a + b;
    a = b, b = next;
    bytes[i] = static_cast<char>(next >> 24);
  }
  return bytes;
}

// RFC 7693, appendix A.
GE_TEST(blake2b_abc_matches_rfc) {
  CHECK_EQ(hash("abc", 64),
           "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
           "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
}

// The unkeyed half of the self-test in RFC 7693, appendix E; the digest of digests is hashlib's.
GE_TEST(blake2b_self_test_of_rfc_matches_hashlib) {
  Blake2b all(32);
  for (const size_t digest_size : {20, 32, 48, 64})
    for (const size_t size : {0, 3, 128, 129, 255, 1024}) {
      const std::string bytes = fibonacci(size, static_cast<uint32_t>(size));
      const auto digest = Blake2b(digest_size).update(bytes.data(), size).digest();
      all.update(digest.data(), digest_size);
    }
  CHECK_EQ(all.hex_digest(), "681f345ad53c6360214ea500fd259edddbca775f605fad81b9b189d6d88e15c6");
}

GE_TEST(blake2b_sizes_around_blocks_match_hashlib) {
  const struct {
    size_t size, digest_size;
    const char* expected;
  } cases[] = {
      {0, 64,
       "786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419"
       "d25e1031afee585313896444934eb04b903a685b1448b755d56f701afe9be2ce"},
      {1, 32, "873e4fe9e41e924911bba3ec53ff4782efc8c0f244fb75c879f8a4328d0142ca"},
      {127, 20, "c4a42f3f21691dc264d13c40b576f1796ac1b225"},
      {128, 64,
       "69e9db741a1bf458a0582e23f62f425a37e846068dda8435d64777ac58887739"
       "c44cfccd822d31252f60fb599dbcbb3a0b4fd5522076de3a41c2f3213bd91cab"},
      {129, 32, "67e9bafa1f1d736a9d5cee5a9aabd6634a323bab977dc8e40fec2bda7b7b7b61"},
      {255, 1, "b6"},
      {256, 32, "abebbd91f14ecf1d601a9e9be2c2be68c0e1d42ed52fb6c0cf8cad221bfda721"},
      {257, 48,
       "16db09103732e82ffb6314db8fb52e3aae60803075093145c7f274acf87fa10e"
       "a2295e2300b81778916d9232852f93df"},
      {1000, 16, "bef19bb6f76882769e01a70c7bc0a118"},
      {4096, 64,
       "04e45f194940ab6c4c684dcd3a486e02ee96bfe3e1a72c47a5af1233f875b653"
       "35f8db64c0cdda9fed4046616fe787e276a46610b895b4dcedc1474f16cb061e"},
      {100000, 32, "127ac9b9f8c6d2abd10c8f40759a41fdf90594f4c5c34aea317b451e70e64d9b"},
  };
  for (const auto& c : cases) CHECK_EQ(hash(pattern(c.size), c.digest_size), c.expected);
}

GE_TEST(blake2b_in_pieces_of_any_size_same_digest) {
  const std::string bytes = pattern(1000);
  const std::string whole = hash(bytes, 32);
  for (size_t piece = 1; piece <= 300; ++piece) {
    Blake2b stream(32);
    for (size_t at = 0; at < bytes.size(); at += piece)
      stream.update(bytes.data() + at, std::min(piece, bytes.size() - at));
    CHECK_EQ(stream.hex_digest(), whole);
  }
}

GE_TEST(blake2b_digest_midway_leaves_stream_unchanged) {
  Blake2b stream(32);
  stream.update("ab", 2);
  CHECK_EQ(stream.hex_digest(), hash("ab", 32));
  stream.update("c", 1);
  CHECK_EQ(stream.hex_digest(), hash("abc", 32));
}

GE_TEST(blake2b_digest_size_out_of_range_throws) {
  CHECK_THROWS(Blake2b(0), std::invalid_argument, "must be 1 to 64, not 0");
  CHECK_THROWS(Blake2b(65), std::invalid_argument, "not 65");
}

}  // namespace
