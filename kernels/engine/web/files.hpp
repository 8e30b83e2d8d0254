// The files that a page has handed to its module.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ge::web {

/// Keeps a file under a name; an earlier one of this name is forgotten.
void keep_file(const std::string& name, std::vector<std::byte> content);

}  // namespace ge::web
