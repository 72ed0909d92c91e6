// SPDX-License-Identifier: MIT
#include "network/gateway/names/answer_cache.h"

#include <algorithm>

namespace network::gateway {

const Resolution* AnswerCache::find(const HostName& name, Time now) {
    auto found = by_name_.find(name);
    if (found == by_name_.end()) return nullptr;
    if (found->second->until > now) return &found->second->resolution;
    entries_.erase(found->second);
    by_name_.erase(found);
    return nullptr;
}

void AnswerCache::keep(const HostName& name, Resolution resolution, std::chrono::seconds lifetime, Time now) {
    if (auto found = by_name_.find(name); found != by_name_.end()) {
        entries_.erase(found->second);
        by_name_.erase(found);
    }
    if (entries_.size() >= kMost) {
        by_name_.erase(entries_.front().name);
        entries_.pop_front();
    }
    Time until = now + std::clamp(lifetime, kShortest, kLongest);
    entries_.push_back({name, std::move(resolution), until});
    by_name_.emplace(name, std::prev(entries_.end()));
}

void AnswerCache::clear() {
    by_name_.clear();
    entries_.clear();
}

}  // namespace network::gateway
