// Draws a scene into a picture: the entry point of this folder.
#pragma once

#include <string>

#include "engine/base/error.hpp"
#include "pictures/scene.hpp"

namespace ge::pictures {

struct Size {
  int rows, columns;
};

/// The default size of a picture: a board's own shape, large enough for thousands of pieces.
Size default_size(const Scene& scene);

struct Request {
  int width = 640, height = 360;
  /// "perspective", "top", "both" (side by side), "agent:<k>", "top:<k>" (from above, with a ring
  /// around that agent), or "" for the scene's own.
  std::string view;
  int samples = 2;  // along each side of a pixel, 1 to 8: smooth edges
};

/// Throws where size or samples are out of range.
void check(const Request& request);

/// The number in "agent:<k>" or "top:<k>"; -1 for another view.
int agent_of(const std::string& view);

class Memory;

/// Writes height x width x 3 bytes of sRGB, the same bytes for the same scene everywhere. A memory
/// (memory.hpp) speeds up successive frames and changes nothing else.
void draw(const Scene& scene, const Request& request, uint8_t* to, Memory* memory = nullptr);

}  // namespace ge::pictures
