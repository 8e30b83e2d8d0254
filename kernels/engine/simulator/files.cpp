// See files.hpp: files of a host.
#include "engine/simulator/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace ge {

std::string read_file(const std::string& path, std::vector<std::byte>& content, size_t most) {
  std::error_code none;
  if (path.find('\0') != std::string::npos || !std::filesystem::exists(path, none))
    return "is missing";
  if (!std::filesystem::is_regular_file(path, none)) return "is not a regular file";
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::string("cannot be read (") + std::strerror(errno) + ")";
  std::byte some[1 << 16];
  for (size_t got; most > 0 && (got = std::fread(some, 1, std::min(sizeof some, most), file)) > 0;
       most -= got)
    content.insert(content.end(), some, some + got);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  return failed ? "cannot be read" : "";
}

}  // namespace ge
