// SPDX-License-Identifier: MIT
// `config …`: the words that are about files; show and check have files of their own.
#include <algorithm>

#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/config_parts.h"
#include "cli/output.h"
#include "config/import_bash.h"
#include "config/reference.h"
#include "config/trust.h"

namespace cli {
namespace {

constexpr size_t kImportLimit = 1u << 20;

struct Part {
    std::string_view word;
    size_t most_words;  // that may follow
    int (*perform)(const Invocation&);
};
constexpr Part kParts[] = {
    {"init", 0, config_init}, {"show", 0, config_show},     {"check", 1, config_check},
    {"path", 0, config_path}, {"import", 1, config_import},
};

void list_directory(const std::string& directory, config::Layer layer, std::vector<ListedFile>& files) {
    base::Result<base::Path> path = base::Path::parse(directory);
    if (!path) return;
    for (const host::Entry& entry : host::DiskTree().list(*path)) {
        if (!entry.name.ends_with(".toml")) continue;
        files.push_back({layer, (*path / entry.name).str(), true});
    }
}

}  // namespace

std::vector<ListedFile> configuration_files(const Place& place) {
    std::vector<ListedFile> files;
    auto add_layer = [&](config::Layer layer, const std::string& directory) {
        std::string main_file = directory + "/config.toml";
        files.push_back({layer, main_file, base::file_exists(main_file)});
        list_directory(directory + "/conf.d", layer, files);
    };
    add_layer(config::Layer::admin, place.files.admin_directory);
    add_layer(config::Layer::user, place.files.user_directory);
    std::string project_file = (place.physical_project / config::kProjectFileName).str();
    files.push_back({config::Layer::project, project_file, base::file_exists(project_file)});
    return files;
}

int config_init(const Invocation& call) {
    base::Result<Place> place = find_place(call.caller, call.arguments);
    if (!place) return call.output.fail(place.error());
    std::string path = place->files.user_directory + "/config.toml";
    if (base::file_exists(path)) {
        return call.output.fail({.what = path + " exists already",
                                 .advice = "edit it, or move it away first",
                                 .exit_code = base::ExitCode::check_failed});
    }
    base::Status written = base::make_directories(place->files.user_directory);
    if (written) written = base::write_file_atomically(path, config::starting_file());
    if (!written) return call.output.fail(written.error());
    return call.output.result(path + "\n");
}

int config_path(const Invocation& call) {
    base::Result<Place> place = find_place(call.caller, call.arguments);
    if (!place) return call.output.fail(place.error());
    base::Table table;
    for (const ListedFile& file : configuration_files(*place)) {
        table.add({{std::string(config::layer_name(file.layer))},
                   {base::printable(file.path)},
                   {file.exists ? "" : "not there", base::Style::dim}});
    }
    return call.output.result(table.text(0, call.output.colours_results()));
}

int config_import(const Invocation& call) {
    if (call.arguments.words.size() != 2) {
        return call.output.fail(
            {.what = "config import needs the file to read",
             .advice = "usage: agent-sandbox config import ~/.config/agent-sandbox/sandbox.conf",
             .exit_code = base::ExitCode::usage});
    }
    const std::string& file = call.arguments.words[1];
    base::Result<std::string> script = base::read_file(file, kImportLimit);
    if (!script) return call.output.fail(script.error());
    config::Imported imported = config::import_bash(*script);
    for (const config::LeftOut& left : imported.left_out) {
        call.output.warning(file + ":" + std::to_string(left.line) + ": left out: " + left.text + " (" +
                            left.reason + ")");
    }
    return call.output.result(imported.toml);
}

int config_verb(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    const Part* part = words.empty() ? std::end(kParts) : std::ranges::find(kParts, words[0], &Part::word);
    if (part != std::end(kParts) && words.size() <= part->most_words + 1) return part->perform(call);
    std::string advice = usage_of("config");
    if (part != std::end(kParts)) {
        return call.output.fail(
            {.what = "config " + words[0] + ": '" + words[part->most_words + 1] + "' is one word too many",
             .advice = advice,
             .exit_code = base::ExitCode::usage});
    }
    return call.output.fail({.what = words.empty() ? "config needs a word that says what to do"
                                                   : "config knows no '" + words[0] + "'",
                             .advice = advice,
                             .exit_code = base::ExitCode::usage});
}

}  // namespace cli
