// SPDX-License-Identifier: MIT
#include "modules/command.h"

#include "base/format.h"
#include "host/facts.h"

namespace modules {
namespace {

struct Candidate {
    std::string_view variable;
    std::string_view below;  // "" where the variable names the program itself
};

// Lmod first: where both exist, Environment Modules is a package of the distribution.
constexpr Candidate kFromVariables[] = {
    {"LMOD_CMD", ""},
    {"LMOD_DIR", "lmod"},
    {"LMOD_PKG", "libexec/lmod"},
    {"MODULES_CMD", ""},
    {"MODULESHOME", "libexec/lmod"},
    {"MODULESHOME", "libexec/modulecmd.tcl"},
    {"MODULESHOME", "bin/modulecmd"},
};

constexpr std::string_view kPlaces[] = {
    "/usr/share/lmod/lmod/libexec/lmod",
    "/opt/apps/lmod/lmod/libexec/lmod",
    "/apps/lmod/lmod/libexec/lmod",
    "/usr/share/Modules/libexec/modulecmd.tcl",
    "/usr/lib/modulecmd.tcl",
    "/usr/bin/modulecmd",
    "/usr/local/Modules/bin/modulecmd",
};

constexpr std::string_view kAdvice =
    "the administrator can name the site's own as modules.command in /etc/agent-sandbox/config.toml";

base::Error untrusted(const base::Path& program, const base::Path& path, std::string_view problem) {
    std::string what = base::format("the module command {} is not run: ", program.str());
    what += path == program ? std::string("it") : path.str();
    return base::Error{.what = base::format("{} {}", what, problem), .advice = std::string(kAdvice)};
}

// Threat: if another user can replace the module command, that user's program runs outside the jail
// (tests/jail/modules.bats, tests/admin/sites.bats).
base::Status check_trust(const host::Tree& tree, const base::Path& program, bool may_be_anyones) {
    for (base::Path path = program;; path = path.parent()) {
        std::optional<host::Node> node = tree.look(path);
        if (!node) return untrusted(program, path, "can't be examined");
        if (node->owner != 0 && !may_be_anyones) return untrusted(program, path, "does not belong to root");
        uint32_t others = may_be_anyones ? 0002 : 0022;
        if ((node->mode & others) != 0) return untrusted(program, path, "is writable by others");
        if (path.is_root()) return base::success();
    }
}

// The physical path of the program at this path; nothing where it is missing.
std::optional<base::Path> program_at(const host::Tree& tree, const base::Path& place) {
    base::Result<host::Tree::Resolved> resolved = tree.resolve(place);
    if (!resolved || !resolved->exists) return std::nullopt;
    std::optional<host::Node> node = tree.look(resolved->path);
    bool is_program = node && node->kind == host::Kind::file && (node->mode & 0111) != 0;
    return is_program ? std::optional(resolved->path) : std::nullopt;
}

std::optional<base::Path> named_by_variables(const host::Tree& tree,
                                             const std::vector<std::string>& environment) {
    for (const Candidate& candidate : kFromVariables) {
        std::optional<std::string_view> value = host::variable(environment, candidate.variable);
        base::Result<base::Path> place = base::Path::parse(value.value_or(""));
        if (!value || !place) continue;
        base::Path program = candidate.below.empty() ? *place : *place / candidate.below;
        if (std::optional<base::Path> found = program_at(tree, program)) return found;
    }
    return std::nullopt;
}

}  // namespace

base::Result<base::Path> find_command(const host::Tree& tree, const std::vector<std::string>& environment,
                                      const std::optional<Pinned>& pinned) {
    std::optional<base::Path> found =
        pinned ? program_at(tree, pinned->path) : named_by_variables(tree, environment);
    if (pinned && !found)
        return base::Error{.what = base::format("modules.command: {} is not a program", pinned->path.str())};
    for (std::string_view place : kPlaces) {
        if (!found) found = program_at(tree, base::Path::known(place));
    }
    if (!found) {
        return base::Error{.what = "this machine has no module command (Lmod or Environment Modules)",
                           .advice = "install one (apt install lmod), or name it as modules.command"};
    }
    bool may_be_anyones = pinned && pinned->is_administrators;
    if (base::Status trust = check_trust(tree, *found, may_be_anyones); !trust) return trust.error();
    return *std::move(found);
}

}  // namespace modules
