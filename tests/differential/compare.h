// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace differential {

// The lines that the walker printed in only one of two jails. Empty: the jails are equal, except for what the
// table in compare.cc allows.
std::string differences(std::string_view first, std::string_view second);

}  // namespace differential
