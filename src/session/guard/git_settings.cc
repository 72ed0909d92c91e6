// SPDX-License-Identifier: MIT
#include "session/guard/git_settings.h"

#include <fcntl.h>

#include <algorithm>

#include "base/file.h"
#include "base/no_links.h"
#include "base/text.h"
#include "plan/project/git_config.h"

namespace session {
namespace {

constexpr size_t kLargeConfiguration = 1u << 20;

std::set<std::pair<std::string, std::string>> orders_in(const base::Path& path) {
    std::set<std::pair<std::string, std::string>> orders;
    base::Fd file(base::open_without_links(path, O_RDONLY | O_NONBLOCK));
    if (!file) return orders;
    base::Result<std::string> text = base::read_descriptor(file.get(), kLargeConfiguration);
    if (!text) return orders;
    for (plan::GitSetting& setting : plan::parse_git_config(*text)) {
        if (plan::program_row(setting) != nullptr)
            orders.emplace(std::move(setting.key), std::move(setting.value));
    }
    return orders;
}

}  // namespace

bool is_git_configuration(const base::Path& path) {
    return path.name() == "config" || path.name() == "config.worktree";
}

void GitOrders::read(const std::vector<backends::Cover>& covers) {
    for (const backends::Cover& cover : covers) {
        if (cover.kind == backends::Cover::Kind::readonly && is_git_configuration(cover.outside))
            known_.emplace(cover.outside, orders_in(cover.outside));
    }
}

std::vector<std::string> GitOrders::take_new(const base::Path& path) {
    std::vector<std::string> keys;
    auto known = known_.find(path);
    if (known == known_.end()) return keys;
    Settings now = orders_in(path);
    for (const auto& setting : now) {
        bool is_new = !known->second.contains(setting);
        if (is_new && std::ranges::find(keys, setting.first) == keys.end()) keys.push_back(setting.first);
    }
    known->second = std::move(now);
    return keys;
}

}  // namespace session
