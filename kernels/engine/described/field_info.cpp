// See field_info.hpp.
#include "engine/described/field_info.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace ge {

double number_at(Type type, const void* at) {
  // By memcpy: the address may be any byte of a record, so neither aligned nor of a T.
  const auto read = [at]<class T>(Type_<T>) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return double(value);
  };
  switch (type) {
    case Type::int8:
      return read(Type_<int8_t>{});
    case Type::boolean:
    case Type::uint8:
      return read(Type_<uint8_t>{});
    case Type::uint16:
      return read(Type_<uint16_t>{});
    case Type::int64:
      return read(Type_<int64_t>{});
    case Type::uint32:
      return read(Type_<uint32_t>{});
    case Type::uint64:
      return read(Type_<uint64_t>{});
    case Type::float32:
      return read(Type_<float>{});
    case Type::float64:
      return read(Type_<double>{});
    default:
      return read(Type_<int32_t>{});
  }
}

void put_number(Type type, void* at, double value) {
  const auto put = [&]<class T>(Type_<T>) {
    const T own = T(value);
    std::memcpy(at, &own, sizeof own);
  };
  switch (type) {
    case Type::float32:
      return put(Type_<float>{});
    case Type::float64:
      return put(Type_<double>{});
    default:
      return put(Type_<int32_t>{});
  }
}

namespace {

FieldInfo described(const FieldData& field) {
  FieldInfo info{};
  info.name = field.name;
  info.unit = field.unit;
  info.doc = field.doc;
  info.low = field.low;
  info.high = field.high;
  info.choices = field.choices;
  info.type = field.type;
  info.shape.assign(field.extents, field.extents + field.rank);
  for (const char* name : field.names)
    if (name != nullptr) info.names.push_back(name);
  info.bytes = field.bytes;
  if (field.table != nullptr) info.table = field.table;
  info.is_of_reset = field.is_of_reset;
  return info;
}

}  // namespace

std::vector<FieldInfo> list_fields(const FieldData* fields, size_t count, const void* owner,
                                   const void* const* at, bool defaults) {
  std::vector<FieldInfo> all;
  all.reserve(count);
  for (size_t k = 0; k < count; ++k) {
    const FieldData& field = fields[k];
    FieldInfo info = described(field);
    info.offset = static_cast<const char*>(at[k]) - static_cast<const char*>(owner);
    if (field.type == Type::text) {
      info.has_default = defaults;
      info.default_text = *static_cast<const std::string*>(at[k]);
    } else if (field.rank == 0) {
      info.has_default = defaults;
      info.default_value = number_at(field.type, at[k]);
    }
    all.push_back(std::move(info));
  }
  return all;
}

void refuse_problem(const char* kind, const char* problem) {
  if (problem != nullptr) throw Error(Fault::value, std::string(kind) + "s: " + problem);
}

// Nine digits distinguish any two floats.
std::string spelled(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// JSON has no infinity and no NaN, so a missing bound is null. Seventeen digits distinguish any two
// doubles; whole numbers below 1e15 are exact and printed as integers.
std::string json_number(double value) {
  if (std::isinf(value) || std::isnan(value)) return "null";
  char text[40];
  if (value == std::floor(value) && std::fabs(value) < 1e15)
    std::snprintf(text, sizeof text, "%.0f", value);
  else
    std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

namespace {

/// As Python spells it, since messages are read there.
std::string shown(const Value& value) {
  struct Show {
    std::string operator()(bool v) const { return v ? "True" : "False"; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const {
      return std::isnan(v) ? "nan" : json_number(v) == "null" ? "inf" : json_number(v);
    }
    std::string operator()(const std::string& v) const { return "'" + v + "'"; }
  };
  return std::visit(Show{}, value);
}

std::string range_of(const FieldInfo& info) {
  const bool low = !std::isinf(info.low), high = !std::isinf(info.high);
  if (low && high) return " from " + json_number(info.low) + " to " + json_number(info.high);
  if (low) return " of at least " + json_number(info.low);
  if (high) return " of at most " + json_number(info.high);
  return "";
}

[[noreturn]] void refuse(Fault fault, const char* kind, const FieldInfo& info, const Value& value) {
  const bool whole = info.type != Type::float32 && info.type != Type::float64;
  std::string wanted = info.type == Type::boolean ? "True or False"
                       : info.type == Type::text  ? "a text"
                       : whole                    ? "a whole number"
                                                  : "a number";
  wanted += range_of(info);
  if (!info.names.empty()) {
    wanted = "one of";
    for (const std::string& name : info.names)
      wanted += (name == info.names.front() ? " '" : ", '") + name + "'";
  }
  throw Error(fault, std::string(kind) + " '" + info.name + "' must be " + wanted + ", got " +
                         shown(value));
}

/// T has to be the field's own type: that many bytes are written.
template <class T>
void put(void* target, const FieldInfo& info, T value) {
  std::memcpy(static_cast<char*>(target) + info.offset, &value, sizeof value);
}

void set_field(void* target, const FieldInfo& info, const Value& value, const char* kind) {
  const std::string* const text = std::get_if<std::string>(&value);
  if (info.type == Type::text) {
    if (text == nullptr) refuse(Fault::type, kind, info, value);
    *reinterpret_cast<std::string*>(static_cast<char*>(target) + info.offset) = *text;
    return;
  }
  // A choice with names is an int32_t (Field::named), and accepts its number as well as its name.
  if (text != nullptr && !info.names.empty()) {
    for (size_t k = 0; k < info.names.size(); ++k)
      if (info.names[k] == *text) return put(target, info, int32_t(k));
    refuse(Fault::value, kind, info, value);
  }
  if (info.type == Type::boolean) {
    if (const bool* flag = std::get_if<bool>(&value)) return put(target, info, *flag);
    if (const int64_t* n = std::get_if<int64_t>(&value); n != nullptr && (*n == 0 || *n == 1))
      return put(target, info, *n == 1);
    refuse(Fault::type, kind, info, value);
  }
  double x = 0;
  if (const int64_t* n = std::get_if<int64_t>(&value)) {
    x = double(*n);
  } else if (const double* d = std::get_if<double>(&value)) {
    x = *d;
  } else {
    refuse(Fault::type, kind, info, value);
  }
  // 3.0 is welcome as a whole number, 3.5 is not. Numbers pass through double, which is exact for
  // whole ones up to 2^53.
  const bool floating = info.type == Type::float32 || info.type == Type::float64;
  if (!floating && x != std::floor(x)) refuse(Fault::type, kind, info, value);
  // Written so that NaN is refused too.
  if (!(x >= info.low && x <= info.high) || std::isinf(x)) refuse(Fault::value, kind, info, value);
  switch (info.type) {
    case Type::float32:
      return put(target, info, float(x));
    case Type::float64:
      return put(target, info, x);
    case Type::int64:
      return put(target, info, int64_t(x));
    case Type::uint32:
      if (x < 0 || x > 4294967295.0) refuse(Fault::value, kind, info, value);
      return put(target, info, uint32_t(x));
    case Type::uint64:
      if (x < 0 || x >= 0x1p64) refuse(Fault::value, kind, info, value);
      return put(target, info, uint64_t(x));
    case Type::uint8:
      if (x < 0 || x > 255) refuse(Fault::value, kind, info, value);
      return put(target, info, uint8_t(x));
    default:
      if (x < -2147483648.0 || x > 2147483647.0) refuse(Fault::value, kind, info, value);
      return put(target, info, int32_t(x));
  }
}

}  // namespace

void set_fields(void* target, const std::vector<FieldInfo>& infos, const Values& values,
                const char* kind) {
  for (const auto& [name, value] : values) {
    // A handful of names, once per simulator or reset: a map would cost more than it saves.
    const FieldInfo* found = nullptr;
    for (const FieldInfo& info : infos)
      if (info.name == name) found = &info;
    if (found == nullptr) {
      std::string known;
      for (const FieldInfo& info : infos) known += (known.empty() ? "" : ", ") + info.name;
      throw Error(Fault::type, std::string("unknown ") + kind + " '" + name + "'; there " +
                                   (infos.empty()       ? "are none"
                                    : infos.size() == 1 ? "is: " + known
                                                        : "are: " + known));
    }
    set_field(target, *found, value, kind);
  }
}

// Bytes from 0x20 on pass as they are: texts are UTF-8, and so is JSON.
std::string json(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

namespace {
template <class T>
T value_at(const FieldInfo& info, const void* owner) {
  T value;
  std::memcpy(&value, static_cast<const char*>(owner) + info.offset, sizeof value);
  return value;
}
std::string shortest(const char* format, double value) {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
}  // namespace

// The value of a simulator is printed exactly (%.9g of a float, %.17g of a double), unlike a
// default: saves are compared by it.
std::string json_value(const FieldInfo& info, const void* owner) {
  if (!info.names.empty()) {
    const auto k = size_t(value_at<int32_t>(info, owner));
    return k < info.names.size() ? json(info.names[k]) : "null";
  }
  switch (info.type) {
    case Type::text:
      return json(
          *reinterpret_cast<const std::string*>(static_cast<const char*>(owner) + info.offset));
    case Type::boolean:
      return value_at<bool>(info, owner) ? "true" : "false";
    case Type::float32:
      return shortest("%.9g", double(value_at<float>(info, owner)));
    case Type::float64:
      return shortest("%.17g", value_at<double>(info, owner));
    case Type::uint8:
      return std::to_string(value_at<uint8_t>(info, owner));
    case Type::int64:
      return std::to_string(value_at<int64_t>(info, owner));
    case Type::uint32:
      return std::to_string(value_at<uint32_t>(info, owner));
    case Type::uint64:
      return std::to_string(value_at<uint64_t>(info, owner));
    default:
      return std::to_string(value_at<int32_t>(info, owner));
  }
}

std::string json(const std::vector<FieldInfo>& infos) {
  std::string out = "[";
  for (const FieldInfo& info : infos) {
    if (out.size() > 1) out += ", ";
    std::string shape;
    for (const int64_t extent : info.shape)
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    std::string value = "null";
    if (info.has_default)
      value = info.type == Type::boolean ? (info.default_value != 0 ? "true" : "false")
              : info.type == Type::text  ? json(info.default_text)
              : info.names.empty()       ? json_number(info.default_value)
                                         : json(info.names[size_t(info.default_value)]);
    std::string names;
    for (const std::string& name : info.names) names += (names.empty() ? "" : ", ") + json(name);
    out += "{\"name\": " + json(info.name) +
           ", \"type\": " + json(std::string(info.names.empty() ? name_of(info.type) : "string")) +
           (names.empty() ? "" : ", \"names\": [" + names + "]") + ", \"shape\": [" + shape +
           "], \"low\": " + json_number(info.low) + ", \"high\": " + json_number(info.high) +
           ", \"choices\": " + (info.choices > 0 ? std::to_string(info.choices) : "null") +
           (info.varies
                ? std::string(", \"by_world\": \"") + (info.is_of_reset ? "reset" : "step") + "\""
                : std::string()) +
           ", \"default\": " + value + ", \"unit\": " + json(info.unit) +
           ", \"doc\": " + json(info.doc) + "}";
  }
  return out + "]";
}

}  // namespace ge
