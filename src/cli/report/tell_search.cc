// SPDX-License-Identifier: MIT
#include "cli/report/tell_search.h"

#include <cstdio>

#include "base/text.h"

namespace cli {
namespace {

using session::LateFinding;
using Report = session::SearchProgress::Report;

std::string seconds(std::chrono::milliseconds time) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(time.count()) / 1000);
    return text;
}

// The first three findings of a kind, each with its time after the start.
std::string examples(const Report& search, const plan::Plan& plan, LateFinding::Kind kind) {
    constexpr size_t kShown = 3;
    std::vector<std::string> names;
    size_t count = 0;
    for (const LateFinding& finding : search.findings) {
        if (finding.kind != kind || ++count > kShown) continue;
        bool is_inside = finding.path.is_within(plan.project);
        std::string name(is_inside ? finding.path.relative_to(plan.project) : finding.path.str());
        names.push_back(base::printable(name) + " after " + seconds(finding.after));
    }
    if (names.empty()) return "";
    return " (" + base::join(names, ", ") + (count > kShown ? ", …" : "") + ")";
}

}  // namespace

void tell_search(const Output& output, const Report& search, const Planned& planned) {
    const plan::Plan& plan = planned.plan;
    auto named = [&](LateFinding::Kind kind) { return examples(search, plan, kind); };
    if (search.has_failed)
        output.protection(
            "the project was not searched after the start: files to mask may have been readable");
    if (search.is_unwatched)
        output.protection(
            "the limit of inotify watches was reached (fs.inotify.max_user_watches): a name that appeared in "
            "the project was open for ten seconds or more");
    if (search.masked > 0)
        output.protection(base::counted(search.masked, "file", "files") +
                          " could be read until the search masked " + (search.masked == 1 ? "it" : "them") +
                          named(LateFinding::Kind::masked) + "; from now on a launch masks " +
                          (search.masked == 1 ? "it" : "them") + " first");
    if (search.repositories > 0)
        output.protection(base::counted(search.repositories, "repository was", "repositories were") +
                          " found after the start and made read-only" + named(LateFinding::Kind::repository) +
                          "; git can write there from the next start on");
    if (search.held > 0)
        output.protection(base::counted(search.held, "process", "processes") +
                          " had a repository open when it was made read-only, and was killed" +
                          named(LateFinding::Kind::held));
    if (search.closed > 0)
        output.protection(base::counted(search.closed, "directory was", "directories were") +
                          " closed after the start: nested too deep, or with too many files to mask" +
                          named(LateFinding::Kind::closed));
    if (search.open > 0)
        output.protection(base::counted(search.open, "name", "names") + " could not be covered" +
                          named(LateFinding::Kind::open) + ": look at what the jail did there");
    if (search.replaced > 0)
        output.protection(base::counted(search.replaced, "masked file was", "masked files were") +
                          " replaced outside and covered again" + named(LateFinding::Kind::replaced));
    if (search.appeared > 0)
        output.information(base::counted(search.appeared, "name was", "names were") +
                           " covered when it appeared" + named(LateFinding::Kind::appeared));
    if (!plan.search.is_complete && !search.is_complete && !search.has_failed)
        output.warning("the session ended before the whole project was searched (" +
                       std::to_string(search.entries) + " files): others may have been readable");
}

}  // namespace cli
