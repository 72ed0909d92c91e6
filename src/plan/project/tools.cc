// SPDX-License-Identifier: MIT
// Theory of operation. The settings in the home directory are asked for first: the home is listed once for
// the whole plan. Only for a tool without settings the directories of the PATH are asked, through the names
// that the tree has cached from earlier launches (host/known_names.h).
#include "plan/project/tools.h"

#include <algorithm>

#include "base/text.h"

namespace plan {
namespace {

constexpr std::string_view kNoTool = "-";
constexpr std::string_view kInHome = "~/";

// The row for the first part of an entry; null: the list has none.
const config::DataRow* row_for(std::string_view entry) {
    const std::string_view first = entry.substr(0, entry.find('/'));
    for (const config::DataRow& row : config::data_list("project/tools")) {
        std::string_view name = row.entry;
        if (name.ends_with('/')) name.remove_suffix(1);
        if (name == first) return &row;
    }
    return nullptr;
}

}  // namespace

bool Tools::needs_hold(const config::Item& item) {
    return item.origin.layer != config::Layer::builtin || needs_hold(item.text);
}

bool Tools::needs_hold(std::string_view name) {
    if (draft_.policy().project.hold == policy::Hold::all) return true;
    const config::DataRow* row = row_for(name);
    return row == nullptr || has_one_of(row->reason);
}

bool Tools::has_one_of(std::string_view tools) {
    const std::vector<std::string_view> words = base::split(tools, ' ');
    auto is_settings = [](std::string_view word) { return word.starts_with(kInHome); };
    for (std::string_view word : words) {
        if (is_settings(word) && has_settings(word.substr(kInHome.size()))) return true;
    }
    return std::ranges::any_of(words, [&](std::string_view word) {
        return !word.empty() && word != kNoTool && !is_settings(word) && has_program(word);
    });
}

bool Tools::has_settings(std::string_view relative) const {
    return draft_.home_names.may_exist(relative) && draft_.tree().glance(draft_.home / relative);
}

// An agent of this session, wherever its program is.
bool Tools::is_running(std::string_view program) const {
    return std::ranges::any_of(draft_.inputs.agents, [&](const config::Profile& agent) {
        return std::ranges::find(agent.commands, program, &config::Item::text) != agent.commands.end();
    });
}

bool Tools::has_program(std::string_view name) {
    auto [place, is_new] = programs_.try_emplace(name, false);
    if (is_new) {
        place->second =
            is_running(name) || std::ranges::any_of(search_path(), [&](const base::Path& directory) {
                return draft_.tree().glance(directory / name).has_value();
            });
    }
    return place->second;
}

const std::vector<base::Path>& Tools::search_path() {
    if (has_search_path_) return search_path_;
    has_search_path_ = true;
    auto add = [&](const std::vector<std::string>& environment) {
        std::optional<std::string_view> path = host::variable(environment, "PATH");
        if (!path) return;
        for (std::string_view entry : base::split(*path, ':')) {
            if (!entry.starts_with('/')) continue;
            base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(base::Path() / entry);
            bool is_there = resolved && resolved->exists;
            bool is_known =
                !is_there || std::ranges::find(search_path_, resolved->path) != search_path_.end();
            if (is_known) continue;
            search_path_.push_back(resolved->path);
            // Names in the user's own directories are not cached: one listing answers for all.
            if (resolved->path.is_within(draft_.home)) (void)draft_.tree().list(resolved->path);
        }
    };
    add(draft_.inputs.request.environment);
    // Modules may have removed a directory that the caller's own shell still has.
    if (!draft_.inputs.request.modules.environment_before.empty())
        add(draft_.inputs.request.modules.environment_before);
    return search_path_;
}

std::vector<std::string_view> writable_directories() {
    std::vector<std::string_view> names;
    for (const config::DataRow& row : config::data_list("project/tools")) {
        if (row.entry.ends_with('/')) names.push_back(row.entry.substr(0, row.entry.size() - 1));
    }
    return names;
}

}  // namespace plan
