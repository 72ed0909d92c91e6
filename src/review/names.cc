// SPDX-License-Identifier: MIT
#include "review/names.h"

#include <algorithm>

#include "base/path.h"

namespace review {
namespace {

struct NameList {
    std::string_view name;
    Kind kind;
};
constexpr NameList kLists[] = {
    {"review/start_up", Kind::start_up},
    {"review/pipelines", Kind::pipeline},
    {"review/build", Kind::build},
};

std::string_view first_component(std::string_view path) {
    return path.substr(0, path.find('/'));
}

// A pattern can match the name only if both ends agree, which excludes nearly all names.
bool ends_agree(std::string_view pattern, std::string_view name) {
    bool starts_open = pattern.front() == '*' || pattern.front() == '?';
    bool ends_open = pattern.back() == '*' || pattern.back() == '?';
    return (starts_open || pattern.front() == name.front()) && (ends_open || pattern.back() == name.back());
}

}  // namespace

Names::Names() {
    for (const NameList& list : kLists) {
        for (const config::DataRow& row : config::data_list(list.name)) {
            const Match match{list.kind, &row};
            if (row.entry.find('/') != row.entry.npos) {
                paths_.push_back({first_component(row.entry), match});
            } else if (base::has_wildcard(row.entry)) {
                globs_.push_back(match);
            } else {
                exact_.push_back({row.entry, match});
            }
        }
    }
    std::ranges::stable_sort(exact_, {}, &Row::key);
    std::ranges::stable_sort(paths_, {}, &Row::key);
}

Names::Match Names::find(std::string_view relative, std::string_view name) const {
    auto exact = std::ranges::lower_bound(exact_, name, {}, &Row::key);
    if (exact != exact_.end() && exact->key == name) return exact->match;
    // A start-up file also runs from a subdirectory, when that directory is opened as a project.
    for (std::string_view rest = relative;;) {
        auto [first, last] = std::ranges::equal_range(paths_, first_component(rest), {}, &Row::key);
        for (auto row = first; row != last; ++row) {
            bool counts = rest.size() == relative.size() || row->match.kind == Kind::start_up;
            if (counts && base::matches_path(row->match.row->entry, rest)) return row->match;
        }
        size_t slash = rest.find('/');
        if (slash == rest.npos) break;
        rest.remove_prefix(slash + 1);
    }
    for (const Match& match : globs_) {
        if (ends_agree(match.row->entry, name) && base::matches_name(match.row->entry, name)) return match;
    }
    return {};
}

Names::Match Names::find_below(std::string_view relative) const {
    auto [first, last] = std::ranges::equal_range(paths_, first_component(relative), {}, &Row::key);
    for (auto row = first; row != last; ++row) {
        std::string_view entry = row->match.row->entry;
        bool is_below = entry.starts_with(relative) && entry.substr(relative.size()).starts_with('/');
        if (is_below) return row->match;
    }
    return {};
}

}  // namespace review
