// SPDX-License-Identifier: MIT
// A credential: which hosts get it, in which field, which placeholder stands for it inside the jail, and
// where its value comes from. Presets are files share/credentials/NAME.toml; [credential.NAME] of a user's
// file has the same keys and changes a preset of that name or defines a credential of its own.
//
// No value is in here, only the place of its source.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "config/value.h"
#include "credentials/file_copy.h"
#include "credentials/login_file.h"
#include "credentials/shape.h"
#include "network/exchange/binding.h"
#include "network/requests/rule.h"

namespace credentials {

// Where a value comes from. `none`: the program's own store, else the first variable in the launching shell.
struct Source {
    enum class Kind { none, command, file, variable, keyring };
    Kind kind = Kind::none;
    std::vector<std::string> words;  // of a command, or "ATTRIBUTE=VALUE" of a keyring
    std::string text;                // of a file or a variable

    // For messages: "the command gh auth token", "the file ~/.config/token".
    std::string describe() const;
};

// A harmless request for `secret test`.
struct Probe {
    std::string method, host, path;
};

struct Credential {
    std::string name;
    std::string title;
    std::vector<network::requests::HostPattern> hosts;
    std::vector<network::exchange::Put> puts;
    bool adds_always = false;
    std::vector<network::exchange::BoundPath> paths;
    std::vector<std::string> methods;
    std::vector<network::exchange::SignatureScope> scope;  // of put = "sigv4"
    std::vector<std::string> variables;                    // inside the jail they hold the placeholder
    // NAME=TEXT of the same key: what a client needs beside the placeholder, such as a user's name.
    std::vector<std::pair<std::string, std::string>> fixed_variables;
    std::vector<std::string> files;  // "~/PATH"; inside the jail, copies with placeholders in `fields`
    std::vector<FileField> fields;
    std::vector<FileField> shown;  // of the files, and not secret
    std::vector<network::exchange::Issuer> issues;
    std::vector<StoredField> stores;
    bool locks_directory = false;  // an agent outside locks the directory of the file, not the file
    std::optional<Shape> shape;
    Source source;
    int64_t lifetime = 0;  // seconds; 0: until it is refused or replaced
    bool git_rewrite = false;
    std::string base_url_variable;  // for clients with a base URL: the variable,
    std::string base_url_path;      // and the path after the host
    std::optional<Probe> probe;
    config::Origin origin;      // of its first line
    config::Origin use_origin;  // of the entry of credentials.use

    // A log-in: the value is in a field of a file of which the jail gets a copy, and new values go there.
    bool is_login() const;

    network::exchange::Binding binding(std::string placeholder) const;
    // put = "sigv4": the value is an ID, a secret key and maybe a token. The first variable holds the
    // placeholder of the ID, and the second one that of the key.
    bool signs() const;
};

// What one table [credential.NAME] names, whether the session uses the credential or not.
struct DefinedSource {
    std::string credential;
    Source source;
    std::vector<std::string> files;  // "~/PATH"
    config::Origin origin;
};

// What a table names. A table that is not complete counts too: what it names is as secret.
std::vector<DefinedSource> sources_in(const std::string& name, const config::Values& table);

// Reads a file with these keys. Every problem names file, line and column.
base::Result<config::Values> parse_credential_file(config::Layer layer, std::string file,
                                                   std::string_view text);

// Checks the values and their combination. `own` changes `preset`, key by key; one of them may be empty.
base::Result<Credential> make_credential(const std::string& name, const config::Values& preset,
                                         const config::Values& own);

// The shipped preset of this name; an error names the nearest one.
base::Result<config::Values> preset_values(std::string_view name);
bool has_preset(std::string_view name);
std::vector<std::string> preset_names();

}  // namespace credentials
