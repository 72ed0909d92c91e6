// SPDX-License-Identifier: MIT
#include "slurm/client/outlet.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "slurm/channel/frame.h"

namespace slurm::client {
namespace {

// A pipe that poll reports as writable accepts at least a page.
constexpr size_t kSurelyFits = 4096;
constexpr std::string_view kMark = "srun: ";

}  // namespace

Outlet::Outlet(int fd) : fd_(fd) {
    struct stat facts;
    is_file_ = ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
}

bool Outlet::is_full() const {
    return pending_.size() >= channel::kWindow;
}

bool Outlet::write_some() {
    size_t written = 0;
    // A file accepts everything at once. For other descriptors, poll again after each page.
    while (written < pending_.size()) {
        size_t size = pending_.size() - written;
        if (!is_file_) size = std::min(size, kSurelyFits);
        ssize_t count = ::write(fd_, pending_.data() + written, size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno != EAGAIN) return false;
        if (count > 0) written += static_cast<size_t>(count);
        struct pollfd entry = {fd_, POLLOUT, 0};
        if (!is_file_ && (::poll(&entry, 1, 0) <= 0 || !(entry.revents & POLLOUT))) break;
    }
    pending_.erase(0, written);
    return true;
}

bool Outlet::write_rest() {
    while (!pending_.empty()) {
        struct pollfd entry = awaited();
        if (::poll(&entry, 1, -1) < 0 && errno != EINTR) return false;
        if (!write_some()) return false;
    }
    return true;
}

void ErrorSplitter::add(std::string_view bytes, std::string& of_tasks, std::string& of_srun) {
    for (char byte : bytes) {
        if (line_ == Line::undecided) {
            start_ += byte;
            if (kMark.starts_with(start_) && start_.size() < kMark.size()) continue;
            line_ = start_ == kMark ? Line::of_srun : Line::of_task;
            (line_ == Line::of_srun ? of_srun : of_tasks) += start_;
            start_.clear();
        } else {
            (line_ == Line::of_srun ? of_srun : of_tasks) += byte;
        }
        if (byte == '\n') line_ = Line::undecided;
    }
}

void ErrorSplitter::finish(std::string& of_tasks) {
    of_tasks += start_;
    start_.clear();
}

}  // namespace slurm::client
