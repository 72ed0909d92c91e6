// SPDX-License-Identifier: MIT
#include "plan/rules.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace plan {
namespace {

using config::Layer;

bool is_grant(const PathRule& rule) {
    return rule.access == Access::readonly || rule.access == Access::writable;
}

// A rule against writing, not for reading: hiding the path is stricter and includes it.
bool is_protection(const PathRule& rule) {
    return rule.access == Access::readonly && rule.holds_name;
}

bool is_users_own(const PathRule& rule) {
    return rule.reason.origin.layer != Layer::builtin && rule.reason.origin.layer != Layer::admin;
}

base::Error without_effect(const PathRule& grant, const PathRule& hide) {
    return base::Error{
        .what = base::format("{} can't be made {}: {} ({})", base::printable(grant.path.str()),
                             to_text(grant.access), hide.reason.why, hide.reason.origin.describe()),
        .advice = "remove the entry",
        .where = grant.reason.origin.describe()};
}

// Rules with equal paths become adjacent, the strictest first.
void sort_rules(std::vector<PathRule>& rules) {
    std::ranges::stable_sort(rules, [](const PathRule& a, const PathRule& b) {
        return a.path != b.path ? a.path < b.path : a.access < b.access;
    });
}

// The hide that closes `rule` although the rule is more specific, if any.
const PathRule* closing_hide(const std::vector<PathRule>& hides, const PathRule& rule) {
    for (const PathRule& hide : hides) {
        if (!rule.path.is_strictly_within(hide.path)) continue;
        Layer hider = hide.reason.origin.layer;
        Layer granter = rule.reason.origin.layer;
        if (hider == Layer::admin && granter != Layer::admin) return &hide;
        if (hider != Layer::builtin && granter == Layer::builtin) return &hide;
    }
    return nullptr;
}

}  // namespace

std::string_view to_text(Access access) {
    switch (access) {
        case Access::hidden:
            return "hidden";
        case Access::masked:
            return "masked";
        case Access::readonly:
            return "readonly";
        case Access::writable:
            return "writable";
    }
    return "";
}

std::string_view to_text(MountKind kind) {
    switch (kind) {
        case MountKind::bind_readonly:
            return "bind-readonly";
        case MountKind::bind_writable:
            return "bind-writable";
        case MountKind::overlay:
            return "overlay";
        case MountKind::bind_device:
            return "bind-device";
        case MountKind::tmpfs:
            return "tmpfs";
        case MountKind::directory:
            return "directory";
        case MountKind::symlink:
            return "symlink";
        case MountKind::file:
            return "file";
        case MountKind::private_file:
            return "private-file";
        case MountKind::empty_file:
            return "empty-file";
        case MountKind::proc:
            return "proc";
        case MountKind::queues:
            return "queues";
        case MountKind::helper_socket:
            return "helper-socket";
        case MountKind::held_link:
            return "held-link";
        case MountKind::dev:
            return "dev";
        case MountKind::seal:
            return "seal";
    }
    return "";
}

base::Status Rules::settle() {
    std::vector<PathRule> hides;
    for (const PathRule& rule : rules_) {
        if (rule.access == Access::hidden && rule.reason.origin.layer != Layer::builtin)
            hides.push_back(rule);
    }
    std::erase_if(rules_, [&](const PathRule& rule) {
        bool may_be_lost = !is_users_own(rule) || is_protection(rule);
        return is_grant(rule) && may_be_lost && closing_hide(hides, rule) != nullptr;
    });
    for (const PathRule& rule : rules_) {
        if (!is_grant(rule)) continue;
        if (const PathRule* hide = closing_hide(hides, rule)) return without_effect(rule, *hide);
    }

    sort_rules(rules_);
    std::vector<PathRule> kept;
    kept.reserve(rules_.size());
    for (PathRule& rule : rules_) {
        if (kept.empty() || kept.back().path != rule.path) {
            kept.push_back(std::move(rule));
            continue;
        }
        PathRule& winner = kept.back();
        winner.holds_name = winner.holds_name || rule.holds_name;
        bool is_lost_grant =
            is_grant(rule) && !is_protection(rule) && is_users_own(rule) && !is_grant(winner);
        if (is_lost_grant) return without_effect(rule, winner);
    }
    rules_ = std::move(kept);
    return base::success();
}

void Rules::add_settled(std::vector<PathRule> more) {
    if (more.empty()) return;
    std::ranges::move(more, std::back_inserter(rules_));
    sort_rules(rules_);
    std::vector<PathRule> kept;
    kept.reserve(rules_.size());
    for (PathRule& rule : rules_) {
        if (kept.empty() || kept.back().path != rule.path) {
            kept.push_back(std::move(rule));
        } else {
            kept.back().holds_name = kept.back().holds_name || rule.holds_name;
        }
    }
    rules_ = std::move(kept);
}

const PathRule* Rules::decide(const base::Path& path) const {
    return deciding_rule(rules_, path);
}

const PathRule* Rules::decide_unsettled(const base::Path& path) const {
    const PathRule* nearest = nullptr;
    for (const PathRule& rule : rules_) {
        if (!path.is_within(rule.path)) continue;
        bool is_nearer = nearest == nullptr || rule.path.depth() > nearest->path.depth() ||
                         (rule.path == nearest->path && rule.access < nearest->access);
        if (is_nearer) nearest = &rule;
    }
    return nearest;
}

const PathRule* deciding_rule(const std::vector<PathRule>& sorted, const base::Path& path) {
    // From the path upwards; on strings, because a launch calls this hundreds of times.
    auto text_of = [](const PathRule& rule) -> std::string_view { return rule.path.str(); };
    for (std::string_view candidate = path.str();;) {
        auto found = std::ranges::lower_bound(sorted, candidate, {}, text_of);
        if (found != sorted.end() && text_of(*found) == candidate) return &*found;
        if (candidate == "/") return nullptr;
        size_t slash = candidate.rfind('/');
        candidate = slash == 0 ? "/" : candidate.substr(0, slash);
    }
}

// Theory of operation. Rules are processed from the root downwards, so that every mount is made on what its
// parents made. What a rule needs depends on the nearest rule above it:
//
//   above \ rule        hidden, masked      read-only            writable             ephemeral
//   nothing or hidden   nothing             bind read-only       bind                 tmpfs or directory
//   ephemeral           nothing             bind read-only       bind                 tmpfs or directory
//   host, read-only     cover               nothing              bind                 tmpfs
//   host, writable      cover               bind read-only       nothing              tmpfs
// "Cover" is an empty read-only directory or file on top of the existing one. A hidden path below something
// visible can only be covered, not removed; below nothing it never existed. "Nothing" becomes a bind where
// the rule holds its name.
// where the rule holds its name.

namespace {

enum class ParentView { absent, ephemeral, host_readonly, host_writable };

ParentView parent_view_of(const PathRule* above) {
    if (above == nullptr || above->access == Access::hidden || above->access == Access::masked) {
        return ParentView::absent;
    }
    if (above->backing != Backing::host) return ParentView::ephemeral;
    return above->access == Access::writable ? ParentView::host_writable : ParentView::host_readonly;
}

bool shows_host(ParentView parent) {
    return parent == ParentView::host_readonly || parent == ParentView::host_writable;
}

class Renderer {
  public:
    Renderer(const Rules& rules, const host::Tree& tree) : rules_(rules), tree_(tree) {}

    std::vector<Mount> render() {
        for (const PathRule& rule : rules_.sorted()) add(rule);
        // The deepest first, so that a sealed parent never blocks a child's mount.
        std::ranges::stable_sort(
            seals_, [](const Mount& a, const Mount& b) { return a.target.depth() > b.target.depth(); });
        std::ranges::move(seals_, std::back_inserter(mounts_));
        return std::move(mounts_);
    }

  private:
    void add(const PathRule& rule) {
        if (rule.backing == Backing::assembled) return;
        const PathRule* above = rule.path.is_root() ? nullptr : rules_.decide(rule.path.parent());
        if (above != nullptr && above->backing == Backing::assembled) return;
        ParentView parent = parent_view_of(above);
        switch (rule.access) {
            case Access::hidden:
            case Access::masked:
                if (shows_host(parent)) cover(rule);
                return;
            case Access::readonly:
                if (rule.backing == Backing::ephemeral) return add_empty(rule, parent);
                if (parent != ParentView::host_readonly || rule.holds_name)
                    bind(rule, MountKind::bind_readonly);
                return;
            case Access::writable:
                if (rule.backing == Backing::ephemeral) return push(rule, MountKind::tmpfs, "");
                if (parent != ParentView::host_writable || rule.holds_name)
                    bind(rule, MountKind::bind_writable);
                return;
        }
    }

    // An empty read-only directory: a plain directory where nothing of the host is around it, else a sealed
    // tmpfs.
    void add_empty(const PathRule& rule, ParentView parent) {
        if (parent == ParentView::absent) return push(rule, MountKind::directory, "");
        push(rule, MountKind::tmpfs, "");
        seals_.push_back(Mount{.kind = MountKind::seal, .target = rule.path, .reason = rule.reason});
    }

    void cover(const PathRule& rule) {
        std::optional<host::Node> node = tree_.look(rule.path);
        bool is_placeholder = !node && rule.holds_name;  // the launch creates a directory
        if (!is_placeholder) {
            if (!node || node->kind == host::Kind::symlink) return;
            if (node->kind != host::Kind::directory) return push(rule, MountKind::empty_file, "");
        }
        push(rule, MountKind::tmpfs, "");
        seals_.push_back(Mount{.kind = MountKind::seal, .target = rule.path, .reason = rule.reason});
    }

    void bind(const PathRule& rule, MountKind kind) { push(rule, kind, rule.path.str()); }

    void push(const PathRule& rule, MountKind kind, std::string source) {
        mounts_.push_back(
            Mount{.kind = kind, .target = rule.path, .source = std::move(source), .reason = rule.reason});
    }

    const Rules& rules_;
    const host::Tree& tree_;
    std::vector<Mount> mounts_;
    std::vector<Mount> seals_;
};

}  // namespace

std::vector<Mount> render_rules(const Rules& rules, const host::Tree& tree) {
    return Renderer(rules, tree).render();
}

}  // namespace plan
