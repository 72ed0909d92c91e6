// SPDX-License-Identifier: MIT
#include "plan/protection.h"

#include <algorithm>

#include "base/glob.h"
#include "base/text.h"

namespace plan {
namespace {

std::optional<std::string> content_of(WhenMissing missing) {
    switch (missing) {
        case WhenMissing::leave:
        case WhenMissing::hold_with_directory:
            return std::nullopt;
        case WhenMissing::hold_with_empty_file:
            return "";
        case WhenMissing::hold_with_dot:
            return ".\n";
        case WhenMissing::hold_with_object:
            return "{}\n";
    }
    return std::nullopt;
}

}  // namespace

void Protection::protect(const base::Path& root, std::string_view relative, const Reason& reason,
                         WhenMissing missing) {
    const base::Path path = root / relative;
    bool is_pattern = base::has_wildcard(path.name());
    const base::Path last = is_pattern ? path.parent() : path;
    base::Path place = root;
    for (std::string_view component : base::split(last.relative_to(root), '/')) {
        if (component.empty()) break;
        place = place / component;
        std::optional<host::Node> node = draft_.tree().look(place);
        if (node && node->kind == host::Kind::symlink) return refuse_link(place, reason);
        // What is missing on the way is a directory.
        WhenMissing here =
            place == path || missing == WhenMissing::leave ? missing : WhenMissing::hold_with_directory;
        bool is_held =
            !is_pattern && here != WhenMissing::leave && (!node || may_be_placeholder(place, *node, here));
        if (is_held) return hold(root, place, reason, here);
        if (!node) return;
    }
    if (is_pattern) return protect_matching(root, path, reason);
    protect_existing(root, path, reason);
}

// Another session may have made it and takes it away when it ends: then it is held like a missing one.
bool Protection::may_be_placeholder(const base::Path& path, const host::Node& node,
                                    WhenMissing missing) const {
    if (node.kind == host::Kind::directory) return draft_.tree().list(path).empty();
    std::optional<std::string> content = content_of(missing);
    if (node.kind != host::Kind::file || !content) return false;
    base::Result<std::string> found = draft_.tree().read(path, 64);
    return found && *found == *content;
}

void Protection::protect_matching(const base::Path& root, const base::Path& pattern, const Reason& reason) {
    const base::Path directory = pattern.parent();
    const std::string_view wanted = pattern.name();
    for (const host::Entry& entry : draft_.tree().list(directory)) {
        if (!base::matches_name(wanted, entry.name)) continue;
        const base::Path path = directory / entry.name;
        if (entry.kind == host::Kind::symlink) {
            refuse_link(path, reason);
        } else {
            protect_existing(root, path, reason);
        }
    }
}

void Protection::protect_existing(const base::Path& root, const base::Path& path, const Reason& reason) {
    pin_ancestors(root, path);
    draft_.rules.add(
        PathRule{.path = path, .access = Access::readonly, .holds_name = true, .reason = reason});
}

void Protection::pin(const base::Path& root, const base::Path& path) {
    pin_ancestors(root, path);
    draft_.rules.add(PathRule{.path = path,
                              .access = Access::writable,
                              .holds_name = true,
                              .reason = {"holds a protected path and can't be renamed aside", {}}});
}

base::Status Protection::status() const {
    if (problem_) return *problem_;
    return base::success();
}

void Protection::hold(const base::Path& root, const base::Path& path, const Reason& reason,
                      WhenMissing missing) {
    // Where the caller can't write, the jail can't either.
    if (!draft_.tree().may_write(path.parent())) return;
    if (is_private(path, missing)) {
        pin_ancestors(root, path);
        draft_.rules.add(PathRule{.path = path,
                                  .access = Access::writable,
                                  .backing = Backing::ephemeral,
                                  .holds_name = true,
                                  .reason = reason});
    } else {
        protect_existing(root, path, reason);
    }
    auto same = [&](const Placeholder& known) { return known.path == path; };
    if (std::ranges::none_of(draft_.plan.placeholders, same)) {
        draft_.plan.placeholders.push_back({path, reason, content_of(missing)});
    }
}

// An agent that keeps files of its own in a directory of the project may end where it finds one that can't be
// written. It gets one that is empty and gone with the session.
bool Protection::is_private(const base::Path& path, WhenMissing missing) const {
    if (draft_.inputs.agent == nullptr || missing != WhenMissing::hold_with_directory) return false;
    return path != draft_.project &&
           std::ranges::any_of(draft_.inputs.agent->project_files, [&](const config::Item& file) {
               return (draft_.project / file.text).parent() == path;
           });
}

void Protection::pin_ancestors(const base::Path& root, const base::Path& path) {
    if (path.parent().is_strictly_within(root)) pin(root, path.parent());
}

void Protection::refuse_link(const base::Path& path, const Reason& reason) {
    if (problem_) return;
    problem_ = base::Error{
        .what =
            base::printable(path.str()) + " is a symbolic link and can't be protected (" + reason.why + ")",
        .advice = "replace it by what it points to, name it in project.unprotect, or use --read-only",
        .where = reason.origin.layer == config::Layer::builtin ? "" : reason.origin.describe()};
}

}  // namespace plan
