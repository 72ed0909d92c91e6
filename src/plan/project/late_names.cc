// SPDX-License-Identifier: MIT
// Names that a rule hides and that are missing at launch: the guard covers each when it appears
// (session/search/late_names.h). Threat: without this, the jail could read a credential that is created
// outside while the session runs; tests/jail/late_names.bats.
#include "base/glob.h"
#include "config/data.h"
#include "plan/draft.h"

namespace plan {
namespace {

bool shows_host(const Draft& draft, const base::Path& directory) {
    const PathRule* rule = draft.rules.decide(directory);
    return rule != nullptr && rule->access >= Access::readonly && rule->backing == Backing::host;
}

void add(Draft& draft, const base::Path& path, Access access) {
    if (!shows_host(draft, path.parent())) return;
    draft.plan.search.late_names.push_back({path.parent(), std::string(path.name()), access});
}

}  // namespace

void add_late_names(Draft& draft) {
    if (!draft.plan.search.has_guard) return;
    draft.plan.search.home = draft.home;
    for (const PathRule& rule : draft.rules.sorted()) {
        bool is_closed = rule.access < Access::readonly && rule.backing == Backing::host;
        bool is_missing = is_closed && !rule.holds_name && !draft.tree().look(rule.path);
        if (is_missing) add(draft, rule.path, rule.access);
    }
    if (!draft.home_is_real) return;
    // Existing credentials have rules already.
    for (const config::DataRow& row : config::data_list("home/credentials")) {
        const base::Path path = draft.home / row.entry;
        bool is_pattern = base::has_wildcard(row.entry);
        if (is_pattern || !draft.tree().look(path)) add(draft, path, Access::hidden);
    }
}

}  // namespace plan
