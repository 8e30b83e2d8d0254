// How often a warp of emulated lanes executes each piece of code: for gpu/warp_instructions.py,
// which compiles with GE_COUNTED and -fsanitize-coverage=trace-pc. A warp takes each side of a
// branch as often as its busiest lane does, from one rendezvous to the next.
//
// The environment's GE_COUNTS names the file that the process writes at its end.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

// Where this shared object begins; the linker's.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start;

namespace ge {

class Executions {
 public:
  static Executions& all() {
    static Executions one;
    return one;
  }
  /// The lane whose code runs; -1 outside of lanes.
  static inline int lane = -1;

  /// The launch that is counted from here on, and its warps.
  void begin(const std::string& launch, int64_t warps) {
    counted_ = &launches_[launch];
    counted_->warps += warps;
    ++counted_->runs;
  }
  /// The lanes [first, last) have met: a warp's.
  void meet(int first, int last) {
    std::vector<uint32_t>& sums = counted_->sums;
    sums.resize(kPlaces);
    for (int l = first; l < last; ++l)
      for (uint32_t k = 0; k < visits_[l]; ++k) {
        const uint32_t place = visited_[size_t(l) * kPlaces + k];
        uint32_t& count = counts_[size_t(l) * kPlaces + place];
        if (count > most_[place]) {
          sums[place] += count - most_[place];
          most_[place] = count;
        }
        count = 0;
      }
    for (int l = first; l < last; ++l) {
      for (uint32_t k = 0; k < visits_[l]; ++k) most_[visited_[size_t(l) * kPlaces + k]] = 0;
      visits_[l] = 0;
    }
  }
  __attribute__((no_sanitize_coverage)) void visit(int l, const char* at) {
    const size_t offset = size_t(at - &__ehdr_start);
    if (offset >= kBytes) return;
    uint32_t place = place_[offset];
    if (place == 0) {
      if (places_ + 1 == kPlaces) std::abort();
      place = place_[offset] = ++places_;
      offset_[place] = uint32_t(offset);
    }
    if (counts_[size_t(l) * kPlaces + place]++ == 0)
      visited_[size_t(l) * kPlaces + visits_[l]++] = place;
  }

 private:
  static constexpr size_t kLanes = 1024, kPlaces = size_t{1} << 17, kBytes = size_t{1} << 27;
  struct Counted {
    int64_t warps = 0, runs = 0;
    std::vector<uint32_t> sums;  // of each place
  };
  // Never read before it is written, so most of it is never there.
  static uint32_t* zeros(size_t count) {
    return static_cast<uint32_t*>(std::calloc(count, sizeof(uint32_t)));
  }
  Executions() = default;
  ~Executions() {
    const char* const name = std::getenv("GE_COUNTS");
    std::FILE* const file = name != nullptr ? std::fopen(name, "w") : nullptr;
    if (file == nullptr) return;
    for (const auto& [launch, counted] : launches_) {
      std::fprintf(file, "launch|%s|%lld|%lld\n", launch.c_str(), (long long)(counted.warps),
                   (long long)(counted.runs));
      for (size_t p = 1; p < counted.sums.size(); ++p)
        if (counted.sums[p] != 0) std::fprintf(file, "%x %u\n", offset_[p], counted.sums[p]);
    }
    std::fclose(file);
  }

  uint32_t *const place_ = zeros(kBytes), *const offset_ = zeros(kPlaces),
                  *const most_ = zeros(kPlaces), *const visits_ = zeros(kLanes),
                  *const counts_ = zeros(kLanes * kPlaces),
                  *const visited_ = zeros(kLanes * kPlaces);
  uint32_t places_ = 0;
  std::map<std::string, Counted> launches_;
  Counted* counted_ = nullptr;
};
inline Executions& executions = Executions::all();

}  // namespace ge

extern "C" __attribute__((no_sanitize_coverage, used)) inline void __sanitizer_cov_trace_pc() {
  const int lane = ge::Executions::lane;
  if (lane < 0) return;
  ge::executions.visit(lane, static_cast<const char*>(__builtin_return_address(0)));
}
