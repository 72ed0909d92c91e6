// SPDX-License-Identifier: MIT
// Recent DNS answers. A program looks a name up and connects a moment later: the gateway then dials the
// addresses that it judged and does not query again. Pure; the caller passes the time.
#pragma once

#include <chrono>
#include <list>
#include <unordered_map>

#include "network/gateway/names/resolver.h"

namespace network::gateway {

class AnswerCache {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr size_t kMost = 4096;
    static constexpr std::chrono::seconds kShortest{5};  // also the lifetime of an answer without addresses
    static constexpr std::chrono::seconds kLongest{60};

    // Null if there is no entry or it has expired. The pointer is valid until the next change.
    const Resolution* find(const HostName& name, Time now);
    // `lifetime` is clamped to the bounds above. If the cache is full, the oldest entry is dropped.
    void keep(const HostName& name, Resolution resolution, std::chrono::seconds lifetime, Time now);
    void clear();
    size_t size() const { return entries_.size(); }

  private:
    struct CachedAnswer {
        HostName name;
        Resolution resolution;
        Time until;
    };
    std::list<CachedAnswer> entries_;  // the oldest first
    std::unordered_map<HostName, std::list<CachedAnswer>::iterator> by_name_;
};

}  // namespace network::gateway
