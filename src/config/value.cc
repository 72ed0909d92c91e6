// SPDX-License-Identifier: MIT
#include "config/value.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"

namespace config {

std::string_view layer_name(Layer layer) {
    switch (layer) {
        case Layer::builtin:
            return "built-in";
        case Layer::admin:
            return "administrator";
        case Layer::profile:
            return "agent profile";
        case Layer::user:
            return "user";
        case Layer::project:
            return "project";
        case Layer::preset:
            return "preset";
        case Layer::environment:
            return "environment";
        case Layer::command_line:
            return "command line";
    }
    return "";
}

std::string Origin::describe() const {
    if (!file.empty()) return line > 0 ? base::format("{}:{}", file, line) : file;
    if (!name.empty()) return name;
    return std::string(layer_name(layer));
}

namespace {

using base::Error;
using base::Result;

Error unexpected(const Setting& setting, std::string_view raw, const std::string& problem,
                 std::string advice = {}) {
    if (advice.empty()) advice = "write " + expectation(setting);
    return Error{
        .what = base::format("{}: '{}' {}", setting.key, base::printable(without_secrets(raw)), problem),
        .advice = std::move(advice),
        .exit_code = base::ExitCode::jail_failed};
}

bool has_control_character(std::string_view text) {
    return std::ranges::any_of(
        text, [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; });
}

// ---- Scalars

struct Spelling {
    std::string_view word;
    std::string_view meaning;
};

// In files TOML allows only true and false; variables may use the other common spellings.
constexpr Spelling kTruths[] = {
    {"true", "true"},   {"1", "true"},  {"yes", "true"}, {"on", "true"},
    {"false", "false"}, {"0", "false"}, {"no", "false"}, {"off", "false"},
};

Result<std::string> canonical_boolean(const Setting& setting, std::string_view raw) {
    const Spelling* found = std::ranges::find(kTruths, raw, &Spelling::word);
    if (found == std::end(kTruths)) return unexpected(setting, raw, "is neither true nor false");
    return std::string(found->meaning);
}

Result<std::string> canonical_choice(const Setting& setting, std::string_view raw) {
    std::vector<std::string_view> choices = choices_of(setting);
    if (std::ranges::find(choices, raw) != choices.end()) return std::string(raw);
    std::string meant = base::nearest(raw, choices);
    std::string advice = "write " + expectation(setting);
    if (!meant.empty()) advice += base::format("; '{}' was probably meant", meant);
    return unexpected(setting, raw, "is not a choice", std::move(advice));
}

struct Unit {
    std::string_view suffix;
    int64_t factor;
};

constexpr Unit kNoUnits[] = {{"", 1}};
constexpr Unit kSizes[] = {
    {"", 1},          {"B", 1},           {"K", 1LL << 10}, {"KiB", 1LL << 10},
    {"M", 1LL << 20}, {"MiB", 1LL << 20}, {"G", 1LL << 30}, {"GiB", 1LL << 30},
    {"T", 1LL << 40}, {"TiB", 1LL << 40},
};
constexpr Unit kDurations[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};

Result<std::string> canonical_number(const Setting& setting, std::string_view raw,
                                     std::span<const Unit> units) {
    size_t digits = 0;
    int64_t number = 0;
    for (; digits < raw.size() && base::is_digit(raw[digits]); ++digits) {
        if (number > (std::numeric_limits<int64_t>::max() - 9) / 10) {
            return unexpected(setting, raw, "is too large");
        }
        number = number * 10 + (raw[digits] - '0');
    }
    auto unit = std::ranges::find(units, raw.substr(digits), &Unit::suffix);
    if (digits == 0 || unit == units.end()) return unexpected(setting, raw, "can't be read");
    if (number > std::numeric_limits<int64_t>::max() / unit->factor) {
        return unexpected(setting, raw, "is too large");
    }
    return std::to_string(number * unit->factor);
}

// ---- Paths

// Only device nodes are expanded from patterns, at launch. In other settings a star would silently match
// nothing.
bool takes_patterns(const Setting& setting) {
    return setting.key.starts_with("devices.");
}

std::optional<Error> problem_of_path(const Setting& setting, std::string_view raw) {
    if (has_control_character(raw)) {
        return unexpected(setting, raw, "holds a newline or another control character", "name another path");
    }
    if (raw.starts_with('$')) {
        return unexpected(setting, raw, "begins with a variable, and none is expanded here",
                          "write ~ for the home directory");
    }
    return std::nullopt;
}

Result<std::string> canonical_absolute(const Setting& setting, std::string_view raw) {
    if (auto problem = problem_of_path(setting, raw)) return *problem;
    if (base::has_wildcard(raw) && !takes_patterns(setting)) {
        return unexpected(setting, raw, "holds a wildcard, and none is expanded here",
                          "name the directory itself");
    }
    bool is_from_home = raw == "~" || raw.starts_with("~/");
    if (raw.starts_with('~') && !is_from_home) {
        return unexpected(setting, raw, "names another user's home", "write the path from /");
    }
    Result<base::Path> path =
        base::Path::parse(is_from_home ? base::format("/{}", raw.substr(1)) : std::string(raw));
    if (!path) {
        bool is_relative = !is_from_home && !raw.starts_with('/');
        return unexpected(setting, raw, is_relative ? "is not an absolute path" : "climbs too high",
                          is_relative ? "write it from / or from ~" : "remove the extra '..'");
    }
    if (!is_from_home) return path->str();
    return path->is_root() ? std::string("~") : "~" + path->str();
}

Result<std::string> canonical_relative(const Setting& setting, std::string_view raw) {
    if (auto problem = problem_of_path(setting, raw)) return *problem;
    bool is_home = setting.type == Type::home_list;
    std::string_view place = is_home ? "the home directory" : "the project";
    std::string_view relative = is_home && raw.starts_with("~/") ? raw.substr(2) : raw;
    if (relative.starts_with('/') || relative.starts_with('~')) {
        std::string advice = base::format("write it without what leads to {}", place);
        if (is_home) advice += ", or name it in mounts.readonly or mounts.writable";
        return unexpected(setting, raw, base::format("is not relative to {}", place), std::move(advice));
    }
    for (std::string_view component : base::split(relative, '/')) {
        if (component == "..") {
            return unexpected(setting, raw, base::format("leaves {}", place), "write it without '..'");
        }
    }
    base::Path path = base::Path() / relative;
    if (path.is_root()) {
        return unexpected(setting, raw, base::format("is {} itself", place), "name something in it");
    }
    bool is_wild_above = base::has_wildcard(path.parent().str());
    if (is_home && base::has_wildcard(relative)) {
        return unexpected(setting, raw, "holds a wildcard, and none is expanded here", "name each path");
    }
    if (is_wild_above) {
        return unexpected(setting, raw, "has a wildcard before its last part",
                          "use wildcards in the last part only");
    }
    return path.str().substr(1);
}

// ---- Names

// Names of exported shell functions (BASH_FUNC_module%%) count as names: a user can allow them one by one.
bool is_environment_name(std::string_view name) {
    constexpr std::string_view kFunction = "BASH_FUNC_";
    if (!name.starts_with(kFunction)) return base::is_variable_name(name);
    return name.find_first_of("= \t*?") == std::string_view::npos && !has_control_character(name);
}

Result<std::string> canonical_key(const Setting& setting, std::string_view raw) {
    if (find_setting(raw) != nullptr && raw != setting.key) return std::string(raw);
    std::vector<std::string_view> keys;
    for (const Setting& row : settings()) keys.push_back(row.key);
    std::string meant = base::nearest(raw, keys);
    return unexpected(setting, raw, "is not a setting that can be locked",
                      meant.empty() || meant == setting.key ? "see 'agent-sandbox config show'"
                                                            : base::format("'{}' was probably meant", meant));
}

Result<std::string> canonical_plain(const Setting& setting, std::string_view raw);

// The name becomes an argument of the module command, which would take a leading dash for an option.
Result<std::string> canonical_module(const Setting& setting, std::string_view raw) {
    bool is_word = !raw.starts_with('-') && raw.find_first_of(" \t;=") == std::string_view::npos;
    if (!is_word) {
        return unexpected(setting, raw, "is not the name of a module",
                          "write it as 'module load' takes it, such as gcc/12.2.0");
    }
    return canonical_plain(setting, raw);
}

// The name becomes an option of Slurm's commands.
Result<std::string> canonical_option(const Setting& setting, std::string_view raw) {
    std::string_view name = raw.starts_with("--") ? raw.substr(2) : "";
    for (std::string_view end : {"[=]", "="}) {
        if (name.ends_with(end)) name.remove_suffix(end.size());
    }
    bool is_name = !name.empty() && std::ranges::all_of(name, [](char letter) {
        return base::is_name_character(letter) || letter == '-' || letter == '.';
    });
    if (!is_name) {
        return unexpected(
            setting, raw, "is not the name of an option",
            "write --name, --name= if it takes a value, or --name[=] if the value may be missing");
    }
    return std::string(raw);
}

Result<std::string> canonical_name(const Setting& setting, std::string_view raw) {
    if (setting.key == "slurm.spank_options") return canonical_option(setting, raw);
    if (setting.key == "lock") return canonical_key(setting, raw);
    if (setting.key == "modules.load") return canonical_module(setting, raw);
    // Names of programs and packages follow other rules: "@anthropic-ai/claude-code".
    if (setting.key == "agent.commands" || setting.key == "agent.packages")
        return canonical_plain(setting, raw);
    if (setting.key == "credentials.use") {
        if (is_credential_name(raw)) return std::string(raw);
        return unexpected(setting, raw, "is not the name of a credential",
                          "use lower-case letters, digits, '-' and '_'");
    }
    if (is_environment_name(raw)) return std::string(raw);
    if (base::has_wildcard(raw)) {
        return unexpected(setting, raw, "is a pattern",
                          "write exact names here; patterns can only block, in env.block_patterns");
    }
    if (raw.find('=') != std::string_view::npos) {
        return unexpected(setting, raw, "is an assignment", "write the name alone here, values in env.set");
    }
    return unexpected(setting, raw, "is not the name of a variable");
}

Result<std::string> canonical_pattern(const Setting& setting, std::string_view raw) {
    std::string_view pattern = raw.ends_with("/i") ? raw.substr(0, raw.size() - 2) : raw;
    bool is_plausible = !pattern.empty() && std::ranges::all_of(pattern, [](char c) {
        return base::is_name_character(c) || std::string_view("*?%()").find(c) != std::string_view::npos;
    });
    if (!is_plausible) {
        return unexpected(setting, raw, "can't match the name of a variable",
                          "use letters, digits, _, * and ?, and /i at the end to ignore case");
    }
    return std::string(raw);
}

Result<std::string> canonical_assignment(const Setting& setting, std::string_view raw) {
    size_t equals = raw.find('=');
    std::string_view name = raw.substr(0, equals);
    // Do not print the value: it may be a secret.
    if (equals == std::string_view::npos || !base::is_variable_name(name)) {
        return unexpected(setting, name, "is not the name of a variable", "write NAME and a value");
    }
    if (name == "AGENT_SANDBOX" || name.starts_with("AGENT_SANDBOX_")) {
        return unexpected(setting, name, "is set by the sandbox itself", "choose another name");
    }
    if (raw.find('\0') != std::string_view::npos) {
        return unexpected(setting, name, "has a value with a NUL byte", "remove it");
    }
    return std::string(raw);
}

Result<std::string> canonical_file_text(const Setting& setting, std::string_view raw) {
    size_t equals = raw.find('=');
    std::string_view path = raw.substr(0, equals);
    bool is_placed = path.starts_with("/etc/") || path.starts_with("~/");
    Result<base::Path> parsed = base::Path::parse(path.starts_with('~') ? path.substr(1) : path);
    if (equals == std::string_view::npos || !is_placed || !parsed ||
        path.find("..") != std::string_view::npos) {
        return unexpected(setting, path, "is not a path below /etc or ~",
                          "write such a path and the content");
    }
    if (raw.find('\0') != std::string_view::npos) {
        return unexpected(setting, path, "has a content with a NUL byte", "remove it");
    }
    return std::string(raw);
}

Result<std::string> canonical_plain(const Setting& setting, std::string_view raw) {
    if (has_control_character(raw)) {
        return unexpected(setting, raw, "holds a newline or another control character");
    }
    return std::string(raw);
}

Result<std::string> canonical_rule(const Setting& setting, std::string_view raw) {
    if (raw.find(' ') != std::string_view::npos) {
        return unexpected(setting, raw, "holds a blank", "write one rule per entry");
    }
    return canonical_plain(setting, raw);
}

}  // namespace

std::string without_secrets(std::string_view text) {
    size_t at = text.rfind('@');
    // "@name" is a list or a bundle.
    if (at == std::string_view::npos || at == 0) return std::string(text);
    size_t scheme = text.substr(0, at).find("://");
    size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
    return base::format("{}***{}", text.substr(0, begin), text.substr(at));
}

Result<std::string> canonical_text(const Setting& setting, std::string_view raw) {
    if (raw.empty()) {
        return Error{.what = base::format("{}: an empty text means nothing", setting.key),
                     .advice = base::format("write {}, or leave it out", expectation(setting))};
    }
    switch (setting.type) {
        case Type::boolean:
            return canonical_boolean(setting, raw);
        case Type::integer:
            return canonical_number(setting, raw, kNoUnits);
        case Type::size:
            return canonical_number(setting, raw, kSizes);
        case Type::duration:
            return canonical_number(setting, raw, kDurations);
        case Type::choice:
            return canonical_choice(setting, raw);
        case Type::text:
        case Type::level_list:
        case Type::text_list:
            return canonical_plain(setting, raw);
        case Type::path:
        case Type::path_list:
            return canonical_absolute(setting, raw);
        case Type::home_list:
        case Type::project_list:
            return canonical_relative(setting, raw);
        case Type::name_list:
            return canonical_name(setting, raw);
        case Type::pattern_list:
            return canonical_pattern(setting, raw);
        case Type::rule_list:
            return canonical_rule(setting, raw);
        case Type::assignments:
            return canonical_assignment(setting, raw);
        case Type::file_texts:
            return canonical_file_text(setting, raw);
    }
    return unexpected(setting, raw, "has no known type");
}

}  // namespace config
