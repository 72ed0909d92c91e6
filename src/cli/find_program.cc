// SPDX-License-Identifier: MIT
#include "cli/find_program.h"

#include "base/text.h"
#include "plan/print/explain.h"

namespace cli {
namespace {

bool is_program(const host::Tree& tree, const base::Path& path) {
    std::optional<host::Node> node = tree.look_through(path);
    return node && node->kind == host::Kind::file && (node->mode & 0111) != 0;
}

// An entry in PATH may be a symbolic link; the program is its target.
base::Path target_of(const host::Tree& tree, const base::Path& program) {
    base::Result<host::Tree::Resolved> resolved = tree.resolve(program);
    return resolved ? resolved->path : program;
}

}  // namespace

std::optional<base::Path> find_program(const host::Tree& tree, const Lookup& lookup,
                                       const std::string& word) {
    if (word.find('/') != std::string::npos) {
        base::Path path = word.front() == '/' ? base::Path() / word : lookup.working_directory / word;
        return is_program(tree, path) ? std::optional(path) : std::nullopt;
    }
    for (std::string_view directory : base::split(lookup.search_path, ':')) {
        if (!directory.starts_with('/')) continue;
        base::Path path = base::Path() / directory / word;
        if (is_program(tree, path)) return path;
    }
    return std::nullopt;
}

bool is_visible(const plan::Plan& plan, const host::Tree& tree, const base::Path& program) {
    return plan::explain_path(plan, tree, program, false).is_allowed &&
           plan::explain_path(plan, tree, target_of(tree, program), false).is_allowed;
}

std::string flags_that_show(const plan::Plan& plan, const host::Tree& tree, const base::Path& program) {
    std::string flags;
    for (const base::Path& path : {program, target_of(tree, program)}) {
        plan::Explanation explanation = plan::explain_path(plan, tree, path.parent(), false);
        std::string flag = " --ro " + base::shell_word(path.parent().str());
        if (explanation.is_allowed || flags.find(flag) != std::string::npos) continue;
        if (explanation.change.empty()) return {};
        flags += flag;
    }
    return flags;
}

}  // namespace cli
