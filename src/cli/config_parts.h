// SPDX-License-Identifier: MIT
// The words of `config`, and the list of files that `path` prints and `check` reads.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/verbs.h"
#include "config/origin.h"

namespace cli {

int config_init(const Invocation& call);
int config_show(const Invocation& call);
int config_check(const Invocation& call);
int config_path(const Invocation& call);
int config_import(const Invocation& call);

struct ListedFile {
    config::Layer layer = config::Layer::user;
    std::string path;
    bool exists = false;
};

// In the order of reading. The main file of each layer is listed even where it is missing: that is where it
// would be written.
std::vector<ListedFile> configuration_files(const Place& place);

}  // namespace cli
