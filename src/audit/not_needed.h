// SPDX-License-Identifier: MIT
// Refusals that the user has marked as not needed, because a command works without them. One JSON object a
// line in the state directory: project, kind (absent: any) and what.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace audit {

class NotNeeded {
  public:
    NotNeeded() = default;

    // A missing file counts as empty.
    static base::Result<NotNeeded> read(const std::string& path);
    base::Status write(const std::string& path) const;

    // `what` in the form of a digest; a host without a port means all its ports.
    bool has(std::string_view project, std::string_view kind, std::string_view what) const;
    // False: it is already marked.
    bool add(std::string_view project, std::string_view kind, std::string_view what);
    // False: it was not marked.
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
