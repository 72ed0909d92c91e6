// SPDX-License-Identifier: MIT
// A model of the operations on names that the kernel permits a jail: files with an identity, the mounts of a
// plan over them, and renames, exchanges, links, removals and mode changes that succeed or fail as in the
// kernel.
//
// In one case the model permits more than the kernel: a mount stays at its path when a directory above it is
// renamed. In the kernel the mount moves with the directory.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "host/known_names.h"
#include "plan/plan.h"

namespace test {

struct Object {
    host::Kind kind = host::Kind::file;
    std::string text;  // of a symbolic link
    int number = 0;    // identifies a file, whatever its names
    bool is_shut = false;
};

// How the mounts of a plan show the host's content at a path.
struct View {
    bool is_read = false;
    bool is_written = false;
    size_t mount = 0;  // the index of the mount that shows it
};

class Disk {
  public:
    using Names = std::map<base::Path, std::shared_ptr<Object>>;

    const Names& names() const { return names_; }

    // Also makes the directories above it. Does nothing if the name exists, or if a file is above it.
    void make(const base::Path& path, host::Kind kind, std::string text = {}) {
        if (names_.contains(path)) return;
        if (!path.parent().is_root()) {
            make(path.parent(), host::Kind::directory);
            if (names_.at(path.parent())->kind != host::Kind::directory) return;
        }
        names_[path] = std::make_shared<Object>(Object{kind, std::move(text), ++last_, false});
    }

    // The listing that the plan reads. Entries of a directory whose mode closes it are not visible.
    std::string listing() const {
        std::string text;
        std::vector<base::Path> shut;
        for (const auto& [path, object] : names_) {
            bool is_seen = true;
            for (const base::Path& above : shut) is_seen = is_seen && !path.is_strictly_within(above);
            if (!is_seen) continue;
            switch (object->kind) {
                case host::Kind::directory:
                    text += "d " + path.str() + (object->is_shut ? " 0000\n" : "\n");
                    break;
                case host::Kind::symlink:
                    text += "l " + path.str() + " " + object->text + "\n";
                    break;
                default:
                    text += "f " + path.str() + " 0644 content\n";
            }
            if (object->is_shut) shut.push_back(path);
        }
        return text;
    }

    void remove(const base::Path& path) { names_.erase(path); }

    bool is_empty_directory(const base::Path& path) const {
        auto next = names_.upper_bound(path);
        for (; next != names_.end() && next->first.str().starts_with(path.str()); ++next) {
            if (next->first.is_strictly_within(path)) return false;
        }
        return true;
    }

    void move(const base::Path& from, const base::Path& to) {
        Names moved;
        for (auto at = names_.begin(); at != names_.end();) {
            if (!at->first.is_within(from)) {
                ++at;
                continue;
            }
            moved[to / at->first.relative_to(from)] = at->second;
            at = names_.erase(at);
        }
        names_.merge(moved);
    }

    void link(const base::Path& from, const base::Path& to) { names_[to] = names_.at(from); }

  private:
    Names names_;
    int last_ = 0;
};

// One session: the operations that the mounts of its plan permit.
class Jail {
  public:
    Jail(Disk& disk, const std::vector<plan::Mount>& mounts) : disk_(disk), mounts_(mounts) {}

    View view(const base::Path& path) const {
        using plan::MountKind;
        std::set<base::Path> sealed;
        for (size_t i = mounts_.size(); i-- > 0;) {
            const plan::Mount& mount = mounts_[i];
            if (mount.kind == MountKind::seal) sealed.insert(mount.target);
            bool covers = mount.kind != MountKind::seal && mount.kind != MountKind::directory &&
                          mount.kind != MountKind::symlink && mount.kind != MountKind::held_link;
            if (!covers || !path.is_within(mount.target)) continue;
            bool is_bind = mount.kind == MountKind::bind_readonly || mount.kind == MountKind::bind_writable;
            if (!is_bind || mount.source != mount.target.str()) return {};
            bool is_written = mount.kind == MountKind::bind_writable && !sealed.contains(mount.target);
            return {true, is_written, i};
        }
        return {};
    }

    // Assumes that the jail changes every mode that it can change.
    bool can_read(const base::Path& path) const {
        for (base::Path above = path.parent(); !above.is_root(); above = above.parent()) {
            auto found = disk_.names().find(above);
            bool stays_shut =
                found != disk_.names().end() && found->second->is_shut && !view(above).is_written;
            if (stays_shut) return false;
        }
        return view(path).is_read;
    }

    bool rename(const base::Path& from, const base::Path& to) {
        if (!disk_.names().contains(from) || disk_.names().contains(to)) return false;
        if (!may_change(from) || !may_change(to) || !is_one_mount(from, to)) return false;
        if (to.is_within(from)) return false;
        disk_.move(from, to);
        return true;
    }

    bool exchange(const base::Path& one, const base::Path& other) {
        if (!disk_.names().contains(one) || !disk_.names().contains(other)) return false;
        if (!may_change(one) || !may_change(other) || !is_one_mount(one, other)) return false;
        if (one.is_within(other) || other.is_within(one)) return false;
        const base::Path aside = base::Path::known("/home/ann/exchanged-by-the-kernel");
        disk_.move(one, aside);
        disk_.move(other, one);
        disk_.move(aside, other);
        return true;
    }

    bool remove(const base::Path& path) {
        auto found = disk_.names().find(path);
        if (found == disk_.names().end() || !may_change(path)) return false;
        if (found->second->kind == host::Kind::directory && !disk_.is_empty_directory(path)) return false;
        disk_.remove(path);
        return true;
    }

    bool make(const base::Path& path, host::Kind kind, const std::string& text) {
        if (disk_.names().contains(path) || !may_change(path)) return false;
        disk_.make(path, kind, text);
        return true;
    }

    // A link to a mount point would be a link to the mounted file.
    bool link(const base::Path& from, const base::Path& to) {
        auto found = disk_.names().find(from);
        if (found == disk_.names().end() || found->second->kind != host::Kind::file) return false;
        if (disk_.names().contains(to) || !may_change(to) || is_mount_point(from)) return false;
        if (!is_one_mount(from, to)) return false;
        disk_.link(from, to);
        return true;
    }

    bool shut(const base::Path& path) {
        auto found = disk_.names().find(path);
        if (found == disk_.names().end() || found->second->kind != host::Kind::directory) return false;
        if (!view(path).is_written) return false;
        found->second->is_shut = !found->second->is_shut;
        return true;
    }

  private:
    bool is_mount_point(const base::Path& path) const {
        for (const plan::Mount& mount : mounts_) {
            bool is_mount = mount.kind != plan::MountKind::seal && mount.kind != plan::MountKind::directory &&
                            mount.kind != plan::MountKind::symlink;
            if (is_mount && mount.target == path) return true;
        }
        return false;
    }

    // Whether the jail may make, rename or remove the name.
    bool may_change(const base::Path& path) const {
        auto directory = disk_.names().find(path.parent());
        bool is_there = directory != disk_.names().end() && directory->second->kind == host::Kind::directory;
        return is_there && view(path.parent()).is_written && !is_mount_point(path);
    }

    bool is_one_mount(const base::Path& one, const base::Path& other) const {
        return view(one.parent()).mount == view(other.parent()).mount;
    }

    Disk& disk_;
    const std::vector<plan::Mount>& mounts_;
};

}  // namespace test
