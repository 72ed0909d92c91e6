// SPDX-License-Identifier: MIT
#include "cli/report/tell_search.h"

#include <cstdio>

#include "base/format.h"
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
        names.push_back(base::format("{} after {}", base::printable(name), seconds(finding.after)));
    }
    if (names.empty()) return "";
    return base::format(" ({}{})", base::join(names, ", "), count > kShown ? ", …" : "");
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
        output.protection(
            base::format("{} could be read until the search masked {}{}; from now on a launch masks {} first",
                         base::counted(search.masked, "file", "files"), search.masked == 1 ? "it" : "them",
                         named(LateFinding::Kind::masked), search.masked == 1 ? "it" : "them"));
    if (search.repositories > 0)
        output.protection(base::format(
            "{} found after the start and made read-only{}; git can write there from the next start on",
            base::counted(search.repositories, "repository was", "repositories were"),
            named(LateFinding::Kind::repository)));
    if (search.held > 0)
        output.protection(
            base::format("{} had a repository open when it was made read-only, and was killed{}",
                         base::counted(search.held, "process", "processes"), named(LateFinding::Kind::held)));
    if (search.closed > 0)
        output.protection(
            base::format("{} closed after the start: nested too deep, or with too many files to mask{}",
                         base::counted(search.closed, "directory was", "directories were"),
                         named(LateFinding::Kind::closed)));
    if (search.open > 0)
        output.protection(base::format("{} could not be covered{}: look at what the jail did there",
                                       base::counted(search.open, "name", "names"),
                                       named(LateFinding::Kind::open)));
    if (search.replaced > 0)
        output.protection(base::format("{} replaced outside and covered again{}",
                                       base::counted(search.replaced, "masked file was", "masked files were"),
                                       named(LateFinding::Kind::replaced)));
    if (search.appeared > 0)
        output.information(base::format("{} covered when it appeared{}",
                                        base::counted(search.appeared, "name was", "names were"),
                                        named(LateFinding::Kind::appeared)));
    if (!plan.search.is_complete && !search.is_complete && !search.has_failed)
        output.warning(
            base::format("the session ended before the whole project was searched ({} files): others may "
                         "have been readable",
                         search.entries));
}

}  // namespace cli
