// SPDX-License-Identifier: MIT
#include "base/result.h"

#include <cstring>

namespace base {

std::string Error::line() const {
    std::string text;
    if (!where.empty()) text += where + ": ";
    text += what;
    if (!advice.empty()) text += "; " + advice;
    return text;
}

Error system_error(std::string attempt, int number) {
    return Error{.what = "cannot " + std::move(attempt) + ": " + std::strerror(number)};
}

}  // namespace base
