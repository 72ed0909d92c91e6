// SPDX-License-Identifier: MIT
// A walk through the project that continues while the session runs, in small steps. It covers files to mask
// and protects repositories that the launch did not reach. It watches every directory that it reads, except
// outputs of build tools, for names that appear later. It sees the project as the jail does, through the
// jail's own mounts.
//
// Memory: the names of the directories that are pending on each level, and a path for each watch.
#pragma once

#include <ctime>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "session/search/jail_mounts.h"
#include "session/search/name_watch.h"
#include "session/search/search_progress.h"

namespace session {

class ProjectWalk {
  public:
    ProjectWalk(const plan::Plan& plan, JailMounts& mounts, NameWatch& watch, SearchProgress& progress);

    // Starts at the top. Earlier findings stay.
    void start();
    // Reads a part of a directory, or continues with the next. False: the walk has ended.
    bool step();
    // Only outputs of build tools are left, which are less important.
    bool is_among_outputs() const { return is_among_outputs_; }
    // Sources are left.
    bool is_among_sources() const { return !is_among_outputs_ && !main_.levels.empty(); }

    // A name has appeared.
    void hear(const NameWatch::News& news);

    // For search_progress.h: every place that this walk and the launch have found, the oldest first.
    std::vector<std::string> findings() const;
    // Grows with each finding: the caller writes the findings again if it has changed.
    size_t changes() const { return found_.size(); }

  private:
    struct Level {
        base::Fd directory;
        std::string pending;   // names of directories in it that are still to be walked, each with a NUL
        size_t path_size = 0;  // of Way::path without it
        bool is_read = false;
        bool is_output = false;
    };
    // The directories from the start of a walk to the current one.
    struct Way {
        std::vector<Level> levels;
        std::string path;  // of the current directory

        void pop();
    };

    void begin(Way& way, const base::Path& directory, bool is_output);
    void push(Way& way, base::Fd directory, std::string_view name, bool is_output);
    void step(Way& way);
    void read_more(Way& way);
    void enter_next(Way& way);
    void see(Way& way, const char* name, unsigned char told);
    bool is_masked(std::string_view directory, std::string_view name) const;
    void mask(const base::Path& path, bool is_link, bool is_new);
    void protect_repository(const base::Path& git, int directory);
    void close_deep(const base::Path& directory);
    void cover(const base::Path& path, backends::Cover::Kind kind, SearchProgress::Kind told);
    void note(const base::Path& path);
    bool is_older_than_session(int directory, const char* name) const;

    const plan::Plan& plan_;
    JailMounts& mounts_;
    NameWatch& watch_;
    SearchProgress& progress_;
    bool has_path_entries_ = false;
    Way main_, news_;  // in turns: directories that appear all the time do not delay the search
    bool is_turn_of_news_ = false;
    std::vector<base::Path> outputs_;   // left for the end
    std::vector<base::Path> appeared_;  // directories
    bool is_among_outputs_ = false;
    std::set<base::Path> closed_;     // directories directly below the project, covered as a whole
    std::vector<std::string> order_;  // findings as they came
    std::set<std::string, std::less<>> found_;
};

}  // namespace session
