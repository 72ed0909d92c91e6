// SPDX-License-Identifier: MIT
// Log-ins that stay outside (credentials.login = "outside"). The jail has a copy of the agent's file with
// placeholders (credential_files.cc), and the user's own file must not become visible beside it.
//
// Threat: a program outside, or this session itself, renews the log-in and renames a new file over the old
// one. A cover that is mounted on the old file ends with it, and the jail would see the new tokens
// (tests/egress/logins.bats). So the directory of the file is the jail's own, and only what is in it is the
// user's: its directories, and its histories, to which agents append.
#include <algorithm>
#include <span>

#include "base/text.h"
#include "credentials/login_file.h"
#include "plan/draft.h"
#include "plan/network/broker.h"

namespace plan {
namespace {

constexpr std::string_view kHistory = ".jsonl";

struct LoginFile {
    base::Path path;
    config::Origin origin;
};

std::vector<LoginFile> login_files(const Draft& draft) {
    std::vector<LoginFile> files;
    auto add = [&](const std::string& usual, const config::Origin& origin) {
        files.push_back({draft.home / usual, origin});
        const std::string moved =
            credentials::own_file(usual, draft.home.str(), draft.inputs.request.policy_environment());
        if (base::Result<base::Path> path = base::Path::parse(moved)) files.push_back({*path, origin});
    };
    for (const config::Profile& profile : draft.inputs.agents) {
        for (const config::Item& item : profile.tokens) add(item.text, item.origin);
    }
    return files;
}

bool has_own_rule(Draft& draft, const base::Path& path) {
    return std::ranges::any_of(draft.rules.sorted(), [&](const PathRule& rule) { return rule.path == path; });
}

void part_directory(Draft& draft, const base::Path& directory, const Reason& reason) {
    const PathRule* shown = draft.rules.decide_unsettled(directory);
    const bool is_of_host = shown != nullptr && shown->backing == Backing::host &&
                            (shown->access == Access::readonly || shown->access == Access::writable);
    if (!is_of_host) return;
    const PathRule rule = *shown;
    std::erase_if(draft.rules.sorted(), [&](const PathRule& other) { return other.path == directory; });
    draft.add_rule(directory, rule.access, reason, Backing::ephemeral);
    for (const host::Entry& entry : draft.tree().list(directory)) {
        const base::Path path = directory / entry.name;
        const bool is_history = entry.kind == host::Kind::file && entry.name.ends_with(kHistory);
        if ((entry.kind != host::Kind::directory && !is_history) || has_own_rule(draft, path)) continue;
        draft.add_rule(path, rule.access, rule.reason);
    }
}

}  // namespace

base::Status part_login_directories(Draft& draft) {
    const auto& settings = draft.policy().credentials;
    if (!settings.is_login_outside) return base::success();
    const bool is_possible = draft.backend().has_view && draft.backend().lays_files && settings.intercept;
    if (!is_possible && !draft.inputs.agents.empty())
        return base::Error{.what = settings.intercept
                                       ? base::format("a log-in can't stay outside with {}: it decrypts no "
                                                      "connections and lays no files",
                                                      draft.backend().title)
                                       : "a log-in can't stay outside: credentials.intercept is off",
                           .advice = "use --backend native or bwrap, or --login inside",
                           .where = settings.login_origin.describe()};
    for (const LoginFile& file : login_files(draft)) {
        base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(file.path);
        if (resolved && resolved->exists && resolved->path != file.path)
            return base::Error{.what = base::format("{} has a log-in and is behind a symbolic link",
                                                    base::printable(file.path.str())),
                               .advice =
                                   "replace the link by the file or directory that it leads to, or use "
                                   "--login inside",
                               .where = settings.login_origin.describe()};
        if (!resolved || draft.home.is_within(file.path.parent())) continue;
        part_directory(
            draft, file.path.parent(),
            {"the directory of a log-in that stays outside: files end with the jail", settings.login_origin});
        if (resolved->exists)
            draft.add_rule(file.path, Access::hidden, {"a log-in that stays outside", settings.login_origin});
    }
    return base::success();
}

}  // namespace plan
