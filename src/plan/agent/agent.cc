// SPDX-License-Identifier: MIT
// The state of the agents in force. Its directories are writable and kept, as home.writable says. Files in
// them that would run outside later (hooks, servers, plug-ins of its global settings) are read-only. The jail
// can't create a missing one either: a neutral file or an empty directory holds its name while the session
// runs.
//
// A file that mixes memory with such settings is replaced by a copy that the sandbox owns (agent.kept). With
// agents.per_project_state every state directory is such a copy, one for each project: the user's settings
// are shown in it read-only, and the log-in is the user's own file.
#include "plan/agent/agent.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/encoding/json.h"
#include "base/encoding/sha256.h"
#include "base/text.h"
#include "config/toml_text.h"
#include "plan/agent/named_files.h"
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

// At the top of a state directory.
constexpr size_t kMostScripts = 100;

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
            const bool is_shown = is_apart && !draft_.policy().credentials.is_login_outside;
            if (is_shown) show(item, MountKind::bind_writable, "the agent's log-in, written through");
        }
        for (const Item& item : profile_.private_places) {
            if (!is_apart && is_private(item)) make_private(item);
        }
        for (const Item& item : profile_.state) {
            if (is_apart) continue;
            hide_sockets(in_home(item), kSocketDepth);
            protect_programs(item);
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

    // Threat: the settings are read-only, but a script that they name (a status line, a hook, a helper that
    // prints a key) is a file of the state, and the agent outside runs it (tests/jail/agents.bats).
    void protect_programs(const Item& state) {
        const base::Path directory = in_home(state);
        const std::vector<host::Entry>& entries = draft_.tree().list(directory);
        std::set<std::string> named;
        for (const std::string& text : settings()) {
            named.merge(named_in_state(text, entries));
            named.merge(named_from_home(text, state.text, draft_.home.str()));
        }
        for (const Item& kept : profile_.kept) {
            if (std::optional<std::string> text = text_of(in_home(kept)))
                named.merge(named_from_home(*text, state.text, draft_.home.str()));
        }
        for (const std::string& name : named) protect_named({state.text + "/" + name, state.origin});
        std::vector<std::string> scripts;
        for (const host::Entry& entry : entries) {
            bool is_script = !named.contains(entry.name) && is_program(directory / entry.name, entry);
            if (is_script && !is_decided({state.text + "/" + entry.name, state.origin}))
                scripts.push_back(entry.name);
        }
        if (scripts.size() > kMostScripts) leave_oldest(scripts, directory);
        for (const std::string& name : scripts) protect({state.text + "/" + name, state.origin});
    }

    // Threat: a session makes thousands, so that the next one can't start or does not protect the user's own
    // (tests/jail/agents.bats). What a session makes is newer than these.
    void leave_oldest(std::vector<std::string>& scripts, const base::Path& directory) {
        std::map<std::string, int64_t> changed;
        for (const std::string& name : scripts) {
            std::optional<host::Node> node = draft_.tree().look(directory / name);
            changed[name] = node ? node->changed : 0;
        }
        std::ranges::stable_sort(scripts, {}, [&](const std::string& name) { return changed[name]; });
        scripts.resize(kMostScripts);
        draft_.note(NoteKind::protection,
                    base::format("{} has more than {} scripts: of those that the settings do not name, only "
                                 "the oldest {} can't be changed inside",
                                 base::printable(directory.str()), kMostScripts, kMostScripts));
    }

    // A directory, which may hold what the agent writes, stays writable. A link is kept as it is: what it
    // leads to must not become visible.
    void protect_named(const Item& item) {
        if (is_decided(item)) return;
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(in_home(item));
        if (!resolved) return;
        std::optional<host::Node> node = draft_.tree().look(resolved->path);
        bool is_missing_script = !node && !resolved->exists && is_script_name(item.text);
        bool is_file = node && node->kind == host::Kind::file;
        if (!is_missing_script && !is_file) return;
        if (draft_.tree().look(in_home(item)) && !is_in_state(resolved->path))
            return keep_links(draft_, *resolved, {"would run outside the jail later", item.origin});
        protect(item);
    }

    bool is_program(const base::Path& path, const host::Entry& entry) const {
        constexpr uint32_t kAnyExecutes = 0111;
        constexpr size_t kLargestScript = 256u << 10;
        if (entry.kind != host::Kind::file || is_data_name(entry.name)) return false;
        if (is_script_name(entry.name)) return true;
        std::optional<host::Node> node = draft_.tree().look(path);
        if (!node || node->kind != host::Kind::file) return false;
        if ((node->mode & kAnyExecutes) != 0) return true;
        base::Result<std::string> content = draft_.tree().read(path, kLargestScript);
        return content && content->starts_with("#!");
    }

    // Whether a line of the profile decides about the path: a log-in stays writable.
    bool is_decided(const Item& item) const {
        auto covers = [&](const Item& other) {
            return item.text == other.text || item.text.starts_with(other.text + "/");
        };
        return std::ranges::any_of(profile_.protect, covers) ||
               std::ranges::any_of(profile_.private_places, covers) ||
               std::ranges::any_of(profile_.tokens, covers) || std::ranges::any_of(profile_.kept, covers);
    }

    bool is_in_state(const base::Path& path) const {
        return std::ranges::any_of(profile_.state, [&](const Item& item) {
            base::Result<host::Tree::Resolved> state = draft_.tree().resolve(in_home(item));
            return state && path.is_within(state->path);
        });
    }

    // The agent's settings: files that the profile protects or shows, and those of the project.
    std::vector<std::string> settings() const {
        std::vector<std::string> texts;
        auto add = [&](const base::Path& path) {
            if (std::optional<std::string> text = text_of(path)) texts.push_back(*std::move(text));
        };
        for (const Item& item : profile_.protect) add(in_home(item));
        for (const Item& item : profile_.project_files) add(draft_.project / item.text);
        auto shown = profile_.layer.values.find("home.readonly");
        if (shown == profile_.layer.values.end()) return texts;
        for (const Item& item : shown->second.items) {
            if (is_data_name(item.text)) add(in_home(item));
            std::optional<host::Node> node = draft_.tree().look_through(in_home(item));
            if (!node || node->kind != host::Kind::directory) continue;
            for (const host::Entry& entry : draft_.tree().list(in_home(item))) {
                if (is_data_name(entry.name)) add(in_home(item) / entry.name);
            }
        }
        return texts;
    }

    std::optional<std::string> text_of(const base::Path& path) const {
        constexpr size_t kLargestSettings = 8u << 20;
        std::optional<host::Node> node = draft_.tree().look_through(path);
        if (!node || node->kind != host::Kind::file) return std::nullopt;
        base::Result<std::string> text = draft_.tree().read(path, kLargestSettings);
        return text ? std::optional(*std::move(text)) : std::nullopt;
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
        if (is_directory) return std::nullopt;
        const std::string start = base::format("~/{}=", item.text);
        for (const Item& placeholder : profile_.placeholders) {
            if (placeholder.text.starts_with(start)) return placeholder.text.substr(start.size());
        }
        return neutral_content(in_home(item));
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
    for (const Profile& profile : draft.inputs.agents) {
        State(draft, profile).add();
        if (profile.login.empty() || has_login(draft, profile)) continue;
        draft.note(NoteKind::information,
                   base::format("{} is not logged in: {}", profile.title, profile.login));
    }
}

std::string with_marks_filled(std::string_view text, std::span<const Mark> marks) {
    std::string filled;
    while (!text.empty()) {
        auto found =
            std::ranges::find_if(marks, [&](const Mark& mark) { return text.starts_with(mark.mark); });
        if (found != marks.end()) {
            filled += found->value;
            text.remove_prefix(found->mark.size());
        } else {
            filled += text.front();
            text.remove_prefix(1);
        }
    }
    return filled;
}

std::string agent_file_text(std::string_view text, const std::string& notice, const std::string& original) {
    // JSON replaces bytes that are not UTF-8 by U+FFFD; TOML does not accept such bytes.
    std::string quoted = base::Json(notice).dump();
    std::string valid = *base::Json::parse(quoted)->as_text();
    const Mark marks[] = {{"{notice:json}", std::move(quoted)},
                          {"{notice:toml}", config::toml_string(valid)},
                          {"{notice}", notice},
                          {"{original}", original}};
    return with_marks_filled(text, marks);
}

}  // namespace plan
