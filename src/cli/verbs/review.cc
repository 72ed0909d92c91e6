// SPDX-License-Identifier: MIT
#include "cli/verbs/review.h"

#include "base/encoding/sha256.h"
#include "base/format.h"
#include "base/text.h"
#include "plan/backend.h"
#include "review/review.h"

namespace cli {
namespace {

constexpr time_t kShortRun = 2;  // seconds
constexpr size_t kRecordDigits = 16;

timespec steady_time() {
    timespec now = {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return now;
}

// A relative entry is relative to the current directory; here only the project matters.
std::vector<base::Path> search_path(const Caller& caller, const base::Path& project) {
    std::vector<base::Path> directories;
    std::optional<std::string_view> path = host::variable(caller.environment, "PATH");
    if (!path) return directories;
    for (std::string_view entry : base::split(*path, ':')) {
        base::Path literal = entry.starts_with('/') ? base::Path() / entry : project / entry;
        base::Result<host::Tree::Resolved> resolved = caller.disk.resolve(literal);
        if (resolved) directories.push_back(resolved->path);
    }
    return directories;
}

}  // namespace

EndReview::EndReview() : started_(review::start()), began_(steady_time()) {}

void EndReview::tell(const Output& output, const Caller& caller, const plan::Plan& plan,
                     const std::string& state_directory) const {
    // A backend that can't protect paths in the project has no other protection, so print this even when
    // quiet.
    bool is_protected = plan::traits_of(plan.backend).has_view;
    if (!plan.project_is_writable || (is_protected && output.is_quiet())) return;
    bool is_short = steady_time().tv_sec - began_.tv_sec < kShortRun;
    if (is_protected && is_short && !output.has_terminal()) return;
    const std::string record = base::format("{}/reviewed/{}", state_directory,
                                            base::sha256(plan.project.str()).substr(0, kRecordDigits));
    review::Session session{plan.project, started_, search_path(caller, plan.project), record};
    for (const std::string& line : review::describe(review::look_back(session), plan.project))
        is_protected ? output.warning(line) : output.protection(line);
}

}  // namespace cli
