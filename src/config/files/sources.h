// SPDX-License-Identifier: MIT
// Finds the configuration files, in order, and checks whether they can be trusted.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "config/layer.h"

namespace config {

struct Places {
    std::string
        admin_directory;  // fixed at compile time; tests of this library name another, no variable does
    std::string user_directory;   // $XDG_CONFIG_HOME/agent-sandbox
    std::string state_directory;  // $XDG_STATE_HOME/agent-sandbox: the trust store
    std::string home;             // the meaning of ~ in [match]
};

// The places of the files for this caller. `environment` is the caller's; a relative XDG path is ignored, as
// its specification requires.
Places places_for(const base::Path& home, const std::vector<std::string>& environment);

// The administrator's config.toml and conf.d/*.toml in order; empty if they do not exist. If a file or its
// directory exists but is unreadable, malformed, not owned by root or writable by others, this is an error:
// the program never starts without the ceiling.
base::Result<std::vector<LayerFile>> read_admin_files(const Places& places);

// The user's config.toml and conf.d/*.toml, without those whose [match] does not cover `project`.
base::Result<std::vector<LayerFile>> read_user_files(const Places& places, const base::Path& project);

// .agent-sandbox.toml of the project: at most one; a symbolic link is never followed.
struct ProjectFile {
    LayerFile layer;
    std::string digest;       // SHA-256 of its content
    bool is_trusted = false;  // the user trusted exactly this content
};
base::Result<std::vector<ProjectFile>> read_project_file(const Places& places, const base::Path& project);

// A preset by name: the user's presets/, the administrator's presets/, the built-in ones, in this order.
base::Result<LayerFile> read_preset(const Places& places, std::string_view name);
std::vector<std::string> preset_names(const Places& places);

// AGENT_SANDBOX_<KEY> of the environment. An unknown AGENT_SANDBOX_ name is an error. So are the names that a
// jail sets, unless this process runs in a jail.
base::Result<Values> read_variables(const std::vector<std::string>& environment);

// The trust store: the project files that the user has read and accepted, by canonical path and content
// digest. It is in the state directory, which no jail can see.

inline constexpr std::string_view kProjectFileName = ".agent-sandbox.toml";

base::Result<bool> is_trusted(const Places& places, const base::Path& project, std::string_view digest);
base::Status trust(const Places& places, const base::Path& project, std::string_view digest);
// True if a record existed and was removed.
base::Result<bool> untrust(const Places& places, const base::Path& project);

// For tests, which can't create files owned by root: reads the administrator's files with another expected
// owner. The program itself calls only read_admin_files.

base::Result<std::vector<LayerFile>> read_admin_files_owned_by(const Places& places, uid_t owner);

}  // namespace config
