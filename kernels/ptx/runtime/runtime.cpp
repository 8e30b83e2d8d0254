// See runtime.hpp.
#include "ptx/runtime/runtime.hpp"

#include <cstdlib>

#include "ptx/runtime/report.hpp"

namespace ge::ptx {

std::mutex& Lock::mutex() {
  static std::mutex* const one = new std::mutex;
  return *one;
}

Runtime& Runtime::get() {
  static Runtime* const one = new Runtime;
  return *one;
}
Runtime::Runtime() {
  try {
    machine.settings = Settings::from_environment();
  } catch (const Fault& wrong) {
    // The first call says so, and every later one.
    try {
      lose(wrong.what());
    } catch (const Refusal&) {
    }
  }
  if (std::getenv(kReportVariable) == nullptr) return;
  machine.settings.counts = true;
  std::atexit([] {
    const Lock lock;
    write_report_of_environment(get());
  });
}

}  // namespace ge::ptx
