// SPDX-License-Identifier: MIT
// The lists of share/review, arranged so that a project of a million files is checked in about a second: one
// search in a sorted list excludes most names.
#pragma once

#include <string_view>
#include <vector>

#include "config/data.h"
#include "review/review.h"

namespace review {

class Names {
  public:
    Names();

    struct Match {
        Kind kind = Kind::build;
        const config::DataRow* row = nullptr;  // null: on no list
    };
    // For the file at `relative`, a path from the project's root that ends with `name`.
    Match find(std::string_view relative, std::string_view name) const;

    // For a symbolic link: whether an entry of a list is below that path.
    Match find_below(std::string_view relative) const;

  private:
    struct Row {
        std::string_view key;  // a whole name, or the first component of a path
        Match match;
    };
    std::vector<Row> exact_;    // names without a wildcard, sorted
    std::vector<Match> globs_;  // names with one
    std::vector<Row> paths_;    // paths, sorted by their first component
};

}  // namespace review
