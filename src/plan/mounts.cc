// SPDX-License-Identifier: MIT
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
#include "plan/mounts.h"

#include <algorithm>

namespace plan {
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
