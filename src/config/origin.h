// SPDX-License-Identifier: MIT
// The place where a value was written. Every value, every list entry and finally every item of a plan has
// one, so that a refusal can name both sides and `why` can print a line.
#pragma once

#include <string>
#include <string_view>

namespace config {

// In order of merging: later layers are merged after earlier ones.
enum class Layer { builtin, admin, profile, user, project, preset, environment, command_line };

std::string_view layer_name(Layer layer);

struct Origin {
    Layer layer = Layer::builtin;
    std::string file;  // of a configuration file
    int line = 0;
    int column = 0;
    std::string name;  // the flag ("--network") or the variable, if the value is not from a file

    // "/etc/agent-sandbox/config.toml:4", "--network", "AGENT_SANDBOX_NETWORK_MODE", "built-in".
    std::string describe() const;
};

inline Origin from_flag(std::string flag) {
    return Origin{.layer = Layer::command_line, .file = {}, .name = std::move(flag)};
}
inline Origin from_variable(std::string variable) {
    return Origin{.layer = Layer::environment, .file = {}, .name = std::move(variable)};
}

}  // namespace config
