// Descriptions at run time: what describe() lists, as plain data for JSON, for reading columns and
// for setting parameters by name.
//
// Facts of a field that the compiler knows are constants (FieldData), so that a described struct
// costs its unit a table and a list of addresses; everything that allocates is in field_info.cpp.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/base/boundary.hpp"
#include "engine/base/error.hpp"
#include "engine/described/describe.hpp"
#include "engine/described/values.hpp"

namespace ge {

/// One field as readers of JSON and setters of parameters need it; it owns its texts because it
/// outlives the struct that was described.
struct FieldInfo {
  std::string name;
  Type type;
  std::vector<int64_t> shape;
  double low, high;
  int choices;
  // Whether the next two members and default_text are valid.
  bool has_default;
  double default_value;
  std::string unit, doc;
  int64_t offset, bytes;           // in the struct
  std::vector<std::string> names;  // of the choices
  std::string default_text;        // of a text
  std::string table;               // the table that the values index; empty: none
  bool is_of_reset = false;        // only a reset reads it
  bool varies = false;             // a parameter that may differ by world

  int64_t elements() const {
    int64_t n = 1;
    for (int64_t extent : shape) n *= extent;
    return n;
  }
};

/// The value of a single number. A boolean's byte may come from a file and hold anything.
double number_at(Type type, const void* at);
/// Writes a single number, of a type that parameters have; the value must be in the type's range.
void put_number(Type type, void* at, double value);

/// No `else` at the end: for a type that is not in the list the function returns nothing, which the
/// compiler refuses.
template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, bool>) return Type::boolean;
  if constexpr (std::is_same_v<T, std::string>) return Type::text;
  if constexpr (std::is_same_v<T, int8_t>) return Type::int8;
  if constexpr (std::is_same_v<T, uint8_t>) return Type::uint8;
  if constexpr (std::is_same_v<T, uint16_t>) return Type::uint16;
  if constexpr (std::is_same_v<T, int32_t>) return Type::int32;
  if constexpr (std::is_same_v<T, int64_t>) return Type::int64;
  if constexpr (std::is_same_v<T, uint32_t>) return Type::uint32;
  if constexpr (std::is_same_v<T, uint64_t>) return Type::uint64;
  if constexpr (std::is_same_v<T, float>) return Type::float32;
  if constexpr (std::is_same_v<T, double>) return Type::float64;
}

/// The compile-time facts of a field. Plain pointers to constants, so a table of these needs no
/// code to build; one type for all structs, so that one function makes FieldInfos of them
/// (list_fields).
struct FieldData {
  static constexpr int kNames = 8, kExtents = 4;
  const char *name, *unit, *doc;
  const char* names[kNames];  // names of the choices, null-terminated
  const char* table;          // the table that the values index; null: none
  bool is_of_reset;           // only a reset reads it
  double low, high;
  int choices;
  Type type;  // of an element
  int rank;   // number of extents of an array; 0: a scalar
  int64_t extents[kExtents];
  int64_t bytes;
};
/// From the outermost on, as NumPy counts them: `float a[2][3]` has shape (2, 3).
template <class M>
constexpr void append_extents(FieldData& data) {
  if constexpr (std::is_array_v<M>) {
    static_assert(std::rank_v<M> <= FieldData::kExtents, "GE: a field has at most 4 dimensions");
    data.extents[data.rank++] = int64_t(std::extent_v<M>);
    append_extents<std::remove_extent_t<M>>(data);
  }
}
template <class C, class M>
constexpr FieldData field_data(const Field<C, M>& field) {
  static_assert(Field<C, M>::kNames == FieldData::kNames);
  FieldData data{};
  data.name = field.name, data.unit = field.unit, data.doc = field.doc;
  for (int k = 0; k < FieldData::kNames; ++k) data.names[k] = field.names[k];
  data.low = field.low, data.high = field.high, data.choices = field.choices;
  data.table = field.table;
  data.is_of_reset = field.is_of_reset;
  append_extents<M>(data);
  data.type = type_of<typename Field<C, M>::Element>();
  data.bytes = int64_t(sizeof(M));
  return data;
}
/// The described fields of C.
template <class C>
inline constexpr auto kFieldData = std::apply(
    [](auto... f) { return std::array<FieldData, sizeof...(f)>{field_data(f)...}; }, C::describe());

/// Lists `count` fields, which lie at `at[k]` in the struct at `owner`. defaults: the values of
/// scalars and texts there are defaults to print. Offsets come from a live struct, by subtraction:
/// C++ has none for a pointer to member.
std::vector<FieldInfo> list_fields(const FieldData* fields, size_t count, const void* owner,
                                   const void* const* at, bool defaults);

/// The fields of C. defaults: the values of a C{} are defaults to print (parameters, options).
template <class C>
GE_COLD std::vector<FieldInfo> field_infos(bool defaults = false) {
  const C sample{};
  return std::apply(
      [&](auto... f) {
        // The null is never read: without it the list of a struct without fields would be empty.
        const void* const at[] = {static_cast<const void*>(&(sample.*(f.member)))..., nullptr};
        return list_fields(kFieldData<C>.data(), sizeof...(f), &sample, at, defaults);
      },
      C::describe());
}

/// Sets the named fields of a described struct; unknown names, wrong types and values out of range
/// are refused by name. `kind` is the word for messages: "parameter", "reset option".
void set_fields(void* target, const std::vector<FieldInfo>& infos, const Values& values,
                const char* kind);

/// Throws if there is a problem: "parameters: it".
void refuse_problem(const char* kind, const char* problem);

/// Makes a C from named values; `const char* problem() const` may refuse combinations that no
/// single field can.
template <class C>
GE_COLD C from_values(const Values& values, const char* kind) {
  C made{};
  set_fields(&made, field_infos<C>(true), values, kind);
  if constexpr (requires { made.problem(); }) refuse_problem(kind, made.problem());
  return made;
}

/// A number as a person writes it: 0.5, 3, 1e+09.
std::string spelled(double value);
/// JSON of a list of fields, of a string, and of a field's value in a struct.
std::string json(const std::vector<FieldInfo>& infos);
std::string json(const std::string& text);
/// null where the number is infinite or NaN.
std::string json_number(double value);
std::string json_value(const FieldInfo& info, const void* owner);

}  // namespace ge
