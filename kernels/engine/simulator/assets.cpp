// See assets.hpp.
#include "engine/simulator/assets.hpp"

#include <cstdlib>
#include <cstring>

#include "engine/base/types.hpp"
#include "engine/maths/blake2b.hpp"
#include "engine/simulator/files.hpp"

namespace ge {

namespace {

std::string type_text(const AssetArray& array) {
  std::string text;
  for (const FieldInfo& field : array.fields) {
    text += field.name + ":" + name_of(field.type);
    for (const int64_t extent : field.shape) text += "x" + std::to_string(extent);
    text += ";";
  }
  return text;
}

/// The k-th asset of a struct that holds only assets. All Assets have the same layout, one address
/// each, whatever they point to; by memcpy, since they were made as assets of other types.
Asset<char> asset_at(const void* assets, size_t k) {
  Asset<char> one;
  std::memcpy(&one, static_cast<const char*>(assets) + k * sizeof one, sizeof one);
  return one;
}

}  // namespace

// ---- the shelf

AssetShelf::AssetShelf(std::vector<AssetArray> arrays, bool has_files)
    : arrays_(std::move(arrays)), has_files_(has_files) {
  Blake2b hash(16);
  for (const AssetArray& array : arrays_) {
    const std::string head =
        array.name + " " + type_text(array) + " " + std::to_string(array.count) + "\n";
    hash.update(head.data(), head.size());
    hash.update(array.memory.get(), size_t(array.bytes()));
    bytes_ += round_up(array.bytes(), kAlignment);
  }
  hash_ = hash.hex_digest();
}

std::vector<uint8_t> AssetShelf::packed() const {
  std::vector<uint8_t> block(static_cast<size_t>(bytes_));
  int64_t at = 0;
  for (const AssetArray& array : arrays_) {
    std::memcpy(block.data() + at, array.memory.get(), size_t(array.bytes()));
    at += round_up(array.bytes(), kAlignment);
  }
  return block;
}

const AssetArray& AssetShelf::array_at(const void* address, int64_t& offset) const {
  offset = 0;
  for (const AssetArray& array : arrays_) {
    if (array.memory.get() == address) return array;
    offset += round_up(array.bytes(), kAlignment);
  }
  throw Error(Fault::runtime, "assets: a member of Assets is not an array that was made");
}

void AssetShelf::move(void* assets, size_t count, const void* block) const {
  for (size_t k = 0; k < count; ++k) {
    Asset<char> one = asset_at(assets, k);
    int64_t offset;
    array_at(one.at, offset);
    one.at = static_cast<const char*>(block) + offset;
    std::memcpy(static_cast<char*>(assets) + k * sizeof one, &one, sizeof one);
  }
}

void AssetShelf::check(const void* assets, size_t count) const {
  int64_t offset;
  for (size_t k = 0; k < count; ++k) array_at(asset_at(assets, k).at, offset);
}

// ---- the maker

void AssetMaker::refuse(const std::string& why) const {
  throw Error(Fault::value, id_ + ": assets: " + why);
}

void* AssetMaker::add(const std::string& name, std::vector<FieldInfo> fields, int64_t element_bytes,
                      int64_t count) {
  if (count < 1) refuse(name + " needs at least one element, got " + std::to_string(count));
  for (const AssetArray& array : arrays_)
    if (array.name == name) refuse("two arrays are called " + name);
  const int64_t bytes = round_up(element_bytes * count, AssetShelf::kAlignment);
  void* const memory = std::aligned_alloc(size_t(AssetShelf::kAlignment), size_t(bytes));
  if (memory == nullptr)
    throw Error(Fault::memory, id_ + ": assets: the system gave no " + std::to_string(bytes) +
                                   " bytes for " + name);
  // Also zeroes the padding up to the alignment: it goes to a GPU with the rest.
  std::memset(memory, 0, size_t(bytes));
  arrays_.push_back(
      {name, std::move(fields), element_bytes, count, {static_cast<char*>(memory), &std::free}});
  return memory;
}

std::span<const std::byte> AssetMaker::file(const std::string& name) {
  // A name may come from a parameter, so it may not lead out of the folder.
  if (name.empty() || name[0] == '.' || name.find_first_of("/\\") != std::string::npos)
    refuse("'" + name + "' is not a plain file name in data/");
  const auto found = data_.by_name.find(name);
  if (found == data_.by_name.end()) {
    std::string known;
    for (const auto& [other, file] : data_.by_name) known += (known.empty() ? "" : ", ") + other;
    refuse("the file '" + name + "' is not in data/ beside the header, which " +
           (known.empty() ? "has no files" : "has " + known));
  }
  files_.push_back(content_of(found->second));
  return files_.back();
}

std::string AssetMaker::user_text(const std::string& path, size_t most) {
  std::vector<std::byte> content;
  const std::string problem = read_file(path, content, most + 1);
  const std::string name = "the file '" + path.substr(0, path.find('\0')) + "' ";
  if (!problem.empty()) refuse(name + problem);
  if (content.size() > most) refuse(name + "is longer than " + std::to_string(most) + " bytes");
  has_user_files_ = true;
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

std::vector<std::byte> AssetMaker::content_of(const DataFile& file) const {
  std::vector<std::byte> content;
  std::string problem = read_file(file.path, content);
  // Hashes the bytes that were read, so an edit between a check of the file and the read is caught.
  if (problem.empty() &&
      Blake2b(16).update(content.data(), content.size()).hex_digest() != file.hash)
    problem = "is damaged: its content is not the one on the label of its module";
  if (!problem.empty()) refuse("the file '" + file.path + "' " + problem + ": " + data_.remedy);
  return content;
}

void AssetMaker::check_values(const AssetArray& array) const {
  for (const FieldInfo& field : array.fields) {
    const double low = field.type == Type::boolean ? 0 : field.low,
                 high = field.type == Type::boolean ? 1 : field.high;
    // Any value is legal: skip the walk over large tables of numbers.
    if (low == -kUnbounded && high == kUnbounded) continue;
    const int64_t each = field.bytes / field.elements();
    for (int64_t k = 0; k < array.count; ++k)
      for (int64_t e = 0; e < field.elements(); ++e) {
        const double value = number_at(
            field.type, array.memory.get() + k * array.element_bytes + field.offset + e * each);
        if (!(value >= low && value <= high))
          refuse(array.name + "[" + std::to_string(k) + "]" +
                 (field.name.empty() ? "" : "." + field.name) + " is described from " +
                 spelled(low) + " to " + spelled(high) + ", got " + spelled(value));
      }
  }
}

std::shared_ptr<const AssetShelf> AssetMaker::finish() {
  for (const AssetArray& array : arrays_) check_values(array);
  return std::make_shared<const AssetShelf>(std::move(arrays_), !files_.empty() || has_user_files_);
}

}  // namespace ge
