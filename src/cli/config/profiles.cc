// SPDX-License-Identifier: MIT
// `profiles` and `profiles show NAME`.
#include "base/encoding/json.h"
#include "base/format.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "config/profile.h"

namespace cli {
namespace {

using base::Json;

Json names_of(const std::vector<config::Item>& items) {
    Json array = Json::array();
    for (const config::Item& item : items) array.push(item.text);
    return array;
}

Json json_of(const config::Profile& profile) {
    return Json::object()
        .set("name", profile.name)
        .set("title", profile.title)
        .set("file", profile.layer.file)
        .set("commands", names_of(profile.commands))
        .set("packages", names_of(profile.packages))
        .set("state", names_of(profile.state))
        .set("kept", names_of(profile.kept))
        .set("tokens", names_of(profile.tokens))
        .set("protect", names_of(profile.protect));
}

std::string joined(const std::vector<config::Item>& items) {
    std::string text;
    for (const config::Item& item : items) text += (text.empty() ? "" : " ") + base::printable(item.text);
    return text;
}

int list(const Invocation& call, const std::vector<config::ProfileText>& found) {
    Json all = Json::array();
    base::Table table;
    for (const config::ProfileText& text : found) {
        base::Result<config::Profile> profile = config::parse_profile(text);
        if (!profile) return call.output.fail(profile.error());
        all.push(json_of(*profile));
        table.add({{profile->name, base::Style::bold},
                   {base::printable(profile->title)},
                   {joined(profile->state) + (profile->kept.empty() ? "" : " " + joined(profile->kept)),
                    base::Style::dim},
                   {base::printable(text.file), base::Style::dim}});
    }
    if (call.arguments.wants_json) return call.output.result(all.dump() + "\n");
    return call.output.result(table.text(0, call.output.colours_results()));
}

}  // namespace

int profiles_verb(const Invocation& call) {
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return call.output.fail(workspace.error());
    base::Result<std::vector<config::ProfileText>> found = config::find_profiles(workspace->files);
    if (!found) return call.output.fail(found.error());
    const std::vector<std::string>& words = call.arguments.words;
    if (words.empty()) return list(call, *found);
    if (words.size() != 2 || words[0] != "show") {
        return call.output.fail({.what = "profiles takes nothing, or show and a name",
                                 .advice = usage_of("profiles"),
                                 .exit_code = base::ExitCode::usage});
    }
    base::Result<config::Profile> profile = config::profile_named(*found, words[1], {});
    if (!profile) {
        base::Error error = profile.error();
        error.where = "profiles show";
        error.exit_code = base::ExitCode::usage;
        return call.output.fail(error);
    }
    if (call.arguments.wants_json) return call.output.result(json_of(*profile).dump() + "\n");
    for (const config::ProfileText& text : *found) {
        if (text.name == words[1]) return call.output.result(base::format("# {}\n{}", text.file, text.text));
    }
    return 0;
}

}  // namespace cli
