// SPDX-License-Identifier: MIT
#include "base/entries.h"

#include <string_view>

namespace base {

bool visit_entries(int directory, const std::function<bool(const struct dirent64&)>& visit) {
    alignas(struct dirent64) char bytes[32768];
    for (ssize_t got; (got = ::getdents64(directory, bytes, sizeof bytes)) != 0;) {
        if (got < 0) return false;
        for (ssize_t at = 0; at < got;) {
            const auto* entry = reinterpret_cast<const struct dirent64*>(bytes + at);
            at += entry->d_reclen;
            std::string_view name = entry->d_name;
            if (name != "." && name != ".." && !visit(*entry)) return true;
        }
    }
    return true;
}

}  // namespace base
