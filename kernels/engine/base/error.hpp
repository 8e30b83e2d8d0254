// How native code fails: one exception, and the kind of failure it reports.
#pragma once

#include <stdexcept>
#include <string>

#include "engine/base/platform.hpp"

namespace ge {

/// Why a call failed; the bindings turn each kind into the Python exception that fits.
enum class Fault { value, type, memory, runtime, device, reset_needed };

/// The one exception of the native code.
class GE_API Error : public std::runtime_error {
 public:
  Error(Fault kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  Fault kind() const { return kind_; }

 private:
  Fault kind_;
};

}  // namespace ge
