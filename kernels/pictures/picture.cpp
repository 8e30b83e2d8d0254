// One picture, band by band of rows: each panel is painted, and the samples of each pixel averaged.
// A band's samples stay in the cache.
#include "pictures/picture.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "pictures/board.hpp"
#include "pictures/charts.hpp"
#include "pictures/painter.hpp"

namespace ge::pictures {
namespace {

// ---- the whole picture

constexpr std::string_view kAgent = "agent:", kTop = "top:";

float aspect_of(int width, int height) {
  return float(width) / float(height);
}

/// The viewpoint of the agent that a view names.
const Viewpoint& viewpoint_of(const Scene& scene, const std::string& view) {
  const int agent = agent_of(view);
  if (agent < 0 || size_t(agent) >= scene.viewpoints.size())
    throw Error(Fault::value, "view: this scene has " + std::to_string(scene.viewpoints.size()) +
                                  " agents to look with, got '" + view + "'");
  return scene.viewpoints[size_t(agent)];
}

Camera eye_of(const Scene& scene, const std::string& view) {
  const Viewpoint& eye = viewpoint_of(scene, view);
  return look_along(vec(eye.position), vec(eye.forward), {0, 0, 1}, 0.7f, false);
}

/// Adds a ring above all solids around the agent that a view from above names.
void add_ring(const Request& request, Scene& scene) {
  constexpr int kSides = 24;
  constexpr float kShare = 0.055f;     // of the region's longer side: the radius
  constexpr float kLeastWidth = 2.5f;  // in pixels of a picture of 360 rows
  const Viewpoint& at = viewpoint_of(scene, request.view);
  const float side = ge::max(scene.high[0] - scene.low[0], scene.high[1] - scene.low[1]);
  Line line;
  line.colour = palette::kDark, line.opacity = 1;
  // At least a pixel, or a small picture would show it as a shade.
  line.width = ge::max(kLeastWidth, 360.0f / float(request.height));
  for (int k = 0; k <= kSides; ++k) {
    float sine, cosine;
    ge::sincos(6.2831853f * float(k) / float(kSides), sine, cosine);
    std::copy(std::begin(line.to), std::end(line.to), std::begin(line.from));
    line.to[0] = at.position[0] + kShare * side * cosine;
    line.to[1] = at.position[1] + kShare * side * sine;
    line.to[2] = scene.high[2];
    if (k > 0) scene.lines.push_back(line);
  }
}

std::vector<Panel> panels_of(const Scene& scene, const Request& request) {
  const std::string& view = request.view.empty() ? scene.view : request.view;
  const Vec3 low = vec(scene.low), high = vec(scene.high), look = vec(scene.look);
  const int width = request.width, height = request.height;
  const float aspect = aspect_of(width, height);
  if (view == "perspective") return {{framed(low, high, look, aspect), 0, width}};
  if (view == "top" || view.starts_with(kTop)) return {{above(low, high, aspect), 0, width}};
  if (view.starts_with(kAgent)) return {{eye_of(scene, view), 0, width}};
  if (view != "both")
    throw Error(
        Fault::value,
        "view must be 'perspective', 'top', 'both', 'top:<number>' or 'agent:<number>', got '" +
            view + "'");
  // As wide as the world from above, but less than half of the picture.
  const float shape = (high.x - low.x) / (high.y - low.y);
  const int right = int(ge::clamp(shape * float(height), 1.0f, 0.42f * float(width)));
  const int left = ge::max(width - right, 1);
  return {{framed(low, high, look, aspect_of(left, height)), 0, left},
          {above(low, high, aspect_of(right, height)), left, right}};
}

/// Checks the view of a picture of a board.
void check_view(const Request& request, int viewer) {
  if (viewer >= 0 && agent_of(request.view) == viewer) return;
  if (!request.view.empty() && request.view != "top")
    throw Error(Fault::value, "view: this scene is flat and seen from above ('top') alone, got '" +
                                  request.view + "'");
}

/// Adds up the samples of each pixel of a row, in their order.
template <int kSamples>
void add_up(const float* plane, int stride, int width, float* sums) {
  for (int column = 0; column < width; ++column) sums[column] = 0.0f;
  for (int k = 0; k < kSamples; ++k) {
    const float* const line = plane + k * stride;
    for (int column = 0; column < width; ++column) {
      float sum = sums[column];
      for (int j = 0; j < kSamples; ++j) sum += line[column * kSamples + j];
      sums[column] = sum;
    }
  }
}

using AddUp = void (*)(const float* plane, int stride, int width, float* sums);
constexpr AddUp kAddUp[] = {add_up<1>, add_up<2>, add_up<3>, add_up<4>,
                            add_up<5>, add_up<6>, add_up<7>, add_up<8>};

/// Averages the samples of each pixel of columns [first, first + count).
void resolve(const Samples& from, int samples, int first, int count, const Display& display,
             uint8_t* to) {
  const float* const planes[3] = {from.red, from.green, from.blue};
  const int width = from.width / samples;
  // Averaged as light, before the display's curve: edges between dark and bright stay even.
  const float share = 1.0f / float(samples * samples);
  float sums[kBlockColumns];
  for (int row = 0; row < from.rows / samples; ++row)
    for (int c = 0; c < 3; ++c) {
      const float* const plane = planes[c] + row * samples * from.width + first * samples;
      kAddUp[samples - 1](plane, from.width, count, sums);
      for (int column = 0; column < count; ++column)
        to[(row * width + first + column) * 3 + c] = display(sums[column] * share);
    }
}

/// The bytes of a panel's blocks in one band of rows, painted or `before`.
void resolve(const Painter& painter, const Panel& panel, const Samples& from, int samples,
             const Display& display, const uint8_t* before, uint8_t* to) {
  const int width = from.width / samples;
  for (int k = 0; k < painter.block_count(); ++k) {
    const int first = panel.left + k * kBlockColumns;
    const int count = std::min(kBlockColumns, panel.left + panel.width - first);
    if (!painter.is_kept(k)) {
      resolve(from, samples, first, count, display, to);
      continue;
    }
    for (int row = 0; row < from.rows / samples; ++row) {
      const size_t at = size_t(row * width + first) * 3;
      std::memcpy(to + at, before + at, size_t(count) * 3);
    }
  }
}

}  // namespace

Size default_size(const Scene& scene) {
  if (!scene.board) return {360, 640};
  const Board& board = *scene.board;
  const float shape = (board.high[0] - board.low[0]) / (board.high[1] - board.low[1]);
  // Even, as films need it.
  return {720, 2 * int(ge::clamp(360.0f * shape, 90.0f, 1280.0f) + 0.5f)};
}

int agent_of(const std::string& view) {
  const bool is_above = view.starts_with(kTop);
  if (!is_above && !view.starts_with(kAgent)) return -1;
  const std::string number = view.substr(is_above ? kTop.size() : kAgent.size());
  const bool is_number = !number.empty() && number.size() < 6 &&
                         number.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::stoi(number) : -1;
}

void check(const Request& r) {
  constexpr int kMost = 8192;
  if (r.width < 8 || r.height < 8 || r.width > kMost || r.height > kMost)
    throw Error(Fault::value, "size must be from 8 to " + std::to_string(kMost) +
                                  " rows and columns, got " + std::to_string(r.height) + " x " +
                                  std::to_string(r.width));
  if (r.samples < 1 || r.samples > 8)
    throw Error(Fault::value, "samples must be from 1 to 8, got " + std::to_string(r.samples));
}

void draw(const Scene& shown, const Request& request, uint8_t* to, Memory* memory) {
  check(request);
  Scene marked;
  const bool is_marked = !shown.board && request.view.starts_with(kTop);
  if (is_marked) marked = shown, add_ring(request, marked);
  const Scene& scene = is_marked ? marked : shown;
  if (scene.board) {
    check_view(request, scene.viewer);
    if (scene.board->charts.empty()) return draw_board(*scene.board, request, to);
    Board board = *scene.board;
    for (const Chart& chart : scene.board->charts) lay_out(chart, scene.step, board);
    return draw_board(board, request, to);
  }
  const Prepared things = prepared(scene);
  const std::vector<Panel> panels = panels_of(scene, request);
  Memory own;
  Memory& past = memory == nullptr ? own : *memory;
  std::vector<int> changed;
  const bool is_known = past.begin(scene, request, panels.size(), changed);
  std::vector<Painter> painters;
  painters.reserve(panels.size());
  for (size_t k = 0; k < panels.size(); ++k)
    painters.emplace_back(scene, things, panels[k], request, past.panel(k),
                          is_known ? &changed : nullptr);
  const int samples = request.samples, width = request.width * samples;
  const size_t plane = size_t(width) * size_t(kBandRows * samples);
  std::vector<float> store(4 * plane);
  const Display display;
  for (int top = 0; top < request.height; top += kBandRows) {
    const int rows = std::min(kBandRows, request.height - top);
    Samples band{width,
                 rows * samples,
                 0,
                 0,
                 top * samples,
                 store.data(),
                 &store[plane],
                 &store[2 * plane],
                 &store[3 * plane]};
    const size_t from = size_t(top) * size_t(request.width) * 3;
    for (size_t k = 0; k < panels.size(); ++k) {
      band.left = panels[k].left * samples;
      band.right = band.left + panels[k].width * samples;
      painters[k].paint(band);
      resolve(painters[k], panels[k], band, samples, display,
              is_known ? past.bytes() + from : nullptr, to + from);
    }
  }
  if (memory != nullptr) past.end(to);
}

}  // namespace ge::pictures
