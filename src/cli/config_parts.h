// SPDX-License-Identifier: MIT
// The sub-commands of `config`, and the list of files that `path` prints and `check` reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/verbs.h"
#include "config/value.h"

namespace cli {

int config_init(const Invocation& call);
int config_show(const Invocation& call);
int config_check(const Invocation& call);
int config_path(const Invocation& call);
int config_import(const Invocation& call);

// `config check --admin`.
int config_check_admin(const Invocation& call, const Workspace& workspace);

struct ListedFile {
    config::Layer layer = config::Layer::user;
    std::string path;
    bool exists = false;
};

// In the order of reading. The main file of each layer is listed even if it is missing, because the user
// would create it there.
std::vector<ListedFile> configuration_files(const Workspace& workspace);

// One line for each file in a configuration directory whose name is not read. With `layer`: only the files of
// that layer.
std::vector<std::string> unread_files(const Workspace& workspace,
                                      std::optional<config::Layer> layer = std::nullopt);

// Prints "warning: " in front, because mistakes are printed beside it.
void tell_warning(const Output& output, const std::string& text);

}  // namespace cli
