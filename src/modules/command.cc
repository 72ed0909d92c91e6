// SPDX-License-Identifier: MIT
#include "modules/command.h"

#include <algorithm>
#include <optional>

#include "base/parse.h"
#include "base/text.h"
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

// Threat: module files are programs, and so are the files that they and the module command find on search
// paths. If a session may write a directory on such a path, its code would run outside the jail at the next
// start. So no variable gives the module command a directory that the jail may write
// (tests/jail/modules.bats).

namespace {

// Code and options for shells and interpreters, above all start-up files of shells: they would change how a
// module is loaded. Patterns end in *.
constexpr std::string_view kNeverGiven[] = {
    "AGENT_SANDBOX*", "BASH_FUNC_*", "BASH_ENV",       "ENV",         "ZDOTDIR",    "SHELLOPTS",
    "BASHOPTS",       "PS4",         "PROMPT_COMMAND", "LUA_INIT*",   "LD_PRELOAD", "LD_AUDIT",
    "LD_DEBUG*",      "GCONV_PATH",  "GLIBC_TUNABLES", "PERL5OPT",    "PERL5DB",    "RUBYOPT",
    "PYTHONSTARTUP",  "LMOD_PAGER",  "LMOD_COLORIZE",  "LMOD_TRACING"};
// Its messages become one line of ours.
constexpr std::string_view kGiven[] = {"LMOD_PAGER=none", "LMOD_COLORIZE=no"};
// Variables that are not search paths: they name the caller's directories.
constexpr std::string_view kNoSearchPath[] = {"HOME", "PWD", "OLDPWD"};

// Lmod caches its data about module files as Lua code in the home directory, and runs it.
constexpr std::string_view kCaches[] = {".cache/lmod", ".lmod.d"};
constexpr std::string_view kWithoutCaches = "LMOD_IGNORE_CACHE=yes";

bool is_named(std::string_view pattern, std::string_view name) {
    if (!pattern.ends_with('*')) return pattern == name;
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

class Withholding {
  public:
    Withholding(const host::Tree& tree, const std::vector<base::Path>& writable, CommandEnvironment& result)
        : tree_(tree), writable_(writable), result_(result) {}

    void consider(const std::string& entry) {
        size_t equals = entry.find('=');
        if (equals == std::string::npos) return;
        std::string_view name = std::string_view(entry).substr(0, equals);
        auto names_it = [&](std::string_view pattern) { return is_named(pattern, name); };
        if (std::ranges::any_of(kNeverGiven, names_it)) return;
        std::string_view value = std::string_view(entry).substr(equals + 1);
        bool is_search_path = std::ranges::find(kNoSearchPath, name) == std::end(kNoSearchPath) &&
                              value.find('/') != std::string_view::npos;
        if (is_search_path) return add_parts(name, value);
        result_.variables.push_back(entry);
    }

    // Also in the middle of a part, as in "-I/project/include" and in Lua's list
    // "/site/?.lua;/project/?.lua".
    bool leads_into_jail(std::string_view part) const {
        constexpr std::string_view kEnds = " \t\r\n=,;'\"`()<>|&";
        bool is_found = is_writable(part) || std::ranges::any_of(writable_, [&](const base::Path& place) {
                            return mentions(part, place.str());
                        });
        for (std::string_view rest = part; !is_found && !rest.empty();) {
            std::string_view word = rest.substr(0, rest.find_first_of(kEnds));
            rest.remove_prefix(std::min(rest.size(), word.size() + 1));
            size_t slash = word.find('/');
            is_found = slash != std::string_view::npos && is_writable(word.substr(slash));
        }
        return is_found;
    }

  private:
    void add_parts(std::string_view name, std::string_view value) {
        std::vector<std::string> kept;
        std::vector<Withheld> pending;
        for (std::string_view part : base::split(value, ':')) {
            if (leads_into_jail(part)) {
                pending.push_back({std::string(name), std::string(part), {}});
                continue;
            }
            kept.emplace_back(part);
            settle(pending, kept.back());
        }
        bool is_all = kept.empty();
        settle(pending, "");
        if (!is_all) result_.variables.push_back(base::format("{}={}", name, base::join(kept, ":")));
    }

    void settle(std::vector<Withheld>& pending, const std::string& before) {
        for (Withheld& part : pending) {
            part.before = before;
            result_.withheld.push_back(std::move(part));
        }
        pending.clear();
    }

    // Whether the path is in a writable directory, or a link in one is on the way to it.
    bool is_writable(std::string_view text) const {
        base::Result<base::Path> literal = base::Path::parse(text);
        if (!literal) return false;
        base::Result<host::Tree::Resolved> physical = tree_.resolve(*literal);
        if (!physical) return false;
        return std::ranges::any_of(writable_, [&](const base::Path& place) {
            return physical->path.is_within(place) ||
                   std::ranges::any_of(physical->links, [&](const host::Tree::Link& link) {
                       return link.path.is_within(place);
                   });
        });
    }

    // At any occurrence: /project2 before /project is another directory.
    static bool mentions(std::string_view part, std::string_view place) {
        auto is_in_name = [](char letter) {
            constexpr std::string_view kOthers = "._-+~@";
            return base::is_letter(letter) || base::is_digit(letter) || (letter & 0x80) != 0 ||
                   kOthers.find(letter) != std::string_view::npos;
        };
        for (size_t at = part.find(place); at != std::string_view::npos; at = part.find(place, at + 1)) {
            size_t end = at + place.size();
            if (end == part.size() || !is_in_name(part[end])) return true;
        }
        return false;
    }

    const host::Tree& tree_;
    const std::vector<base::Path>& writable_;
    CommandEnvironment& result_;
};

}  // namespace

CommandEnvironment make_command_environment(const host::Tree& tree,
                                            const std::vector<std::string>& environment,
                                            const std::vector<base::Path>& writable) {
    CommandEnvironment prepared;
    Withholding withholding(tree, writable, prepared);
    for (const std::string& entry : environment) withholding.consider(entry);
    std::optional<std::string_view> home = host::variable(environment, "HOME");
    if (base::Result<base::Path> place = base::Path::parse(home.value_or(""))) {
        bool is_jails = std::ranges::any_of(kCaches, [&](std::string_view cache) {
            return withholding.leads_into_jail((*place / cache).str());
        });
        // First, because the first of two equal names counts.
        if (is_jails) prepared.variables.emplace(prepared.variables.begin(), kWithoutCaches);
    }
    for (std::string_view entry : kGiven) prepared.variables.emplace_back(entry);
    return prepared;
}

std::string with_withheld(std::string_view variable, std::string_view value,
                          const std::vector<Withheld>& withheld) {
    std::vector<std::string> parts;
    for (std::string_view part : base::split(value, ':')) parts.emplace_back(part);
    for (const Withheld& missing : withheld) {
        if (missing.variable != variable) continue;
        auto place = missing.before.empty() ? parts.end() : std::ranges::find(parts, missing.before);
        parts.insert(place, missing.part);
    }
    return base::join(parts, ":");
}

}  // namespace modules
