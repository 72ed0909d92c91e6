// SPDX-License-Identifier: MIT
// A three-way merge of texts. Makes no system calls.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace diff {

// The text with the changes of both sides since `base`. Nothing: both changed the same lines, or lines next
// to each other, in different ways.
std::optional<std::string> merge(std::string_view base, std::string_view one, std::string_view other);

}  // namespace diff
