// What one frame of a film keeps for the next: its bytes, and the inputs of each block of pixels.
// Where the camera is the same, no body that changed reaches a block, nor its shadow or its
// occlusion of the sky, and nothing is overlaid, the next frame has the same bytes there.
#pragma once

#include <cstring>
#include <vector>

#include "pictures/camera.hpp"
#include "pictures/picture.hpp"

namespace ge::pictures {

/// Some pixels of a panel.
struct Block {
  Rectangle shaded, under;  // the ground that it shows: along the sun, and straight below
  bool is_overlaid = false;
};

/// The pixels that a body can change: in the picture itself, and on the two grounds of a block.
struct Traces {
  Rectangle seen, shadow, foot;

  bool reach(const Rectangle& part, const Block& block) const {
    return seen.meets(part) || shadow.meets(block.shaded) || foot.meets(block.under);
  }
};

/// The memory of one panel.
struct PanelMemory {
  Camera camera{};
  std::vector<Traces> traces;  // per body
  std::vector<Block> blocks;   // band by band
};

class Memory {
 public:
  /// Prepares for a picture of the scene. Returns whether the memory is valid for it, except for
  /// the bodies that have changed: `changed` lists them.
  bool begin(const Scene& scene, const Request& request, size_t panels, std::vector<int>& changed) {
    const bool known = is_whole_ && is_same(request_.width, request.width) &&
                       is_same(request_.height, request.height) &&
                       is_same(request_.samples, request.samples) && is_same(low_, scene.low) &&
                       is_same(high_, scene.high) && solids_.size() == scene.solids.size() &&
                       panels_.size() == panels;
    changed.clear();
    for (size_t k = 0; known && k < solids_.size(); ++k)
      if (!is_same(solids_[k], scene.solids[k])) changed.push_back(int(k));
    is_whole_ = false;
    request_ = request, solids_ = scene.solids;
    std::memcpy(low_, scene.low, sizeof low_), std::memcpy(high_, scene.high, sizeof high_);
    panels_.resize(panels);
    return known;
  }
  PanelMemory& panel(size_t k) { return panels_[k]; }
  /// The bytes of the picture before.
  const uint8_t* bytes() const { return bytes_.data(); }
  void end(const uint8_t* picture) {
    const size_t size = size_t(request_.width) * size_t(request_.height) * 3;
    is_whole_ = size <= kMostBytes;
    bytes_.assign(picture, picture + (is_whole_ ? size : 0));
  }

 private:
  static constexpr size_t kMostBytes = size_t(1) << 26;  // larger pictures are not kept

  /// Bitwise comparison; none of these types have padding.
  template <class T>
  static bool is_same(const T& a, const T& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  static_assert(sizeof(Solid) == 18 * sizeof(float));

  bool is_whole_ = false;
  Request request_;
  float low_[3] = {}, high_[3] = {};
  std::vector<Solid> solids_;
  std::vector<PanelMemory> panels_;
  std::vector<uint8_t> bytes_;
};

}  // namespace ge::pictures
