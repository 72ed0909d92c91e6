// SPDX-License-Identifier: MIT
// The lists of fields from which codec.h encodes and decodes.
#pragma once

#include <tuple>

namespace base {

struct NotListed {};
template <typename Type>
inline constexpr NotListed kFields{};
template <typename Type>
inline constexpr NotListed kLast{};

}  // namespace base
