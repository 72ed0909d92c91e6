// SPDX-License-Identifier: MIT
// Limits the record to one line per second and subject, so that a program that retries cannot fill it. Pure.
#pragma once

#include <chrono>
#include <string>
#include <unordered_map>

namespace network::gateway {

class OncePerSecond {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr size_t kMost = 4096;

    bool admits(const std::string& subject, Time now) {
        auto found = last_.find(subject);
        if (found != last_.end() && now - found->second < std::chrono::seconds(1)) return false;
        if (found == last_.end() && last_.size() >= kMost) make_room(now);
        last_[subject] = now;
        return true;
    }

  private:
    void make_room(Time now) {
        std::erase_if(last_,
                      [&](const auto& entry) { return now - entry.second >= std::chrono::seconds(1); });
        // Too many different subjects within a second: write some lines twice rather than omit any.
        if (last_.size() >= kMost) last_.clear();
    }
    std::unordered_map<std::string, Time> last_;
};

}  // namespace network::gateway
