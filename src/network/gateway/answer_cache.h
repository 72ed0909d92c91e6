// SPDX-License-Identifier: MIT
// Answers that were looked up a moment ago. Between the lookup of a program and its connection nothing is
// asked again: what was judged is what is dialled. Pure; the caller brings the time.
#pragma once

#include <chrono>
#include <list>
#include <unordered_map>

#include "network/gateway/resolver.h"

namespace network::gateway {

class AnswerCache {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr size_t kMost = 4096;
    static constexpr std::chrono::seconds kShortest{
        5};  // and how long a name without addresses is remembered
    static constexpr std::chrono::seconds kLongest{60};

    // Null where there is none that still holds. Good until the next change.
    const Resolution* find(const HostName& name, Time now);
    // `lifetime` is brought within the bounds above. The oldest gives way where all places are taken.
    void keep(const HostName& name, Resolution resolution, std::chrono::seconds lifetime, Time now);
    void clear();
    size_t size() const { return entries_.size(); }

  private:
    struct Kept {
        HostName name;
        Resolution resolution;
        Time until;
    };
    std::list<Kept> entries_;  // the oldest first
    std::unordered_map<HostName, std::list<Kept>::iterator> by_name_;
};

}  // namespace network::gateway
