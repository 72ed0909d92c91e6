// SPDX-License-Identifier: MIT
// A layer as the verbs see it: which one is meant, what it changes, and what of that is held back.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "cli/context.h"
#include "cli/verbs.h"
#include "layers/changes.h"
#include "layers/clone/listing.h"
#include "layers/store.h"

namespace cli {

// The layer of a session that starts: a new one, or the existing one of this name.
base::Result<layers::Layer> choose_layer(const Settings& settings, const std::string& session);

// What it is, or can be, for the plan.
void describe_layer(const layers::Layer& layer, const policy::Policy& policy, plan::Request& request);

// The layer that the first word names, and the rest as paths; or the only layer of the project here. An error
// inside a jail.
struct Meant {
    layers::Layer layer;
    std::vector<std::string> paths;  // relative to the layer's project
    base::Path home;
    std::string state_directory;
};
base::Result<Meant> find_meant(const Invocation& call);

struct LayerView {
    layers::Layer layer;
    base::Fd upper, project;
    std::shared_ptr<const layers::Listing> listing;  // of a clone
    layers::Sides sides;
    int64_t scanned = 0;
    std::string use;  // layers::use_of() before
    std::vector<layers::Change> changes;
};

base::Result<Settings> settings_for(const Invocation& call, const layers::Layer& layer);

// `settings` are those of the layer's project.
base::Result<LayerView> look_at(const Caller& caller, Settings settings, const layers::Layer& layer);
base::Result<LayerView> look_at(const Invocation& call, const layers::Layer& layer);

// Those of these files that would be held back, by their names.
base::Result<std::vector<layers::Change>> held_among(const Caller& caller, Settings settings,
                                                     const LayerView& view,
                                                     const std::vector<std::string>& files);

// A change of a whole directory counts as the files in it.
struct ChangeCounts {
    size_t deleted = 0, changed = 0, added = 0;
    size_t in_repositories = 0;           // files of git's own, which the others do not include
    size_t ignored = 0;                   // by git; the others do not include them
    std::set<std::string> ignored_names;  // the first component of each
    bool is_empty() const { return deleted + changed + added == 0; }
};
ChangeCounts count_changes(const LayerView& view);
// "1 deleted, 12 changed, 3 new"
std::string to_text(const ChangeCounts& counts);

// Files that this change removes from the project: itself, or those in a directory that it removes or
// replaces. An empty directory counts as a file.
std::vector<std::string> lost_files(const LayerView& view, const layers::Change& change);
// Those of all changes, as far as they are one of these paths or below one. No paths: all.
std::vector<std::string> deleted_files(const LayerView& view, const std::vector<std::string>& paths = {});

// An error names the paths that neither the project nor the layer has.
base::Status check_paths(const LayerView& view, const std::vector<std::string>& paths);

// From now on files that git ignores are like others.
void include_ignored(LayerView& view);

// Whether one of these paths is the change, contains it, or is in a new directory that it makes. An empty
// list means everything. A change that git ignores is never selected.
bool is_selected(const layers::Change& change, const std::vector<std::string>& paths);

// git's index, if its entries in the project are those of the layer: a `git status` has only written times
// again since it was applied.
std::vector<std::string> refreshed_index(const layers::Layer& layer);

// A file of git's own: commits, references, configuration. No patch contains it.
bool is_of_repository(std::string_view path);
// The directory of git that the file is in: "sub/.git"; empty: none.
std::string repository_of(std::string_view path);

// Commands about this layer: "agent-sandbox diff 4f2a".
std::string command_for(std::string_view verb, const layers::Layer& layer);

}  // namespace cli
