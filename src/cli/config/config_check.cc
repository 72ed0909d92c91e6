// SPDX-License-Identifier: MIT
// `config check`: reports every mistake in one file, or in all files that apply here, and then checks whether
// the files agree with each other.
#include <algorithm>

#include "base/file.h"
#include "base/format.h"
#include "cli/arguments.h"
#include "cli/config_parts.h"
#include "cli/output.h"
#include "cli/report/network_entries.h"
#include "cli/scratch_project.h"
#include "config/files/trust.h"
#include "config/layer.h"

namespace cli {
namespace {

// The content of the file, and the number of problems; all of them are already printed.
struct Checked {
    config::LayerFile content;
    size_t problems = 0;
};

Checked check_file(const Output& output, config::Layer layer, const std::string& path) {
    base::Result<std::string> text = base::read_file(path);
    if (!text) {
        output.error(text.error());
        return {.problems = 1};
    }
    config::ParsedFile parsed = config::parse_layer(layer, path, *text);
    std::vector<base::Error> problems = network_problems(parsed.content.values);
    problems.insert(problems.begin(), parsed.problems.begin(), parsed.problems.end());
    for (const base::Error& problem : problems) output.error(problem);
    return {std::move(parsed.content), problems.size()};
}

// The name identifies a project's file, the directory an administrator's. Any other file is checked as a
// user's.
config::Layer layer_of(const base::Path& path, const Workspace& workspace) {
    if (path.name() == config::kProjectFileName) return config::Layer::project;
    base::Result<base::Path> admin = base::Path::parse(workspace.files.admin_directory);
    return admin && path.is_within(*admin) ? config::Layer::admin : config::Layer::user;
}

// A run may also fail because of the current directory; that is not a mistake of the file.
bool names_file(const base::Error& error, const std::string& path) {
    return error.where.starts_with(path) || error.what.find(path) != std::string::npos;
}

// Whether a run starts with the file as the only one of its layer, under the ceiling of this machine.
base::Status check_start_with(const Invocation& call, const Workspace& workspace, config::LayerFile file) {
    policy::Layers layers;
    if (file.layer == config::Layer::admin) {
        layers.admin.push_back(std::move(file));
    } else {
        base::Result<std::vector<config::LayerFile>> ceiling = config::read_admin_files(workspace.files);
        if (!ceiling) return ceiling.error();
        layers.admin = *std::move(ceiling);
        layers.user.push_back(std::move(file));
    }
    return check_start(call.caller, workspace, std::move(layers));
}

int check_one(const Invocation& call, const Workspace& workspace, const std::string& word) {
    base::Result<base::Path> path = path_from(word, workspace.identity.home, call.caller.working_directory);
    if (!path) return call.output.fail(path.error());
    Checked checked = check_file(call.output, layer_of(*path, workspace), path->str());
    if (checked.problems > 0) return kFailed;
    // A project's file only narrows the policy, and its paths are valid only in its own project.
    if (checked.content.layer != config::Layer::project) {
        base::Status started = check_start_with(call, workspace, std::move(checked.content));
        if (!started) {
            call.output.error(started.error());
            return kFailed;
        }
    }
    return call.output.result(path->str() + ": no mistakes\n");
}

int check_all(const Invocation& call, const Workspace& workspace) {
    for (const std::string& warning : unread_files(workspace)) tell_warning(call.output, warning);
    size_t problems = 0;
    size_t files = 0;
    for (const ListedFile& file : configuration_files(workspace)) {
        if (!file.exists) continue;
        ++files;
        problems += check_file(call.output, file.layer, file.path).problems;
    }
    if (problems > 0) return kFailed;

    base::Result<Settings> settings = load_settings(call.caller, call.arguments);
    if (!settings) {
        call.output.error(settings.error());
        return kFailed;
    }
    for (const std::string& warning : settings->effective.warnings) tell_warning(call.output, warning);
    base::Status started = check_start(call.caller, workspace, settings->layers);
    bool is_mistake =
        !started && std::ranges::any_of(configuration_files(workspace), [&](const ListedFile& file) {
            return names_file(started.error(), file.path);
        });
    if (is_mistake) {
        call.output.error(started.error());
        return kFailed;
    }
    return call.output.result(base::format("{}{}, no mistakes\n", files, files == 1 ? " file" : " files"));
}

}  // namespace

int config_check(const Invocation& call) {
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return call.output.fail(workspace.error());
    if (call.arguments.has_own("--admin")) return config_check_admin(call, *workspace);
    const std::vector<std::string>& words = call.arguments.words;
    return words.size() > 1 ? check_one(call, *workspace, words[1]) : check_all(call, *workspace);
}

}  // namespace cli
