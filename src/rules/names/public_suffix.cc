// SPDX-License-Identifier: MIT
#include "rules/names/public_suffix.h"

#include <string>
#include <unordered_set>

#include "config/data.h"

namespace network {
namespace {

const std::unordered_set<std::string_view>& rows() {
    static const std::unordered_set<std::string_view> known = [] {
        std::unordered_set<std::string_view> entries;
        for (const config::DataRow& row : config::data_list("network/public_suffixes"))
            entries.insert(row.entry);
        return entries;
    }();
    return known;
}

}  // namespace

bool is_public_suffix(std::string_view suffix) {
    size_t dot = suffix.find('.');
    if (dot == std::string_view::npos || rows().contains(suffix)) return true;
    // A star in a row stands for one label: s3.*.amazonaws.com.
    for (size_t start = 0; start != std::string_view::npos;) {
        size_t end = suffix.find('.', start);
        std::string starred(suffix.substr(0, start));
        starred += '*';
        if (end != std::string_view::npos) starred += suffix.substr(end);
        if (rows().contains(starred)) return true;
        start = end == std::string_view::npos ? end : end + 1;
    }
    return false;
}

}  // namespace network
