// The contents of a simulator's worlds in Python: columns as arrays, records and saves as bytes,
// hashes as text, faults as a dictionary.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/actions.hpp"
#include "bindings/options.hpp"
#include "bindings/outputs.hpp"
#include "engine/simulator/assets.hpp"
#include "engine/simulator/records.hpp"

namespace ge::python {

namespace py = pybind11;

/// The shape of an array that holds a column of `worlds` worlds.
inline std::vector<py::ssize_t> shape_of(const Column& column, int64_t worlds) {
  std::vector<py::ssize_t> shape{worlds, column.rows};
  shape.insert(shape.end(), column.shape.begin(), column.shape.end());
  return shape;
}
inline std::string text_of(const std::vector<py::ssize_t>& shape) {
  std::string text;
  for (const py::ssize_t extent : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "(" + text + ")";
}

inline py::array column_of(Simulator& simulator, const std::string& name) {
  const Column& column = find_column(simulator, name);
  const auto shape = shape_of(column, simulator.worlds());
  // A copy: records are interleaved, and a GPU's are not in host memory.
  py::array out(dtype_of(column.type), shape);
  ge::get_column(simulator, column, out.mutable_data());
  return out;
}
inline void put_column(Simulator& simulator, const std::string& name, const py::array& values,
                       const py::object& worlds) {
  const Column& column = find_column(simulator, name);
  std::vector<int64_t> list;
  if (!worlds.is_none()) {
    list = worlds.cast<std::vector<int64_t>>();
    // An empty list means all worlds to the engine, but none to a caller.
    if (list.empty()) return;
  }
  const int64_t count = worlds.is_none() ? simulator.worlds() : int64_t(list.size());
  const auto shape = shape_of(column, count);
  // Nothing is converted here: simulator.py brings values into this very form first.
  const bool fits =
      values.dtype().is(dtype_of(column.type)) && (values.flags() & py::array::c_style) != 0 &&
      std::vector<py::ssize_t>(values.shape(), values.shape() + values.ndim()) == shape;
  if (!fits)
    throw Error(Fault::value, "set: column '" + name + "' needs a contiguous " +
                                  name_of(column.type) + " array of shape " + text_of(shape) +
                                  ", got " + py::str(values.dtype()).cast<std::string>() + " " +
                                  shape_of(values));
  ge::set_column(simulator, column, values.data(), list);
}

/// A copy of one array of the assets: of numbers, or of rows whose fields have names.
inline py::array asset_of(const AssetArray& array) {
  const std::vector<FieldInfo>& fields = array.fields;
  py::list names, formats, offsets;
  for (const FieldInfo& field : fields) {
    names.append(field.name);
    formats.append(py::make_tuple(dtype_of(field.type), py::tuple(py::cast(field.shape))));
    offsets.append(field.offset);
  }
  const bool is_plain = fields.size() == 1 && fields.front().name.empty();
  const py::dtype type = is_plain ? dtype_of(fields.front().type)
                                  : py::dtype(names, formats, offsets, array.element_bytes);
  py::array out(type, std::vector<py::ssize_t>{array.count});
  std::memcpy(out.mutable_data(), array.memory.get(), size_t(array.bytes()));
  return out;
}
inline py::dict assets_of(Simulator& simulator) {
  py::dict out;
  if (simulator.assets() != nullptr)
    for (const AssetArray& array : simulator.assets()->arrays())
      out[py::str(array.name)] = asset_of(array);
  return out;
}

inline void put_parameters(Simulator& simulator, const py::dict& changes,
                           const py::object& worlds) {
  ParameterChange change;
  if (read_change(change, changes, worlds)) simulator.set_parameters(change);
}

inline py::bytes records_of(Simulator& simulator, int64_t first, int64_t count) {
  // The simulator refuses a negative count, with a message.
  std::string bytes(size_t(count < 0 ? 0 : count * simulator.record_bytes()), '\0');
  simulator.read_records(first, count, bytes.data());
  return bytes;
}
inline void put_records(Simulator& simulator, int64_t first, const std::string& data) {
  const int64_t record = simulator.record_bytes();
  if (int64_t(data.size()) % record != 0)
    throw Error(Fault::value, "write_records: " + std::to_string(data.size()) +
                                  " bytes are not a whole number of records of " +
                                  std::to_string(record));
  simulator.write_records(first, int64_t(data.size()) / record, data.data());
}
inline void copy_worlds(Simulator& simulator, const std::vector<int64_t>& from,
                        const std::vector<int64_t>& to, bool reseed) {
  simulator.copy_worlds(from, to, reseed);
}

inline py::bytes save_of(Simulator& simulator, const std::optional<std::vector<int64_t>>& worlds) {
  return ge::save(simulator, worlds ? &*worlds : nullptr);
}
inline void load_save(Simulator& simulator, const py::bytes& data,
                      const std::optional<std::vector<int64_t>>& worlds) {
  // The bytes of the Python object itself: a save may be large, and a copy of it as large again.
  char* bytes = nullptr;
  py::ssize_t size = 0;
  if (PyBytes_AsStringAndSize(data.ptr(), &bytes, &size) != 0) throw py::error_already_set();
  ge::load(simulator, bytes, size, worlds ? &*worlds : nullptr);
}
inline std::pair<std::string, std::string> golden(Simulator& simulator, int steps, uint64_t seed,
                                                  bool clear_ended, int in_a_row, int parts) {
  const FinalRows final_rows = clear_ended ? FinalRows::clear_ended : FinalRows::zero;
  const Golden hashes = golden_run(simulator, steps, seed, final_rows, in_a_row, parts);
  return {hashes.records, hashes.outputs};
}

inline py::dict dict_of(const FaultReport& report) {
  py::list tables;
  for (const FaultReport::Table& table : report.tables) {
    py::dict one;
    one["name"] = table.name, one["dropped"] = table.dropped;
    one["needed"] = table.needed, one["capacity"] = table.capacity;
    tables.append(one);
  }
  py::dict out;
  out["bad_actions"] = report.bad_actions;
  out["first_bad_world"] = report.first_bad_world;
  out["first_bad_agent"] = report.first_bad_agent;
  out["illegal_actions"] = report.illegal_actions;
  out["first_illegal_world"] = report.first_illegal_world;
  out["first_illegal_agent"] = report.first_illegal_agent;
  out["frozen_steps"] = report.frozen_steps;
  out["lost_views"] = report.lost_views;
  out["first_lost_world"] = report.first_lost_world;
  out["first_lost_agent"] = report.first_lost_agent;
  out["tables"] = tables;
  return out;
}

}  // namespace ge::python
