// How this thread rounds, and what it does with denormals: the engine's numbers need the standard's
// own mode (to nearest, denormals kept), and callers may have set another, as
// torch.set_flush_denormal does. A thread inherits the mode of the one that made it.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace ge {

/// The standard mode while it lives, then the caller's again.
class FloatMode {
 public:
  FloatMode(const FloatMode&) = delete;
#if defined(__SSE__)
  // One look where nothing is to be done: a step of one world takes but half a microsecond.
  FloatMode() : before_(_mm_getcsr()) {
    if (is_foreign()) _mm_setcsr(kStandard);
  }
  ~FloatMode() {
    if (is_foreign()) _mm_setcsr(before_);
  }

 private:
  static constexpr unsigned kStandard = 0x1f80, kRaised = 0x3f;  // exceptions masked; those raised
  bool is_foreign() const { return (before_ & ~kRaised) != kStandard; }
  unsigned before_;
#else
  FloatMode() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatMode() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
#endif
};

}  // namespace ge
