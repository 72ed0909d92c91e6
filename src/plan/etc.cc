// SPDX-License-Identifier: MIT
// /etc is put together: an empty directory of the jail's own, filled with links into a read-only view of the
// host's /etc at /run/host/etc. So files that the host lacks can be added, single ones left out, and it takes
// one mount instead of two hundred. Left out is what the caller can read only as owner or through a group,
// and what names the host's other users.
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
constexpr std::string_view kAccountFiles[] = {"passwd",  "group",   "nsswitch.conf", "passwd-",  "group-",
                                              "shadow",  "shadow-", "gshadow",       "gshadow-", "subuid",
                                              "subuid-", "subgid",  "subgid-"};

bool lists_accounts(std::string_view name) {
    return std::ranges::find(kAccountFiles, name) != std::end(kAccountFiles);
}

class Assembly {
  public:
    explicit Assembly(Draft& draft)
        : draft_(draft), filters_accounts_(draft.policy().isolation.filter_passwd) {}

    void assemble() {
        push({.kind = MountKind::tmpfs, .target = kEtc, .reason = {"assembled from the host's /etc", {}}});
        push({.kind = MountKind::bind_readonly,
              .target = kHostEtc,
              .source = kEtc.str(),
              .reason = {"what the links of /etc lead to", {}}});
        find_left_out();
        const std::vector<host::Entry> entries = draft_.tree().list(kEtc);
        draft_.assembled.reserve(draft_.assembled.size() + entries.size() + 32);
        for (const host::Entry& entry : entries) add_entry(entry);
        for (const LeftOut& entry : left_out_) cover(entry.path, entry.reason);
        if (filters_accounts_) add_accounts();
        push({.kind = MountKind::seal, .target = kEtc, .reason = {"/etc is read-only", {}}});
    }

  private:
    struct LeftOut {
        base::Path path;
        Reason reason;
    };

    void find_left_out() {
        // An administrator's ceiling is not for the jail to read, and a sandbox inside this one would take it
        // for forged.
        left_out_.push_back({kEtc / "agent-sandbox", {"the sandbox's own configuration", {}}});
        for (const base::Path& path : draft_.inputs.facts.private_etc) {
            left_out_.push_back({path, {"not readable by everyone on this host", {}}});
        }
        for (const PathRule& rule : draft_.rules.sorted()) {
            bool is_hidden = rule.access == Access::hidden && rule.path.is_strictly_within(kEtc);
            if (is_hidden) left_out_.push_back({rule.path, rule.reason});
        }
    }

    void add_entry(const host::Entry& entry) {
        const base::Path path = kEtc / entry.name;
        if (is_left_out(path) || (filters_accounts_ && lists_accounts(entry.name))) return;
        // A link of the host's is kept as it is: /etc/localtime tells the time zone by where it points.
        std::string target = kHostEtc.str() + "/" + entry.name;
        if (entry.kind == host::Kind::symlink) {
            if (std::optional<host::Node> node = draft_.tree().look(path)) target = node->link;
        }
        push(
            {.kind = MountKind::symlink, .target = path, .source = target, .reason = {"the host's own", {}}});
    }

    bool is_left_out(const base::Path& path) const {
        return std::ranges::find(left_out_, path, &LeftOut::path) != left_out_.end();
    }

    // What is left out must not be found through the view of the host's /etc either.
    void cover(const base::Path& path, const Reason& reason) {
        std::optional<host::Node> node = draft_.tree().look(path);
        if (!node || node->kind == host::Kind::symlink) return;
        const base::Path target = kHostEtc / path.relative_to(kEtc);
        bool is_covered =
            std::ranges::any_of(covered_, [&](const base::Path& known) { return target.is_within(known); });
        if (is_covered) return;
        covered_.push_back(target);
        bool is_directory = node->kind == host::Kind::directory;
        push({.kind = is_directory ? MountKind::tmpfs : MountKind::empty_file,
              .target = target,
              .reason = reason});
        if (is_directory) push({.kind = MountKind::seal, .target = target, .reason = reason});
    }

    void add_accounts() {
        const Reason reason{"accounts of the system and the caller's, no other user's",
                            draft_.policy().isolation.filter_passwd_origin};
        // Those that not everyone may read are covered already, or closed to the caller anyway.
        for (std::string_view name : kAccountFiles) {
            std::optional<host::Node> node = draft_.tree().look(kEtc / name);
            if (node && (node->mode & 04) != 0 && name != "nsswitch.conf") cover(kEtc / name, reason);
        }
        const host::Identity& caller = draft_.inputs.facts.identity;
        auto text_of = [&](const char* name) {
            base::Result<std::string> text = draft_.tree().read(kEtc / name, 16u << 20);
            return text ? *text : std::string();
        };
        push({.kind = MountKind::file,
              .target = kEtc / "passwd",
              .source = filter_passwd(text_of("passwd"), caller),
              .reason = reason});
        push({.kind = MountKind::file,
              .target = kEtc / "group",
              .source = filter_group(text_of("group"), caller),
              .reason = reason});
        push({.kind = MountKind::file,
              .target = kEtc / "nsswitch.conf",
              .source = std::string(files_only_switch()),
              .reason = reason});
    }

    void push(Mount mount) { draft_.assembled.push_back(std::move(mount)); }

    Draft& draft_;
    bool filters_accounts_;
    std::vector<LeftOut> left_out_;
    std::vector<base::Path> covered_;
};

}  // namespace

void assemble_etc(Draft& draft) {
    Assembly(draft).assemble();
}

}  // namespace plan
