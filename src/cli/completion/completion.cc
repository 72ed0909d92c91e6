// SPDX-License-Identifier: MIT
// `completion SHELL` prints a script for a shell (share/completion). The script asks the hidden verb
// `__complete SHELL -- WORD…` at each Tab: the words after the program's name, up to the cursor. The answer:
//
//   KIND FRONT     what the shell does (Completion::Kind), and the beginning of the word that stays
//   WORD HELP      a candidate a line, in the form that the shell's own functions take
//
// For the kind `command`, FRONT is the index of the command's first word. The answer comes from tables and
// from files that are only read: completion starts no program and changes nothing
// (tests/transcripts/completion.bats).
#include <algorithm>

#include "base/text.h"
#include "cli/arguments.h"
#include "cli/completion/complete.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "config/data.h"
#include "config/files/sources.h"
#include "config/profile.h"
#include "credentials/resolve.h"
#include "monitor/screen.h"

namespace cli {
namespace {

// ---- Names that depend on the machine

Candidates session_ids(const Invocation& call) {
    Candidates found;
    base::Result<Sessions> sessions = find_sessions(call, session::DeadSessions::skip);
    if (!sessions) return found;
    for (const session::Known& known : sessions->known) {
        std::string help = monitor::project_text(known.metadata, sessions->home) + ": " +
                           monitor::command_text(known.metadata);
        found.push_back({short_id(known), std::move(help)});
    }
    return found;
}

Candidates preset_names(const Invocation& call) {
    Candidates found;
    base::Result<Workspace> workspace = find_workspace(call.caller, {});
    if (!workspace) return found;
    for (const std::string& name : config::preset_names(workspace->files)) found.push_back({.word = name});
    return found;
}

Candidates profile_names(const Invocation& call) {
    Candidates found;
    base::Result<Workspace> workspace = find_workspace(call.caller, {});
    if (!workspace) return found;
    base::Result<std::vector<config::ProfileText>> profiles = config::find_profiles(workspace->files);
    if (!profiles) return found;
    for (const config::ProfileText& profile : *profiles) found.push_back({.word = profile.name});
    return found;
}

Candidates credential_names(const Invocation& call) {
    std::vector<std::string> names = credentials::preset_names();
    base::Result<Workspace> workspace = find_workspace(call.caller, {});
    base::Result<policy::Layers> layers =
        workspace ? read_layers(*workspace, call.caller, {}) : base::Result<policy::Layers>(policy::Layers());
    if (layers) std::ranges::move(credentials::defined_names(*layers), std::back_inserter(names));
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    Candidates found;
    for (std::string& name : names) found.push_back({.word = std::move(name)});
    return found;
}

Candidates variable_names(const Invocation& call) {
    Candidates found;
    for (const std::string& variable : call.caller.environment)
        found.push_back({.word = variable.substr(0, variable.find('='))});
    return found;
}

struct CandidateSource {
    std::string_view kind;
    Candidates (*names)(const Invocation&);
};
constexpr CandidateSource kCandidateSources[] = {
    {"@session", session_ids},         {"@preset", preset_names},     {"@profile", profile_names},
    {"@credential", credential_names}, {"@variable", variable_names},
};

// Threat: a file name or a variable's name reaches a shell (tests/transcripts/completion.bats).
bool is_plain(std::string_view name) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
    return !name.empty() && name.front() != '-' && name.find_first_not_of(kPlain) == std::string_view::npos;
}

Candidates names_here(const Invocation& call, std::string_view kind) {
    const CandidateSource* lookup = std::ranges::find(kCandidateSources, kind, &CandidateSource::kind);
    if (lookup == std::end(kCandidateSources)) return {};
    Candidates found = lookup->names(call);
    std::erase_if(found, [](const Candidate& candidate) { return !is_plain(candidate.word); });
    return found;
}

// ---- The form of each shell

// bash shows no help, and does not compare the words with the one at the cursor.
std::string bash_line(const Candidate& candidate, std::string_view begun) {
    return candidate.word.starts_with(begun) ? candidate.word + "\n" : "";
}

// "word:help", as _describe takes it. A flag that takes a value ends in "=", which zsh inserts with it.
std::string zsh_line(const Candidate& candidate, std::string_view) {
    std::string line;
    for (char letter : candidate.word) {
        if (letter == ':' || letter == '\\') line += '\\';
        line += letter;
    }
    if (candidate.takes_value) line += "=";
    if (!candidate.help.empty()) line += ":" + base::printable(candidate.help);
    return line + "\n";
}

std::string fish_line(const Candidate& candidate, std::string_view) {
    std::string help = base::printable(candidate.help);
    return base::format("{}{}\n", candidate.word, help.empty() ? "" : "\t" + help);
}

struct Shell {
    std::string_view name;
    std::string_view script;  // in share/
    std::string (*line)(const Candidate&, std::string_view begun);
};
constexpr Shell kShells[] = {
    {"bash", "completion/agent-sandbox.bash", bash_line},
    {"zsh", "completion/agent-sandbox.zsh", zsh_line},
    {"fish", "completion/agent-sandbox.fish", fish_line},
};

const Shell* find_shell(std::string_view name) {
    const Shell* shell = std::ranges::find(kShells, name, &Shell::name);
    return shell == std::end(kShells) ? nullptr : shell;
}

// In the order of Completion::Kind.
constexpr std::string_view kKinds[] = {"words",       "flags",    "openings", "files",
                                       "directories", "programs", "command"};

int wrong_shell(const Invocation& call, std::string_view verb) {
    return call.output.fail({.what = base::format("{} needs the name of a shell", verb),
                             .advice = usage_of(verb),
                             .exit_code = base::ExitCode::usage});
}

}  // namespace

int completion_verb(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    const Shell* shell = words.size() == 1 ? find_shell(words[0]) : nullptr;
    if (!shell) return wrong_shell(call, "completion");
    return call.output.result(config::find_data_file(shell->script)->content);
}

int complete_verb(const Invocation& call) {
    std::span<const std::string> words = call.arguments.words;
    const Shell* shell = words.empty() ? nullptr : find_shell(words[0]);
    if (!shell) return wrong_shell(call, "__complete");
    Completion completion =
        complete(words.subspan(1), [&](std::string_view kind) { return names_here(call, kind); });
    bool is_command = completion.kind == Completion::Kind::command;
    std::string text = base::format("{} {}\n", kKinds[static_cast<size_t>(completion.kind)],
                                    is_command ? std::to_string(completion.index) : completion.front);
    std::string_view begun = words.size() > 1 ? std::string_view(words.back()) : std::string_view();
    begun.remove_prefix(completion.front.size());
    for (const Candidate& candidate : completion.candidates) text += shell->line(candidate, begun);
    return call.output.result(text);
}

}  // namespace cli
