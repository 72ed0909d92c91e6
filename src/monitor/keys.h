// SPDX-License-Identifier: MIT
// Keys as terminals send them.
#pragma once

#include <string_view>
#include <vector>

namespace monitor {

enum class Key { up, down, approve, deny, stop, help, quit, yes, no };

// What is none of them is passed over. A sequence that is cut in two is lost; keys are pressed one at a time.
std::vector<Key> keys_in(std::string_view bytes);

}  // namespace monitor
