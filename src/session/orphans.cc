// SPDX-License-Identifier: MIT
#include "session/orphans.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string>

#include "base/file.h"
#include "base/text.h"

namespace session {
namespace {

std::vector<pid_t> children() {
    std::vector<pid_t> found;
    std::string path = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
    base::Result<std::string> text = base::read_file(path);
    if (!text) return found;
    for (std::string_view word : base::split(*text, ' ')) {
        pid_t child = 0;
        std::from_chars(word.data(), word.data() + word.size(), child);
        if (child > 0) found.push_back(child);
    }
    return found;
}

}  // namespace

Orphans::Orphans() : inherited_(children()) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void Orphans::end(pid_t spared) const {
    for (pid_t child : children()) {
        if (child == spared || std::ranges::find(inherited_, child) != inherited_.end()) continue;
        ::kill(child, SIGKILL);
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
    }
}

}  // namespace session
