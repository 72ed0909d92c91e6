// SPDX-License-Identifier: MIT
// Keys as terminals send them.
#pragma once

#include <string_view>
#include <vector>

namespace monitor {

enum class Key { up, down, approve, deny, stop, help, quit, yes, no };

// Other bytes are skipped. A sequence that is cut in two is lost; users press keys one at a time.
std::vector<Key> keys_in(std::string_view bytes);

}  // namespace monitor
