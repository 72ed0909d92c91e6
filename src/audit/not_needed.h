// SPDX-License-Identifier: MIT
// Refusals that the user does not want to hear of again: a command works without them. One JSON object a line
// in the state directory: project, kind (none: any) and what.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace audit {

class NotNeeded {
  public:
    NotNeeded() = default;

    // A file that is not there is an empty one.
    static base::Result<NotNeeded> read(const std::string& path);
    base::Status write(const std::string& path) const;

    // `what` as a digest shows it; a host without its port means all of them.
    bool has(std::string_view project, std::string_view kind, std::string_view what) const;
    // False: it is known already.
    bool add(std::string_view project, std::string_view kind, std::string_view what);
    // False: there was none.
    bool remove(std::string_view project, std::string_view what);

    size_t size() const { return rows_.size(); }

  private:
    struct Row {
        std::string project, kind, what;
        bool operator==(const Row&) const = default;
    };
    std::vector<Row> rows_;
};

}  // namespace audit
