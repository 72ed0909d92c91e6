// SPDX-License-Identifier: MIT
// The programs that can build a jail, in the order of choice, and their names: the values of
// isolation.backend besides "auto". plan/backend.h has their traits.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace base {

enum class Backend { native, bwrap, firejail, landlock };

inline constexpr Backend kBackends[] = {Backend::native, Backend::bwrap, Backend::firejail,
                                        Backend::landlock};

constexpr std::string_view to_text(Backend backend) {
    switch (backend) {
        case Backend::native:
            return "native";
        case Backend::bwrap:
            return "bwrap";
        case Backend::firejail:
            return "firejail";
        case Backend::landlock:
            return "landlock";
    }
    return "";
}

inline Result<Backend> parse_backend(std::string_view name) {
    for (Backend backend : kBackends) {
        if (to_text(backend) == name) return backend;
    }
    return Error{.what = "'" + std::string(name) + "' is not a backend",
                 .advice = "write native, bwrap, firejail or landlock"};
}

}  // namespace base
