// SPDX-License-Identifier: MIT
// Files that an agent finds only inside the jail: the notice before the user's own instructions, and settings
// that switch off the agent's own sandbox, which can't work inside ours.
#include <algorithm>

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/agent/agent.h"
#include "plan/draft.h"
#include "plan/network/broker.h"

namespace plan {
namespace {

using config::Item;

constexpr size_t kLargestInstructions = 1u << 20;

std::string network_words(const Plan& plan) {
    switch (plan.network.reached) {
        case policy::NetworkMode::open:
            return "open";
        case policy::NetworkMode::filtered:
            return "filtered by name: most hosts can be reached, some can't, plain addresses can't";
        case policy::NetworkMode::proxied:
            return "limited to hosts that the user allowed";
        case policy::NetworkMode::isolated:
            return "closed";
    }
    return "";
}

// The user's notice for this agent, else the user's notice for all agents, else the built-in one.
std::string notice_text(const Draft& draft, const std::string& agent) {
    const base::Path own = draft.inputs.request.config_directory / "agents";
    for (const std::string& name : {agent + ".md", std::string("notice.md")}) {
        if (!draft.tree().look_through(own / name)) continue;
        base::Result<std::string> text = draft.tree().read(own / name, kLargestInstructions);
        if (text) return *std::move(text);
    }
    const config::DataFile* file = config::find_data_file("agents/notice.md");
    return file == nullptr ? std::string() : std::string(file->content);
}

// Whether the jail has this file of a credential.
bool has_copy(const Draft& draft, std::string_view file) {
    const base::Path path = draft.home / file.substr(2);
    return std::ranges::find(draft.after_rules, path, &Mount::target) != draft.after_rules.end();
}

// A line of the notice, or nothing.
std::string credentials_words(const Draft& draft) {
    const Brokered* brokered = draft.inputs.brokered;
    if (brokered == nullptr) return {};
    std::vector<std::string> names, variables;
    for (const credentials::Credential& credential : brokered->credentials) {
        names.push_back(credential.name);
        for (const std::string& variable : credential.variables) variables.push_back("`" + variable + "`");
        for (const std::string& file : credential.files) {
            if (has_copy(draft, file)) variables.push_back("`" + file + "`");
        }
    }
    std::string text = "- ";
    if (!names.empty())
        text += base::format(
            "The values of these credentials stay outside: {}. The sandbox's gateway puts them "
            "into requests to their hosts.\n  ",
            base::join(names, ", "));
    if (!variables.empty())
        text += base::format(
            "{} hold{} placeholders: use them as usual; elsewhere they are refused and worth "
            "nothing.\n  ",
            base::join(variables, ", "), variables.size() == 1 ? "s" : "");
    return text +
           "Some requests may be refused by method and path: 403 with the header `x-agent-sandbox` and a "
           "reason. Do not retry them.\n";
}

std::string notice_for(const Draft& draft, const std::string& agent) {
    if (!draft.policy().agents.notice) return {};
    const Mark marks[] = {
        {"{project}", draft.project.str()},
        {"{access}",
         draft.plan.is_layered
             ? "is writable; what you write there reaches the user's files when the user applies it"
         : draft.policy().project.read_only ? "can be read, not written"
                                            : "is writable"},
        {"{network}", network_words(draft.plan)},
        {"{credentials}", credentials_words(draft)}};
    return with_marks_filled(notice_text(draft, agent), marks);
}

class Files {
  public:
    Files(Draft& draft, const config::Profile& profile, std::string notice)
        : draft_(draft), profile_(profile), notice_(std::move(notice)) {}

    void lay(const Item& item) {
        size_t equals = item.text.find('=');
        std::string path = item.text.substr(0, equals);
        std::string content = with_variables(std::string_view(item.text).substr(equals + 1));
        if (path.starts_with("/etc/")) {
            lay_in_etc(path.substr(5), content, item);
        } else {
            lay_in_home(draft_.home / path.substr(2), content, item);
        }
    }

  private:
    // {variable:NAME} is the value of a variable that the sandbox sets. A line with one that it does not set
    // is left out: a file names the address of a credential only in a session that has it.
    std::string with_variables(std::string_view content) const {
        constexpr std::string_view kMark = "{variable:";
        if (content.find(kMark) == std::string_view::npos) return std::string(content);
        std::string kept;
        for (std::string_view line : base::split(content, '\n')) {
            size_t mark = line.find(kMark), end = line.find('}', mark);
            if (mark == std::string_view::npos || end == std::string_view::npos) {
                kept += base::format("{}\n", line);
                continue;
            }
            std::string_view name = line.substr(mark + kMark.size(), end - mark - kMark.size());
            auto set = std::ranges::find(draft_.added, name, &Variable::name);
            if (set != draft_.added.end())
                kept += base::format("{}{}{}\n", line.substr(0, mark), set->value, line.substr(end + 1));
        }
        if (kept.ends_with('\n')) kept.pop_back();
        return kept;
    }

    std::string original_of(const base::Path& path) const {
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(path);
        if (!resolved || !resolved->exists || leads_to_hidden(draft_, *resolved)) return {};
        base::Result<std::string> text = draft_.tree().read(resolved->path, kLargestInstructions);
        return text ? *text : std::string();
    }

    // A file that the site installed there stays, unless the profile includes it with {original}.
    void lay_in_etc(const std::string& name, const std::string& content, const Item& item) {
        const base::Path path = base::Path::known("/etc/" + name);
        std::string original = original_of(path);
        bool keeps_original = content.find("{original}") != std::string::npos;
        if (!original.empty() && !keeps_original) {
            draft_.note(NoteKind::information,
                        base::format("the host's own {} stays as it is; the profile {} would have set it",
                                     path.str(), profile_.name));
            return;
        }
        draft_.etc_files.push_back(
            {name, agent_file_text(content, notice_, original), {"for the agent", item.origin}});
    }

    void lay_in_home(const base::Path& path, const std::string& content, const Item& item) {
        const Reason reason{"for the agent", item.origin};
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(path);
        if (!resolved) return;
        std::string text = agent_file_text(content, notice_, original_of(path));
        const PathRule* rule = draft_.rules.decide(resolved->path);
        bool is_on_host = rule != nullptr && rule->backing == Backing::host;
        // In a directory of the host the mount needs an existing target.
        if (is_on_host && !resolved->exists) {
            bool is_held = std::ranges::any_of(draft_.plan.placeholders, [&](const Placeholder& held) {
                return held.path == resolved->path;
            });
            if (!is_held) draft_.plan.placeholders.push_back({resolved->path, reason, ""});
        }
        draft_.after_rules.push_back(Mount{
            .kind = MountKind::file, .target = resolved->path, .source = std::move(text), .reason = reason});
    }

    Draft& draft_;
    const config::Profile& profile_;
    std::string notice_;
};

// Adds placeholders and discarded directories of the project to git's exclude list: otherwise `git add -A`
// would commit them.
void hide_from_git(Draft& draft) {
    const base::Path exclude = draft.project / ".git/info/exclude";
    const base::Path git = draft.project / ".git";
    std::string names;
    auto add = [&](const base::Path& path) {
        if (!path.is_strictly_within(draft.project) || path.is_within(git)) return;
        names += base::format("/{}\n", path.relative_to(draft.project));
    };
    for (const Placeholder& placeholder : draft.plan.placeholders) {
        if (placeholder.content) add(placeholder.path);
    }
    if (names.empty() && draft.inputs.agents.empty()) return;
    for (const PathRule& rule : draft.rules.sorted()) {
        if (rule.backing == Backing::ephemeral) add(rule.path);
    }
    std::optional<host::Node> node = draft.tree().look(exclude);
    if (names.empty() || !node || node->kind != host::Kind::file) return;
    base::Result<std::string> original = draft.tree().read(exclude, kLargestInstructions);
    if (!original) return;
    draft.after_rules.push_back(
        Mount{.kind = MountKind::file,
              .target = exclude,
              .source = base::format("{}\n# Held by the sandbox.\n{}", *original, names),
              .reason = {"git passes over what only holds a name", {}}});
}

// A tmux in the jail has a server of its own and must not use the same key bindings as a tmux outside. The
// user's ~/.tmux.conf is read after this file.
void lay_tmux(Draft& draft) {
    bool is_wanted = std::ranges::any_of(draft.inputs.request.command, [](std::string_view word) {
        return word.substr(word.rfind('/') + 1) == "tmux";
    });
    const config::DataFile* file = config::find_data_file("tmux/tmux.conf");
    if (!is_wanted || file == nullptr) return;
    base::Result<std::string> original =
        draft.tree().read(base::Path::known("/etc/tmux.conf"), kLargestInstructions);
    draft.etc_files.push_back({.name = "tmux.conf",
                               .content = (original ? *original : std::string()) + std::string(file->content),
                               .reason = {"a tmux in the jail", {}}});
}

}  // namespace

void lay_agent_files(Draft& draft) {
    lay_tmux(draft);
    bool has_notice = false;
    for (const config::Profile& profile : draft.inputs.agents) {
        std::string notice = notice_for(draft, profile.name);
        // One path: agents that read it there share the notice of the first.
        if (!notice.empty() && !has_notice) {
            has_notice = true;
            draft.assembled.push_back(Mount{.kind = MountKind::file,
                                            .target = draft.own / base::kNotice,
                                            .source = notice,
                                            .reason = {"what the agent is told about the jail", {}}});
        }
        Files files(draft, profile, std::move(notice));
        for (const Item& item : profile.files) files.lay(item);
    }
    hide_from_git(draft);
}

}  // namespace plan
