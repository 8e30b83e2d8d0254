// The user's settings of pictures, shared by every environment that has them: fields of its
// settings, and their resolved form in its parameters.
//
//   struct Settings : cameras::Settings { ...
//     static constexpr auto describe() {
//       return std::tuple_cat(fields(field(...), ...), cameras::picture_fields<Settings>());
//     }
//   };
//   struct Params { cameras::Picture picture; ... };
//   inline Params resolve(Settings& s) { params.picture = cameras::picture_of(s); ... }
#pragma once

#include <string>

#include "engine/described/describe.hpp"
#include "engine/graph/images.hpp"

namespace ge::cameras {

struct Settings {
  std::string observation = "rgb";
  std::string resolution = "72x128";
  int32_t channels = 0;
  float hfov = 100.0f;
  int32_t supersample = 1;
};

/// The resolved form.
struct Picture {
  ImageForm form;
  float slope;  // half of a pixel, from the axis of sight
  int32_t supersample;
};

/// Resolves the settings; refuses impossible pictures. `numbers`: of the row that may stand beside a
/// picture (RowShape<Numbers>::elements), which `observation` then names as a layer.
Picture picture_of(Settings& settings, int numbers = 0);

/// The fields of pictures, to be joined to an environment's own by std::tuple_cat.
template <class S>
constexpr auto picture_fields() {
  return fields(field("observation", &S::observation,
                      "layers of the picture, joined by +: rgb, depth, segmentation"),
                field("resolution", &S::resolution, "rows and columns of the picture: 72x128"),
                field("channels", &S::channels, "which axis of a picture has the channels")
                    .named("first", "last"),
                field("hfov", &S::hfov, "how far the picture reaches from left to right")
                    .in("deg")
                    .within(1, 170),
                field("supersample", &S::supersample, "colours of a pixel are the mean of n x n")
                    .within(1, 8));
}

}  // namespace ge::cameras
