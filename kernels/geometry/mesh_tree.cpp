// See mesh_tree.hpp. Nodes are split where the surface-area heuristic, over bins of centroids along
// each axis, expects the least work (Wald 2007); ties go to the first axis and the lowest bin.
#include "geometry/mesh_tree.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ge::geometry {

namespace {

constexpr int kBins = 32;
/// How much larger boxes are than what is in them, as a share of the mesh and of its distance from
/// 0: more than the rounding of places that are seen from an eye near the mesh.
constexpr float kSlack = 0x1p-16f;
constexpr float kNodeCost = 1.0f;  // of testing two boxes, in the unit of one triangle

struct Bounds {
  Vec3 low{1e30f, 1e30f, 1e30f}, high{-1e30f, -1e30f, -1e30f};

  void add(const Vec3& point) {
    low = {min(low.x, point.x), min(low.y, point.y), min(low.z, point.z)};
    high = {max(high.x, point.x), max(high.y, point.y), max(high.z, point.z)};
  }
  void add(const Bounds& other) {
    low = {min(low.x, other.low.x), min(low.y, other.low.y), min(low.z, other.low.z)};
    high = {max(high.x, other.high.x), max(high.y, other.high.y), max(high.z, other.high.z)};
  }
  /// Half of the surface.
  float area() const {
    const Vec3 side = high - low;
    return side.x < 0.0f ? 0.0f : side.x * side.y + side.y * side.z + side.z * side.x;
  }
};

/// A triangle on its way to its leaf.
struct Item {
  Bounds bounds;
  Vec3 middle;  // twice the centre of its bounds
  int32_t number;
};

struct Split {
  float cost = 1e30f;
  int axis = -1, bin = 0;  // bins up to this one are the first part; axis -1: there is none
};

/// A range of items, and the node that is to hold it.
struct Task {
  int32_t begin, end, parent, slot, depth;
};

class Builder {
 public:
  explicit Builder(std::span<const Triangle> triangles) : items_(triangles.size()) {
    Bounds all;
    for (size_t k = 0; k < triangles.size(); ++k) {
      Item& item = items_[k];
      for (const auto* corner : {&triangles[k].a, &triangles[k].b, &triangles[k].c})
        item.bounds.add(vec(*corner));
      all.add(item.bounds);
      item.middle = item.bounds.low + item.bounds.high;
      item.number = int32_t(k);
    }
    const Vec3 side = all.high - all.low, far_low = abs(all.low), far_high = abs(all.high);
    slack_ = kSlack * max(max(max(side.x, side.y), side.z),
                          max(max(max(far_low.x, far_low.y), far_low.z),
                              max(max(far_high.x, far_high.y), far_high.z)));
    spare_.resize(items_.size());
    tree_.nodes.reserve(items_.size() / 2 + 1);
  }

  Tree run() {
    tasks_.push_back({0, int32_t(items_.size()), -1, 0, 0});
    while (!tasks_.empty()) {
      const Task task = tasks_.back();
      tasks_.pop_back();
      grow(task);
    }
    tree_.order.reserve(items_.size());
    for (const Item& item : items_) tree_.order.push_back(item.number);
    return std::move(tree_);
  }

 private:
  static Bounds bounds_of(std::span<const Item> items) {
    Bounds all;
    for (const Item& item : items) all.add(item.bounds);
    return all;
  }
  std::span<Item> items_in(const Task& task) {
    return {items_.data() + task.begin, size_t(task.end - task.begin)};
  }

  /// Makes the root, or puts a leaf or a node into its parent.
  void grow(const Task& task) {
    const std::span<Item> items = items_in(task);
    const auto count = int64_t(items.size());
    const bool is_root = task.parent < 0;
    const Bounds bounds = bounds_of(items);
    const Split split = best_split(items, bounds);
    const bool is_deep = task.depth >= kTreeDepth - 1;
    const bool can_be_leaf = count <= kLeafMost && !is_root;
    if (can_be_leaf && (is_deep || split.axis < 0 || split.cost >= float(count)))
      return put(task, bounds, child_of({task.begin, int32_t(count)}));
    if (count == 1) {  // the only triangle: in both boxes of the root
      tree_.nodes.emplace_back();
      for (int slot = 0; slot < 2; ++slot)
        put({task.begin, task.end, 0, slot, 0}, bounds, child_of({0, 1}));
      return;
    }
    const auto node = int32_t(tree_.nodes.size());
    tree_.nodes.emplace_back();
    if (!is_root) put(task, bounds, node);
    int axis = split.axis;
    int64_t first = axis < 0 ? 0 : part(items, split);
    // What fits below each child; an even split always does.
    const int64_t room = int64_t{kLeafMost} << (kTreeDepth - 2 - task.depth);
    if (axis < 0 || std::max(first, count - first) > room) first = halve(items, axis);
    tree_.nodes[size_t(node)].axis = axis;
    const auto middle = int32_t(task.begin + first);
    // The first part is grown first, so its triangles and nodes come first in memory.
    tasks_.push_back({middle, task.end, node, 1, task.depth + 1});
    tasks_.push_back({task.begin, middle, node, 0, task.depth + 1});
  }
  void put(const Task& task, const Bounds& bounds, int32_t child) {
    TreeNode& parent = tree_.nodes[size_t(task.parent)];
    const Vec3 slack = {slack_, slack_, slack_};
    geometry::put(parent.low[task.slot], bounds.low - slack);
    geometry::put(parent.high[task.slot], bounds.high + slack);
    parent.child[task.slot] = child;
  }

  /// Along an axis of centroids: from the lowest one, and bins per metre.
  struct Scale {
    float low, per_metre;
    int bin_of(const Vec3& middle, int axis) const {
      const int bin = int((component(middle, axis) - low) * per_metre);
      return bin < 0 ? 0 : bin >= kBins ? kBins - 1 : bin;
    }
  };
  static Scale scale_of(const Bounds& middles, int axis) {
    const float low = component(middles.low, axis), side = component(middles.high, axis) - low;
    return {low, side > 0.0f ? float(kBins) * 0.9999f / side : 0.0f};
  }
  static Bounds middles_of(std::span<const Item> items) {
    Bounds all;
    for (const Item& item : items) all.add(item.middle);
    return all;
  }

  static Split best_split(std::span<const Item> items, const Bounds& bounds) {
    Split best;
    if (items.size() < 2) return best;
    const Bounds middles = middles_of(items);
    const float whole = bounds.area();
    for (int axis = 0; axis < 3; ++axis) {
      const Scale scale = scale_of(middles, axis);
      if (scale.per_metre == 0.0f) continue;
      std::array<Bounds, kBins> bins;
      std::array<int32_t, kBins> counts{};
      for (const Item& item : items) {
        const int bin = scale.bin_of(item.middle, axis);
        bins[size_t(bin)].add(item.bounds);
        ++counts[size_t(bin)];
      }
      std::array<float, kBins> behind{};  // cost of the bins after each
      Bounds all;
      int32_t count = 0;
      for (size_t bin = kBins; bin-- > 1;) {
        all.add(bins[bin]);
        count += counts[bin];
        behind[bin - 1] = all.area() * float(count);
      }
      all = {};
      count = 0;
      for (size_t bin = 0; bin + 1 < kBins; ++bin) {
        all.add(bins[bin]);
        count += counts[bin];
        if (count == 0 || count == int32_t(items.size())) continue;
        const float work = all.area() * float(count) + behind[bin];
        const float cost = kNodeCost + (whole > 0.0f ? work / whole : float(items.size()));
        if (cost < best.cost) best = {cost, axis, int(bin)};
      }
    }
    return best;
  }

  /// Moves the first part to the front, each part in the order of before; returns its size.
  int64_t part(std::span<Item> items, const Split& split) {
    const Scale scale = scale_of(middles_of(items), split.axis);
    size_t first = 0, second = 0;
    for (const Item& item : items) {
      if (scale.bin_of(item.middle, split.axis) <= split.bin)
        items[first++] = item;
      else
        spare_[second++] = item;
    }
    std::copy(spare_.begin(), spare_.begin() + ptrdiff_t(second), items.begin() + ptrdiff_t(first));
    return int64_t(first);
  }
  /// Halves the items along the longest axis of their middles.
  int64_t halve(std::span<Item> items, int& axis) {
    const Bounds middles = middles_of(items);
    const Vec3 side = middles.high - middles.low;
    axis = side.x >= max(side.y, side.z) ? 0 : side.y >= side.z ? 1 : 2;
    const int along = axis;
    std::stable_sort(items.begin(), items.end(), [along](const Item& a, const Item& b) {
      return component(a.middle, along) < component(b.middle, along);
    });
    return int64_t(items.size()) / 2;
  }

  float slack_;
  std::vector<Item> items_, spare_;
  std::vector<Task> tasks_;
  Tree tree_;
};

}  // namespace

Tree make_tree(std::span<const Triangle> triangles) {
  return Builder(triangles).run();
}

double expected_cost(const Tree& tree, std::span<const Triangle> triangles) {
  Bounds all;
  for (const Triangle& t : triangles)
    for (const auto* corner : {&t.a, &t.b, &t.c}) all.add(vec(*corner));
  double cost = double(kNodeCost);
  for (const TreeNode& node : tree.nodes)
    for (int k = 0; k < 2; ++k) {
      Bounds box;
      box.low = vec(node.low[k]), box.high = vec(node.high[k]);
      const int32_t child = node.child[k];
      const double work = child < 0 ? double(leaf_of(child).count) : double(kNodeCost);
      cost += double(box.area()) / double(all.area()) * work;
    }
  return cost;
}

}  // namespace ge::geometry
