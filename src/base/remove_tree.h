// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace base {

// A directory of ours with all below, as far as it goes. Who filled it may have taken its own rights away;
// nothing of that runs any more. Follows no link.
void remove_tree(const std::string& path);

}  // namespace base
