// Files of the machine that a simulator is made on. A web page has none: there files are what the
// page has handed over before, by path (engine/web/files.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ge {

/// Appends the first `most` bytes of a file. Returns what is wrong with the file, such as "is
/// missing", or nothing. Only regular files are read: a pipe would keep its reader waiting, and a
/// device may have no end.
std::string read_file(const std::string& path, std::vector<std::byte>& content,
                      size_t most = std::numeric_limits<size_t>::max());

}  // namespace ge
