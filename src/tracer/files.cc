// SPDX-License-Identifier: MIT
#include "tracer/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/inside/jail_files.h"
#include "plan/print/explain.h"
#include "plan/rules.h"

namespace tracer {
namespace {

using seccomp::Use;

bool is_write(Use use) {
    return use == Use::change || use == Use::put || use == Use::make;
}

std::string_view cause_of(const plan::Explanation& explanation, Use use) {
    if (explanation.verdict == "reads as empty") return "masked";
    // A path that can't be read is hidden, even if something else that can be written is in its place.
    return explanation.verdict == "hidden" || !is_write(use) ? "hidden" : "readonly";
}

// Whether the command lacks something that it would have outside the jail.
bool is_missed(const host::Tree& tree, const base::Path& physical, Use use, Inside inside,
               std::string_view cause) {
    bool is_there = tree.look(physical).has_value();
    if (!is_write(use)) {
        if (!is_there) return false;
        // Its size and name are not secret; its content is.
        if (cause == "masked") return use == Use::read;
        // Not missed: a directory on the way to something visible, or a file of the jail.
        return inside == Inside::nothing;
    }
    if (use == Use::make && inside == Inside::something) return false;
    if (use == Use::change && !is_there) return false;
    return tree.may_write(is_there ? physical : physical.parent());
}

std::string rule_text(const plan::Plan& plan, const base::Path& physical) {
    const plan::PathRule* rule = plan::deciding_rule(plan.rules, physical);
    return rule == nullptr ? "" : std::string(plan::to_text(rule->access)) + " " + rule->path.str();
}

}  // namespace

Use use_of_flags(uint64_t flags, Inside inside) {
    if (flags & O_PATH) return Use::look;
    if ((flags & O_CREAT) && (flags & O_EXCL)) return Use::make;
    bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
    bool makes = flags & O_CREAT && (writes || inside == Inside::nothing);
    if (makes || (flags & O_TMPFILE) == O_TMPFILE) return Use::put;
    return writes ? Use::change : Use::read;
}

Use use_of_mode(uint64_t mode) {
    return mode & W_OK ? Use::change : Use::look;
}

bool is_own_place(const base::Path& path) {
    return std::ranges::any_of(
        std::to_array({std::string_view("/proc"), std::string_view("/dev/fd"), std::string_view("/dev/pts"),
                       base::kOwnDirectory}),
        [&](std::string_view place) { return path.is_within(base::Path::known(place)); });
}

bool is_magic(const base::Path& path) {
    return path.is_within(base::Path::known("/proc")) || path.is_within(base::Path::known("/dev/fd"));
}

std::optional<ClosedFile> judge(const plan::Plan& plan, const host::Tree& tree, const base::Path& path,
                                Use use, Inside inside) {
    if (use == Use::none || is_own_place(path)) return std::nullopt;
    plan::Explanation explanation = plan::explain_path(plan, tree, path, is_write(use));
    if (explanation.is_allowed) return std::nullopt;
    base::Result<host::Tree::Resolved> resolved = tree.resolve(path);
    if (!resolved) return std::nullopt;
    std::string_view cause = cause_of(explanation, use);
    if (!is_missed(tree, resolved->path, use, inside, cause)) return std::nullopt;
    ClosedFile closed{.path = path.str(),
                      .is_write = is_write(use),
                      .cause = cause,
                      .rule = rule_text(plan, resolved->path),
                      .origin = explanation.reason.origin.describe(),
                      .reason = explanation.reason.why};
    // For a directory that contains the project, the change would open everything beside the project.
    bool holds_project = plan.project.is_within(resolved->path);
    if (!holds_project) closed.change = explanation.change;
    return closed;
}

}  // namespace tracer
