// Making assets (world/assets.hpp): arrays by name, data files, and what is derived from them: one
// hash for saves, a size for memory checks, addresses for the machine that runs.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/described/field_info.hpp"
#include "engine/simulator/simulator.hpp"
#include "engine/world/assets.hpp"

namespace ge {

/// One array: described elements side by side.
/// The memory is owned by a pointer with a function for its deleter, since it comes from
/// aligned_alloc; it does not move when the array does, so addresses handed out stay.
struct AssetArray {
  std::string name;
  std::vector<FieldInfo> fields;  // of an element; a single one without a name for plain numbers
  int64_t element_bytes, count;
  std::unique_ptr<char, void (*)(void*)> memory;
  int64_t bytes() const { return element_bytes * count; }
};

/// The assets of one simulator, on the host.
/// Immutable once made, and shared: a plan that is copied holds on to the same arrays.
class AssetShelf {
 public:
  AssetShelf(std::vector<AssetArray> arrays, bool has_files);

  int64_t bytes() const { return bytes_; }
  const std::vector<AssetArray>& arrays() const { return arrays_; }
  /// Hash of names, types and contents: the same on every machine.
  const std::string& hash() const { return hash_; }
  /// Whether some part came from a file, so that the parameters do not determine all assets.
  bool has_files() const { return has_files_; }

  /// All arrays in one block, each at a multiple of kAlignment: the copy for a GPU.
  static constexpr int64_t kAlignment = 256;
  std::vector<uint8_t> packed() const;
  /// Replaces the host addresses in a struct of `count` Assets by those in that block.
  void move(void* assets, size_t count, const void* block) const;
  /// Throws unless each of `count` Assets is one of these arrays.
  void check(const void* assets, size_t count) const;

 private:
  // An asset is identified by its address, so one that points into the middle of an array is
  // refused.
  const AssetArray& array_at(const void* address, int64_t& offset) const;

  std::vector<AssetArray> arrays_;
  bool has_files_;
  int64_t bytes_ = 0;
  std::string hash_;
};

/// Makes the arrays in `make_assets`.
class AssetMaker {
 public:
  AssetMaker(std::string id, const DataFiles& data) : id_(std::move(id)), data_(data) {}

  /// `count` elements of zeros, to be filled before `make_assets` returns; at least one. T is a
  /// number or a described struct, whose ranges are checked when it is filled.
  template <class T>
  std::span<T> array(const char* name, int64_t count) {
    void* const memory = add(name, fields_of<T>(), int64_t(sizeof(T)), count);
    return {static_cast<T*>(memory), size_t(count)};
  }
  /// The bytes of a data file in `data/` beside the header; integers in it are little-endian on
  /// every machine. Throws if the content does not have the hash on its label.
  std::span<const std::byte> file(const std::string& name);
  /// The text in a file of the user's, at most `most` bytes. A parameter names it; saves carry the
  /// hash of what was made of it.
  std::string user_text(const std::string& path, size_t most);
  /// Throws: "SokobanX: assets: why".
  [[noreturn]] void refuse(const std::string& why) const;

  std::shared_ptr<const AssetShelf> finish();

 private:
  template <class T>
  static std::vector<FieldInfo> fields_of() {
    if constexpr (Described<T>) {
      // No padding, so that the hash of its bytes is the same on every machine.
      static_assert(Checked<T>::value);
      return field_infos<T>();
    } else {
      static_assert(std::is_arithmetic_v<T>, "GE: an asset is of numbers or of a described struct");
      FieldInfo info{};
      info.type = type_of<T>();
      info.low = -kUnbounded, info.high = kUnbounded;
      info.bytes = int64_t(sizeof(T));
      return {info};
    }
  }
  void* add(const std::string& name, std::vector<FieldInfo> fields, int64_t element_bytes,
            int64_t count);
  void check_values(const AssetArray& array) const;

  std::vector<std::byte> content_of(const DataFile& file) const;

  std::string id_;
  const DataFiles& data_;
  std::vector<AssetArray> arrays_;
  bool has_user_files_ = false;
  // Vectors move as the list grows, but their bytes do not: spans of them stay valid.
  std::vector<std::vector<std::byte>> files_;
};

/// The assets of a Schema, if it has any; `assets` holds their addresses on the host.
template <class S, class Settings, class Params>
GE_COLD std::shared_ptr<const AssetShelf> make_assets([[maybe_unused]] const std::string& id,
                                                      [[maybe_unused]] const DataFiles& data,
                                                      [[maybe_unused]] const Settings& settings,
                                                      [[maybe_unused]] const Params& params,
                                                      [[maybe_unused]]
                                                      typename AssetsOf<S>::type& assets) {
  if constexpr (has_assets<S>) {
    AssetMaker make(id, data);
    if constexpr (requires { S::make_assets(settings, params, make); })
      assets = S::make_assets(settings, params, make);
    else
      assets = S::make_assets(params, make);
    auto shelf = make.finish();
    shelf->check(&assets, sizeof assets / sizeof(Asset<char>));
    return shelf;
  } else {
    return nullptr;
  }
}

}  // namespace ge
