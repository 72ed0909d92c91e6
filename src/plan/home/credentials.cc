// SPDX-License-Identifier: MIT
#include "plan/home/credentials.h"

#include <algorithm>

#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"

namespace plan {
namespace {

constexpr std::string_view kOtherPlaces[] = {"/etc", "/dev", "/proc", "/sys", "/run"};

bool is_in_system(const base::Path& path) {
    auto holds = [&](std::string_view place) { return path.is_within(base::Path::known(place)); };
    return std::ranges::any_of(kOtherPlaces, holds) ||
           std::ranges::any_of(config::data_list("system/trees"), holds, &config::DataRow::entry);
}

}  // namespace

std::optional<base::Path> link_to_credential(const Draft& draft, const host::Tree::Resolved& credential) {
    auto is_in_home = [&](const host::Tree::Link& link) { return link.path.is_within(draft.home); };
    auto link = std::ranges::find_if(credential.links, is_in_home);
    return link == credential.links.end() ? std::nullopt : std::optional(link->path);
}

bool may_be_credential(const Draft& draft, const host::Tree::Resolved& credential) {
    if (!link_to_credential(draft, credential)) return true;
    if (draft.home.is_within(credential.path)) return false;
    if (!is_in_system(credential.path)) return true;
    constexpr uint32_t kEveryoneReads = 0004;
    std::optional<host::Node> node = draft.tree().look(credential.path);
    bool is_users = node && node->owner == draft.inputs.facts.identity.uid && node->owner != 0;
    return is_users || (node && (node->mode & kEveryoneReads) == 0);
}

std::string how_to_remove(const base::Path& link) {
    return "if you did not make this link, run: rm " + base::printable(base::shell_word(link.str()));
}

// Credentials outside their usual directories, because a variable of the caller names another path. They are
// hidden wherever the jail would show them: in a home that is shown, in a mount, in the project.

namespace {

struct Named {
    std::string_view name;
    std::string_view value;
};

// Directories of credentials.list that a variable moves.
constexpr Named kMoved[] = {{"XDG_CONFIG_HOME", ".config/"},
                            {"XDG_DATA_HOME", ".local/share/"},
                            {"XDG_STATE_HOME", ".local/state/"},
                            {"XDG_CACHE_HOME", ".cache/"}};

class Hider {
  public:
    explicit Hider(Draft& draft) : draft_(draft) {}

    void hide(std::string_view variable, const base::Path& path, std::string_view reason) {
        if (!base::has_wildcard(path.name())) return hide_one(variable, path, reason);
        base::Result<host::Tree::Resolved> directory = draft_.tree().resolve(path.parent());
        if (!directory || !directory->exists) return;
        for (const host::Entry& entry : draft_.tree().list(directory->path)) {
            if (base::matches_name(path.name(), entry.name))
                hide_one(variable, directory->path / entry.name, reason);
        }
    }

  private:
    void hide_one(std::string_view variable, const base::Path& path, std::string_view reason) {
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(path);
        if (!resolved || !resolved->exists) return;
        std::optional<host::Node> node = draft_.tree().look(resolved->path);
        // KUBECONFIG=/dev/null means: no configuration.
        bool can_hold_secrets =
            node && (node->kind == host::Kind::file || node->kind == host::Kind::directory);
        if (!can_hold_secrets || is_opened_by_name(resolved->path)) return;
        const base::Path* needed = draft_.project.is_within(resolved->path) ? &draft_.project
                                   : draft_.home.is_within(resolved->path)  ? &draft_.home
                                                                            : nullptr;
        if (needed != nullptr) {
            draft_.note(
                NoteKind::protection,
                base::format("{} leads to {}, which holds {} and is not hidden ({})", variable,
                             base::printable(resolved->path.str()), base::printable(needed->str()), reason));
            return;
        }
        draft_.add_rule(resolved->path, Access::hidden, {base::format("{} ({})", reason, variable), {}});
    }

    // A rule for exactly this path that is not built in is the user's decision.
    bool is_opened_by_name(const base::Path& path) const {
        const PathRule* rule = draft_.rules.decide_unsettled(path);
        return rule != nullptr && rule->path == path && rule->reason.origin.layer != config::Layer::builtin;
    }

    Draft& draft_;
};

std::vector<Named> variables_of(const Draft& draft) {
    std::vector<Named> variables;
    for (std::string_view entry : draft.inputs.request.environment) {
        size_t equals = entry.find('=');
        if (equals != std::string_view::npos)
            variables.push_back({entry.substr(0, equals), entry.substr(equals + 1)});
    }
    std::ranges::sort(variables, {}, &Named::name);
    return variables;
}

std::string_view value_of(const std::vector<Named>& variables, std::string_view name) {
    auto found = std::ranges::lower_bound(variables, name, {}, &Named::name);
    return found != variables.end() && found->name == name ? found->value : std::string_view();
}

// In "FILE:/tmp/krb5cc_1000" the path also comes after a colon.
std::vector<base::Path> paths_in(const Draft& draft, std::string_view value) {
    std::vector<base::Path> paths;
    for (std::string_view text : base::split(value, ':')) {
        if (text.empty()) continue;
        std::string absolute = text.starts_with('/')
                                   ? std::string(text)
                                   : draft.inputs.request.working_directory.str() + "/" + std::string(text);
        if (base::Result<base::Path> path = base::Path::parse(absolute)) paths.push_back(*std::move(path));
    }
    return paths;
}

void hide_moved(Draft& draft, Hider& hider, const Named& moved, std::string_view value) {
    for (const base::Path& place : paths_in(draft, value)) {
        if (place == draft.inputs.facts.identity.home / moved.value) continue;
        for (const config::DataRow& row : config::data_list("home/credentials")) {
            if (row.entry.starts_with(moved.value))
                hider.hide(moved.name, place / row.entry.substr(moved.value.size()), row.reason);
        }
    }
}

}  // namespace

void hide_named_credentials(Draft& draft) {
    Hider hider(draft);
    const std::vector<Named> variables = variables_of(draft);
    for (const config::DataRow& row : config::data_list("home/credentials_from_environment")) {
        size_t slash = std::min(row.entry.find('/'), row.entry.size());
        std::string_view name = row.entry.substr(0, slash);
        for (const base::Path& path : paths_in(draft, value_of(variables, name))) {
            hider.hide(name, slash < row.entry.size() ? path / row.entry.substr(slash + 1) : path,
                       row.reason);
        }
    }
    for (const Named& moved : kMoved) {
        if (std::string_view value = value_of(variables, moved.name); !value.empty())
            hide_moved(draft, hider, moved, value);
    }
}

}  // namespace plan
