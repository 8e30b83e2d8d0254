// See house_assets.hpp.
#include "houses/house_assets.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <list>
#include <memory>

#include "engine/simulator/memory.hpp"
#include "engine/simulator/pool.hpp"

namespace ge::houses {

namespace {

/// A house as the arrays want it.
struct Made {
  House house;
  GroundData ground;
  int32_t thing_count, wall_count;
};
Made made_house(const Knobs& knobs, uint64_t seed) try {
  Made made;
  made.house = make_house(knobs, seed);
  const std::vector<Rect> things = made.house.things();
  made.thing_count = int32_t(things.size());
  made.wall_count = int32_t(walls_of(made.house.shell).size());
  made.ground = make_ground(made.house.shell, things);
  return made;
} catch (const Error& problem) {
  throw Error(problem.kind(), "house " + std::to_string(uint32_t(seed)) +
                                  " of its split: " + problem.what() +
                                  "; ask for fewer rooms (rooms_high=) or less furniture "
                                  "(clutter_high=), or begin behind it (first_house=)");
}

using MadePtr = std::shared_ptr<const Made>;

template <class T>
int64_t bytes_of(const std::vector<T>& array) {
  return int64_t(array.size() * sizeof(T));
}
int64_t bytes_of(const Made& made) {
  const House& house = made.house;
  const GroundData& g = made.ground;
  return bytes_of(house.nodes) + bytes_of(house.triangles) + bytes_of(house.skins) +
         bytes_of(g.blocks) + bytes_of(g.corners) + bytes_of(g.block_starts) +
         bytes_of(g.corner_starts) + bytes_of(g.block_items) + bytes_of(g.corner_items) +
         bytes_of(g.distances) + bytes_of(g.spots) + bytes_of(g.ends) + bytes_of(g.bends);
}
/// The houses that were made last, for the next simulator of a thread that asks for them: making one
/// takes a thousand times as long as copying it.
class Kept {
 public:
  MadePtr find(const Knobs& knobs, uint64_t seed) {
    const auto at = std::find_if(all_.begin(), all_.end(), [&](const Entry& e) {
      return e.seed == seed && std::memcmp(&e.knobs, &knobs, sizeof knobs) == 0;
    });
    if (at == all_.end()) return nullptr;
    all_.splice(all_.begin(), all_, at);
    return at->made;
  }
  void keep(const Knobs& knobs, uint64_t seed, const MadePtr& made) {
    all_.push_front({knobs, seed, made});
    bytes_ += bytes_of(*made);
    for (; bytes_ > kMost; all_.pop_back()) bytes_ -= bytes_of(*all_.back().made);
  }

 private:
  static constexpr int64_t kMost = int64_t{128} << 20;
  struct Entry {
    Knobs knobs;
    uint64_t seed;
    MadePtr made;
  };
  std::list<Entry> all_;  // the last one first
  int64_t bytes_ = 0;
};
Kept& kept_houses() {
  static_assert(sizeof(Knobs) == 24, "GE: compared byte by byte");
  static thread_local Kept kept;
  return kept;
}

/// Refuses where houses like the first ones do not fit: each is there twice, as it was made and in
/// the arrays of all.
void check_memory(std::span<const MadePtr> first, int count) {
  int64_t bytes = 0;
  for (const MadePtr& made : first) bytes += bytes_of(*made);
  check_fit({count, 2.0 * double(bytes) / double(first.size()),
             double(available_memory()) + double(bytes)});
}

/// All houses of a range, several at a time: each depends on its own seed alone.
std::vector<MadePtr> made_houses(const Range& range) {
  std::vector<MadePtr> all(size_t(range.count));
  const auto seed = [&](int number) { return seed_of(range.split, range.first + number); };
  Kept& kept = kept_houses();
  const auto make_from = [&](int first, int end) {
    std::vector<int> missing;
    for (int k = first; k < end; ++k)
      if ((all[size_t(k)] = kept.find(range.knobs, seed(k))) == nullptr) missing.push_back(k);
    parallel_for(int64_t(missing.size()), available_threads(), [&](int64_t k, int) {
      const int number = missing[size_t(k)];
      all[size_t(number)] = std::make_shared<const Made>(made_house(range.knobs, seed(number)));
    });
    for (const int k : missing) kept.keep(range.knobs, seed(k), all[size_t(k)]);
  };
  const int few = std::min(range.count, 16);
  make_from(0, few);
  check_memory(std::span(all).first(size_t(few)), range.count);
  make_from(few, range.count);
  return all;
}

/// Joins one array of all houses, and notes where each house's part begins.
template <class T, class Get>
Asset<T> joined(const char* name, const std::vector<MadePtr>& all, AssetMaker& make,
                std::span<HouseAt> houses, int32_t HouseAt::* begin, const Get& get) {
  int64_t count = 0;
  for (const MadePtr& made : all) count += int64_t(get(*made).size());
  if (count > 0x7fffffff)
    make.refuse("so large a set of houses does not fit: ask for fewer (house_count=)");
  const std::span<T> array = make.array<T>(name, std::max<int64_t>(count, 1));
  size_t at = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    if (begin != nullptr) houses[k].*begin = int32_t(at);
    const auto& part = get(*all[k]);
    std::copy(part.begin(), part.end(), array.begin() + ptrdiff_t(at));
    at += part.size();
  }
  return array;
}

}  // namespace

void check_fit(const Need& need) {
  const double all = double(need.count) * need.each;
  if (all <= need.free) return;
  const auto megabytes = [](double amount) {
    return std::to_string(int64_t(std::ceil(amount / 1e6))) + " MB";
  };
  throw Error(Fault::memory, "house_count=" + std::to_string(need.count) + " needs " +
                                 megabytes(all) + " to be made, " + megabytes(need.free) +
                                 " are free: about " +
                                 std::to_string(int64_t(need.free / need.each)) + " houses fit");
}

HouseAssets make_houses(const Range& range, AssetMaker& make) {
  const std::vector<MadePtr> all = made_houses(range);
  const std::span<HouseAt> houses = make.array<HouseAt>("houses", range.count);
  for (size_t k = 0; k < all.size(); ++k) {
    const Made& made = *all[k];
    const GroundData& ground = made.ground;
    houses[k].triangle_count = int32_t(made.house.triangles.size());
    houses[k].corner_count = int32_t(ground.corners.size());
    houses[k].spot_count = int32_t(ground.spots.size());
    houses[k].block_count = int32_t(ground.blocks.size());
    houses[k].thing_count = made.thing_count, houses[k].wall_count = made.wall_count;
    houses[k].end_count = int32_t(ground.ends.size()) - 1;
    houses[k].columns = ground.columns, houses[k].rows = ground.rows;
    houses[k].low_x = ground.low_x, houses[k].low_y = ground.low_y;
  }
  HouseAssets a;
  const auto join = [&]<class T>(Asset<T>& to, const char* name, int32_t HouseAt::* begin,
                                 const auto& get) {
    to = joined<T>(name, all, make, houses, begin, get);
  };
  using M = Made;
  join(a.nodes, "nodes", &HouseAt::nodes, [](const M& m) -> auto& { return m.house.nodes; });
  join(a.triangles, "triangles", &HouseAt::triangles,
       [](const M& m) -> auto& { return m.house.triangles; });
  join(a.skins, "skins", nullptr, [](const M& m) -> auto& { return m.house.skins; });
  join(a.blocks, "blocks", &HouseAt::blocks, [](const M& m) -> auto& { return m.ground.blocks; });
  join(a.corners, "corners", &HouseAt::corners,
       [](const M& m) -> auto& { return m.ground.corners; });
  join(a.block_starts, "block_starts", &HouseAt::block_starts,
       [](const M& m) -> auto& { return m.ground.block_starts; });
  join(a.corner_starts, "corner_starts", &HouseAt::corner_starts,
       [](const M& m) -> auto& { return m.ground.corner_starts; });
  join(a.block_items, "block_items", &HouseAt::block_items,
       [](const M& m) -> auto& { return m.ground.block_items; });
  join(a.corner_items, "corner_items", &HouseAt::corner_items,
       [](const M& m) -> auto& { return m.ground.corner_items; });
  join(a.distances, "distances", &HouseAt::distances,
       [](const M& m) -> auto& { return m.ground.distances; });
  join(a.spots, "spots", &HouseAt::spots, [](const M& m) -> auto& { return m.ground.spots; });
  join(a.ends, "ends", &HouseAt::ends, [](const M& m) -> auto& { return m.ground.ends; });
  join(a.bends, "bends", &HouseAt::bends, [](const M& m) -> auto& { return m.ground.bends; });
  a.houses = houses;
  return a;
}

}  // namespace ge::houses
