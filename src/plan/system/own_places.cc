// SPDX-License-Identifier: MIT
// Theory of operation. A process that can change the sandbox's own configuration or state decides how the
// next session is built, and what Slurm runs outside any jail. A rule makes these directories read-only or
// hidden. But a rule is about a path, and below a writable directory a path leads elsewhere after a directory
// on the way is renamed. So these directories are pinned (pins.cc), and the launch creates missing ones. A
// symbolic link on the way that the jail could replace is an error, because not every backend can hold a
// link.
//
// This is the last step before the rules are settled, because every other step may make something writable.
#include <algorithm>

#include "base/text.h"
#include "plan/draft.h"

namespace plan {
namespace {

struct OwnPlace {
    base::Path path;  // as the program opens it
    Access access = Access::readonly;
    std::string what;
};

bool is_writable(const PathRule* rule) {
    return rule != nullptr && rule->access == Access::writable && rule->backing == Backing::host;
}

class OwnPlaces {
  public:
    explicit OwnPlaces(Draft& draft) : draft_(draft) {}

    // The user can't give the jail a part of such a directory. Call it before anything here adds rules.
    base::Status refuse_grants(const OwnPlace& place) const {
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(place.path);
        if (!resolved) return resolved.error();
        auto is_grant = [&](const PathRule& rule) {
            return is_writable(&rule) && rule.path.is_within(resolved->path);
        };
        const std::vector<PathRule>& rules = draft_.rules.sorted();
        auto grant = std::ranges::find_if(rules, is_grant);
        if (grant == rules.end()) return base::success();
        bool is_project = grant->path == draft_.project;
        return base::Error{
            .what = base::format("{} can't be {}: it belongs to {}", base::printable(grant->path.str()),
                                 is_project ? "a writable project" : "writable", place.what),
            .advice = is_project ? "use --read-only, or a project elsewhere" : "remove the entry",
            .where = is_project ? "" : grant->reason.origin.describe()};
    }

    base::Status hold(const OwnPlace& place) {
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(place.path);
        if (!resolved) return resolved.error();
        for (const host::Tree::Link& link : resolved->links) {
            if (could_exchange(link.path)) return refuse_link(link.path, place);
            draft_.kept_names.push_back(link.path);
        }
        const base::Path& path = resolved->path;
        const base::Path missing = first_missing(path);
        bool is_state = place.access == Access::hidden;  // the launch needs it in any case
        if (!resolved->exists && !is_state && !draft_.tree().may_write(missing.parent())) {
            draft_.kept_names.push_back(missing);
            return base::success();
        }
        bool is_around_writable = is_writable(draft_.rules.decide_unsettled(path.parent()));
        bool is_within_reach = is_below_writable(path);
        if (is_within_reach) draft_.kept_names.push_back(path);
        bool is_seen = draft_.home_is_real && resolved->exists && path.is_within(draft_.home);
        const Reason reason{place.what, {}};
        if (is_state || is_seen || is_around_writable) {
            draft_.rules.add(PathRule{
                .path = path, .access = place.access, .holds_name = is_around_writable, .reason = reason});
        }
        if (is_within_reach && may_be_missing(path)) make(path, is_state, reason);
        return base::success();
    }

    // Whether the jail would see the host's files at this path.
    bool is_shown(const base::Path& place) const {
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(place);
        if (!resolved) return false;
        const PathRule* rule = draft_.rules.decide_unsettled(resolved->path);
        return rule != nullptr && rule->backing == Backing::host && rule->access != Access::hidden;
    }

  private:
    bool could_exchange(const base::Path& link) const {
        return is_writable(draft_.rules.decide_unsettled(link.parent())) &&
               draft_.tree().may_write(link.parent());
    }

    base::Error refuse_link(const base::Path& link, const OwnPlace& place) const {
        return {
            .what = base::format("{} is a symbolic link that the jail could exchange, and leads to {}",
                                 base::printable(link.str()), place.what),
            .advice = "replace it by what it points to, or let the jail only read the directory it is in"};
    }

    base::Path first_missing(const base::Path& path) const {
        base::Path missing = path;
        while (!missing.parent().is_root() && !draft_.tree().look(missing.parent()))
            missing = missing.parent();
        return missing;
    }

    bool is_below_writable(const base::Path& path) const {
        for (base::Path above = path.parent(); !above.is_root(); above = above.parent()) {
            if (is_writable(draft_.rules.decide_unsettled(above))) return true;
        }
        return false;
    }

    // An empty directory may be a placeholder of another session, which removes it when it ends.
    bool may_be_missing(const base::Path& path) const {
        std::optional<host::Node> node = draft_.tree().look(path);
        return !node || (node->kind == host::Kind::directory && draft_.tree().list(path).empty());
    }

    void make(const base::Path& path, bool stays, const Reason& reason) {
        if (stays) {
            draft_.plan.new_directories.push_back(NewDirectory{path, reason});
        } else {
            draft_.plan.placeholders.push_back(Placeholder{path, reason, {}});
        }
    }

    Draft& draft_;
};

// The sandbox also reads configuration files through symbolic links, so their targets need protection too.
void add_linked(const host::Tree& tree, const base::Path& directory, int depth,
                std::vector<OwnPlace>& places) {
    for (const host::Entry& entry : tree.list(directory)) {
        const base::Path path = directory / entry.name;
        if (entry.kind == host::Kind::symlink && tree.look_through(path)) {
            places.push_back({path, Access::readonly, places.front().what});
        }
        std::optional<host::Node> node = depth > 0 ? tree.look_through(path) : std::nullopt;
        if (node && node->kind == host::Kind::directory) add_linked(tree, path, depth - 1, places);
    }
}

}  // namespace

base::Status hold_own_places(Draft& draft) {
    const Request& request = draft.inputs.request;
    std::vector<OwnPlace> places = {
        {request.config_directory, Access::readonly, "the sandbox's own configuration"}};
    add_linked(draft.tree(), request.config_directory, 1, places);
    // Hidden is stricter: where one directory contains the other, this one decides.
    places.insert(places.begin(), {request.state_directory, Access::hidden, "the sandbox's own state"});
    OwnPlaces own(draft);
    for (const OwnPlace& place : places) {
        if (base::Status free = own.refuse_grants(place); !free) return free;
    }
    for (const OwnPlace& place : places) {
        if (base::Status held = own.hold(place); !held) return held;
    }
    // Threat: a jail that shows the storage could write to a layer that waits (tests/jail/cow_clone.bats).
    if (const std::optional<base::Path>& storage = draft.policy().cow.storage;
        storage && own.is_shown(*storage)) {
        if (base::Status held = own.hold({*storage, Access::hidden, "files of layers"}); !held) return held;
    }
    for (const base::Path& place : request.runtime_places) {
        if (!own.is_shown(place)) continue;
        if (base::Status held = own.hold({place, Access::hidden, "directories of running sessions"}); !held)
            return held;
    }
    return base::success();
}

}  // namespace plan
