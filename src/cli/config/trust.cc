// SPDX-License-Identifier: MIT
// `trust`, `untrust`: decide whether a project's file may widen the user's policy. The file is read once for
// both the display and the record, so that it can't change in between.
#include "base/text.h"
#include "config/files/sources.h"

#include <algorithm>

#include "base/table.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace cli {
namespace {

using base::printable;

// `trust DIR` means `--project DIR trust`.
base::Result<Workspace> workspace_of(const Invocation& call) {
    Arguments arguments = call.arguments;
    if (arguments.words.size() > 1) {
        return base::Error{.what = arguments.verb + " takes one directory",
                           .advice = usage_of(arguments.verb),
                           .exit_code = base::ExitCode::usage};
    }
    if (!arguments.words.empty()) arguments.project = arguments.words.front();
    return find_workspace(call.caller, arguments);
}

std::string value_text(const config::Value& value) {
    if (value.items.empty()) return value.text;
    std::vector<std::string> entries;
    for (const config::Item& item : value.items) entries.push_back(item.text);
    return base::join(entries, ", ");
}

// Runs the merge with this one line and without trust: trust would allow the lines that the merge refuses.
bool widens(policy::Layers layers, const config::ProjectFile& file, const std::string& key,
            const policy::PathMeaning& paths) {
    config::ProjectFile single = file;
    single.is_trusted = false;
    single.layer.values = {{key, file.layer.values.at(key)}};
    layers.project = {std::move(single)};
    return !policy::merge(layers, paths);
}

std::string describe(const policy::Layers& layers, const config::ProjectFile& file,
                     const policy::PathMeaning& paths, bool is_coloured) {
    using SettingLine = std::pair<std::string, config::Value>;
    std::vector<SettingLine> lines(file.layer.values.begin(), file.layer.values.end());
    std::ranges::stable_sort(lines, {}, [](const SettingLine& line) { return line.second.origin.line; });
    base::Table table;
    for (const auto& [key, value] : lines) {
        bool is_wider = widens(layers, file, key, paths);
        table.add({{base::format("line {}", value.origin.line)},
                   {is_wider ? "widens" : "narrows", is_wider ? base::Style::yellow : base::Style::plain},
                   {key},
                   {printable(value_text(value))}});
    }
    return table.text(2, is_coloured);
}

}  // namespace

int trust_verb(const Invocation& call) {
    base::Result<Workspace> workspace = workspace_of(call);
    if (!workspace) return call.output.fail(workspace.error());
    base::Result<policy::Layers> layers = read_layers(*workspace, call.caller, call.arguments);
    if (!layers) return call.output.fail(layers.error());
    std::string path = (workspace->physical_project / config::kProjectFileName).str();
    if (layers->project.empty()) {
        return call.output.fail({.what = "there is no " + path,
                                 .advice = "nothing needs to be trusted here",
                                 .exit_code = base::ExitCode::check_failed});
    }
    const config::ProjectFile& file = layers->project.front();
    base::Status recorded = config::trust(workspace->files, workspace->physical_project, file.digest);
    if (!recorded) return call.output.fail(recorded.error());
    std::string text = base::format(
        "trusted {}\n"
        "  sha256 {}\n"
        "{}"
        "A changed file has to be trusted again; agent-sandbox untrust takes this back.\n",
        printable(path), file.digest,
        describe(*layers, file, path_meaning(call.caller.disk, workspace->identity.home),
                 call.output.colours_results()));
    return call.output.result(text);
}

int untrust_verb(const Invocation& call) {
    base::Result<Workspace> workspace = workspace_of(call);
    if (!workspace) return call.output.fail(workspace.error());
    base::Result<bool> forgotten = config::untrust(workspace->files, workspace->physical_project);
    if (!forgotten) return call.output.fail(forgotten.error());
    std::string project = printable(workspace->physical_project.str());
    return call.output.result(*forgotten ? base::format("no longer trusted: {}\n", project)
                                         : base::format("was not trusted: {}\n", project));
}

}  // namespace cli
