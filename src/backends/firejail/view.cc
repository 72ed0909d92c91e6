// SPDX-License-Identifier: MIT
#include "backends/firejail/view.h"

#include <algorithm>
#include <set>

#include "base/inside/jail_files.h"
#include "base/parse.h"
#include "base/result.h"
#include "base/text.h"
#include "host/tree.h"
#include "plan/plan.h"
#include "plan/rules.h"

namespace backends::firejail {
namespace {

// firejail makes its own /dev with the few devices that every program needs, and allows others only by whole
// kinds. Of these kinds the plan can want only graphics processors. Nodes of that kind that the plan does not
// name are covered.

const base::Path kDevices = base::Path::known("/dev");
const base::Path kRendering = base::Path::known("/dev/dri");

// Besides the nodes in /dev/dri.
bool is_nvidia(std::string_view name) {
    constexpr std::string_view kNames[] = {"nvidiactl", "nvidia-modeset", "nvidia-uvm"};
    constexpr std::string_view kNumbered = "nvidia";
    bool is_numbered =
        name.size() == kNumbered.size() + 1 && name.starts_with(kNumbered) && base::is_digit(name.back());
    return is_numbered || std::ranges::find(kNames, name) != std::end(kNames);
}

bool is_graphics(const base::Path& node) {
    return node.is_within(kRendering) || (node.parent() == kDevices && is_nvidia(node.name()));
}

// With isolation.private_ipc off the plan lists these two like devices.
bool is_shared_memory(const base::Path& node) {
    return std::ranges::count(base::kSharedDirectories, node.str()) > 0;
}

std::vector<base::Path> graphics_of(const host::Tree& tree) {
    std::vector<base::Path> nodes;
    for (const host::Entry& entry : tree.list(kDevices)) {
        if (is_nvidia(entry.name)) nodes.push_back(kDevices / entry.name);
    }
    for (const host::Entry& entry : tree.list(kRendering)) {
        if (entry.kind == host::Kind::device) nodes.push_back(kRendering / entry.name);
    }
    return nodes;
}

// Refuses a device of devices.allow that firejail can't allow. A device that we added ourselves is left out.
base::Status allow_devices(const plan::Plan& plan, const host::Tree& tree, View& view) {
    std::vector<base::Path> wanted;
    for (const plan::Mount& mount : plan.mounts) {
        bool is_device = mount.kind == plan::MountKind::bind_device && mount.target.is_within(kDevices) &&
                         !is_shared_memory(mount.target);
        if (!is_device) continue;
        bool is_asked_for = mount.reason.why == "devices.allow";
        if (!is_graphics(mount.target) && is_asked_for) {
            return base::Error{.what = "firejail can't let in " + base::printable(mount.target.str()),
                               .advice = "remove the entry, or use another backend",
                               .where = mount.reason.origin.describe()};
        }
        wanted.push_back(mount.target);
    }
    view.shows_graphics = std::ranges::any_of(wanted, is_graphics);
    if (!view.shows_graphics) return base::success();
    for (const base::Path& node : graphics_of(tree)) {
        if (std::ranges::find(wanted, node) == wanted.end()) view.entries.push_back({Act::blacklist, node});
    }
    return base::success();
}

using plan::Access;
using plan::Backing;
using plan::Mount;
using plan::MountKind;
using plan::PathRule;

const base::Path kHomes = base::Path::known("/home");
const base::Path kEtc = base::Path::known("/etc");
const base::Path kHostEtc = base::Path::known("/run/host/etc");  // where the plan covers parts of /etc

const base::Path kUserServices = base::Path::known("/run/user");

const base::Path kVarTmp = base::Path::known("/var/tmp");

// firejail makes these in an empty home before it shows anything there, and then keeps its own.
constexpr std::string_view kLaidByFirejail[] = {".bashrc", ".zshrc", ".cshrc"};

// Whitelisted in a directory that has nothing to show.
constexpr std::string_view kNobodysName = ".agent-sandbox-shows-nothing-here";

// Built by firejail or for it; rules about them are applied one by one.
constexpr std::string_view kBuilt[] = {"/proc", "/sys", "/dev", "/etc", "/home"};

// firejail makes these read-only by itself.
constexpr std::string_view kReadOnly[] = {"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"};

// One tmpfs each; firejail supports at most 64 of them, including the home and /run/user.
constexpr size_t kMostTops = 56;

template <size_t kCount>
bool is_one_of(const std::string_view (&names)[kCount], const base::Path& path) {
    return std::ranges::find(names, path.str()) != std::end(names);
}

bool is_grant(const PathRule& rule) {
    return rule.access == Access::readonly || rule.access == Access::writable;
}

base::Path top_of(const base::Path& path) {
    return base::Path() / path.components().front();
}

enum class ParentView { nothing, ephemeral, readonly, writable };

ParentView parent_view_of(const PathRule* above) {
    if (above == nullptr || !is_grant(*above)) return ParentView::nothing;
    if (above->backing != Backing::host) return ParentView::ephemeral;
    return above->access == Access::writable ? ParentView::writable : ParentView::readonly;
}

class Maker {
  public:
    Maker(const plan::Plan& plan, const Host& host) : plan_(plan), host_(host) {}

    base::Result<View> make() {
        if (base::Status devices = allow_devices(plan_, host_.tree, view_); !devices) return devices.error();
        view_.keeps_var_tmp = std::ranges::any_of(plan_.rules, [](const PathRule& rule) {
            return is_grant(rule) && rule.path.is_strictly_within(kVarTmp);
        });
        for (const PathRule& rule : plan_.rules) {
            if (!rule.path.is_root()) add_rule(rule);
        }
        cover_parts();
        collect_links();
        close_home();
        close_tops();
        return std::move(view_);
    }

  private:
    void add(Act act, const base::Path& path) { view_.entries.push_back({act, path}); }

    // Below /home firejail shows only the caller's home, or all homes.
    bool is_elsewhere_in_homes(const base::Path& path) const {
        return path.is_within(kHomes) && !path.is_within(host_.home) && !host_.home.is_within(path);
    }

    void add_rule(const PathRule& rule) {
        const base::Path top = top_of(rule.path);
        bool is_built = is_one_of(kBuilt, top) && top != kHomes;
        if (is_built) return add_built(rule);
        ParentView parent = parent_view_of(plan::deciding_rule(plan_.rules, rule.path.parent()));
        bool shows_host = parent == ParentView::readonly || parent == ParentView::writable;
        if (!is_grant(rule)) {
            if (shows_host && host_.tree.look(rule.path)) add(Act::blacklist, rule.path);
            return;
        }
        if (rule.backing == Backing::assembled) return;
        if (rule.backing == Backing::ephemeral) return add_empty(rule, parent);
        shows_host ? change(rule, parent) : show(rule);
    }

    // Parts of /proc and /etc are closed; the rest of them, and all of /dev, is built without a rule.
    void add_built(const PathRule& rule) {
        const base::Path top = top_of(rule.path);
        bool is_granted = is_grant(rule);
        if (top.str() == "/sys") shows_sys_ = shows_sys_ || is_granted;
        bool is_closed = !is_granted && (top.str() == "/proc" || top == kEtc);
        if (is_closed && host_.tree.look(rule.path)) add(Act::blacklist, rule.path);
    }

    // In a place where nothing of the host is visible yet.
    void show(const PathRule& rule) {
        if (is_elsewhere_in_homes(rule.path)) {
            // For a built-in rule, which exists on every host, it is not worth showing the list of users.
            if (rule.reason.origin.layer == config::Layer::builtin) return;
            view_.shows_all_homes = true;
        }
        bool is_laid = home_is_empty_ && rule.path.parent() == host_.home &&
                       std::ranges::find(kLaidByFirejail, rule.path.name()) != std::end(kLaidByFirejail);
        if (is_laid) return view_.copied.push_back(rule.path);
        bool is_whole_top = rule.path.depth() == 1;
        if (is_whole_top) shown_tops_.insert(rule.path);
        // firejail shows the home again by itself when the directory that contains it is emptied.
        bool is_shown_anyway = is_whole_top || rule.path == host_.home;
        if (!is_shown_anyway) whitelist(rule.path);
        if (rule.access == Access::readonly && !is_one_of(kReadOnly, rule.path))
            add(Act::read_only, rule.path);
    }

    // A path in the home or in /run/user empties only that place.
    void whitelist(const base::Path& path) {
        add(Act::whitelist, path);
        if (path.is_strictly_within(host_.home)) {
            has_part_of_home_ = true;
        } else if (path.is_within(kUserServices)) {
            has_part_of_services_ = true;
        } else {
            opened_tops_.insert(top_of(path));
        }
    }

    // In a place that shows the host.
    void change(const PathRule& rule, ParentView parent) {
        if (rule.access == Access::readonly) {
            if (parent == ParentView::writable) add(Act::read_only, rule.path);
            return;
        }
        if (parent == ParentView::readonly) return add(Act::read_write, rule.path);
        // Only a path that was read-only becomes a mount point, and firejail makes only the owner's writable
        // again.
        std::optional<host::Node> node = host_.tree.look(rule.path);
        bool can_be_held = rule.holds_name && node && node->owner == host_.user;
        if (!can_be_held) return;
        add(Act::read_only, rule.path);
        add(Act::read_write, rule.path);
    }

    void add_empty(const PathRule& rule, ParentView parent) {
        bool shows_host = parent == ParentView::readonly || parent == ParentView::writable;
        if (rule.path == host_.home) {
            home_is_empty_ = true;
        } else if (rule.path == kVarTmp) {
            if (view_.keeps_var_tmp) return;
            whitelist(rule.path);  // a tmpfs of firejail's
            view_.emptied.push_back(rule.path);
        } else if (shows_host) {
            bool is_writable = rule.access == Access::writable;
            bool can_be_empty = is_writable && rule.path.is_strictly_within(host_.home);
            add(can_be_empty ? Act::tmpfs : is_writable ? Act::read_only : Act::blacklist, rule.path);
        }
    }

    // firejail can't mount the plan's own files: their targets are closed instead. For mailers and Slurm's
    // commands PATH has stubs first.
    void cover_parts() {
        for (const Mount& mount : plan_.mounts) {
            bool is_stub = mount.kind == MountKind::bind_readonly && mount.source == host_.program.str() &&
                           mount.target != host_.program;
            if (is_stub) add(Act::blacklist, mount.target);
            bool is_cover = mount.kind == MountKind::tmpfs || mount.kind == MountKind::empty_file;
            if (is_cover && mount.target.is_within(kHostEtc)) {
                cover_etc(kEtc / mount.target.relative_to(kHostEtc));
            }
        }
    }

    // firejail's own versions of these two list the system's accounts and the caller's.
    void cover_etc(const base::Path& path) {
        bool is_filtered = path == kEtc / "passwd" || path == kEtc / "group";
        view_.filters_accounts = view_.filters_accounts || is_filtered;
        if (!is_filtered) add(Act::blacklist, path);
    }

    // Dotfiles that are links to another place.
    void collect_links() {
        if (!home_is_empty_) return;
        for (const Mount& mount : plan_.mounts) {
            bool is_of_home = mount.kind == MountKind::symlink && mount.target.is_strictly_within(host_.home);
            if (is_of_home) view_.links.push_back({mount.target, mount.source});
        }
    }

    void close_home() {
        if (!home_is_empty_) return;
        view_.emptied.push_back(host_.home);
        // firejail copies these files of the user into an empty home.
        for (std::string_view name : {".Xauthority", ".asoundrc"}) {
            if (host_.tree.look(host_.home / name)) add(Act::blacklist, host_.home / name);
        }
        if (!has_part_of_home_) add(Act::whitelist, host_.home / kNobodysName);
    }

    void close_tops() {
        const base::Path root;
        for (const host::Entry& entry : host_.tree.list(root)) {
            const base::Path top = root / entry.name;
            if (is_one_of(kBuilt, top) || shown_tops_.contains(top) || entry.kind == host::Kind::symlink)
                continue;
            if (entry.kind != host::Kind::directory) {
                add(Act::blacklist, top);
                continue;
            }
            bool is_open = opened_tops_.contains(top);
            if (!is_open && opened_tops_.size() >= kMostTops) {
                add(Act::blacklist, top);
                continue;
            }
            view_.emptied.push_back(top);
            if (!is_open) whitelist(top / kNobodysName);
        }
        // firejail shows it again, with the sockets of the user's own services.
        if (!has_part_of_services_) add(Act::blacklist, kUserServices);
        add(Act::blacklist, base::Path::known("/dev/log"));
        if (!shows_sys_) add(Act::blacklist, base::Path::known("/sys"));
    }

    const plan::Plan& plan_;
    const Host& host_;
    View view_;
    std::set<base::Path> shown_tops_, opened_tops_;
    bool has_part_of_home_ = false;
    bool has_part_of_services_ = false;
    bool home_is_empty_ = false;
    bool shows_sys_ = false;
};

}  // namespace

base::Result<View> make_view(const plan::Plan& plan, const Host& host) {
    return Maker(plan, host).make();
}

}  // namespace backends::firejail
