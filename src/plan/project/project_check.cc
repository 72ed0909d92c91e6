// SPDX-License-Identifier: MIT
// Which directory may be a project. The one writable directory must never contain more than a project: a home
// directory, the system, or anything with credentials in it.
#include <algorithm>

#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"
#include "plan/home/credentials.h"
#include "plan/project/protection.h"

namespace plan {
namespace {

constexpr const char* kStartElsewhere = "change into a project directory or name one with --project DIR";

base::Error refuse(const Draft& draft, const std::string& why) {
    return base::Error{
        .what = base::format("{} can't be the project: {}", base::printable(draft.project.str()), why),
        .advice = kStartElsewhere,
        .where = draft.inputs.request.project_origin == "--project" ? "--project" : ""};
}

// System directories that are shown read-only, or must not be shown at all; a project may be below /tmp, /var
// and /srv.
constexpr std::string_view kSystemPlaces[] = {"/bin",    "/boot", "/dev", "/etc",  "/lib", "/lib32", "/lib64",
                                              "/libx32", "/proc", "/run", "/sbin", "/sys", "/usr"};
constexpr std::string_view kTooWide[] = {"/home", "/media", "/mnt", "/opt",
                                         "/srv",  "/tmp",   "/var", "/var/tmp"};

base::Status check_place(const Draft& draft) {
    if (draft.project.is_root()) return refuse(draft, "it is the whole system");
    if (draft.project == draft.home) {
        return refuse(draft, "it is your home directory, and everything in it would be writable");
    }
    if (draft.home.is_within(draft.project)) return refuse(draft, "your home directory lies in it");
    for (std::string_view place : kSystemPlaces) {
        if (draft.project.is_within(base::Path::known(place))) {
            return refuse(draft, base::format("it belongs to the system ({})", place));
        }
    }
    for (std::string_view place : kTooWide) {
        if (draft.project == base::Path::known(place))
            return refuse(draft, "it is shared by everything below it");
    }
    return base::success();
}

// A link is named, because a session may have planted it (--home write).
base::Error refuse_credential(const Draft& draft, const host::Tree::Resolved& credential,
                              std::string_view reason) {
    const std::string place = base::printable(credential.path.str());
    const std::string why = base::format(" ({})", reason);
    bool is_inside = credential.path.is_strictly_within(draft.project);
    std::optional<base::Path> link = link_to_credential(draft, credential);
    if (!link) return refuse(draft, (is_inside ? "it contains " : "it lies in ") + place + why);
    base::Error error = refuse(
        draft, base::format("the symbolic link {}{} leads to {}", base::printable(link->str()), why, place));
    error.advice = base::format("{}, or, {}", kStartElsewhere, how_to_remove(*link));
    return error;
}

base::Status check_credentials(const Draft& draft) {
    for (const config::DataRow& row : config::data_list("home/credentials")) {
        if (!draft.home_names.may_exist(row.entry)) continue;
        base::Path literal = draft.inputs.facts.identity.home / row.entry;
        base::Path directory = row.entry.find('*') == std::string_view::npos ? literal : literal.parent();
        base::Result<host::Tree::Resolved> credential = draft.tree().resolve(directory);
        if (!credential || !may_be_credential(draft, *credential)) continue;
        bool is_in_one = directory == literal && draft.project.is_within(credential->path);
        bool holds_one = credential->exists && credential->path.is_strictly_within(draft.project);
        if (is_in_one || holds_one) return refuse_credential(draft, *credential, row.reason);
    }
    return base::success();
}

base::Status check_protected(const Draft& draft) {
    std::optional<ProtectedPlace> place = protected_place(draft);
    if (!place && is_bare_repository(draft)) {
        base::Error error = refuse(draft, "it is a bare git repository, with hooks that git runs");
        // A session can make its project one, if the project has no ".git".
        error.advice =
            "work in a clone or a worktree of it, use --read-only, or, if you did not make it, run: rm -r " +
            base::printable(base::shell_word((draft.project / "HEAD").str()));
        return error;
    }
    if (!place) return base::success();
    base::Error error = refuse(
        draft, base::format("{} is protected in the project {} ({})", base::printable(place->path.str()),
                            base::printable(place->root.str()), place->why));
    error.advice = "start in the project's root: cd " + base::printable(base::shell_word(place->root.str()));
    return error;
}

base::Status check_parents(const Draft& draft) {
    if (is_below_parents(draft, draft.project)) return base::success();
    std::vector<std::string> listed;
    for (const config::Item& item : draft.policy().project.parents) {
        listed.push_back(base::format("{} ({})", base::printable(item.text), item.origin.describe()));
    }
    return refuse(draft, "project.parents permits only what lies below " + base::join(listed, ", "));
}

}  // namespace

bool is_below_parents(const Draft& draft, const base::Path& path) {
    return std::ranges::any_of(draft.policy().project.parents, [&](const config::Item& item) {
        base::Result<base::Path> parent = absolute_entry(draft, item);
        if (!parent) return false;
        base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(*parent);
        return resolved && path.is_within(resolved->path);
    });
}

base::Status check_project(Draft& draft) {
    base::Result<host::Tree::Resolved> resolved = resolve_entry(
        draft, draft.inputs.request.project, config::from_flag(draft.inputs.request.project_origin));
    if (!resolved) return resolved.error();
    draft.project = resolved->path;
    draft.plan.project = resolved->path;
    std::optional<host::Node> node = draft.tree().look(draft.project);
    if (!node) return refuse(draft, "it does not exist");
    if (node->kind != host::Kind::directory) return refuse(draft, "it is not a directory");
    if (base::Status place = check_place(draft); !place) return place;
    if (base::Status credentials = check_credentials(draft); !credentials) return credentials;
    if (base::Status protected_status = check_protected(draft); !protected_status) return protected_status;
    return check_parents(draft);
}

}  // namespace plan
