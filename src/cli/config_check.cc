// SPDX-License-Identifier: MIT
// `config check`: every mistake of one file, or of all files that count here, and then whether they agree
// with each other.
#include <algorithm>

#include "base/file.h"
#include "cli/arguments.h"
#include "cli/config_parts.h"
#include "cli/network_entries.h"
#include "cli/output.h"
#include "config/layer.h"
#include "config/trust.h"

namespace cli {
namespace {

constexpr int kFailed = static_cast<int>(base::ExitCode::check_failed);

// The number of problems, each of which was said.
size_t check_file(const Output& output, config::Layer layer, const std::string& path) {
    base::Result<std::string> text = base::read_file(path);
    if (!text) {
        output.error(text.error());
        return 1;
    }
    config::ParsedFile parsed = config::parse_layer(layer, path, *text);
    std::vector<base::Error> problems = network_problems(parsed.content.values);
    problems.insert(problems.begin(), parsed.problems.begin(), parsed.problems.end());
    for (const base::Error& problem : problems) output.error(problem);
    return problems.size();
}

// A project's file is one by its name; the rest is read as a file of the user's.
config::Layer layer_of(const base::Path& path, const Place& place) {
    if (path.name() == config::kProjectFileName) return config::Layer::project;
    base::Result<base::Path> admin = base::Path::parse(place.files.admin_directory);
    return admin && path.is_within(*admin) ? config::Layer::admin : config::Layer::user;
}

int check_one(const Invocation& call, const Place& place, const std::string& word) {
    base::Result<base::Path> path = path_from(word, place.identity.home, call.caller.working_directory);
    if (!path) return call.output.fail(path.error());
    if (check_file(call.output, layer_of(*path, place), path->str()) > 0) return kFailed;
    return call.output.result(path->str() + ": no mistakes\n");
}

int check_all(const Invocation& call, const Place& place) {
    for (const std::string& warning : unread_files(place)) tell_warning(call.output, warning);
    size_t problems = 0;
    size_t files = 0;
    for (const ListedFile& file : configuration_files(place)) {
        if (!file.exists) continue;
        ++files;
        problems += check_file(call.output, file.layer, file.path);
    }
    if (problems > 0) return kFailed;

    base::Result<Settings> settings = load_settings(call.caller, call.arguments);
    if (!settings) {
        call.output.error(settings.error());
        return kFailed;
    }
    for (const std::string& warning : settings->effective.warnings) tell_warning(call.output, warning);
    return call.output.result(std::to_string(files) + (files == 1 ? " file" : " files") + ", no mistakes\n");
}

}  // namespace

int config_check(const Invocation& call) {
    base::Result<Place> place = find_place(call.caller, call.arguments);
    if (!place) return call.output.fail(place.error());
    if (call.arguments.has_own("--admin")) return config_check_admin(call, *place);
    const std::vector<std::string>& words = call.arguments.words;
    return words.size() > 1 ? check_one(call, *place, words[1]) : check_all(call, *place);
}

}  // namespace cli
