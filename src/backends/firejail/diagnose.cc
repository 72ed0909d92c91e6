// SPDX-License-Identifier: MIT
#include "backends/firejail/diagnose.h"

#include <algorithm>
#include <string>

#include "base/format.h"
#include "base/text.h"

namespace backends::firejail {
namespace {

struct Row {
    std::string_view fragment;  // of firejail's message
    std::string_view cause;
    std::string_view advice;
};

constexpr std::string_view kDoctor = "run 'agent-sandbox doctor' for the cause and the fix";
constexpr std::string_view kPlan = "'agent-sandbox plan' shows the rule that asks for it";
constexpr std::string_view kAdministrator = "ask the administrator, or use another backend";

// The first row that matches decides; firejail's own line follows the cause.
constexpr Row kRows[] = {
    {"not allowed to use Firejail", "firejail is not for everybody on this host",
     "the administrator can add you to /etc/firejail/firejail.users"},
    {"existing sandbox was detected",
     "firejail takes this machine for another sandbox and builds no jail in it", "use another backend"},
    {"networking features are disabled", "firejail's network namespaces are turned off on this host",
     "the administrator can set 'network yes' in /etc/firejail/firejail.config"},
    {"is disabled in Firejail configuration",
     "a part of firejail that the jail needs is turned off on this host", kAdministrator},
    {"feature is disabled", "a part of firejail that the jail needs is turned off on this host",
     kAdministrator},
    {"command line option", "this firejail is too old", "version 0.9.68 or later is needed"},
    {"too many arguments", "there are more rules than firejail takes",
     "name directories instead of the files in them"},
    {"invalid filename", "firejail can't be told of a path", kPlan},
    {"invalid whitelist path", "firejail can't show a path", kPlan},
    {"too many whitelist top level directories", "there are more rules than firejail takes",
     "name directories instead of the files in them"},
    {"no suitable", "the jail does not show agent-sandbox itself", "report this as a fault of agent-sandbox"},
    {"mounting /proc", "a fresh /proc can't be mounted here, as in a container that masks parts of its own",
     kDoctor},
    {"mounting ", "firejail can't mount here, as in a container", kDoctor},
    {"clone", "this host refuses new namespaces", kDoctor},
    {"getpwuid", "firejail does not find your account in /etc/passwd or the site's directory",
     kAdministrator},
};

const Row* row_for(std::string_view line) {
    const Row* row = std::ranges::find_if(
        kRows, [&](const Row& candidate) { return line.find(candidate.fragment) != std::string_view::npos; });
    return row == std::end(kRows) ? nullptr : row;
}

std::string without_prefix(std::string_view line) {
    for (std::string_view prefix : {"Error: ", "Warning: "}) {
        if (line.starts_with(prefix)) line.remove_prefix(prefix.size());
    }
    return base::printable(line);
}

}  // namespace

// An error of firejail may have several lines, and warnings may precede it.
base::Error diagnose(std::string_view standard_error) {
    std::string_view last;
    for (std::string_view line : base::split(standard_error, '\n')) {
        line = base::trim(line);
        if (line.empty()) continue;
        last = last.starts_with("Error") ? last : line;
        const Row* row = row_for(line);
        if (row == nullptr) continue;
        return base::Error{
            .what = base::format("the jail could not be built: {} ({})", row->cause, without_prefix(line)),
            .advice = std::string(row->advice)};
    }
    std::string words = last.empty() ? "firejail ended without a word" : without_prefix(last);
    return base::Error{.what = "the jail could not be built: " + words, .advice = std::string(kDoctor)};
}

}  // namespace backends::firejail
