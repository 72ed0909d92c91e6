// SPDX-License-Identifier: MIT
// Start-up files of the home directory (share/home/start_up.list) and directories on the caller's PATH stay
// read-only where something around them is writable: --home write, or a parent of theirs in home.writable.
// The host runs them automatically. A missing one is held by a placeholder. Programs that they lead to
// (share/home/start_up_programs.list) stay read-only if they exist.
//
// Threat: a line in ~/.bashrc, or a program `ls` in ~/bin, runs at the user's next log-in
// (tests/jail/start_up.bats).
//
// This step comes after every setting that makes something writable (only Slurm's rank directories follow),
// because the nearest rule decides whether a path needs protection. A path that a rule of the user names
// keeps that access. A path in the project is not protected here: the review at the end of a session lists
// new programs there.
#include <algorithm>
#include <optional>

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"

namespace plan {
namespace {

constexpr std::string_view kOnPath = "programs on the PATH";

// Names for which an empty file would change what a program outside does.
struct StandIn {
    std::string_view entry;
    std::optional<std::string_view> content;  // nothing: a directory
};
constexpr StandIn kStandIns[] = {
    {".bash_profile", base::kBashProfileFile},
    {".tcshrc", base::kTcshFile},
    {".vimrc", base::kVimFile},
    // Programs skip a directory here. An empty file would end the desktop's session, or replace init.el.
    {".xsession", {}},
    {".xinitrc", {}},
    {".xserverrc", {}},
    {".emacs", {}},
    {".emacs.el", {}},
};

std::optional<std::string> placeholder_content(std::string_view entry, bool is_directory) {
    if (is_directory) return std::nullopt;
    const StandIn* special = std::ranges::find(kStandIns, entry, &StandIn::entry);
    if (special == std::end(kStandIns))
        return std::string(entry.ends_with(".json") ? base::kObjectFile : base::kEmptyFile);
    return special->content ? std::optional<std::string>(*special->content) : std::nullopt;
}

class StartUp {
  public:
    explicit StartUp(Draft& draft) : draft_(draft) {
        for (const PathRule& rule : draft.rules.sorted()) {
            bool is_data = rule.reason.origin.layer == config::Layer::builtin && rule.path != draft.home;
            bool is_root = is_host_writable(&rule) && !rule.holds_name && !is_data;
            if (is_root && rule.path != draft.project) roots_.push_back(rule.path);
        }
    }

    base::Status add() {
        if (roots_.empty()) return base::success();
        for (const config::DataRow& row : config::data_list("home/start_up")) {
            std::string_view entry = row.entry;
            bool is_directory = entry.ends_with('/');
            if (is_directory) entry.remove_suffix(1);
            // firejail hides these itself, and the check of our mounts would find others there.
            const bool is_sound = entry == ".config/pipewire" || entry == ".config/pulse";
            if (draft_.plan.backend == base::Backend::firejail && is_sound) continue;
            consider(draft_.home / entry, placeholder_content(entry, is_directory), row.reason);
        }
        for (const config::DataRow& row : config::data_list("home/start_up_programs")) {
            if (draft_.home_names.may_exist(row.entry))
                consider_existing(draft_.home / row.entry, row.reason);
        }
        for (std::string_view variable : draft_.inputs.request.environment) {
            if (variable.starts_with("PATH=")) consider_search_path(variable.substr(5));
        }
        return refuse_links();
    }

  private:
    void consider_existing(const base::Path& literal, std::string_view why) {
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(literal);
        if (resolved && resolved->exists) consider(literal, std::nullopt, why);
    }

    void consider_search_path(std::string_view search_path) {
        for (std::string_view entry : base::split(search_path, ':')) {
            base::Result<base::Path> path = base::Path::parse(entry);
            bool is_of_system = path && path->is_within(base::Path::known("/usr"));
            if (path && !is_of_system) consider(*path, std::nullopt, kOnPath);
        }
    }

    void consider(const base::Path& literal, std::optional<std::string> content, std::string_view why) {
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(literal);
        if (!resolved || is_lifted(literal)) return;
        for (const host::Tree::Link& link : resolved->links) {
            bool could_exchange = is_host_writable(draft_.rules.decide_unsettled(link.path.parent())) &&
                                  draft_.tree().may_write(link.path.parent());
            bool is_new = std::ranges::find(links_, link.path) == links_.end();
            if (could_exchange && is_new && !link.path.is_within(draft_.project)) links_.push_back(link.path);
        }
        const base::Path& path = resolved->path;
        const base::Path* root = root_of(path);
        if (root == nullptr || path.is_within(draft_.project)) return;
        const PathRule* nearest = draft_.rules.decide_unsettled(path);
        bool is_named = nearest->path == path && !nearest->holds_name;
        if (!is_host_writable(nearest) || is_named) return;
        if (!resolved->exists && !could_make(path)) return;
        protect(*root, path, {std::string(why) + " outside the jail", {}});
        if (!resolved->exists || may_be_placeholder(path, content))
            draft_.plan.placeholders.push_back({path, {std::string(why), {}}, std::move(content)});
    }

    // The writable directory that contains it, the nearest of several.
    const base::Path* root_of(const base::Path& path) const {
        const base::Path* nearest = nullptr;
        for (const base::Path& root : roots_) {
            bool is_nearer = nearest == nullptr || root.is_strictly_within(*nearest);
            if (path.is_strictly_within(root) && is_nearer) nearest = &root;
        }
        return nearest;
    }

    bool is_lifted(const base::Path& path) const {
        return std::ranges::any_of(draft_.policy().home.unprotect, [&](const config::Item& item) {
            return path.is_within(draft_.inputs.facts.identity.home / item.text) ||
                   path.is_within(draft_.home / item.text);
        });
    }

    bool could_make(const base::Path& path) const {
        base::Path above = path.parent();
        while (!draft_.tree().look(above) && !above.is_root()) above = above.parent();
        return draft_.tree().may_write(above);
    }

    // Another session may have created this placeholder and will remove it when it ends. Treat it like a
    // missing one.
    bool may_be_placeholder(const base::Path& path, const std::optional<std::string>& content) const {
        std::optional<host::Node> node = draft_.tree().look(path);
        if (!node) return true;
        if (!content) return node->kind == host::Kind::directory && draft_.tree().list(path).empty();
        if (node->kind != host::Kind::file) return false;
        base::Result<std::string> found = draft_.tree().read(path, content->size() + 1);
        return found && *found == *content;
    }

    // The directories above it become mount points too, so that the jail can't rename them.
    void protect(const base::Path& root, const base::Path& path, const Reason& reason) {
        for (base::Path above = path.parent(); above.is_strictly_within(root); above = above.parent()) {
            draft_.rules.add(PathRule{.path = above,
                                      .access = Access::writable,
                                      .holds_name = true,
                                      .reason = {"holds a start-up file and can't be renamed aside", {}}});
        }
        draft_.rules.add(
            PathRule{.path = path, .access = Access::readonly, .holds_name = true, .reason = reason});
        draft_.kept_readonly.push_back(path);
    }

    // Not every backend can hold a link, so the jail could replace it.
    base::Status refuse_links() const {
        if (links_.empty()) return base::success();
        std::vector<std::string> names;
        for (const base::Path& link : links_) names.push_back(base::printable(link.str()));
        bool is_one = names.size() == 1;
        return base::Error{
            .what =
                base::format("{} {} that the jail could exchange, on the way to what runs outside",
                             base::join(names, ", "), is_one ? "is a symbolic link" : "are symbolic links"),
            .advice = base::format("replace {}, name {} in home.unprotect, or use --home read",
                                   is_one ? "it by what it points to" : "them by what they point to",
                                   is_one ? "it" : "them")};
    }

    Draft& draft_;
    std::vector<base::Path> roots_;  // what is writable and is not the project
    std::vector<base::Path> links_;
};

}  // namespace

base::Status protect_start_up(Draft& draft) {
    return StartUp(draft).add();
}

}  // namespace plan
