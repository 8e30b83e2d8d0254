// Settings that a profile fills in where the user sets none, for swarms. Host only.
#pragma once

#include <string>

#include "engine/described/field_info.hpp"

namespace ge::spatial {

/// Value of a number that the profile fills in.
inline constexpr int32_t kOpen = -1;

[[noreturn]] inline void refuse_setting(const char* name, const std::string& rest) {
  throw Error(Fault::value, std::string("parameter '") + name + "' " + rest);
}

/// Fills in an open setting, and refuses values between open and the lowest.
template <class T>
void fill(T& value, double of_profile, const char* name, double lowest = 0) {
  if (value == T(kOpen)) value = T(of_profile);
  if (double(value) >= lowest) return;
  refuse_setting(name, "must be at least " + spelled(lowest) +
                           ", or -1 for the profile's own, got " + spelled(double(value)));
}

/// Refuses a minimal speed above the maximal one; the names may have the kind of agents before
/// them.
inline void check_speeds(double min_speed, double max_speed, const char* min_name,
                         const char* max_name) {
  if (min_speed > max_speed)
    refuse_setting(
        min_name, "= " + spelled(min_speed) + " is above " + max_name + " = " + spelled(max_speed));
}

}  // namespace ge::spatial
