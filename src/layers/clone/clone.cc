// SPDX-License-Identifier: MIT
#include "layers/clone/clone.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "base/file.h"
#include "base/no_links.h"
#include "base/text.h"
#include "layers/checkpoints/copy.h"
#include "layers/clone/listing.h"
#include "layers/tree.h"

namespace layers {
namespace {

constexpr uint64_t kGibibyte = uint64_t{1} << 30;

// Counts up to the bounds. The blocks of a file, so that a hole counts nothing.
class Size {
  public:
    explicit Size(const CloneBounds& bounds) : bounds_(bounds) {}

    bool is_large() const { return entries_ > bounds_.entries || bytes_ > bounds_.bytes; }

    void measure(int project) {
        std::vector<std::string> directories = {""};
        while (!directories.empty() && !is_large()) {
            const std::string directory = std::move(directories.back());
            directories.pop_back();
            base::Fd opened(open_below(project, directory, O_RDONLY | O_DIRECTORY));
            if (!opened) continue;  // the copy reports it
            base::visit_entries(opened.get(), [&](const struct dirent64& entry) {
                struct stat status;
                if (::fstatat(opened.get(), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return true;
                ++entries_;
                if (S_ISREG(status.st_mode)) bytes_ += static_cast<uint64_t>(status.st_blocks) * 512;
                if (S_ISDIR(status.st_mode)) directories.push_back(join(directory, entry.d_name));
                return !is_large();
            });
        }
    }

    base::Error too_large(const base::Path& project) const {
        const std::string what = entries_ > bounds_.entries
                                     ? base::format("more than {} files and directories", bounds_.entries)
                                     : base::format("more than {} GiB", bounds_.bytes / kGibibyte);
        return base::Error{
            .what = base::format("{} is too large to be cloned for --cow: it has {}",
                                 base::printable(project.str()), what),
            .advice = "'--cow-engine clone' (cow.engine) clones it all the same; or leave --cow out"};
    }

  private:
    CloneBounds bounds_;
    uint64_t entries_ = 0, bytes_ = 0;
};

base::Status fill(const CloneRequest& request, const std::string& fresh, int project) {
    const std::string tree = fresh + kCloneTree;
    if (::mkdir(fresh.c_str(), 0700) != 0 || ::mkdir(tree.c_str(), 0700) != 0)
        return base::system_error("make " + base::printable(tree), errno);
    base::Fd to(base::open_without_links(base::Path::known(tree), O_RDONLY | O_DIRECTORY));
    if (!to) return base::system_error("open " + base::printable(tree), -to.get());
    Listing listing;
    base::Status copied = copy_upper({.from = project, .to = to.get(), .listing = &listing});
    if (copied) return listing.save(fresh);
    base::Error error = copied.error();
    error.what =
        base::format("{} can't be cloned for --cow: {}", base::printable(request.project.str()), error.what);
    if (error.advice.empty())
        error.advice = base::format("the clone is made in {}; or leave --cow out", base::printable(fresh));
    return error;
}

}  // namespace

base::Status make_clone(const CloneRequest& request) {
    base::Fd project(base::open_without_links(request.project, O_RDONLY | O_DIRECTORY));
    if (!project) return base::system_error("open " + base::printable(request.project.str()), -project.get());
    if (request.bounds) {
        Size size(*request.bounds);
        size.measure(project.get());
        if (size.is_large()) return size.too_large(request.project);
    }
    // A copy that was interrupted has another name, so it is never used.
    const std::string fresh = request.root + "/new";
    base::remove_tree(fresh);
    base::Status made = fill(request, fresh, project.get());
    if (made && ::rename(fresh.c_str(), (request.root + kClone).c_str()) != 0)
        made = base::system_error("make " + base::printable(request.root) + kClone, errno);
    if (!made) base::remove_tree(fresh);
    return made;
}

}  // namespace layers
