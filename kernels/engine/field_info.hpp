// Descriptions at run time: what describe() lists, as plain data for JSON, for reading columns and
// for setting parameters by name.
#pragma once

#include <string>
#include <vector>

#include "engine/describe.hpp"
#include "engine/simulator.hpp"

namespace ge {

struct FieldInfo {
  std::string name;
  Type type;
  std::vector<int64_t> shape;
  double low, high;
  int choices;
  bool has_default;
  double default_value;
  std::string unit, doc;
  int64_t offset, bytes;           // in the struct
  std::vector<std::string> names;  // of the choices
  std::string default_text;        // of a text

  int64_t elements() const {
    int64_t n = 1;
    for (int64_t extent : shape) n *= extent;
    return n;
  }
};

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, bool>) return Type::boolean;
  if constexpr (std::is_same_v<T, std::string>) return Type::text;
  if constexpr (std::is_same_v<T, int8_t>) return Type::int8;
  if constexpr (std::is_same_v<T, uint8_t>) return Type::uint8;
  if constexpr (std::is_same_v<T, int32_t>) return Type::int32;
  if constexpr (std::is_same_v<T, int64_t>) return Type::int64;
  if constexpr (std::is_same_v<T, uint32_t>) return Type::uint32;
  if constexpr (std::is_same_v<T, uint64_t>) return Type::uint64;
  if constexpr (std::is_same_v<T, float>) return Type::float32;
  if constexpr (std::is_same_v<T, double>) return Type::float64;
}

template <class M>
void append_shape(std::vector<int64_t>& shape) {
  if constexpr (std::is_array_v<M>) {
    shape.push_back(int64_t(std::extent_v<M>));
    append_shape<std::remove_extent_t<M>>(shape);
  }
}

/// The fields of C. kDefaults: the values of a C{} are defaults worth telling (parameters,
/// options).
template <class C>
std::vector<FieldInfo> field_infos(bool defaults = false) {
  std::vector<FieldInfo> all;
  const C sample{};
  auto add = [&](auto f) {
    using F = decltype(f);
    using Element = typename F::Element;
    constexpr int bits = BitsOf<Element>::value;
    FieldInfo info{};
    info.name = f.name;
    info.unit = f.unit;
    info.doc = f.doc;
    info.low = f.low;
    info.high = f.high;
    info.choices = f.choices;
    append_shape<typename F::Member>(info.shape);
    if constexpr (bits > 0) {
      info.type = Type::boolean;
      info.shape.push_back(bits);
      info.low = 0, info.high = 1;
    } else {
      info.type = type_of<Element>();
      if constexpr (std::is_same_v<Element, std::string>) {
        info.has_default = defaults;
        info.default_text = sample.*(f.member);
      } else if constexpr (!std::is_array_v<typename F::Member>) {
        info.has_default = defaults;
        info.default_value = double(sample.*(f.member));
      }
    }
    for (const char* name : f.names)
      if (name != nullptr) info.names.push_back(name);
    info.offset = reinterpret_cast<const char*>(&(sample.*(f.member))) -
                  reinterpret_cast<const char*>(&sample);
    info.bytes = int64_t(sizeof(typename F::Member));
    all.push_back(info);
  };
  std::apply([&](auto... f) { (add(f), ...); }, C::describe());
  return all;
}

/// Sets the named fields of a described struct; unknown names, wrong types and values out of range
/// are refused by name. `kind` is the word for messages: "parameter", "reset option".
void set_fields(void* target, const std::vector<FieldInfo>& infos, const Values& values,
                const char* kind);

/// A C from named values; what no single field can say against it, `const char* problem() const`
/// may.
template <class C>
C from_values(const Values& values, const char* kind) {
  C made{};
  set_fields(&made, field_infos<C>(true), values, kind);
  if constexpr (requires { made.problem(); }) {
    if (const char* problem = made.problem())
      throw Error(Fault::value, std::string(kind) + "s: " + problem);
  }
  return made;
}

/// A number as a person writes it: 0.5, 3, 1e+09.
std::string spelled(double value);
/// JSON of a list of fields, of a string, and of a field's value in a struct.
std::string json(const std::vector<FieldInfo>& infos);
std::string json(const std::string& text);
std::string json_value(const FieldInfo& info, const void* owner);

}  // namespace ge
