// SPDX-License-Identifier: MIT
#include "config/reference/reference.h"

#include <algorithm>

#include "base/text.h"
#include "config/data.h"
#include "config/toml_text.h"
#include "config/value.h"

namespace config {
namespace {

// An example of the right form, for a type whose built-in value can't be written in a file.
std::string_view example_of(Type type) {
    switch (type) {
        case Type::boolean:
            return "false";
        case Type::integer:
            return "0";
        case Type::size:
            return "\"4G\"";
        case Type::duration:
            return "\"10m\"";
        case Type::path:
            return "\"/usr/bin/bwrap\"";
        case Type::choice:
        case Type::text:
            return "\"text\"";
        case Type::assignments:
            return "{ EDITOR = \"vi\" }";
        case Type::file_texts:
            return "{}";
        case Type::path_list:
        case Type::home_list:
        case Type::project_list:
        case Type::name_list:
        case Type::pattern_list:
        case Type::rule_list:
        case Type::level_list:
        case Type::text_list:
            return "[]";
    }
    return "";
}

bool is_data_list(const Setting& setting) {
    return setting.fallback.starts_with('@');
}

std::string written_default(const Setting& setting) {
    if (setting.fallback.empty() || is_data_list(setting)) return std::string(example_of(setting.type));
    if (!is_list(setting.type)) return toml_scalar(setting, setting.fallback);
    std::vector<std::string> entries;
    for (std::string_view entry : base::split(setting.fallback, ' ')) entries.emplace_back(entry);
    return toml_list(setting, entries);
}

}  // namespace

std::string_view meaning_for_administrator(Order order) {
    switch (order) {
        case Order::neutral:
            return "a default; anyone may say otherwise";
        case Order::trusted:
            return "a default for users; project files can't set it";
        case Order::true_is_strict:
            return "`true` stays true";
        case Order::false_is_strict:
            return "`false` stays false";
        case Order::choices_ascend:
            return "others may only be as strict or stricter";
        case Order::lower_is_strict:
            return "others may only go lower";
        case Order::list_restricts:
            return "entries stay, whatever others say";
        case Order::list_grants:
            return "entries are added to; project files can't add";
        case Order::parents_narrow:
            return "others may only name directories below";
        case Order::admin_only:
            return "only the administrator's files may say it";
    }
    return "";
}

namespace {

// ---- The starting file

constexpr std::string_view kStartingHead =
    "# Configuration of agent-sandbox. Every setting stands here with its built-in value, behind a # that "
    "can be removed.\n"
    "# Lists add to the built-in entries: 'agent-sandbox config show --origin' prints all of them.\n";

std::string starting_lines(const Setting& setting) {
    std::string lines = base::format("\n# {}\n", setting.help);
    if (setting.type == Type::choice) {
        std::string choices;
        for (std::string_view choice : choices_of(setting))
            choices += (choices.empty() ? "" : ", ") + std::string(choice);
        lines += base::format("# one of: {}\n", choices);
    }
    if (setting.order == Order::admin_only) lines += "# only in the administrator's file\n";
    return base::format("{}#{} = {}\n", lines, name_in_section(setting), written_default(setting));
}

}  // namespace

std::vector<std::string_view> sections() {
    std::vector<std::string_view> names;
    for (const Setting& setting : settings()) {
        std::string_view section = section_of(setting);
        if (!section.empty() && std::ranges::find(names, section) == names.end()) names.push_back(section);
    }
    return names;
}

namespace {

// ---- The reference page

// A cell of a Markdown table; a bar would end it, so escape it.
std::string cell(std::string_view text) {
    std::string escaped;
    for (char letter : text) {
        if (letter == '|') escaped += '\\';
        escaped += letter;
    }
    return escaped;
}

std::string code(std::string_view text) {
    return text.empty() ? std::string() : base::format("`{}`", text);
}

// The page links the lists instead of printing them: they have more lines than everything else on it.
std::string link_to_list(std::string_view name) {
    std::string path = base::format("share/{}.list", name);
    return base::format("[{}](../{})", path, path);
}

std::string shown_default(const Setting& setting) {
    if (is_data_list(setting)) return link_to_list(setting.fallback.substr(1));
    return setting.fallback.empty() ? "none" : code(setting.fallback);
}

std::string table_row(const Setting& setting) {
    std::string row =
        base::format("| {} | {} | {} | {} | {} | {} | {} |\n", code(setting.key), cell(setting.help),
                     cell(expectation(setting)), shown_default(setting), code(setting.flag),
                     code(variable_of(setting)), meaning_for_administrator(setting.order));
    return row;
}

constexpr std::string_view kTableHead =
    "| setting | meaning | value | built-in | flag | variable | an administrator's value |\n"
    "|---|---|---|---|---|---|---|\n";

constexpr std::string_view kPageHead =
    R"(# Configuration

This page is made from the program's own table of settings. It shows every setting and every preset,
and links the [lists](#lists) of built-in entries.

Files are TOML and are read strictly: an unknown key, a wrong type or a duplicate is an error with
file, line and column. `agent-sandbox config init` makes a starting file, `config check` reads one,
`config show --origin` prints the values in force and where each was written, and `config import`
converts settings of other tools ([coming-from.md](coming-from.md)).

## Layers

Each layer can change the values of the layers before it. No layer can exceed what the administrator
allows.

1. built-in values
2. the administrator: `/etc/agent-sandbox/config.toml`, then `/etc/agent-sandbox/conf.d/*.toml` by
   name. The files and their directories must belong to root, and no other user may be able to write
   them. A file that exists and can't be trusted or read stops every start.
3. the user: `$XDG_CONFIG_HOME/agent-sandbox/config.toml`, then `conf.d/*.toml` beside it. A file
   with `[match]` and `project = "/lab/genomics/**"` applies only to projects whose real path
   matches.
4. the project: `.agent-sandbox.toml` in its root. It can only narrow, unless the user has read it
   and run `agent-sandbox trust`.
5. the preset named by `--preset`: `presets/NAME.toml` of the user, of the administrator, or a
   built-in one
6. variables, for settings that are not lists
7. flags

`lock = ["section.key"]` at the top of an administrator's file makes its value for that setting
final.

## Settings
)";

struct ListTitle {
    std::string_view name;
    std::string_view text;
};

// Every list that the program reads. A list of share/ that is missing here would be undocumented
// (reference_test).
constexpr ListTitle kLists[] = {
    {"environment/pass", "Variables that pass when `env.mode` is `clean`."},
    {"environment/block", "Built-in entries of `env.block`."},
    {"environment/block_patterns", "Built-in entries of `env.block_patterns`."},
    {"environment/injection", "Variables that are removed in every mode."},
    {"environment/functions", "Exported shell functions that pass."},
    {"environment/secret_values", "Values that are held back under any name."},
    {"home/readonly", "Built-in entries of `home.readonly`."},
    {"home/seeded", "Built-in entries of `home.seeded`."},
    {"home/registries",
     "Settings of package managers of which the jail has a copy: registries and mirrors, no log-ins."},
    {"home/caches", "Places of caches that `home.caches` keeps for each project."},
    {"home/not_kept",
     "Paths of a private home directory that the end of a session does not list: programs write them by "
     "themselves."},
    {"home/credentials", "Paths in the home directory that are hidden in every mode."},
    {"home/start_up",
     "Paths in the home directory that run on the host unasked: read-only in every mode until "
     "`home.unprotect` names them."},
    {"home/start_up_programs",
     "Likewise, where they exist: programs that those files and the `PATH` lead to."},
    {"home/filtered", "Files of the home directory that are shown without the lines that hold a secret."},
    {"home/credentials_from_environment", "Variables that lead to credentials in other places."},
    {"project/protect", "Built-in entries of `project.protect`."},
    {"project/tools", "The tools that read those paths, for `project.hold`."},
    {"project/mask", "Built-in entries of `project.mask`."},
    {"project/unmask", "Built-in entries of `project.unmask`."},
    {"system/trees", "Trees that every jail can read, where they exist."},
    {"system/trees_from_environment", "Variables that name more such trees."},
    {"sockets/dangerous", "Sockets that need `sockets.allow_dangerous`."},
    {"devices/never", "Device nodes that are never allowed."},
    {"review/start_up",
     "What the review at the end of a session looks for: files that run when a folder is entered or opened."},
    {"review/pipelines", "Likewise: definitions of pipelines that run elsewhere."},
    {"review/build", "Likewise: files that a build runs."},
    {"review/git_keys", "Likewise: keys of git's configuration that name programs."},
    {"network/blocked_names", "Hosts that are closed until `network.allow` opens them."},
    {"network/public_suffixes", "Names over which `network.allow` takes no wildcard."},
    {"network/mailers", "Programs that a stub stands in for where mail is closed."},
    {"network/bundles", "Bundles of hosts for `network.allow`, as `@name`."},
    {"network/request_lists", "Lists of requests for `requests.allow` and `requests.block`, as `@name`."},
};

constexpr std::string_view kListsHead = R"(
## Lists

Built-in entries are in text files, one entry per line with its reason. The program has them
compiled in: changing a file changes nothing in an installed program. `agent-sandbox config show`
prints the entries of a setting. `agent-sandbox why` prints the entry that decides about one path,
host or variable.

| file | contents |
|---|---|
)";

constexpr std::string_view kBundlesHead = R"(
### Bundles

| bundle | hosts for | file |
|---|---|---|
)";

constexpr std::string_view kRequestsHead = R"(
### Requests

| list | requests that | file |
|---|---|---|
)";

std::string list_sections() {
    std::string text(kListsHead);
    for (const ListTitle& list : kLists)
        text += base::format("| {} | {} |\n", link_to_list(list.name), cell(list.text));
    text += kBundlesHead;
    for (const DataRow& bundle : data_list("network/bundles")) {
        std::string name(bundle.entry);
        text += base::format("| {} | {} | {} |\n", code("@" + name), cell(bundle.reason),
                             link_to_list("bundles/" + name));
    }
    text += kRequestsHead;
    for (const DataRow& list : data_list("network/request_lists")) {
        std::string name(list.entry);
        text += base::format("| {} | {} | {} |\n", code("@" + name), cell(list.reason),
                             link_to_list("requests/" + name));
    }
    return text;
}

constexpr std::string_view kCredentialHead = R"(
### credential.NAME

A table `[credential.NAME]` defines a credential, or changes single keys of the shipped one of that name
([credentials.md](credentials.md)). It may be in every file except a project's. A key that the
administrator's table contains can't be changed by others. All keys whose names start with `from_` count as
one.

| key | meaning | value | built-in |
|---|---|---|---|
)";

std::string credential_section() {
    std::string text(kCredentialHead);
    for (const Setting& setting : credential_settings()) {
        text += base::format("| {} | {} | {} | {} |\n", code(setting.key), cell(setting.help),
                             cell(expectation(setting)), shown_default(setting));
    }
    text += "\nCredentials that are shipped:\n\n| name | file |\n|---|---|\n";
    for (const DataFile& file : data_files()) {
        constexpr std::string_view kBefore = "credentials/", kBehind = ".toml";
        if (!file.name.starts_with(kBefore)) continue;
        std::string_view name = file.name.substr(kBefore.size());
        name.remove_suffix(kBehind.size());
        text += base::format("| {} | [share/{}](../share/{}) |\n", code(name), file.name, file.name);
    }
    return text;
}

std::string preset_sections() {
    std::string text = "\n## Presets\n";
    for (const DataFile& file : data_files()) {
        if (!file.name.starts_with("presets/")) continue;
        text += base::format("\n### {}\n\n```toml\n{}```\n", file.name, file.content);
    }
    return text;
}

}  // namespace

std::string starting_file() {
    std::string text(kStartingHead);
    for (const Setting& setting : settings()) {
        if (section_of(setting).empty()) text += starting_lines(setting);
    }
    text +=
        "\n# this file counts only for projects that match; in a user's files only\n"
        "#[match]\n#project = \"/lab/genomics/**\"\n";
    for (std::string_view section : sections()) {
        text += base::format("\n[{}]\n", section);
        for (const Setting& setting : settings()) {
            if (section_of(setting) == section) text += starting_lines(setting);
        }
    }
    return text;
}

std::string reference_page() {
    std::string page(kPageHead);
    for (std::string_view section : sections()) {
        page += base::format("\n### {}\n\n{}", section, kTableHead);
        for (const Setting& setting : settings()) {
            if (section_of(setting) == section) page += table_row(setting);
        }
    }
    page += base::format("\n### At the top of a file\n\n{}", kTableHead);
    for (const Setting& setting : settings()) {
        if (section_of(setting).empty()) page += table_row(setting);
    }
    page += credential_section();
    page += preset_sections() + list_sections();
    return page;
}

}  // namespace config
