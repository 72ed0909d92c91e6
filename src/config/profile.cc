// SPDX-License-Identifier: MIT
#include "config/profile.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"
#include "config/data.h"
#include "config/files/checked_files.h"

namespace config {
namespace {

constexpr std::string_view kFolder = "agents/", kEnding = ".toml";

base::Status add_directory(const std::string& directory, std::map<std::string, ProfileText>& found) {
    base::Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return base::success();
    base::Result<std::vector<std::string>> files = list_toml_files(fd.get());
    if (!files) return files.error();
    for (const std::string& file : *files) {
        base::Result<std::optional<FileText>> text = read_one(directory, file, not_for_everybody());
        if (!text) return text.error();
        std::string name = file.substr(0, file.size() - kEnding.size());
        if (*text) found[name] = {name, (*text)->file, (*text)->text};
    }
    return base::success();
}

std::vector<Item> take_items(Values& values, const std::string& key) {
    auto value = values.extract(key);
    return value.empty() ? std::vector<Item>() : std::move(value.mapped().items);
}

std::string take_text(Values& values, const std::string& key) {
    auto value = values.extract(key);
    return value.empty() ? std::string() : std::move(value.mapped().text);
}

void add_to(Values& values, const std::string& key, const std::vector<Item>& items) {
    if (items.empty()) return;
    Value& value = values[key];
    value.origin = items.front().origin;
    value.items.insert(value.items.end(), items.begin(), items.end());
}

}  // namespace

base::Result<std::vector<ProfileText>> find_profiles(const Places& places) {
    std::map<std::string, ProfileText> found;
    for (const DataFile& file : data_files()) {
        if (!file.name.starts_with(kFolder) || !file.name.ends_with(kEnding)) continue;
        std::string name(
            file.name.substr(kFolder.size(), file.name.size() - kFolder.size() - kEnding.size()));
        found[name] = {name, "profile " + name, std::string(file.content)};
    }
    for (const std::string& directory : {places.admin_directory, places.user_directory}) {
        if (base::Status added = add_directory(directory + "/agents", found); !added) return added.error();
    }
    std::vector<ProfileText> all;
    for (auto& [name, profile] : found) all.push_back(std::move(profile));
    return all;
}

base::Result<Profile> parse_profile(const ProfileText& found) {
    ParsedFile parsed = parse_layer(Layer::profile, found.file, found.text);
    if (!parsed.problems.empty()) return parsed.problems.front();
    Values& values = parsed.content.values;
    Profile profile{.name = found.name};
    profile.title = take_text(values, "agent.title");
    if (profile.title.empty()) profile.title = found.name;
    profile.login = take_text(values, "agent.login");
    profile.commands = take_items(values, "agent.commands");
    profile.packages = take_items(values, "agent.packages");
    profile.state = take_items(values, "agent.state");
    profile.kept = take_items(values, "agent.kept");
    profile.tokens = take_items(values, "agent.tokens");
    profile.protect = take_items(values, "agent.protect");
    profile.login_credentials = take_items(values, "agent.login_credentials");
    profile.private_places = take_items(values, "agent.private");
    profile.project_files = take_items(values, "agent.project_files");
    profile.held_by_directory = take_items(values, "agent.held_by_directory");
    profile.placeholders = take_items(values, "agent.placeholders");
    profile.own_sandbox = take_items(values, "agent.own_sandbox");
    profile.files = take_items(values, "agent.files");
    add_to(values, "home.writable", profile.state);
    profile.credentials = take_items(values, "agent.credentials");
    add_to(values, "env.allow", profile.credentials);
    if (profile.commands.empty()) {
        return base::Error{.what = "a profile needs agent.commands",
                           .advice = "write the names of the program, as in commands = [\"claude\"]",
                           .where = found.file};
    }
    profile.layer = std::move(parsed.content);
    return profile;
}

base::Result<Profile> profile_named(const std::vector<ProfileText>& found, std::string_view name,
                                    const Origin& origin) {
    std::vector<std::string_view> names;
    for (const ProfileText& profile : found) {
        if (profile.name == name) return parse_profile(profile);
        names.push_back(profile.name);
    }
    std::string meant = base::nearest(name, names);
    return base::Error{.what = base::format("there is no profile of an agent '{}'", base::printable(name)),
                       .advice = meant.empty() ? "'agent-sandbox profiles' lists them"
                                               : base::format("did you mean {}?", meant),
                       .where = origin.describe()};
}

// Recognises the agent that a command runs. Words that only start another program are removed from the front
// (kStarters). Then the program's own name decides, or the package in its path:
//
//   claude                                                     by its name
//   env A=b nice -n 5 claude                                   the same after starters
//   npx -y @openai/codex exec                                  by the package
//   node /opt/x/node_modules/@google/gemini-cli/bundle/x.js    by the package in the path
//   /usr/local/bin/claude.exe                                  by its name without .exe, .js, .mjs, .cjs, .py
//
// A wrapper with another name is not recognised; the user passes --agent NAME.

namespace {

// Programs that start another one, with their options that take a separate word.
struct Starter {
    std::string_view name;
    std::string_view options_with_word;  // separated by blanks
    std::string_view verb;               // a required first word: "exec" of npm
};
constexpr Starter kStarters[] = {
    {"env", "-u --unset -C --chdir -S", ""},
    {"nice", "-n", ""},
    {"ionice", "-c -n", ""},
    {"nohup", "", ""},
    {"setsid", "", ""},
    {"stdbuf", "-i -o -e", ""},
    {"time", "-f -o", ""},
    {"timeout", "-k -s", ""},
    {"npx", "-p --package -c", ""},
    {"bunx", "", ""},
    {"npm", "", "exec"},
    {"pnpm", "", "dlx"},
    {"yarn", "", "dlx"},
    {"uvx", "--from --python --with", ""},
    {"pipx", "--spec", "run"},
    {"tmux", "-c -f -L -S -T -s -n -x -y -t -e -F", "new-session"},
    {"node", "-r --require --import --env-file", ""},
    {"bun", "", ""},
    {"deno", "", "run"},
    {"python", "-W -X", ""},
    {"python3", "-W -X", ""},
};
constexpr std::string_view kEndings[] = {".exe", ".js", ".mjs", ".cjs", ".py", ".sh"};

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

std::string_view without_ending(std::string_view name) {
    for (std::string_view ending : kEndings) {
        if (name.size() > ending.size() && name.ends_with(ending))
            return name.substr(0, name.size() - ending.size());
    }
    return name;
}

const Starter* starter_of(std::string_view word) {
    const auto* row = std::ranges::find(kStarters, base_name(word), &Starter::name);
    return row == std::end(kStarters) ? nullptr : row;
}

bool takes_word(const Starter& starter, std::string_view option) {
    std::vector<std::string_view> options = base::split(starter.options_with_word, ' ');
    return std::ranges::find(options, option) != options.end();
}

bool is_assignment(std::string_view word) {
    size_t equals = word.find('=');
    return equals != std::string_view::npos && equals > 0 && word.find('/') > equals;
}

// A duration or a number before the program, as for timeout and nice.
bool is_number(std::string_view word) {
    return !word.empty() && base::is_digit(word.front());
}

// "@scope/name@1.2.3" and "name@latest" without the version.
std::string_view package_of(std::string_view word) {
    return word.substr(0, word.find('@', 1));
}

bool is_for(const Profile& profile, std::string_view program) {
    std::string_view name = without_ending(base_name(program));
    auto names = [&](const Item& item) { return item.text == name; };
    auto holds = [&](const Item& item) {
        return package_of(program) == item.text ||
               program.find(base::format("/node_modules/{}/", item.text)) != std::string_view::npos;
    };
    return std::ranges::any_of(profile.commands, names) || std::ranges::any_of(profile.packages, holds);
}

// A cheap test before parsing: a profile's text contains each of its names in one of the two quotes of TOML.
bool stands_in(std::string_view text, std::string_view name) {
    for (std::string_view quote : {"\"", "'"}) {
        if (text.find(std::string(quote).append(name).append(quote)) != std::string_view::npos) return true;
    }
    return false;
}

bool could_be_for(const ProfileText& profile, std::string_view program) {
    return stands_in(profile.text, without_ending(base_name(program))) ||
           stands_in(profile.text, package_of(program)) ||
           program.find("/node_modules/") != std::string_view::npos;
}

}  // namespace

std::vector<std::string> without_starters(const std::vector<std::string>& command) {
    size_t at = 0;
    while (at < command.size()) {
        const Starter* starter = starter_of(command[at]);
        if (starter == nullptr) break;
        size_t next = at + 1;
        if (!starter->verb.empty()) {
            while (next < command.size() && command[next].starts_with('-')) {
                next += takes_word(*starter, command[next]) ? 2 : 1;
            }
            if (next >= command.size() || command[next] != starter->verb) break;
            ++next;
        }
        while (next < command.size()) {
            const std::string& word = command[next];
            if (word == "--") {
                ++next;
                break;
            }
            // In "python -m aider" the module has the role of the program's name.
            if (word == "-m" && starter->name.starts_with("python")) {
                ++next;
                break;
            }
            bool is_skipped = word.starts_with('-') || is_assignment(word) || is_number(word);
            if (!is_skipped) break;
            next += takes_word(*starter, word) ? 2 : 1;
        }
        if (next >= command.size()) break;
        at = next;
    }
    return {command.begin() + static_cast<std::ptrdiff_t>(at), command.end()};
}

std::optional<std::string> own_sandbox_option(const Profile& profile,
                                              const std::vector<std::string>& command) {
    const std::vector<std::string> words = without_starters(command);
    for (size_t at = 1; at < words.size() && words[at] != "--"; ++at) {
        const std::string& word = words[at];
        for (const Item& item : profile.own_sandbox) {
            size_t blank = item.text.find(' ');
            std::string option = item.text.substr(0, blank);
            if (blank == std::string::npos) {
                if (word == option) return word;
                continue;
            }
            std::string value = item.text.substr(blank + 1);
            bool is_short = option.size() == 2;
            bool is_joined = word == option + "=" + value || (is_short && word == option + value);
            if (is_joined) return word;
            if (word == option && at + 1 < words.size() && words[at + 1] == value) return item.text;
        }
    }
    return std::nullopt;
}

base::Result<std::optional<Profile>> profile_for(const std::vector<ProfileText>& found,
                                                 const std::vector<std::string>& command) {
    std::vector<std::string> words = without_starters(command);
    if (words.empty()) return std::optional<Profile>();
    for (const ProfileText& text : found) {
        if (!could_be_for(text, words.front())) continue;
        base::Result<Profile> profile = parse_profile(text);
        if (!profile) return profile.error();
        if (is_for(*profile, words.front())) return std::optional<Profile>(*std::move(profile));
    }
    return std::optional<Profile>();
}

}  // namespace config
