// SPDX-License-Identifier: MIT
// `completion SHELL`: printed from the table of settings, so that it offers every option of the program. The
// scripts call this program again for names that depend on files.
#include <algorithm>

#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "config/files/sources.h"
#include "config/profile.h"
#include "config/reference/reference.h"

namespace cli {
namespace {

struct Shell {
    std::string_view name;
    std::string (*script)();
};
constexpr Shell kShells[] = {
    {"bash", config::bash_completion},
    {"zsh", config::zsh_completion},
    {"fish", config::fish_completion},
};

// Threat: a file name reaches a shell, and bash evaluates the list of words
// (tests/transcripts/completion.bats).
bool is_plain(std::string_view name) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
    return !name.empty() && name.front() != '-' && name.find_first_not_of(kPlain) == std::string_view::npos;
}

int offer(const Invocation& call, const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        if (is_plain(name)) text += name + "\n";
    }
    return call.output.result(text);
}

int offer_profiles(const Invocation& call, const config::Places& files) {
    base::Result<std::vector<config::ProfileText>> found = config::find_profiles(files);
    if (!found) return call.output.fail(found.error());
    std::vector<std::string> names;
    for (const config::ProfileText& profile : *found) names.push_back(profile.name);
    return offer(call, names);
}

}  // namespace

int completion_verb(const Invocation& call) {
    bool is_about_presets = call.arguments.has_own("--presets");
    if (is_about_presets || call.arguments.has_own("--profiles")) {
        base::Result<Place> place = find_place(call.caller, call.arguments);
        if (!place) return call.output.fail(place.error());
        return is_about_presets ? offer(call, config::preset_names(place->files))
                                : offer_profiles(call, place->files);
    }
    const std::vector<std::string>& words = call.arguments.words;
    const Shell* shell =
        words.size() == 1 ? std::ranges::find(kShells, words[0], &Shell::name) : std::end(kShells);
    if (shell == std::end(kShells)) {
        return call.output.fail({.what = "completion needs the name of a shell",
                                 .advice = usage_of("completion"),
                                 .exit_code = base::ExitCode::usage});
    }
    return call.output.result(shell->script());
}

}  // namespace cli
