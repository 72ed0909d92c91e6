// SPDX-License-Identifier: MIT
// /etc is put together: an empty directory of the jail's own, filled with links into a read-only view of the host's /etc at
// /run/host/etc. So files that the host lacks can be added, single ones left out, and it takes one mount instead of two hundred.
// Left out is what the caller can read only as owner or through a group, and what names the host's other users.
#include <algorithm>

#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"
#include "plan/users.h"

namespace plan {
namespace {

const base::Path kEtc = base::Path::known("/etc");
const base::Path kHostEtc = base::Path::known("/run/host/etc");

// Files that list accounts; the jail gets its own of the first three.
constexpr std::string_view kAccountFiles[] = {"passwd", "group", "nsswitch.conf", "passwd-", "group-",
                                              "shadow", "shadow-", "gshadow", "gshadow-", "subuid", "subgid"};

bool lists_accounts(std::string_view name) { return std::ranges::find(kAccountFiles, name) != std::end(kAccountFiles); }

class Assembly {
  public:
    explicit Assembly(Draft& draft) : draft_(draft), filters_accounts_(draft.policy().isolation.filter_passwd) {}

    void assemble() {
        push({.kind = MountKind::tmpfs, .target = kEtc, .reason = {"assembled from the host's /etc", {}}});
        push({.kind = MountKind::bind_readonly,
              .target = kHostEtc,
              .source = kEtc.str(),
              .reason = {"what the links of /etc lead to", {}}});
        for (const host::Entry& entry : draft_.tree().list(kEtc)) add_entry(entry);
        for (const base::Path& path : draft_.inputs.facts.private_etc) {
            cover(path, {"not readable by everyone on this host", {}});
        }
        for (const PathRule& rule : draft_.rules.sorted()) {
            if (rule.access == Access::hidden && rule.path.is_strictly_within(kEtc)) cover(rule.path, rule.reason);
        }
        if (filters_accounts_) add_accounts();
        push({.kind = MountKind::seal, .target = kEtc, .reason = {"/etc is read-only", {}}});
    }

  private:
    void add_entry(const host::Entry& entry) {
        const base::Path path = kEtc / entry.name;
        if (is_left_out(path) || (filters_accounts_ && lists_accounts(entry.name))) return;
        // A link of the host's is kept as it is: /etc/localtime tells the time zone by where it points.
        std::string target = (kHostEtc / entry.name).str();
        if (entry.kind == host::Kind::symlink) {
            if (std::optional<host::Node> node = draft_.tree().look(path)) target = node->link;
        }
        push({.kind = MountKind::symlink, .target = path, .source = target, .reason = {"of the host's /etc", {}}});
    }

    bool is_left_out(const base::Path& path) const {
        const std::vector<base::Path>& hidden = draft_.inputs.facts.private_etc;
        if (std::ranges::find(hidden, path) != hidden.end()) return true;
        const PathRule* rule = draft_.rules.decide(path);
        return rule != nullptr && rule->path == path && rule->access == Access::hidden;
    }

    // What is left out must not be found through the view of the host's /etc either.
    void cover(const base::Path& path, const Reason& reason) {
        std::optional<host::Node> node = draft_.tree().look(path);
        if (!node || node->kind == host::Kind::symlink) return;
        const base::Path target = kHostEtc / path.relative_to(kEtc);
        bool is_directory = node->kind == host::Kind::directory;
        push({.kind = is_directory ? MountKind::tmpfs : MountKind::empty_file, .target = target, .reason = reason});
        if (is_directory) push({.kind = MountKind::seal, .target = target, .reason = reason});
    }

    void add_accounts() {
        const Reason reason{"accounts of the system and the caller's, no other user's",
                            draft_.policy().isolation.filter_passwd_origin};
        for (std::string_view name : kAccountFiles) cover(kEtc / name, reason);
        const host::Identity& caller = draft_.inputs.facts.identity;
        auto text_of = [&](const char* name) {
            base::Result<std::string> text = draft_.tree().read(kEtc / name, 16u << 20);
            return text ? *text : std::string();
        };
        push({.kind = MountKind::file, .target = kEtc / "passwd", .source = filter_passwd(text_of("passwd"), caller), .reason = reason});
        push({.kind = MountKind::file, .target = kEtc / "group", .source = filter_group(text_of("group"), caller), .reason = reason});
        push({.kind = MountKind::file, .target = kEtc / "nsswitch.conf", .source = std::string(files_only_switch()), .reason = reason});
    }

    void push(Mount mount) { draft_.assembled.push_back(std::move(mount)); }

    Draft& draft_;
    bool filters_accounts_;
};

}  // namespace

void assemble_etc(Draft& draft) { Assembly(draft).assemble(); }

}  // namespace plan
