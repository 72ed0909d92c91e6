// SPDX-License-Identifier: MIT
// For backends that can't mount files: the sandbox's own files go to a directory of the session, a variable
// names a copy of git's configuration, and a note lists files that can't be replaced.
#include <algorithm>

#include "base/inside/addresses.h"
#include "base/parse.h"
#include "base/text.h"
#include "plan/draft.h"
#include "plan/grants.h"

namespace plan {
namespace {

using policy::NetworkMode;

void add_to_directory(Draft& draft, const Mount& mount) {
    std::string name(mount.target.relative_to(draft.own));
    PrivateDirectory& directory = draft.plan.private_directory;
    switch (mount.kind) {
        case MountKind::file:
            directory.files.push_back({std::move(name), mount.source, mount.is_executable});
            return;
        case MountKind::symlink:
        case MountKind::bind_readonly:  // the program itself
            directory.links.push_back({std::move(name), mount.source});
            return;
        default:  // the session creates sockets
            return;
    }
}

bool is_copy(const Mount& mount) {
    return mount.kind == MountKind::file || mount.kind == MountKind::private_file;
}

// The user's configuration without its secrets: GIT_CONFIG_GLOBAL makes git read this copy.
void place_git_configuration(Draft& draft) {
    const base::Path own_file = draft.home / ".gitconfig";
    auto copy = std::ranges::find_if(
        draft.plan.mounts, [&](const Mount& mount) { return is_copy(mount) && mount.target == own_file; });
    if (copy == draft.plan.mounts.end()) return;
    constexpr std::string_view kName = "gitconfig";
    draft.plan.private_directory.files.push_back({std::string(kName), copy->source});
    draft.added.push_back({"GIT_CONFIG_GLOBAL",
                           (draft.own / kName).str(),
                           {"git's configuration without its secrets", copy->reason.origin}});
    draft.plan.mounts.erase(copy);
}

// Where connections are handed over one by one only TCP works. RES_OPTIONS makes the C library send DNS over
// TCP, and the proxy variables serve programs that resolve names in another way.
void name_gateway(Draft& draft) {
    NetworkMode mode = draft.plan.network.reached;
    if (mode != NetworkMode::filtered && mode != NetworkMode::proxied) return;
    const Reason reason{"connections are handed to the gateway one by one", draft.plan.network.reason.origin};
    auto add = [&](std::string_view name, std::string_view value) {
        draft.added.push_back({std::string(name), std::string(value), reason});
    };
    add("RES_OPTIONS", "use-vc");
    const std::string gateway = base::v4_text(base::FixedAddress::gateway);
    for (std::string_view name : {"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"})
        add(name, "http://" + base::with_port(gateway, base::kProxyPort));
    for (std::string_view name : {"ALL_PROXY", "all_proxy"})
        add(name, "socks5h://" + base::with_port(gateway, base::kSocksPort));
    for (std::string_view name : {"NO_PROXY", "no_proxy"}) add(name, "localhost,127.0.0.1,::1");
}

// Reports files that this backend can't replace. Those of /etc are the host's own here.
void tell_missing(Draft& draft) {
    std::vector<std::string> missing;
    for (const Mount& mount : draft.plan.mounts) {
        bool is_of_etc = mount.target.is_within(base::Path::known("/etc"));
        if (is_copy(mount) && !is_of_etc) missing.push_back(base::printable(mount.target.str()));
    }
    for (const EtcFile& file : draft.etc_files) missing.push_back("/etc/" + file.name);
    if (missing.empty()) return;
    draft.note(NoteKind::information,
               "this backend can't lay files of the jail's own: " + base::join(missing, ", "));
}

// Rules for a backend without a view, and notes about what they can't express.
void grant_rules(Draft& draft) {
    Plan& plan = draft.plan;
    std::vector<base::Path> kept = draft.kept_readonly;
    kept.push_back(draft.inputs.request.config_directory);
    Grants made = make_grants({.rules = plan.rules,
                               .mounts = plan.mounts,
                               .tree = draft.tree(),
                               .project = draft.project,
                               .program = draft.inputs.facts.own_program,
                               .private_ipc = draft.policy().isolation.private_ipc,
                               .is_root = draft.inputs.facts.identity.uid == 0,
                               .private_etc = draft.inputs.facts.private_etc,
                               .kept = std::move(kept),
                               .new_directories = plan.new_directories});
    plan.grants = std::move(made.grants);
    // The session creates it later, so it does not exist yet.
    plan.grants.push_back({draft.own, GrantKind::read, {"the sandbox's own files", {}}});
    plan.grants.push_back(
        {draft.own / base::kTemporary, GrantKind::write, {"temporary files of the session", {}}});
    std::ranges::move(made.notes, std::back_inserter(plan.notes));
}

}  // namespace

void plan_private_directory(Draft& draft) {
    Plan& plan = draft.plan;
    if (draft.backend().lays_files) return;
    std::erase_if(plan.mounts, [&](const Mount& mount) {
        if (!mount.target.is_within(draft.own)) return false;
        bool is_whole = mount.target == draft.own;  // a rule of its own shows it
        if (!is_whole) add_to_directory(draft, mount);
        return true;
    });
    place_git_configuration(draft);
    tell_missing(draft);
    draft.added.push_back(
        {std::string(base::kPlaceVariable), draft.own.str(), {"where the sandbox's own files lie", {}}});
    name_gateway(draft);
    if (draft.backend().has_view) return;
    grant_rules(draft);
    plan.mounts.clear();
}

}  // namespace plan
