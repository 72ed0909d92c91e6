// SPDX-License-Identifier: MIT
// Watches directories with inotify for names that appear. Works in a mount namespace without /proc, because
// it adds a watch through a descriptor of the directory.
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
    // The inotify instance must have been opened in the user namespace of the caller of the program, not in
    // that of the jail: the kernel counts its watches there. Not set: nothing is watched.
    explicit NameWatch(base::Fd events);

    int descriptor() const { return events_.get(); }
    // Changes the current directory.
    void add(int directory, const base::Path& path);
    // False if a directory could not be watched: the kernel limits the watches of a user, and this class uses
    // a part of them. Then the caller has to check again from time to time.
    bool sees_all() const { return sees_all_; }
    // Whether that is because a limit was reached.
    bool has_run_out() const { return has_run_out_; }

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
    bool has_run_out_ = false;
};

}  // namespace session
