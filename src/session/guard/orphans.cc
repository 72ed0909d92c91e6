// SPDX-License-Identifier: MIT
#include "session/guard/orphans.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/file.h"
#include "base/format.h"
#include "base/parse.h"
#include "base/text.h"

namespace session {
namespace {

std::vector<pid_t> children() {
    std::vector<pid_t> found;
    std::string path = base::format("/proc/self/task/{}/children", ::getpid());
    base::Result<std::string> text = base::read_file(path);
    if (!text) return found;
    for (std::string_view word : base::split(*text, ' ')) {
        pid_t child = base::leading_number<pid_t>(word).value_or(0);
        if (child > 0) found.push_back(child);
    }
    return found;
}

}  // namespace

Orphans::Orphans() : spared_(children()) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool Orphans::is_spared(pid_t child) const {
    return std::ranges::find(spared_, child) != spared_.end();
}

void Orphans::end() const {
    for (pid_t child : children()) {
        if (is_spared(child)) continue;
        ::kill(child, SIGKILL);
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
    }
}

void Orphans::end_all() const {
    // The children of a killed process become ours. SIGSTOP comes first, so that no process forks faster than
    // we list children. We wait only for processes that we killed: a child that came meanwhile lives, and the
    // wait would not end.
    for (std::vector<pid_t> killed;; killed.clear()) {
        for (pid_t child : children()) {
            if (!is_spared(child)) ::kill(child, SIGSTOP);
        }
        for (pid_t child : children()) {
            if (is_spared(child)) continue;
            ::kill(child, SIGKILL);
            killed.push_back(child);
        }
        if (killed.empty()) return;
        for (pid_t child : killed) {
            while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
        }
    }
}

}  // namespace session
