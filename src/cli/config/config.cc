// SPDX-License-Identifier: MIT
// `config …`: the sub-commands about files and about the effective values. check is in config_check.cc.
#include <fcntl.h>

#include <algorithm>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/config_parts.h"
#include "cli/output.h"
#include "cli/report/network_entries.h"
#include "cli/scratch_project.h"
#include "config/files/checked_files.h"
#include "config/files/sources.h"
#include "config/reference/reference.h"
#include "import/bash_values.h"
#include "import/import.h"

namespace cli {

namespace {

constexpr size_t kImportLimit = 1u << 20;

struct Subverb {
    std::string_view word;
    size_t most_words;  // that may follow
    int (*perform)(const Invocation&);
};
constexpr Subverb kSubverbs[] = {
    {"init", 0, config_init}, {"show", 0, config_show},     {"check", 1, config_check},
    {"path", 0, config_path}, {"import", 1, config_import},
};

void list_directory(const std::string& directory, config::Layer layer, std::vector<ListedFile>& files) {
    base::Fd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened) return;
    base::Result<std::vector<std::string>> names = config::list_toml_files(opened.get());
    if (!names) return;
    for (const std::string& name : *names) files.push_back({layer, directory + "/" + name, true});
}

}  // namespace

std::vector<ListedFile> configuration_files(const Workspace& workspace) {
    std::vector<ListedFile> files;
    auto add_layer = [&](config::Layer layer, const std::string& directory) {
        std::string main_file = directory + "/config.toml";
        files.push_back({layer, main_file, base::file_exists(main_file)});
        list_directory(directory + "/conf.d", layer, files);
    };
    add_layer(config::Layer::admin, workspace.files.admin_directory);
    add_layer(config::Layer::user, workspace.files.user_directory);
    std::string project_file = (workspace.physical_project / config::kProjectFileName).str();
    files.push_back({config::Layer::project, project_file, base::file_exists(project_file)});
    return files;
}

std::vector<std::string> unread_files(const Workspace& workspace, std::optional<config::Layer> layer) {
    std::vector<std::string> lines;
    auto add = [&](const std::string& directory, auto is_read, std::string_view reason) {
        base::Result<base::Path> path = base::Path::parse(directory);
        if (!path) return;
        host::DiskTree disk;
        for (const host::Entry& entry : disk.list(*path)) {
            // Skip backups of an editor or a package manager: the user did not write them as configuration.
            bool is_leftover = entry.name.starts_with('.') || entry.name.ends_with('~') ||
                               entry.name.find(".dpkg-") != std::string::npos ||
                               entry.name.find(".rpm") != std::string::npos;
            std::optional<host::Node> node = disk.look_through(*path / entry.name);
            bool is_file = node && node->kind == host::Kind::file;
            if (!is_file || is_leftover || is_read(entry.name)) continue;
            lines.push_back(base::format("{} is not read: {}", (*path / entry.name).str(), reason));
        }
    };
    auto add_layer = [&](config::Layer its, const std::string& directory) {
        if (layer && *layer != its) return;
        add(
            directory, [](std::string_view name) { return name == "config.toml"; },
            "only config.toml and conf.d/*.toml are");
        add(
            directory + "/conf.d", [](std::string_view name) { return name.ends_with(".toml"); },
            "only conf.d/*.toml is");
    };
    add_layer(config::Layer::admin, workspace.files.admin_directory);
    add_layer(config::Layer::user, workspace.files.user_directory);
    std::string mistaken = (workspace.physical_project / config::kProjectFileName.substr(1)).str();
    if (!layer && base::file_exists(mistaken))
        lines.push_back(
            base::format("{} is not read: a project's file is {}", mistaken, config::kProjectFileName));
    return lines;
}

void tell_warning(const Output& output, const std::string& text) {
    output.warning("warning: " + text);
}

int config_init(const Invocation& call) {
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return call.output.fail(workspace.error());
    std::string path = workspace->files.user_directory + "/config.toml";
    if (base::file_exists(path)) {
        return call.output.fail({.what = path + " exists already",
                                 .advice = "edit it, or move it away first",
                                 .exit_code = base::ExitCode::check_failed});
    }
    base::Status written = base::make_directories(workspace->files.user_directory);
    if (written) written = base::write_file_atomically(path, config::starting_file());
    if (!written) return call.output.fail(written.error());
    return call.output.result(path + "\n");
}

int config_path(const Invocation& call) {
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return call.output.fail(workspace.error());
    base::Table table;
    for (const ListedFile& file : configuration_files(*workspace)) {
        table.add({{std::string(config::layer_name(file.layer))},
                   {base::printable(file.path)},
                   {file.exists ? "" : "not there", base::Style::dim}});
    }
    return call.output.result(table.text(0, call.output.colours_results()));
}

namespace {

// Checks that the configuration library does not make: the rules of the network, and mounts that are missing
// here and would stop every run.
config::EntryCheck entry_check(const Workspace& workspace, const Caller& caller, config::Layer layer) {
    return [&workspace, &caller, layer](const config::Setting& setting,
                                        const std::string& entry) -> base::Status {
        config::Item item{entry, {.layer = layer, .file = {}, .name = "it"}};
        base::Status checked = check_network_entry(setting, item);
        if (!checked) return base::Error{.what = checked.error().what, .advice = checked.error().advice};
        bool must_exist = setting.key == "mounts.readonly" || setting.key == "mounts.writable";
        if (!must_exist) return base::success();
        policy::PathMeaning paths = path_meaning(caller.disk, workspace.identity.home);
        base::Result<base::Path> path = policy::entry_path(setting, item, paths);
        if (path && workspace.identity.home.is_within(*path)) {
            return base::Error{.what = "it holds your home directory, and no run would start",
                               .advice = "name the directories that are needed, or set home.access"};
        }
        if (path && caller.disk.look(*path)) return base::success();
        return base::Error{.what = "it does not exist here, and no run would start",
                           .advice = base::format("add it to {} where it does", setting.key)};
    };
}

// How the importer checks and evaluates values.
config::ImportOptions import_options(const Workspace& workspace, const Caller& caller, bool is_admin) {
    config::Layer layer = is_admin ? config::Layer::admin : config::Layer::user;
    auto evaluate = [&workspace, &caller](std::string_view text, const std::vector<std::string>& arguments) {
        return run_bash(caller, workspace, {config::bash_script(), text, arguments});
    };
    auto starts = [&workspace, &caller, layer](const config::Values& values) {
        policy::Layers layers;
        bool is_ceiling = layer == config::Layer::admin;
        base::Result<std::vector<config::LayerFile>> ceiling = config::read_admin_files(workspace.files);
        if (!is_ceiling && ceiling) layers.admin = *std::move(ceiling);
        (is_ceiling ? layers.admin : layers.user).push_back({.layer = layer, .values = values});
        return check_start(caller, workspace, std::move(layers));
    };
    return {.for_administrator = is_admin,
            .check = entry_check(workspace, caller, layer),
            .home = is_admin ? std::string() : workspace.identity.home.str(),
            .run_bash = evaluate,
            .starts = starts};
}

}  // namespace

int config_import(const Invocation& call) {
    if (call.arguments.words.size() != 2) {
        return call.output.fail({.what = "config import needs the file to read",
                                 .advice = "name a sandbox.conf, or ~/.srt-settings.json",
                                 .exit_code = base::ExitCode::usage});
    }
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return call.output.fail(workspace.error());
    const std::string& file = call.arguments.words[1];
    base::Result<std::string> text = base::read_file(file, kImportLimit);
    if (!text) return call.output.fail(text.error());
    bool is_admin = call.arguments.has_own("--admin");
    base::Result<config::Imported> imported =
        config::import_file(*text, import_options(*workspace, call.caller, is_admin));
    if (!imported) {
        base::Error error = imported.error();
        error.where = file;
        error.exit_code = base::ExitCode::check_failed;
        return call.output.fail(error);
    }
    for (const config::LeftOut& left : imported->left_out)
        call.output.warning(base::format("{}: left out: {}", file, left.describe()));
    if (imported->more_left_out > 0)
        call.output.warning(base::format("{}: left out: {} more", file, imported->more_left_out));
    call.output.warning(file + ": " + imported->summary());
    int printed = call.output.result(imported->toml);
    if (imported->obstacle.empty()) return printed;
    return call.output.fail({.what = "no run starts here with what was imported: " + imported->obstacle,
                             .where = file,
                             .exit_code = base::ExitCode::check_failed});
}

int config_verb(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    const Subverb* part =
        words.empty() ? std::end(kSubverbs) : std::ranges::find(kSubverbs, words[0], &Subverb::word);
    if (part != std::end(kSubverbs) && words.size() <= part->most_words + 1) return part->perform(call);
    std::string advice = usage_of("config");
    if (part != std::end(kSubverbs)) {
        return call.output.fail({.what = base::format("config {}: '{}' is one word too many", words[0],
                                                      words[part->most_words + 1]),
                                 .advice = advice,
                                 .exit_code = base::ExitCode::usage});
    }
    return call.output.fail({.what = words.empty() ? "config needs a word that says what to do"
                                                   : base::format("config knows no '{}'", words[0]),
                             .advice = advice,
                             .exit_code = base::ExitCode::usage});
}

// `config show`: every setting with its effective value and, on request, the place where it was set.

namespace {

using base::Json;
using base::printable;
using base::Style;

Json scalar_json(const config::Setting& setting, const std::string& text) {
    switch (setting.type) {
        case config::Type::boolean:
            return text == "true";
        case config::Type::integer:
        case config::Type::size:
        case config::Type::duration: {
            const std::optional<int64_t> number = base::parse_number<int64_t>(text);
            return number ? Json(*number) : Json();
        }
        case config::Type::text:
            return text.empty() ? Json() : Json(config::without_secrets(text));
        case config::Type::choice:
        case config::Type::path:
        case config::Type::path_list:
        case config::Type::home_list:
        case config::Type::project_list:
        case config::Type::name_list:
        case config::Type::pattern_list:
        case config::Type::rule_list:
        case config::Type::level_list:
        case config::Type::text_list:
        case config::Type::assignments:
        case config::Type::file_texts:
            return text.empty() ? Json() : Json(text);
    }
    return {};
}

Json json_of(const config::Setting& setting, const policy::Effective& effective) {
    if (!config::is_list(setting.type)) {
        return Json::object()
            .set("value", scalar_json(setting, effective.text(setting.key)))
            .set("origin", effective.origin(setting.key).describe());
    }
    Json items = Json::array();
    for (const config::Item& item : effective.items(setting.key)) {
        items.push(Json::object().set("value", item.text).set("origin", item.origin.describe()));
    }
    return Json::object().set("items", std::move(items));
}

void add_rows(base::Table& table, const config::Setting& setting, const policy::Effective& effective,
              bool with_origin) {
    auto add = [&](std::string_view key, base::Cell value, const config::Origin* origin) {
        std::vector<base::Cell> row{{std::string(key)}, std::move(value)};
        if (with_origin && origin) row.push_back({printable(origin->describe()), Style::dim});
        table.add(std::move(row));
    };
    if (!config::is_list(setting.type)) {
        bool may_hold_secret = setting.type == config::Type::text;
        const std::string& whole = effective.text(setting.key);
        std::string text = may_hold_secret ? config::without_secrets(whole) : whole;
        base::Cell value = text.empty() ? base::Cell{"not set", Style::dim} : base::Cell{printable(text)};
        add(setting.key, std::move(value), &effective.origin(setting.key));
        return;
    }
    const std::vector<config::Item>& items = effective.items(setting.key);
    if (items.empty()) add(setting.key, {"none", Style::dim}, nullptr);
    for (const config::Item& item : items) {
        add(&item == &items.front() ? setting.key : "", {printable(item.text)}, &item.origin);
    }
}

}  // namespace

int config_show(const Invocation& call) {
    base::Result<Settings> settings = load_settings(call.caller, call.arguments);
    if (!settings) return call.output.fail(settings.error());
    for (const std::string& warning : settings->effective.warnings) call.output.warning(warning);

    if (call.arguments.wants_json) {
        Json all = Json::object();
        for (const config::Setting& setting : config::settings()) {
            all.set(std::string(setting.key), json_of(setting, settings->effective));
        }
        return call.output.result(all.dump() + "\n");
    }
    base::Table table;
    for (const config::Setting& setting : config::settings()) {
        add_rows(table, setting, settings->effective, call.arguments.has_own("--origin"));
    }
    return call.output.result(table.text(0, call.output.colours_results()));
}

}  // namespace cli
