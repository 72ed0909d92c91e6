// SPDX-License-Identifier: MIT
// Applying changes of a layer, for the verb and for the question at the end of a session.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/layers/record.h"
#include "cli/layers/view.h"
#include "cli/verbs.h"

namespace cli {

// What the user chose besides the paths.
struct Choice {
    std::vector<std::string> paths;   // empty: everything
    std::vector<std::string> held;    // to apply although they are held back
    std::vector<std::string> theirs;  // to take from the layer although they changed outside
    bool is_dry_run = false;
    bool asks = false;             // about each file
    bool skips_conflicts = false;  // leaves them in the layer instead of stopping
};

struct Applied {
    int code = 0;  // for the caller's shell; 0: the project has every chosen change
    // The repository changed outside, too. Its files stay in the layer, and these branches are to be fetched.
    std::vector<std::string> branches;
};

// With the locks of the layer and of its project.
Applied apply_changes(const Invocation& call, LayerView& view, const Choice& choice, LayerRecord& record);

// Files that a branch takes from the layer. Conflicts do not matter: nothing in the project is replaced.
std::vector<std::string> files_for_branch(const Invocation& call, LayerView& view, const Choice& choice,
                                          LayerRecord& record);

// After an apply, without the lock of the layer. The exit code.
int fetch_left_branches(const Invocation& call, const LayerView& view,
                        const std::vector<std::string>& branches, LayerRecord& record);

// The agent's commits may have files that apply holds back: names them.
void tell_held_in_branches(const Invocation& call, const LayerView& view,
                           const std::vector<std::string>& branches);

// An apply of this layer was interrupted.
base::Status check_interrupted(const layers::Layer& layer);
// An apply of any layer of this project was interrupted: a second one would change what the first one has
// noted.
base::Status check_interrupted_in(const layers::Store& store, const base::Path& project);

// With exit code 1.
base::Error layer_refusal(std::string what, std::string advice);

}  // namespace cli
