// SPDX-License-Identifier: MIT
#include "config/profile.h"

#include <fcntl.h>

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/format.h"
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
    profile.private_places = take_items(values, "agent.private");
    profile.project_files = take_items(values, "agent.project_files");
    profile.held_by_directory = take_items(values, "agent.held_by_directory");
    profile.files = take_items(values, "agent.files");
    add_to(values, "home.writable", profile.state);
    add_to(values, "env.allow", take_items(values, "agent.credentials"));
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

}  // namespace config
