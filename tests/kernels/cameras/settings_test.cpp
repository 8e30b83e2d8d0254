// What users say of pictures: what is understood, and what is refused and how.
// environment: gallery
#include <cmath>

#include "gallery_room.hpp"

namespace ge::test {
namespace {

cameras::Picture picture_with(const std::string& resolution, const std::string& layers = "rgb") {
  cameras::Settings settings;
  settings.resolution = resolution, settings.observation = layers;
  return cameras::picture_of(settings);
}

GE_TEST(resolutions_are_rows_and_columns) {
  for (const auto& [text, rows, columns] : {std::tuple{"72x128", 72, 128},
                                            {"1x1", 1, 1},
                                            {"300x1", 300, 1},
                                            {"007x09", 7, 9},
                                            {"32768x2", 32768, 2}}) {
    const ImageForm form = picture_with(text).form;
    CHECK_EQ(form.rows, rows);
    CHECK_EQ(form.columns, columns);
  }
}
GE_TEST(resolutions_that_are_none_are_refused) {
  for (const char* text : {"", "x", "72", "72x", "x128", "72x128x3", "72X128", "72 x 128",
                           " 72x128", "72x128 ", "-1x5", "+1x5", "7.5x5", "1e2x5", "123456x1",
                           "1x123456", "99999999999999999999x1", "72,128", "axb"})
    CHECK_THROWS(picture_with(text), Error,
                 "parameter 'resolution' must be rows and columns such as '72x128', got '" +
                     std::string(text) + "'");
}
GE_TEST(resolutions_out_of_bounds_are_refused) {
  for (const char* text : {"0x10", "10x0", "0x0", "32769x1", "1x32769", "99999x99999"})
    CHECK_THROWS(picture_with(text), Error,
                 "rows and columns must be from 1 to 32768, got '" + std::string(text) + "'");
}
GE_TEST(layers_are_taken_in_any_order_and_named_in_one) {
  for (const auto& [text, layers, name] :
       {std::tuple{"rgb", 1u, "rgb"},
        {"depth", 2u, "depth"},
        {"segmentation", 4u, "segmentation"},
        {"depth+rgb", 3u, "rgb+depth"},
        {"segmentation+depth+rgb", 7u, "rgb+depth+segmentation"}}) {
    cameras::Settings settings;
    settings.observation = text;
    CHECK_EQ(cameras::picture_of(settings).form.layers, layers);
    CHECK_EQ(settings.observation, std::string(name));
  }
}
GE_TEST(layers_that_are_none_are_refused) {
  for (const char* text : {"", "+", "rgb+", "+rgb", "rgb++depth", "RGB", "rgb depth", "rgb,depth",
                           "rgb+normals", "rgb+flat", "flat"})
    CHECK_THROWS(picture_with("8x8", text), Error,
                 "parameter 'observation' must be 'rgb', 'depth', 'segmentation' or several of "
                 "them joined by +, got '" +
                     std::string(text) + "'");
  for (const char* text : {"rgb+rgb", "depth+rgb+depth"})
    CHECK_THROWS(picture_with("8x8", text), Error, "twice: '" + std::string(text) + "'");
}
GE_TEST(numbers_are_a_layer_where_there_are_some) {
  const auto layers_of = [](const char* text, int numbers) {
    cameras::Settings settings;
    settings.observation = text;
    return cameras::picture_of(settings, numbers).form.layers;
  };
  CHECK_EQ(layers_of("numbers+depth", 3), 10u);
  CHECK_EQ(layers_of("numbers", 3), 8u);
  CHECK_THROWS(layers_of("rgb+numbers", 0), Error, "'segmentation' or several");
  CHECK_THROWS(layers_of("numbers+numbers", 3), Error, "names 'numbers' twice");
  CHECK_THROWS(layers_of("number", 3), Error, "'segmentation', 'numbers' or several");
}

GE_TEST(numbers_out_of_their_bounds_are_refused_by_name) {
  const struct {
    const char* name;
    Value value;
  } wrong[] = {{"hfov", 0.5},
               {"hfov", 180.0},
               {"hfov", -90.0},
               {"hfov", std::nan("")},
               {"supersample", int64_t{0}},
               {"supersample", int64_t{9}},
               {"channels", std::string("middle")},
               {"visitors", int64_t{0}},
               {"thing_count", int64_t{-1}}};
  for (const auto& w : wrong) CHECK_THROWS(Gallery({{w.name, w.value}}), Error, w.name);
}
GE_TEST(fields_of_view_reach_from_left_to_right) {
  for (const float hfov : {1.0f, 60.0f, 90.0f, 100.0f, 170.0f}) {
    cameras::Settings settings;
    settings.hfov = hfov;
    const double slope = cameras::picture_of(settings).slope;
    CHECK(std::abs(slope * 128 / std::tan(hfov * std::acos(-1.0) / 360) - 1) < 1e-6);
  }
}

}  // namespace
}  // namespace ge::test
