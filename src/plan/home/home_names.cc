// SPDX-License-Identifier: MIT
#include "plan/home/home_names.h"

#include <algorithm>

#include "base/glob.h"

namespace plan {
namespace {

const host::Entry* find_name(const std::vector<host::Entry>& entries, std::string_view name) {
    auto found = std::ranges::lower_bound(
        entries, name, {}, [](const host::Entry& entry) -> std::string_view { return entry.name; });
    return found != entries.end() && found->name == name ? &*found : nullptr;
}

}  // namespace

bool HomeNames::may_exist(std::string_view relative) const {
    size_t slash = relative.find('/');
    std::string_view first = relative.substr(0, slash);
    if (base::has_wildcard(first)) return true;
    const host::Entry* entry = find_name(tree_.list(home_), first);
    if (entry == nullptr) return false;
    if (slash == std::string_view::npos) return true;
    std::string_view rest = relative.substr(slash + 1);
    std::string_view second = rest.substr(0, rest.find('/'));
    // A link leads elsewhere: then the caller has to resolve the path.
    if (second.empty() || entry->kind != host::Kind::directory || base::has_wildcard(second)) return true;
    const std::vector<host::Entry>& entries = tree_.list(home_ / first);
    // An empty list may mean that the directory's mode keeps the caller out, and the jail could change the
    // mode.
    return entries.empty() || find_name(entries, second) != nullptr;
}

}  // namespace plan
