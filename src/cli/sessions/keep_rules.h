// SPDX-License-Identifier: MIT
// Which discarded files `keep` does not bring back: those that would run on the host, or lead a program of
// the host elsewhere, without the user naming them. A jail wrote these files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "cli/context.h"
#include "session/discarded/discarded.h"

namespace cli {

class KeepRules {
  public:
    // `stored` is copied to `target`; both are absolute paths, without links.
    struct Copy {
        base::Path stored, target;
    };
    KeepRules(const Workspace& workspace, const Caller& caller, const session::Discarded& discarded);

    // Why the entry `relative` of the copied tree stays where it is; empty: it may be copied. `link` is the
    // text of a symbolic link, else empty.
    std::string obstacle(const Copy& copy, const std::string& relative, const std::string& link) const;

  private:
    struct Place {
        base::Path path;
        std::string why;
    };
    void add_list(std::string_view list, std::string_view why);
    void add_search_path(const Caller& caller);
    std::string closed_place(const base::Path& target) const;
    std::string obstacle_of_git(const Copy& copy, const std::string& relative, bool is_link) const;
    std::string obstacle_of_git_link(const Copy& copy, const std::string& relative) const;

    const session::Discarded& discarded_;
    std::vector<Place> places_;    // with everything below
    std::vector<Place> patterns_;  // the same, with wildcards in the last component
};

}  // namespace cli
