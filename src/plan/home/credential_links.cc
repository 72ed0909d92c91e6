// SPDX-License-Identifier: MIT
#include "plan/home/credential_links.h"

#include <algorithm>

#include "base/text.h"
#include "config/data.h"

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

}  // namespace plan
