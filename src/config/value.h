// SPDX-License-Identifier: MIT
// Values on their way from a file, a variable or a flag to the merge: canonical text plus origin. The
// setting's row in the table defines the meaning of the text, so that one representation serves every type,
// every layer and every printer.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/settings.h"

namespace config {

// The place where a value was written. Every value, every list entry and finally every item of a plan has
// one, so that a refusal can name both sides and `why` can print a line.

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

// One entry of a list, or one "NAME=VALUE" of an assignment list.
struct Item {
    std::string text;
    Origin origin;
};

struct Value {
    Origin origin;
    std::string text;         // scalars: "true", "42", bytes, seconds, a choice, a text
    std::vector<Item> items;  // lists
};

// All values from one source, by key.
using Values = std::map<std::string, Value, std::less<>>;

// Converts one scalar (or one list entry) to canonical form: "512M" becomes bytes, "10m" seconds, a choice is
// checked against its row. The error contains the expected form and, for a choice, the nearest one.
base::Result<std::string> canonical_text(const Setting& setting, std::string_view raw);

// Replaces "user:secret@" in an address by "***@": "http://***@proxy.example.org:3128". Use it wherever such
// a text is shown.
std::string without_secrets(std::string_view text);

}  // namespace config
