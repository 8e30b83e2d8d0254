// Checks of numbers that are near each other, for comparisons with closed forms and other solvers.
#pragma once

#include <cmath>

#include "test.hpp"

#define CHECK_NEAR(value, wanted, tolerance)                                                   \
  do {                                                                                         \
    const double found_ = double(value), expected_ = double(wanted);                           \
    if (!(std::abs(found_ - expected_) <= double(tolerance))) {                                \
      std::ostringstream out_;                                                                 \
      out_ << #value << ": " << found_ << ", expected " << expected_ << " +- " << (tolerance); \
      ::ge::test::fail(__FILE__, __LINE__, out_.str());                                        \
    }                                                                                          \
  } while (false)
#define CHECK_BELOW(value, limit) CHECK_NEAR(value, 0, limit)
