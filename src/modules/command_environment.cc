// SPDX-License-Identifier: MIT
// Threat: module files are programs, and so are the files that they and the module command find on search
// paths. If a session may write a directory on such a path, its code would run outside the jail at the next
// start. So no variable gives the module command a directory that the jail may write
// (tests/jail/modules.bats).
#include "modules/command_environment.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/text.h"
#include "host/facts.h"

namespace modules {
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

    // Also where the directory is in the middle of a part, as in Lua's "/project/?.lua;;".
    bool leads_into_jail(std::string_view part) const {
        base::Result<base::Path> literal = base::Path::parse(part);
        base::Result<host::Tree::Resolved> physical =
            literal ? tree_.resolve(*literal) : base::Result<host::Tree::Resolved>(base::Error{});
        return std::ranges::any_of(writable_, [&](const base::Path& place) {
            return (physical && physical->path.is_within(place)) || mentions(part, place.str());
        });
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

    static bool mentions(std::string_view part, std::string_view place) {
        size_t found = part.find(place);
        return found != std::string_view::npos &&
               (found + place.size() == part.size() || part[found + place.size()] == '/');
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
