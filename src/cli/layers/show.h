// SPDX-License-Identifier: MIT
// A layer as a patch in git's format, and questions about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/layers/view.h"
#include "cli/output.h"
#include "diff/patch.h"

namespace cli {

// Deletions come first, then renames, then the rest by path. Changes of modes that git does not store, and
// empty directories, are not part of a patch.
base::Result<std::string> patch_of(const LayerView& view, const std::vector<std::string>& paths,
                                   diff::BinaryFormat binary);

// For a terminal: control characters are escaped.
std::string coloured(std::string_view patch, bool is_coloured);

// Through the user's pager on a terminal.
int show_patch(const Output& output, const std::vector<std::string>& environment, std::string_view patch);

// "a, b, c and 4 more", printable.
std::string shown_names(const std::vector<std::string>& names);
// With the reasons. A directory is named only if nothing in it is.
std::vector<std::string> held_names(const std::vector<layers::Change>& held);

// Standard input and output are a terminal.
bool can_ask();
std::string ask_user(std::string_view question);

}  // namespace cli
