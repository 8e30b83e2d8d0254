// Parameters and options as a caller spells them: values by name. What a value may be, and what it
// becomes in a struct, is field_info.hpp's matter; this file needs no description, so that
// simulator.hpp can speak of values without one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace ge {

/// Parameter and option values by name, as the caller spelled them.
using Value = std::variant<bool, int64_t, double, std::string>;
using Values = std::map<std::string, Value>;

}  // namespace ge
