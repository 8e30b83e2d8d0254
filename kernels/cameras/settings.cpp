// See settings.hpp.
#include "cameras/settings.hpp"

#include <string_view>

#include "engine/base/error.hpp"
#include "engine/maths/math.hpp"

namespace ge::cameras {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(Fault::value, what);
}

/// A whole number of at most five digits, and nothing else.
bool read_number(std::string_view text, int32_t& number) {
  if (text.empty() || text.size() > 5) return false;
  number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    number = 10 * number + (c - '0');
  }
  return true;
}

void read_resolution(const std::string& text, ImageForm& form) {
  const size_t cross = text.find('x');
  const std::string_view all = text;
  if (cross == std::string::npos || !read_number(all.substr(0, cross), form.rows) ||
      !read_number(all.substr(cross + 1), form.columns))
    refuse("parameter 'resolution' must be rows and columns such as '72x128', got '" + text + "'");
  const auto fits = [](int32_t side) { return side >= 1 && side <= ImageForm::kMostSide; };
  if (!fits(form.rows) || !fits(form.columns))
    refuse("parameter 'resolution': rows and columns must be from 1 to " +
           std::to_string(ImageForm::kMostSide) + ", got '" + text + "'");
}

uint32_t read_layers(std::string& text, bool has_numbers) {
  static constexpr const char* kNames[] = {"rgb", "depth", "segmentation", "numbers"};
  const int known = has_numbers ? 4 : 3;
  uint32_t layers = 0;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t plus = text.find('+', begin), end = plus == std::string::npos ? text.size() : plus;
    const std::string name = text.substr(begin, end - begin);
    uint32_t layer = 0;
    for (int k = 0; k < known; ++k)
      if (name == kNames[k]) layer = layer_at(k);
    if (layer == 0)
      refuse("parameter 'observation' must be 'rgb', 'depth', 'segmentation'" +
             std::string(has_numbers ? ", 'numbers'" : "") +
             " or several of them joined by +, got '" + text + "'");
    if ((layers & layer) != 0)
      refuse("parameter 'observation' names '" + name + "' twice: '" + text + "'");
    layers |= layer;
    begin = end + 1;
  }
  text.clear();
  for (int k = 0; k < known; ++k)
    if ((layers & layer_at(k)) != 0) text += (text.empty() ? "" : "+") + std::string(kNames[k]);
  return layers;
}

}  // namespace

Picture picture_of(Settings& settings, int numbers) {
  Picture picture{};
  read_resolution(settings.resolution, picture.form);
  picture.form.layers = read_layers(settings.observation, numbers > 0);
  picture.form.numbers = numbers;
  picture.form.channels_last = settings.channels;
  double sine, cosine;
  sincos_bounded(double(settings.hfov) * (3.14159265358979323846 / 360.0), sine, cosine);
  picture.slope = float(sine / cosine / picture.form.columns);
  picture.supersample = settings.supersample;
  return picture;
}

}  // namespace ge::cameras
