// SPDX-License-Identifier: MIT
// Profiles of agents: the settings that an agent needs to work in the jail. A profile is a file,
// agents/NAME.toml of the user, of the administrator, or built in (share/agents), in this order. It is an
// ordinary configuration file with one more section, [agent]. So it passes through the same merge as every
// other layer and can't open anything that the administrator's ceiling closes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/files/sources.h"
#include "config/layer.h"

namespace config {

struct Profile {
    std::string name;
    std::string title;
    std::string login;
    std::vector<Item> commands, packages;
    std::vector<Item> state, kept, tokens, protect, private_places;  // relative to the home directory
    std::vector<Item> credentials;                                   // variables with its own log-in
    std::vector<Item> login_credentials;                             // names
    std::vector<Item> held_by_directory;                             // some of protect
    std::vector<Item> placeholders;                                  // "~/PATH=CONTENT" for some of protect
    std::vector<Item> own_sandbox;                                   // "--option" or "--option value"
    std::vector<Item> project_files;                                 // relative to the project
    std::vector<Item> files;                                         // "PATH=CONTENT"
    // The settings that the profile requests. State and credentials are part of it, as home.writable and
    // env.allow.
    LayerFile layer;
};

// A profile that was found but is not parsed yet.
struct ProfileText {
    std::string name;
    std::string file;  // for messages
    std::string text;
};

// All profiles, sorted by name. A user's profile replaces the administrator's, and that replaces a built-in
// one.
base::Result<std::vector<ProfileText>> find_profiles(const Places& places);

base::Result<Profile> parse_profile(const ProfileText& found);

// The profile for this command, by the rules of profile.cc; nothing if none matches. Parses only profiles
// that could match.
base::Result<std::optional<Profile>> profile_for(const std::vector<ProfileText>& found,
                                                 const std::vector<std::string>& command);
// The profile of this name; an error names the nearest one.
base::Result<Profile> profile_named(const std::vector<ProfileText>& found, std::string_view name,
                                    const Origin& origin);

// The option of this command that switches on a sandbox of the agent's own (agent.own_sandbox), as the user
// wrote it; nothing if no option does.
std::optional<std::string> own_sandbox_option(const Profile& profile,
                                              const std::vector<std::string>& command);

// The command without leading words that only start another program: env, nice, npx, node, python -m …
std::vector<std::string> without_starters(const std::vector<std::string>& command);

}  // namespace config
