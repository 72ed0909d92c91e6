// SPDX-License-Identifier: MIT
// The state of the agent that is run. Its directories are writable and kept, as home.writable says. Files in
// them that would run outside later (hooks, servers, plug-ins of its global settings) are read-only. The jail
// can't create a missing one either: a neutral file or an empty directory holds its name while the session
// runs.
//
// A file that mixes memory with such settings is replaced by a copy that the sandbox owns (agent.kept). With
// agents.per_project_state every state directory is such a copy, one for each project: the user's settings
// are shown in it read-only, and the log-in is the user's own file.
#include <algorithm>

#include "base/encoding/sha256.h"
#include "base/format.h"
#include "base/text.h"
#include "plan/agent/agent.h"
#include "plan/draft.h"
#include "plan/pins.h"

namespace plan {
namespace {

using config::Item;
using config::Profile;

// Content for the placeholder of a missing file: a program that reads it behaves as without the file.
struct Neutral {
    std::string_view ending;
    std::string_view content;
};
constexpr Neutral kNeutral[] = {
    {".json", "{}\n"}, {".jsonc", "{}\n"}, {".toml", ""}, {".yml", ""}, {".yaml", ""},
    {".md", ""},       {".env", ""},       {".js", ""},   {".ts", ""},
};

// The state directory and its subdirectories. Deeper ones are histories, with thousands of entries.
constexpr int kSocketDepth = 2;

class State {
  public:
    State(Draft& draft, const Profile& profile) : draft_(draft), profile_(profile) {}

    void add() {
        bool is_apart = draft_.policy().agents.per_project_state;
        for (const Item& item : profile_.state) {
            if (is_apart) add_apart(item);
        }
        for (const Item& item : profile_.protect) {
            if (is_apart) {
                show(item, MountKind::bind_readonly, "the user's own settings of the agent");
            } else if (!is_private(item)) {
                protect(item);
            }
        }
        for (const Item& item : profile_.tokens) {
            if (is_apart) show(item, MountKind::bind_writable, "the agent's log-in, written through");
        }
        for (const Item& item : profile_.private_places) {
            if (!is_apart && is_private(item)) make_private(item);
        }
        for (const Item& item : profile_.state) {
            if (!is_apart) hide_sockets(in_home(item), kSocketDepth);
        }
        for (const Item& item : profile_.kept) keep(item);
    }

  private:
    // A directory that is both private and protected: show the user's own if it has content, else an empty
    // one for this session.
    bool is_private(const Item& item) const {
        auto is_same = [&](const Item& other) { return other.text == item.text; };
        if (std::ranges::none_of(profile_.private_places, is_same)) return false;
        bool is_protected = std::ranges::any_of(profile_.protect, is_same);
        return !is_protected || draft_.tree().list(in_home(item)).empty();
    }

    // A program outside listens on them. A read-only mount does not stop connect(2) on a socket, so hide it.
    void hide_sockets(const base::Path& directory, int depth) {
        for (const host::Entry& entry : draft_.tree().list(directory)) {
            const base::Path path = directory / entry.name;
            if (entry.kind == host::Kind::socket) {
                draft_.add_rule(path, Access::hidden, {"a socket of a program outside the jail", {}});
            } else if (entry.kind == host::Kind::directory && depth > 1) {
                hide_sockets(path, depth - 1);
            }
        }
    }

    base::Path in_home(const Item& item) const { return draft_.home / item.text; }

    // Mounts a directory of this project, from the sandbox's state, over the user's.
    void add_apart(const Item& item) {
        const Reason reason{"the agent's state for this project (agents.per_project_state)", item.origin};
        const base::Path own = agent_directory(draft_, profile_.name) / item.text;
        draft_.plan.new_directories.push_back({own, reason});
        lay(MountKind::bind_writable, in_home(item), own.str(), reason);
    }

    // Shows a file or directory of the user at its own path, if it exists.
    void show(const Item& item, MountKind kind, std::string_view why) {
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(in_home(item));
        bool is_shown = resolved && resolved->exists && resolved->path.is_within(draft_.home) &&
                        !leads_to_hidden(draft_, *resolved);
        if (is_shown) lay(kind, in_home(item), resolved->path.str(), {std::string(why), item.origin});
    }

    void protect(const Item& item) {
        const Reason reason{"would run outside the jail later", item.origin};
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(in_home(item));
        if (!resolved || !resolved->path.is_within(draft_.home)) return;
        if (!resolved->links.empty()) tell_of_link(resolved->links.back().path, reason);
        if (leads_to_hidden(draft_, *resolved)) return;
        std::optional<std::string> content = content_for(item);
        if (resolved->exists && !may_be_placeholder(resolved->path, content)) {
            draft_.links.insert(draft_.links.end(), resolved->links.begin(), resolved->links.end());
            keep_links(draft_, *resolved, reason);
            draft_.add_rule(resolved->path, Access::readonly, reason);
            return;
        }
        if (!will_exist(resolved->path.parent())) return;
        draft_.plan.placeholders.push_back({resolved->path, reason, std::move(content)});
        draft_.rules.add(PathRule{
            .path = resolved->path, .access = Access::readonly, .holds_name = true, .reason = reason});
    }

    // The target becomes read-only. Only a backend that holds links keeps the jail from replacing the link.
    void tell_of_link(const base::Path& link, const Reason& reason) {
        draft_.note(
            NoteKind::protection,
            base::format("{} is a symbolic link and can't be protected ({}); replace it by what it points to",
                         base::printable(link.str()), reason.why));
    }

    // Nothing for a directory.
    std::optional<std::string> content_for(const Item& item) const {
        bool is_directory = std::ranges::any_of(profile_.held_by_directory,
                                                [&](const Item& held) { return held.text == item.text; });
        return is_directory ? std::nullopt : neutral_content(in_home(item));
    }

    // Another session may have created this placeholder and will remove it when it ends. Treat it like a
    // missing one.
    bool may_be_placeholder(const base::Path& path, const std::optional<std::string>& content) const {
        std::optional<host::Node> node = draft_.tree().look(path);
        if (!content) return node->kind == host::Kind::directory && draft_.tree().list(path).empty();
        base::Result<std::string> found = draft_.tree().read(path, 64);
        return node->kind == host::Kind::file && found && *found == *content;
    }

    // An empty directory for this session alone, because sessions outside run the files in it at the same
    // time.
    void make_private(const Item& item) {
        const Reason reason{"of this session alone: others would run what lies there", item.origin};
        const base::Path path = in_home(item);
        std::optional<host::Node> node = draft_.tree().look(path);
        bool is_other = node && node->kind != host::Kind::directory;
        if (is_other || !will_exist(path.parent())) return;
        if (!node || draft_.tree().list(path).empty()) draft_.plan.placeholders.push_back({path, reason, {}});
        draft_.rules.add(PathRule{.path = path,
                                  .access = Access::writable,
                                  .backing = Backing::ephemeral,
                                  .holds_name = true,
                                  .reason = reason});
    }

    // A name can be created only in a directory that exists.
    bool will_exist(const base::Path& directory) const {
        if (draft_.tree().look(directory)) return true;
        return std::ranges::any_of(draft_.plan.new_directories,
                                   [&](const NewDirectory& made) { return made.path.is_within(directory); });
    }

    void keep(const Item& item) {
        const Reason reason{"a copy of the sandbox's own: the user's holds what would run outside later",
                            item.origin};
        const base::Path own = agent_directory(draft_, profile_.name) / item.text;
        const base::Path target = in_home(item);
        if (std::optional<host::Glance> seen = draft_.tree().glance(target);
            seen && seen->kind == host::Kind::symlink) {
            draft_.note(NoteKind::protection, base::printable(target.str()) +
                                                  " is a symbolic link and is not copied into the jail; "
                                                  "replace it by what it points to");
        }
        draft_.plan.kept_files.push_back({.path = own,
                                          .copied_from = target,
                                          .otherwise = neutral_content(target).value_or(""),
                                          .reason = reason});
        // Where the real home is shown, the mount needs an existing target.
        if (draft_.home_is_real && !draft_.tree().look(target)) {
            draft_.plan.placeholders.push_back({target, reason, neutral_content(target).value_or("")});
        }
        lay(MountKind::bind_writable, target, own.str(), reason);
    }

    void lay(MountKind kind, const base::Path& target, std::string source, const Reason& reason) {
        draft_.after_rules.push_back(
            Mount{.kind = kind, .target = target, .source = std::move(source), .reason = reason});
        if (kind == MountKind::bind_writable) draft_.extra_writable.push_back(target);
    }

    Draft& draft_;
    const Profile& profile_;
};

// The jail neither reads nor writes another agent's state, whatever home.access is.
void hide_others(Draft& draft) {
    if (!draft.home_is_real) return;
    for (const Profile& other : draft.inputs.other_agents) {
        for (const std::vector<Item>* list : {&other.state, &other.kept, &other.tokens}) {
            for (const Item& item : *list) {
                base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(draft.home / item.text);
                if (!resolved || !resolved->exists || !resolved->path.is_strictly_within(draft.home))
                    continue;
                const Reason reason{"the state of another agent", item.origin};
                draft.add_rule(resolved->path, Access::hidden, reason);
                keep_links(draft, *resolved, reason);
            }
        }
    }
}

bool has_login(const Draft& draft, const Profile& profile) {
    bool has_token = std::ranges::any_of(profile.tokens, [&](const Item& item) {
        return draft.tree().look_through(draft.home / item.text).has_value();
    });
    if (has_token) return true;
    auto credentials = profile.layer.values.find("env.allow");
    if (credentials == profile.layer.values.end()) return false;
    return std::ranges::any_of(draft.inputs.request.environment, [&](std::string_view variable) {
        return std::ranges::any_of(credentials->second.items, [&](const Item& item) {
            return variable.starts_with(item.text) && variable.substr(item.text.size()).starts_with('=');
        });
    });
}

}  // namespace

base::Path agent_directory(const Draft& draft, std::string_view agent) {
    base::Path directory = draft.state_directory() / "agents" / std::string(agent);
    if (!draft.policy().agents.per_project_state) return directory;
    return directory / "projects" / base::sha256(draft.project.str()).substr(0, 16);
}

std::optional<std::string> neutral_content(const base::Path& path) {
    for (const Neutral& row : kNeutral) {
        if (path.name().ends_with(row.ending)) return std::string(row.content);
    }
    return std::nullopt;
}

void add_agent(Draft& draft) {
    hide_others(draft);
    const Profile* profile = draft.inputs.agent;
    if (profile == nullptr) return;
    State(draft, *profile).add();
    if (!profile->login.empty() && !has_login(draft, *profile)) {
        draft.note(NoteKind::information,
                   base::format("{} is not logged in: {}", profile->title, profile->login));
    }
}

}  // namespace plan
