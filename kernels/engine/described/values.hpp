// Parameters and options as a caller spells them: values by name. field_info.hpp converts and
// checks values; this file needs no description, so simulator.hpp can use it without one.
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
