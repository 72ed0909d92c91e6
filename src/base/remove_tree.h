// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace base {

// Removes a directory of ours with everything below, as far as possible. A process that filled it may have
// removed its permissions; all such processes have exited. Follows no link.
void remove_tree(const std::string& path);

}  // namespace base
