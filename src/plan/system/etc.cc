// SPDX-License-Identifier: MIT
// /etc is assembled: an empty directory of the jail's own, filled with links into a read-only view of the
// host's /etc at /run/host/etc. So the plan can add files that the host lacks and leave out single ones, with
// one mount instead of two hundred. It leaves out files that the caller can read only as owner or through a
// group, and files that name the host's other users.
#include "plan/system/etc.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/parse.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"
#include "plan/network/name_files.h"

namespace plan {
namespace {

constexpr uint32_t kNobody = 65534;

bool is_system(uint32_t number) {
    return number < kFirstUser || number == kNobody;
}

}  // namespace

std::string filter_passwd(std::string_view host_text, const host::Identity& caller) {
    std::string kept;
    bool has_caller = false;
    for (std::string_view line : base::split(host_text, '\n')) {
        std::vector<std::string_view> fields = base::split(line, ':');
        if (fields.size() != 7) continue;
        std::optional<uint32_t> uid = base::parse_number<uint32_t>(fields[2]);
        if (!uid) continue;
        bool is_caller = *uid == caller.uid;
        if (!is_caller && !is_system(*uid)) continue;
        has_caller = has_caller || is_caller;
        kept += line;
        kept += '\n';
    }
    if (!has_caller) {
        const std::string shell = caller.shell.empty() ? "/bin/sh" : caller.shell;
        kept += base::format("{}:x:{}:{}::{}:{}\n", caller.user, caller.uid, caller.gid, caller.home.str(),
                             shell);
    }
    return kept;
}

std::string filter_group(std::string_view host_text, const host::Identity& caller) {
    std::string kept;
    bool has_primary = false;
    for (std::string_view line : base::split(host_text, '\n')) {
        std::vector<std::string_view> fields = base::split(line, ':');
        if (fields.size() != 4) continue;
        std::optional<uint32_t> gid = base::parse_number<uint32_t>(fields[2]);
        if (!gid) continue;
        bool is_member = false;
        for (std::string_view member : base::split(fields[3], ','))
            is_member = is_member || member == caller.user;
        bool is_primary = *gid == caller.gid;
        if (!is_primary && !is_member && !is_system(*gid)) continue;
        has_primary = has_primary || is_primary;
        kept += base::format("{}:x:{}:{}\n", fields[0], fields[2], is_member ? caller.user : "");
    }
    if (!has_primary) {
        const std::string name = caller.group.empty() ? caller.user : caller.group;
        kept += base::format("{}:x:{}:\n", name, caller.gid);
    }
    return kept;
}

std::string_view files_only_switch() {
    return "passwd: files\ngroup: files\nshadow: files\ngshadow: files\nhosts: files dns\nnetworks: files\n"
           "protocols: files\nservices: files\nethers: files\nrpc: files\nnetgroup: files\n";
}

namespace {

const base::Path kEtcInside = base::Path::known("/etc");
const base::Path kHostEtc = base::Path::known("/run/host/etc");

// Files that list accounts; the jail gets its own of the first three.
constexpr std::string_view kAccountFiles[] = {"passwd",  "group",   "nsswitch.conf", "passwd-",  "group-",
                                              "shadow",  "shadow-", "gshadow",       "gshadow-", "subuid",
                                              "subuid-", "subgid",  "subgid-"};

// Files that configure name lookup, for a jail whose network is not the host's.
constexpr std::string_view kNameFiles[] = {"hosts", "resolv.conf", "nsswitch.conf"};

bool tells_of_names(std::string_view name) {
    return std::ranges::find(kNameFiles, name) != std::end(kNameFiles);
}

bool lists_accounts(std::string_view name) {
    return std::ranges::find(kAccountFiles, name) != std::end(kAccountFiles);
}

class Assembly {
  public:
    explicit Assembly(Draft& draft)
        : draft_(draft),
          filters_accounts_(draft.policy().isolation.filter_passwd),
          has_own_names_(draft.plan.network.reached != policy::NetworkMode::open) {}

    void assemble() {
        push({.kind = MountKind::tmpfs,
              .target = kEtcInside,
              .reason = {"assembled from the host's /etc", {}}});
        push({.kind = MountKind::bind_readonly,
              .target = kHostEtc,
              .source = kEtcInside.str(),
              .reason = {"what the links of /etc lead to", {}}});
        find_left_out();
        const std::vector<host::Entry>& entries = draft_.tree().list(kEtcInside);
        draft_.assembled.reserve(draft_.assembled.size() + entries.size() + 32);
        for (const host::Entry& entry : entries) {
            if (!is_replaced(entry.name)) add_entry(entry);
        }
        for (const EtcFile& file : draft_.etc_files) add_own(file);
        for (const LeftOut& entry : left_out_) cover(entry.path, entry.reason);
        if (filters_accounts_) add_accounts();
        if (has_own_names_) add_names();
        push({.kind = MountKind::seal, .target = kEtcInside, .reason = {"/etc is read-only", {}}});
    }

  private:
    struct LeftOut {
        base::Path path;
        Reason reason;
    };

    void find_left_out() {
        // The jail must not read an administrator's ceiling, and a sandbox inside this one would reject it as
        // forged.
        left_out_.push_back({kEtcInside / "agent-sandbox", {"the sandbox's own configuration", {}}});
        for (const base::Path& path : draft_.inputs.facts.private_etc) {
            left_out_.push_back({path, {"not readable by everyone on this host", {}}});
        }
        for (const PathRule& rule : draft_.rules.sorted()) {
            bool is_hidden = rule.access == Access::hidden && rule.path.is_strictly_within(kEtcInside);
            if (is_hidden) left_out_.push_back({rule.path, rule.reason});
        }
    }

    void add_entry(const host::Entry& entry) {
        const base::Path path = kEtcInside / entry.name;
        bool is_replaced = (filters_accounts_ && lists_accounts(entry.name)) ||
                           (has_own_names_ && tells_of_names(entry.name));
        if (is_left_out(path) || is_replaced) return;
        // A link of the host is copied as it is: programs read the time zone from the target of
        // /etc/localtime.
        std::string target = kHostEtc.str() + "/" + entry.name;
        if (entry.kind == host::Kind::symlink) {
            if (std::optional<host::Glance> node = draft_.tree().glance(path)) target = node->link;
        }
        push(
            {.kind = MountKind::symlink, .target = path, .source = target, .reason = {"the host's own", {}}});
    }

    // Whether a file of ours replaces this entry or something below it.
    bool is_replaced(std::string_view name) const {
        return std::ranges::any_of(draft_.etc_files, [&](const EtcFile& file) {
            return file.name == name || (file.name.starts_with(name) && file.name[name.size()] == '/');
        });
    }

    // The directories above the file are the jail's own, with links to the host's other entries.
    void add_own(const EtcFile& file) {
        base::Path directory = kEtcInside;
        size_t begin = 0;
        for (size_t slash; (slash = file.name.find('/', begin)) != std::string::npos; begin = slash + 1) {
            directory = directory / file.name.substr(begin, slash - begin);
            if (std::ranges::find(made_, directory) != made_.end()) continue;
            made_.push_back(directory);
            push({.kind = MountKind::directory, .target = directory, .reason = file.reason});
            for (const host::Entry& entry : draft_.tree().list(directory)) {
                const base::Path path = directory / entry.name;
                bool is_ours = is_replaced(path.str().substr(kEtcInside.str().size() + 1));
                if (is_ours || is_left_out(path)) continue;
                push({.kind = MountKind::symlink,
                      .target = path,
                      .source = (kHostEtc / path.relative_to(kEtcInside)).str(),
                      .reason = {"the host's own", {}}});
            }
        }
        push({.kind = file.is_link ? MountKind::symlink : MountKind::file,
              .target = kEtcInside / file.name,
              .source = file.content,
              .reason = file.reason});
    }

    bool is_left_out(const base::Path& path) const {
        return std::ranges::find(left_out_, path, &LeftOut::path) != left_out_.end();
    }

    // What is left out must not be readable through the view of the host's /etc either.
    void cover(const base::Path& path, const Reason& reason) {
        std::optional<host::Glance> node = draft_.tree().glance(path);
        if (!node || node->kind == host::Kind::symlink) return;
        const base::Path target = kHostEtc / path.relative_to(kEtcInside);
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
        // Files that are not readable by everyone are covered already, or the caller can't read them.
        for (std::string_view name : kAccountFiles) {
            std::optional<host::Node> node = draft_.tree().look(kEtcInside / name);
            if (node && (node->mode & 04) != 0 && name != "nsswitch.conf") cover(kEtcInside / name, reason);
        }
        const host::Identity& caller = draft_.inputs.facts.identity;
        push_file("passwd", filter_passwd(text_of(kEtcInside / "passwd"), caller), reason);
        push_file("group", filter_group(text_of(kEtcInside / "group"), caller), reason);
        push_file("nsswitch.conf", std::string(files_only_switch()), reason);
    }

    void add_names() {
        const Network& network = draft_.plan.network;
        const Reason reason{"names are looked up by the gateway", network.reason.origin};
        bool is_isolated = network.reached == policy::NetworkMode::isolated;
        bool has_services =
            !is_isolated &&
            std::ranges::any_of(network.egress.rules.host_services, [](const config::Item& item) {
                return item.text.find(':') == std::string::npos;
            });
        push_file("hosts", jail_hosts(text_of(kEtcInside / "hosts"), own_name(), has_services), reason);
        push_file("resolv.conf", jail_resolver(text_of(kEtcInside / "resolv.conf"), !is_isolated), reason);
        // The one for filtered accounts names files and DNS already.
        if (!filters_accounts_)
            push_file("nsswitch.conf", jail_switch(text_of(kEtcInside / "nsswitch.conf")), reason);
    }

    std::string own_name() const {
        std::string name(base::trim(text_of(base::Path::known("/proc/sys/kernel/hostname"))));
        if (name.empty()) name = base::trim(text_of(kEtcInside / "hostname"));
        return name;
    }

    std::string text_of(const base::Path& path) const {
        base::Result<std::string> text = draft_.tree().read(path, 16u << 20);
        return text ? *text : std::string();
    }

    void push_file(std::string_view name, std::string content, const Reason& reason) {
        const PathRule* rule = draft_.rules.decide(kEtcInside / name);
        if (rule != nullptr && rule->access == Access::hidden) return;
        push({.kind = MountKind::file,
              .target = kEtcInside / name,
              .source = std::move(content),
              .reason = reason});
    }

    void push(Mount mount) { draft_.assembled.push_back(std::move(mount)); }

    Draft& draft_;
    bool filters_accounts_;
    bool has_own_names_;
    std::vector<LeftOut> left_out_;
    std::vector<base::Path> covered_;
    std::vector<base::Path> made_;
};

}  // namespace

void assemble_etc(Draft& draft) {
    Assembly(draft).assemble();
}

}  // namespace plan
