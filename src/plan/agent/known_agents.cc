// SPDX-License-Identifier: MIT
#include "plan/agent/known_agents.h"

#include <algorithm>

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "plan/draft.h"

namespace plan {
namespace {

constexpr std::string_view kAider[] = {".aider", ".aider.conf.yml"};
constexpr std::string_view kClaude[] = {".claude", ".claude.json"};
constexpr std::string_view kCodex[] = {".codex"};
constexpr std::string_view kGemini[] = {".gemini"};
constexpr std::string_view kOpencode[] = {".config/opencode", ".opencode", ".local/share/opencode"};
constexpr std::string_view kPi[] = {".pi/agent"};

constexpr std::string_view kClaudeFiles[] = {".claude/settings.json", ".claude/settings.local.json"};
constexpr std::string_view kOpencodeFiles[] = {"opencode.json", "opencode.jsonc", ".opencode/opencode.json",
                                               ".opencode/opencode.jsonc"};

constexpr KnownAgent kAgents[] = {
    {"aider", kAider, {}},   {"claude", kClaude, kClaudeFiles},       {"codex", kCodex, {}},
    {"gemini", kGemini, {}}, {"opencode", kOpencode, kOpencodeFiles}, {"pi", kPi, {}},
};

// An empty directory may be the placeholder of another session (home.access = write). The answer must not
// depend on it: two sessions would hold the same name of the project with a file and with a directory.
bool has_files_of(const Draft& draft, const KnownAgent& agent) {
    return std::ranges::any_of(agent.marks, [&](std::string_view mark) {
        return draft.home_names.may_exist(mark) && !draft.tree().list(draft.home / mark).empty();
    });
}

bool is_in_force(const Draft& draft, std::string_view name) {
    return std::ranges::any_of(draft.inputs.agents,
                               [&](const config::Profile& profile) { return profile.name == name; });
}

// The launcher has checked the options of an agent that is the command itself. Behind a shell or a script the
// stub checks them. Its file has a line for each option: the agent, its title and the option, with tabs
// between them.
void add_own_sandboxes(Draft& draft) {
    std::string text;
    const std::vector<std::string>& command = draft.plan.command;
    for (const config::Profile& profile : draft.inputs.agents) {
        auto known = std::ranges::find(kAgents, profile.name, &KnownAgent::name);
        bool is_command = !command.empty() && base::base_name(command.front()) == profile.name;
        if (known == std::end(kAgents) || is_command || profile.own_sandbox.empty()) continue;
        for (const config::Item& item : profile.own_sandbox)
            text += base::format("{}\t{}\t{}\n", profile.name, profile.title, item.text);
        draft.assembled.push_back(Mount{.kind = MountKind::symlink,
                                        .target = draft.own / base::kStubs / profile.name,
                                        .source = draft.own_program().str(),
                                        .reason = {"refuses options that switch on its own sandbox", {}}});
    }
    if (text.empty()) return;
    draft.assembled.push_back(Mount{.kind = MountKind::file,
                                    .target = draft.own / base::kOwnSandboxes,
                                    .source = std::move(text),
                                    .reason = {"options of agents that can't work in the jail", {}}});
}

}  // namespace

std::span<const KnownAgent> known_agents() {
    return kAgents;
}

bool has_agent(const Draft& draft, const KnownAgent& agent) {
    return std::ranges::any_of(agent.marks, [&](std::string_view mark) {
        // The listing also answers yes if the mode of a directory keeps the caller out.
        return draft.home_names.may_exist(mark) && draft.tree().look(draft.home / mark).has_value();
    });
}

std::vector<std::string_view> project_files(const Draft& draft) {
    std::vector<std::string_view> files;
    for (const config::Profile& profile : draft.inputs.agents) {
        for (const config::Item& item : profile.project_files) files.push_back(item.text);
    }
    for (const KnownAgent& agent : kAgents) {
        bool counts = !agent.project_files.empty() && !is_in_force(draft, agent.name);
        if (counts && has_files_of(draft, agent))
            files.insert(files.end(), agent.project_files.begin(), agent.project_files.end());
    }
    return files;
}

void add_agent_stubs(Draft& draft) {
    if (!draft.inputs.tells_of_agents) return;
    add_own_sandboxes(draft);
    for (const KnownAgent& agent : kAgents) {
        if (is_in_force(draft, agent.name) || !has_agent(draft, agent)) continue;
        draft.assembled.push_back(
            Mount{.kind = MountKind::symlink,
                  .target = draft.own / base::kStubs / agent.name,
                  .source = draft.own_program().str(),
                  .reason = {"it has no profile in this session, and this says so", {}}});
    }
}

}  // namespace plan
