// SPDX-License-Identifier: MIT
#include "plan/rules.h"

#include <algorithm>
#include <iterator>

#include "base/format.h"
#include "base/text.h"

namespace plan {
namespace {

using config::Layer;

bool is_grant(const PathRule& rule) {
    return rule.access == Access::readonly || rule.access == Access::writable;
}

// A rule against writing, not for reading: hiding the path is stricter and includes it.
bool is_protection(const PathRule& rule) {
    return rule.access == Access::readonly && rule.holds_name;
}

bool is_users_own(const PathRule& rule) {
    return rule.reason.origin.layer != Layer::builtin && rule.reason.origin.layer != Layer::admin;
}

base::Error without_effect(const PathRule& grant, const PathRule& hide) {
    return base::Error{
        .what = base::format("{} can't be made {}: {} ({})", base::printable(grant.path.str()),
                             to_text(grant.access), hide.reason.why, hide.reason.origin.describe()),
        .advice = "remove the entry",
        .where = grant.reason.origin.describe()};
}

// Rules with equal paths become adjacent, the strictest first.
void sort_rules(std::vector<PathRule>& rules) {
    std::ranges::stable_sort(rules, [](const PathRule& a, const PathRule& b) {
        return a.path != b.path ? a.path < b.path : a.access < b.access;
    });
}

// The hide that closes `rule` although the rule is more specific, if any.
const PathRule* closing_hide(const std::vector<PathRule>& hides, const PathRule& rule) {
    for (const PathRule& hide : hides) {
        if (!rule.path.is_strictly_within(hide.path)) continue;
        Layer hider = hide.reason.origin.layer;
        Layer granter = rule.reason.origin.layer;
        if (hider == Layer::admin && granter != Layer::admin) return &hide;
        if (hider != Layer::builtin && granter == Layer::builtin) return &hide;
    }
    return nullptr;
}

}  // namespace

std::string_view to_text(Access access) {
    switch (access) {
        case Access::hidden:
            return "hidden";
        case Access::masked:
            return "masked";
        case Access::readonly:
            return "readonly";
        case Access::writable:
            return "writable";
    }
    return "";
}

std::string_view to_text(MountKind kind) {
    switch (kind) {
        case MountKind::bind_readonly:
            return "bind-readonly";
        case MountKind::bind_writable:
            return "bind-writable";
        case MountKind::bind_device:
            return "bind-device";
        case MountKind::tmpfs:
            return "tmpfs";
        case MountKind::directory:
            return "directory";
        case MountKind::symlink:
            return "symlink";
        case MountKind::file:
            return "file";
        case MountKind::private_file:
            return "private-file";
        case MountKind::empty_file:
            return "empty-file";
        case MountKind::proc:
            return "proc";
        case MountKind::queues:
            return "queues";
        case MountKind::helper_socket:
            return "helper-socket";
        case MountKind::held_link:
            return "held-link";
        case MountKind::dev:
            return "dev";
        case MountKind::seal:
            return "seal";
    }
    return "";
}

base::Status Rules::settle() {
    std::vector<PathRule> hides;
    for (const PathRule& rule : rules_) {
        if (rule.access == Access::hidden && rule.reason.origin.layer != Layer::builtin)
            hides.push_back(rule);
    }
    std::erase_if(rules_, [&](const PathRule& rule) {
        bool may_be_lost = !is_users_own(rule) || is_protection(rule);
        return is_grant(rule) && may_be_lost && closing_hide(hides, rule) != nullptr;
    });
    for (const PathRule& rule : rules_) {
        if (!is_grant(rule)) continue;
        if (const PathRule* hide = closing_hide(hides, rule)) return without_effect(rule, *hide);
    }

    sort_rules(rules_);
    std::vector<PathRule> kept;
    kept.reserve(rules_.size());
    for (PathRule& rule : rules_) {
        if (kept.empty() || kept.back().path != rule.path) {
            kept.push_back(std::move(rule));
            continue;
        }
        PathRule& winner = kept.back();
        winner.holds_name = winner.holds_name || rule.holds_name;
        bool is_lost_grant =
            is_grant(rule) && !is_protection(rule) && is_users_own(rule) && !is_grant(winner);
        if (is_lost_grant) return without_effect(rule, winner);
    }
    rules_ = std::move(kept);
    return base::success();
}

void Rules::add_settled(std::vector<PathRule> more) {
    if (more.empty()) return;
    std::ranges::move(more, std::back_inserter(rules_));
    sort_rules(rules_);
    std::vector<PathRule> kept;
    kept.reserve(rules_.size());
    for (PathRule& rule : rules_) {
        if (kept.empty() || kept.back().path != rule.path) {
            kept.push_back(std::move(rule));
        } else {
            kept.back().holds_name = kept.back().holds_name || rule.holds_name;
        }
    }
    rules_ = std::move(kept);
}

const PathRule* Rules::decide(const base::Path& path) const {
    return deciding_rule(rules_, path);
}

const PathRule* Rules::decide_unsettled(const base::Path& path) const {
    const PathRule* nearest = nullptr;
    for (const PathRule& rule : rules_) {
        if (!path.is_within(rule.path)) continue;
        bool is_nearer = nearest == nullptr || rule.path.depth() > nearest->path.depth() ||
                         (rule.path == nearest->path && rule.access < nearest->access);
        if (is_nearer) nearest = &rule;
    }
    return nearest;
}

const PathRule* deciding_rule(const std::vector<PathRule>& sorted, const base::Path& path) {
    // From the path upwards; on strings, because a launch calls this hundreds of times.
    auto text_of = [](const PathRule& rule) -> std::string_view { return rule.path.str(); };
    for (std::string_view candidate = path.str();;) {
        auto found = std::ranges::lower_bound(sorted, candidate, {}, text_of);
        if (found != sorted.end() && text_of(*found) == candidate) return &*found;
        if (candidate == "/") return nullptr;
        size_t slash = candidate.rfind('/');
        candidate = slash == 0 ? "/" : candidate.substr(0, slash);
    }
}

}  // namespace plan
