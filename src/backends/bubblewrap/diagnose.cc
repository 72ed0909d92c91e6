// SPDX-License-Identifier: MIT
#include "backends/bubblewrap/diagnose.h"

#include <algorithm>
#include <string>

#include "base/format.h"
#include "base/text.h"

namespace backends::bubblewrap {
namespace {

struct Row {
    std::string_view fragment;  // of bubblewrap's message
    std::string_view cause;
    std::string_view advice;
};

constexpr std::string_view kDoctor = "run 'agent-sandbox doctor' for the cause and the fix";
constexpr std::string_view kPlan = "'agent-sandbox plan' shows the rule that asks for it";

// The first row that matches decides; bubblewrap's own line follows the cause.
constexpr Row kRows[] = {
    {"No permissions to creat", "this host refuses user namespaces", kDoctor},
    {"Creating new namespace failed", "this host refuses new namespaces", kDoctor},
    {"setting up uid map", "this host refuses user namespaces", kDoctor},
    {"setting up gid map", "this host refuses user namespaces", kDoctor},
    {"No such capability", "bubblewrap does not know a capability of this kernel", kDoctor},
    // AppArmor allows the namespace but removes all capabilities in it; setting up the loopback device is the
    // first step that fails.
    {"loopback:", "this host lets namespaces be made but not be set up", kDoctor},
    {"Failed to make / slave", "this host lets namespaces be made but not be set up", kDoctor},
    {"Can't mount proc", "a fresh /proc can't be mounted here, as in a container that masks parts of its own",
     kDoctor},
    {"Can't find source path", "a path disappeared while the jail was built", kPlan},
    {"Can't get type of source", "a path disappeared while the jail was built", kPlan},
    {"Can't create file at", "a mount point can't be made", kPlan},
    {"Can't mkdir", "a mount point can't be made", kPlan},
    {"Can't make symlink", "a symbolic link can't be made", kPlan},
    {"Can't bind mount", "a path can't be mounted", kPlan},
    {"Can't remount readonly", "a mount can't be made read-only", kPlan},
    {"Exceeded maximum number of arguments", "there are more rules than bubblewrap takes",
     "name directories instead of the files in them"},
    {"Unknown option", "this bubblewrap is too old", kDoctor},
    {"execvp", "the jail does not show agent-sandbox itself", "report this as a fault of agent-sandbox"},
};

// The last line, without its "bwrap: ": warnings may precede the reason.
std::string_view last_line(std::string_view text) {
    text = base::trim(text);
    size_t newline = text.rfind('\n');
    if (newline != std::string_view::npos) text.remove_prefix(newline + 1);
    constexpr std::string_view kPrefix = "bwrap: ";
    if (text.starts_with(kPrefix)) text.remove_prefix(kPrefix.size());
    return text;
}

}  // namespace

base::Error diagnose(std::string_view standard_error) {
    std::string words = base::printable(last_line(standard_error));
    if (words.empty()) {
        return base::Error{.what = "the jail could not be built: bubblewrap ended without a word",
                           .advice = std::string(kDoctor)};
    }
    const Row* row = std::ranges::find_if(
        kRows, [&](const Row& candidate) { return words.find(candidate.fragment) != std::string::npos; });
    if (row == std::end(kRows)) {
        return base::Error{.what = "the jail could not be built: " + words, .advice = std::string(kDoctor)};
    }
    return base::Error{.what = base::format("the jail could not be built: {} ({})", row->cause, words),
                       .advice = std::string(row->advice)};
}

}  // namespace backends::bubblewrap
