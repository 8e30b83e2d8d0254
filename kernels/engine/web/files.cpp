// The files that a page has handed to its module, and how engine/simulator/files.hpp reads them.
#include "engine/web/files.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/simulator/files.hpp"

namespace ge {
namespace {

std::map<std::string, std::vector<std::byte>>& kept() {
  static std::map<std::string, std::vector<std::byte>> files;
  return files;
}

}  // namespace

void web::keep_file(const std::string& name, std::vector<std::byte> content) {
  kept()[name] = std::move(content);
}

std::string read_file(const std::string& path, std::vector<std::byte>& content, size_t most) {
  const auto found = kept().find(path);
  if (found == kept().end()) return "is missing";
  const std::vector<std::byte>& all = found->second;
  content.insert(content.end(), all.begin(),
                 all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size())));
  return "";
}

}  // namespace ge
