// SPDX-License-Identifier: MIT
// NAME=value, NAME+=value, NAME[index]=value and NAME=(values), behind a word that declares or without one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/bash_text.h"
#include "config/bash_words.h"

namespace config {

struct BashAssignment {
    std::string name;
    std::string index;  // NAME[index]=
    bool appends = false;
    bool is_array = false;
    std::vector<BashWord> words;
};

// How values are looked up while the variable of that name is assigned to.
using LookupFor = std::function<Lookup(const std::string& assigned)>;

// All assignments of a statement that is nothing but assignments; nothing for any other statement.
std::optional<std::vector<BashAssignment>> read_assignments(const BashStatement& statement,
                                                            const LookupFor& lookup_for);

}  // namespace config
