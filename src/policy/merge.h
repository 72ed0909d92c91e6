// SPDX-License-Identifier: MIT
// Layers in, effective settings out. The rule of its row (config::Order) decides how a key is merged. The
// administrator's layer is a ceiling: a value of a lower layer beyond it is refused with both origins named.
// The law
//     merge(admin, others) is never wider than admin
// is a property test over generated layers (tests/policy/law_test.cc).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "config/files/sources.h"
#include "config/layer.h"
#include "config/value.h"
#include "policy/entry_match.h"

namespace policy {

struct Layers {
    std::vector<config::LayerFile> admin;
    std::vector<config::LayerFile> profile;  // of the agent that is run
    std::vector<config::LayerFile> user;
    std::vector<config::ProjectFile> project;
    std::vector<config::LayerFile> preset;
    config::Values variables;
    config::Values command_line;
};

// Every key of the table with its effective value; scalars in `text`, lists in `items` with the origin of
// each entry.
struct Effective {
    config::Values values;
    std::vector<std::string> warnings;  // entries that were removed or have no effect, one line each
    std::vector<ClosedGrant> closed;    // entries of the administrator that the ceiling itself closes

    const std::string& text(std::string_view key) const;
    bool is_true(std::string_view key) const { return text(key) == "true"; }
    const std::vector<config::Item>& items(std::string_view key) const;
    const config::Origin& origin(std::string_view key) const;
};

// How entries become comparable: ~ and home entries become absolute paths below `home`, and `canonical`
// follows symbolic links, so that another spelling of a path can't bypass the administrator's entry.
struct PathMeaning {
    base::Path home;
    std::function<base::Path(const base::Path&)> canonical;
};

base::Result<Effective> merge(const Layers& layers, const PathMeaning& paths);

// An entry of a path list as a canonical path; for a pattern, the directory before the first wildcard.
base::Result<base::Path> entry_path(const config::Setting& setting, const config::Item& item,
                                    const PathMeaning& paths);

// The built-in layer alone.
config::Values builtin_values();

}  // namespace policy
