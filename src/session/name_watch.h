// SPDX-License-Identifier: MIT
// Directories in which names may appear, watched by inotify. Works in a mount namespace without /proc: a
// directory is watched through its descriptor.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/file.h"
#include "base/path.h"

namespace session {

class NameWatch {
  public:
    // Opens the instance, which counts for the user in the caller's user namespace: before another is
    // entered.
    NameWatch();

    int descriptor() const { return events_.get(); }
    // The current directory is changed.
    void add(int directory, const base::Path& path);
    // False where a directory could not be watched: the user has only so many watches, and this takes a part
    // of them. Then the caller has to look again from time to time.
    bool sees_all() const { return sees_all_; }

    struct News {
        base::Path directory;
        std::string name;
        bool is_directory = false;
    };
    // False: events were lost.
    bool take(const std::function<void(const News&)>& hear);

  private:
    base::Fd events_;
    std::unordered_map<int, base::Path> watched_;
    size_t most_ = 0;
    bool sees_all_ = true;
};

}  // namespace session
