// SPDX-License-Identifier: MIT
#include "cli/layers/view.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>

#include "base/inside/jail_files.h"
#include "base/no_links.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/layers/show.h"
#include "layers/apply.h"
#include "layers/git_index.h"
#include "layers/held.h"
#include "layers/ignored.h"
#include "layers/overlay.h"
#include "layers/tree.h"
#include "plan/draft.h"
#include "plan/plan.h"
#include "plan/project/protection.h"

namespace cli {
namespace {

using layers::Change;
using layers::EntryKind;

// An entry of PATH.
void add_program_directory(const Caller& caller, const base::Path& project, std::string_view entry,
                           layers::HeldRules& rules) {
    const base::Path named = entry.starts_with('/') ? base::Path() / entry : project / entry;
    if (named.is_within(project)) rules.program_directories.emplace_back(named.relative_to(project));
    base::Result<host::Tree::Resolved> resolved = caller.disk.resolve(named);
    if (!resolved) return;
    if (resolved->path.is_within(project))
        rules.program_directories.emplace_back(resolved->path.relative_to(project));
    for (const host::Tree::Link& link : resolved->links) {
        if (link.path.is_strictly_within(project))
            rules.program_links.emplace_back(link.path.relative_to(project));
    }
}

// The rules of a session without a layer list what is protected in this project: also hooks that a
// configuration names, and files of agents.
base::Result<layers::HeldRules> held_rules(const Caller& caller, Settings settings) {
    constexpr std::string_view kGitPrefix = ".git/";
    layers::HeldRules rules;
    const policy::Policy& policy = settings.policy;
    for (const config::Item& item : policy.project.protect) {
        if (plan::is_lifted(policy, item)) continue;
        std::string why = plan::reason_for("project/protect", "project.protect", item);
        bool is_of_git = std::string_view(item.text).starts_with(kGitPrefix);
        (is_of_git ? rules.git_names : rules.names)
            .push_back({is_of_git ? item.text.substr(kGitPrefix.size()) : item.text, std::move(why)});
    }
    const base::Path project = settings.workspace.physical_project;
    std::optional<std::string_view> path = host::variable(caller.environment, "PATH");
    for (std::string_view entry : base::split(path.value_or(""), ':'))
        add_program_directory(caller, project, entry, rules);
    settings.policy.cow.enabled = false;
    settings.credentials = {};
    base::Result<Planned> planned = plan_with(caller, std::move(settings), "", {"true"});
    if (!planned) return planned.error();
    for (const plan::PathRule& rule : planned->plan.rules) {
        bool is_closed = rule.access != plan::Access::writable && rule.path.is_strictly_within(project);
        if (is_closed) rules.names.push_back({std::string(rule.path.relative_to(project)), rule.reason.why});
    }
    for (const plan::UnheldName& name : planned->plan.unheld_names)
        rules.names.push_back({std::string(name.path.relative_to(project)), name.reason.why});
    return rules;
}

base::Error other_project(const layers::Layer& layer) {
    return base::Error{.what = base::format("{} is not the directory that the layer {} was made for",
                                            base::printable(layer.about.project.str()),
                                            base::printable(layer.about.title())),
                       .advice = "move that directory back to this path",
                       .exit_code = base::ExitCode::check_failed};
}

base::Status open_sides(LayerView& view) {
    const layers::Layer& layer = view.layer;
    view.upper = base::Fd(base::open_without_links(base::Path::known(layer.upper()), O_RDONLY | O_DIRECTORY));
    if (!view.upper) return base::system_error("open the layer", -view.upper.get());
    view.project = base::Fd(base::open_without_links(layer.about.project, O_RDONLY | O_DIRECTORY));
    if (!view.project)
        return base::system_error("open " + base::printable(layer.about.project.str()), -view.project.get());
    struct stat status;
    if (::fstat(view.project.get(), &status) != 0 || status.st_ino != layer.about.project_inode)
        return other_project(layer);
    view.sides = {.layer = view.upper.get(), .project = view.project.get(), .start = layer.about.start};
    if (layer.is_clone) {
        base::Result<layers::Listing> listing = layers::Listing::load(layer.clone());
        if (!listing) return listing.error();
        view.listing = std::make_shared<const layers::Listing>(*std::move(listing));
        view.sides.listing = view.listing.get();
    }
    view.sides.written = layers::restored_below(layer.directory + "/applied");
    for (unsigned number : layers::applies_of(layer)) {
        if (!layers::is_done(layer.applied(number))) continue;
        auto written = layers::written_by(layer.applied(number));
        if (!written) return written.error();
        for (auto& [path, file] : *written) view.sides.written[path] = file;
    }
    return base::success();
}

// Names that the launch made to mount on, as long as they are empty.
bool is_place(const LayerView& view, const Change& change) {
    const std::vector<std::string>& places = view.layer.about.places;
    bool is_on_the_way = std::ranges::any_of(
        places, [&](const std::string& place) { return layers::is_within(place, change.path); });
    if (!is_on_the_way || !change.is_addition()) return false;
    if (change.after.kind == EntryKind::file) return change.after.size == 0;
    if (change.after.kind != EntryKind::directory) return false;
    return std::ranges::none_of(view.changes, [&](const Change& other) {
        return other.path != change.path && layers::is_within(other.path, change.path) &&
               std::ranges::none_of(
                   places, [&](const std::string& place) { return layers::is_within(place, other.path); });
    });
}

constexpr const char* kIndex = ".git/index";

// Threat: a session makes the index, or the directory of git, a link to another file of the user
// (tests/jail/cow_attacks.bats).
base::Result<std::string> read_index(const std::string& path) {
    constexpr size_t kLargestIndex = 256u << 20;
    base::Fd file(base::open_without_links(base::Path::known(path), O_RDONLY | O_NONBLOCK));
    if (!file) return base::system_error("open " + base::printable(path), -file.get());
    return base::read_descriptor(file.get(), kLargestIndex);
}

bool is_same_index(const std::string& first, const std::string& second) {
    base::Result<std::string> one = read_index(first);
    base::Result<std::string> other = read_index(second);
    return one && other && layers::have_same_entries(*one, *other);
}

// A `git status` outside writes the index again without changing what is staged.
void excuse_index(LayerView& view) {
    auto index = std::ranges::find(view.changes, kIndex, &Change::path);
    if (index == view.changes.end() || index->after.kind != EntryKind::file) return;
    if (!refreshed_index(view.layer).empty()) {
        view.changes.erase(index);
    } else if (is_same_index(view.layer.index(), (view.layer.about.project / kIndex).str())) {
        index->conflicts.clear();
    }
}

constexpr size_t kLargestRules = 1u << 20;

// By the rules of the files as the layer shows them.
std::optional<std::string> read_shown(const LayerView& view,
                                      const std::map<std::string, const Change*>& changes,
                                      const std::string& path, size_t limit) {
    auto change = changes.find(path);
    bool is_of_layer = change != changes.end();
    if (is_of_layer && change->second->after.kind != EntryKind::file) return std::nullopt;
    base::Fd file(layers::open_below(is_of_layer ? view.upper.get() : view.project.get(), path,
                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    if (!file) return std::nullopt;
    base::Result<std::string> text = base::read_descriptor(file.get(), limit);
    return text ? std::optional(*std::move(text)) : std::nullopt;
}

// Only where the project is a repository whose index can be read: what git tracks is never ignored.
void mark_ignored(LayerView& view) {
    constexpr size_t kLargestIndex = 256u << 20;
    std::map<std::string, const Change*> changes;
    for (const Change& change : view.changes) changes[change.path] = &change;
    struct stat status;
    bool has_repository = layers::look(view.project.get(), ".git/HEAD", status) == 0;
    const std::optional<std::string> index = read_shown(view, changes, kIndex, kLargestIndex);
    std::optional<std::set<std::string>> tracked =
        index ? layers::paths_in(*index) : std::optional(std::set<std::string>());
    if (!has_repository || !tracked) return;
    const std::string excluded = read_shown(view, changes, ".git/info/exclude", kLargestRules).value_or("");
    layers::IgnoredFiles files(
        [&](const std::string& path) { return read_shown(view, changes, path, kLargestRules); }, excluded,
        *std::move(tracked));
    for (Change& change : view.changes) {
        const layers::Entry& entry = change.is_deletion() ? change.before : change.after;
        if (!is_of_repository(change.path))
            change.is_ignored = files.is_ignored(change.path, entry.kind == EntryKind::directory);
    }
}

// Names in a tree that a file is in: as the user wrote it, below the project.
base::Result<std::string> relative_path(const Invocation& call, const std::string& word,
                                        const base::Path& home, const base::Path& project) {
    base::Result<base::Path> path = path_from(word, home, call.caller.working_directory);
    if (!path) return path.error();
    base::Result<host::Tree::Resolved> directory = call.caller.disk.resolve(path->parent());
    const base::Path physical = directory ? directory->path / path->name() : *path;
    if (!physical.is_strictly_within(project))
        return base::Error{
            .what = base::format("{} is not in {}", base::printable(word), base::printable(project.str())),
            .advice = "name a layer, or a path of its project",
            .exit_code = base::ExitCode::usage};
    return std::string(physical.relative_to(project));
}

}  // namespace

base::Result<layers::Layer> choose_layer(const Settings& settings, const std::string& session) {
    const std::string& name = settings.policy.cow.layer;
    const base::Path& project = settings.workspace.physical_project;
    const layers::Store store(settings.workspace.files.state_directory);
    if (!name.empty() && !layers::is_layer_name(name))
        return base::Error{.what = base::format("'{}' can't be the name of a layer", base::printable(name)),
                           .advice = "use letters, digits, dots, '-' and '_'",
                           .where = settings.effective.origin("cow.layer").describe()};
    if (!name.empty()) {
        if (std::optional<layers::Layer> known = store.named(name, project)) return *std::move(known);
        if (std::optional<layers::Layer> known = store.with_id(name, project)) return *std::move(known);
    }
    const std::string id = session.empty() ? "SESSION" : session;
    const std::optional<base::Path>& storage = settings.policy.cow.storage;
    const std::string place = storage ? layers::physical_path(storage->str()) : "";
    if (storage && base::Path::known(place).is_within(project))
        return base::Error{.what = base::format("{} is in the project, so no layer can be there",
                                                base::printable(storage->str())),
                           .advice = "name a directory outside of the project",
                           .where = settings.policy.cow.storage_origin.describe()};
    return layers::Layer{.about = {.id = id, .name = name, .project = project},
                         .directory = store.directory_of(id).str(),
                         .storage = storage ? place + "/" + id : "",
                         .is_bounded = settings.policy.cow.engine != policy::CowEngine::clone};
}

void describe_layer(const layers::Layer& layer, const policy::Policy& policy, plan::Request& request) {
    using policy::CowEngine;
    request.layer = base::Path::known(layer.place());
    const bool is_new = layer.about.start == 0;
    if (!is_new) request.layer_engine = layer.is_clone ? CowEngine::clone : CowEngine::overlay;
    if (is_new && policy.cow.engine == CowEngine::automatic)
        request.overlay_obstacle =
            layers::overlay_obstacle(layer.about.project, request.layer.parent().str());
}

base::Result<Meant> find_meant(const Invocation& call) {
    if (base::file_exists(base::own_path(base::kOwnProgram)))
        return base::Error{.what = call.arguments.verb + " is for the outside of a jail",
                           .advice = "call it in another terminal",
                           .exit_code = base::ExitCode::usage};
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return workspace.error();
    const std::string& state = workspace->files.state_directory;
    const layers::Store store(state);
    std::vector<std::string> words = call.arguments.words;
    const std::string first = words.empty() ? "" : words.front();
    base::Result<layers::Layer> found = store.find(first, workspace->physical_project);
    if (found && !first.empty()) words.erase(words.begin());
    // Not a name: a path of the only layer here.
    bool is_path = !found && !first.empty() && found.error().exit_code != base::ExitCode::usage;
    if (is_path) {
        base::Result<layers::Layer> here = store.find("", workspace->physical_project);
        if (here) found = std::move(here);
    }
    if (!found) return found.error();
    Meant meant{.layer = *found, .paths = {}, .home = workspace->identity.home, .state_directory = state};
    for (const std::string& word : words) {
        base::Result<std::string> path = relative_path(call, word, meant.home, found->about.project);
        if (!path) return path.error();
        meant.paths.push_back(*std::move(path));
    }
    return meant;
}

base::Result<LayerView> look_at(const Caller& caller, Settings settings, const layers::Layer& layer) {
    LayerView view{.layer = layer, .use = layers::use_of(layer)};
    struct timespec now;
    ::clock_gettime(CLOCK_REALTIME, &now);
    view.scanned = layers::nanoseconds(now);
    if (base::Status opened = open_sides(view); !opened) return opened.error();
    base::Result<std::vector<Change>> changes = layers::find_changes(view.sides);
    if (!changes) return changes.error();
    view.changes = *std::move(changes);
    std::set<std::string> places;
    for (const Change& change : view.changes) {
        if (is_place(view, change)) places.insert(change.path);
    }
    std::erase_if(view.changes, [&](const Change& change) { return places.contains(change.path); });
    if (view.changes.empty()) return view;
    mark_ignored(view);
    excuse_index(view);
    base::Result<layers::HeldRules> rules = held_rules(caller, std::move(settings));
    if (!rules) return rules.error();
    layers::hold_back(*rules, view.sides, view.changes);
    return view;
}

base::Result<std::vector<Change>> held_among(const Caller& caller, Settings settings, const LayerView& view,
                                             const std::vector<std::string>& files) {
    base::Result<layers::HeldRules> rules = held_rules(caller, std::move(settings));
    if (!rules) return rules.error();
    std::vector<Change> changes;
    for (const std::string& file : files)
        changes.push_back({.path = file, .after = {.kind = EntryKind::file, .mode = 0755}});
    layers::hold_back(*rules, view.sides, changes);
    std::erase_if(changes, [](const Change& change) { return change.held.empty(); });
    return changes;
}

base::Result<Settings> settings_for(const Invocation& call, const layers::Layer& layer) {
    Arguments arguments = call.arguments;
    arguments.project = layer.about.project.str();
    arguments.words = {"true"};
    return load_settings(call.caller, arguments);
}

base::Result<LayerView> look_at(const Invocation& call, const layers::Layer& layer) {
    base::Result<Settings> settings = settings_for(call, layer);
    if (!settings) return settings.error();
    return look_at(call.caller, *std::move(settings), layer);
}

std::vector<std::string> lost_files(const LayerView& view, const Change& change) {
    std::vector<std::string> files;
    bool loses_directory =
        change.before.kind == EntryKind::directory && change.after.kind != EntryKind::directory;
    if (!loses_directory) {
        if (change.is_deletion()) files.push_back(change.path);
        return files;
    }
    base::Result<std::vector<std::string>> below = layers::names_below(view.project.get(), change.path);
    if (!below || below->empty()) return {change.path};
    for (const std::string& path : *below) {
        struct stat status;
        bool is_directory = layers::look(view.project.get(), path, status) == 0 && S_ISDIR(status.st_mode);
        if (!is_directory) files.push_back(path);
    }
    return files;
}

std::vector<std::string> deleted_files(const LayerView& view, const std::vector<std::string>& paths) {
    std::vector<std::string> files;
    for (const Change& change : view.changes) {
        if (change.is_ignored) continue;
        for (std::string& path : lost_files(view, change)) {
            bool is_wanted = paths.empty() || std::ranges::any_of(paths, [&](const std::string& each) {
                                 return layers::is_within(path, each);
                             });
            if (is_wanted) files.push_back(std::move(path));
        }
    }
    return files;
}

base::Status check_paths(const LayerView& view, const std::vector<std::string>& paths) {
    std::vector<std::string> unknown;
    for (const std::string& path : paths) {
        struct stat status;
        bool is_known = layers::look(view.project.get(), path, status) == 0 ||
                        layers::look(view.upper.get(), path, status) == 0;
        if (!is_known) unknown.push_back(base::printable(path));
    }
    if (unknown.empty()) return base::success();
    return base::Error{
        .what = base::format("neither the project nor the layer has {}", base::join(unknown, ", ")),
        .advice = base::format("'{}' lists the names", command_for("diff --names", view.layer)),
        .exit_code = base::ExitCode::usage};
}

ChangeCounts count_changes(const LayerView& view) {
    ChangeCounts counts;
    for (const std::string& path : deleted_files(view))
        ++(is_of_repository(path) ? counts.in_repositories : counts.deleted);
    for (const Change& change : view.changes) {
        if (change.is_ignored) {
            bool is_new_directory = change.after.kind == EntryKind::directory && !change.is_mode_alone;
            counts.ignored += is_new_directory ? 0 : 1;
            counts.ignored_names.insert(change.path.substr(0, change.path.find('/')));
            continue;
        }
        if (change.is_deletion()) continue;
        if (is_of_repository(change.path)) {
            ++counts.in_repositories;
            continue;
        }
        bool is_new_directory = change.after.kind == EntryKind::directory && !change.is_mode_alone;
        if (is_new_directory) continue;
        if (change.is_addition() || change.before.kind == EntryKind::directory) {
            ++counts.added;
        } else {
            ++counts.changed;
        }
    }
    // A layer that only makes empty directories changes something, too.
    if (counts.is_empty() && counts.in_repositories == 0 && counts.ignored_names.empty())
        counts.added = view.changes.size();
    return counts;
}

std::string to_text(const ChangeCounts& counts) {
    std::string text =
        base::format("{} deleted, {} changed, {} new", counts.deleted, counts.changed, counts.added);
    if (counts.in_repositories > 0) text += ", and commits or settings of git";
    if (!counts.ignored_names.empty()) {
        const std::vector<std::string> names(counts.ignored_names.begin(), counts.ignored_names.end());
        text += base::format("; besides {} that git ignores ({})",
                             base::counted(counts.ignored, "file", "files"), shown_names(names));
    }
    return text;
}

void include_ignored(LayerView& view) {
    for (Change& change : view.changes) change.is_ignored = false;
}

bool is_selected(const Change& change, const std::vector<std::string>& paths) {
    if (change.is_ignored) return false;
    if (paths.empty()) return true;
    return std::ranges::any_of(paths, [&](const std::string& path) {
        bool leads_to_it = change.after.kind == EntryKind::directory && !change.is_mode_alone &&
                           layers::is_within(path, change.path);
        return layers::is_within(change.path, path) || leads_to_it;
    });
}

std::vector<std::string> refreshed_index(const layers::Layer& layer) {
    bool is_refreshed = is_same_index(layer.upper() + "/" + kIndex, (layer.about.project / kIndex).str());
    return is_refreshed ? std::vector<std::string>{kIndex} : std::vector<std::string>{};
}

bool is_of_repository(std::string_view path) {
    return !repository_of(path).empty();
}

std::string repository_of(std::string_view path) {
    constexpr std::string_view kGit = ".git";
    for (size_t begin = 0; begin < path.size();) {
        const size_t end = std::min(path.find('/', begin), path.size());
        if (path.substr(begin, end - begin) == kGit) return std::string(path.substr(0, end));
        begin = end + 1;
    }
    return "";
}

std::string command_for(std::string_view verb, const layers::Layer& layer) {
    return base::format("agent-sandbox {} {}", verb, base::printable(layer.about.title()));
}

}  // namespace cli
