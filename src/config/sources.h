// SPDX-License-Identifier: MIT
// Which files there are, in which order, and whether they may be believed.
#pragma once

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
    std::string home;             // what ~ means in [match]
};

// Where the files are for this caller. `environment` is the caller's; a relative XDG path is ignored, as its
// specification says.
Places places_for(const base::Path& home, const std::vector<std::string>& environment);

// The administrator's config.toml and conf.d/*.toml in order. Absent: empty. Present but unreadable,
// malformed, not owned by root or writable by others, it or its directory: an error, never a start without
// the ceiling.
base::Result<std::vector<LayerFile>> read_admin_files(const Places& places);

// The user's config.toml and conf.d/*.toml; those whose [match] does not cover `project` are left out.
base::Result<std::vector<LayerFile>> read_user_files(const Places& places, const base::Path& project);

// .agent-sandbox.toml of the project: at most one, never followed through a symbolic link.
struct ProjectFile {
    LayerFile layer;
    std::string digest;       // SHA-256 of its content
    bool is_trusted = false;  // the user trusted this very content
};
base::Result<std::vector<ProjectFile>> read_project_file(const Places& places, const base::Path& project);

// A preset by name: the user's presets/, the administrator's presets/, the built-in ones, in this order.
base::Result<LayerFile> read_preset(const Places& places, std::string_view name);
std::vector<std::string> preset_names(const Places& places);

// AGENT_SANDBOX_<KEY> of the environment; an unknown AGENT_SANDBOX_ name is an error, the names we set
// ourselves are passed over.
base::Result<Values> read_variables(const std::vector<std::string>& environment);

}  // namespace config
