// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace differential {

// The lines that the walker said in one of two jails alone. Empty: the jails are equal, but for what the
// table in compare.cc allows.
std::string differences(std::string_view first, std::string_view second);

}  // namespace differential
