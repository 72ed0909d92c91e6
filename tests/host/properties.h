// SPDX-License-Identifier: MIT
// Claims about the files in which one launch keeps for the next what it found on the disk, for any bytes.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "base/file.h"
#include "host/known_names.h"

namespace host {

// `text` is the body of a file that has the right head and last line, and the whole of another one.
inline const char* broken_for_findings(std::string_view text) {
    constexpr std::string_view kTitle = "agent-sandbox names of the system 1";
    constexpr time_t kNow = 1'700'000'000;
    const std::string file = "/dev/shm/agent-sandbox-findings." + std::to_string(::getpid());
    struct Removed {
        const std::string& file;
        ~Removed() { ::unlink(file.c_str()); }
    } removed{file};
    if (!base::write_file_atomically(file, std::string(text))) return nullptr;
    if (std::optional<Findings> kept = kept_findings(file, "another title");
        kept && !text.starts_with("another"))
        return "a file with another title is used";
    std::string body(text);
    if (!body.empty() && !body.ends_with('\n')) body += '\n';
    keep_findings(file, kTitle, body);
    std::optional<Findings> kept = kept_findings(file, kTitle);
    if (!kept || kept->body != body) return "findings are not what was kept";
    // A name that was found must be found again after it was written anew.
    KnownNames known = KnownNames::recall(file, kNow);
    const base::Path place = base::Path() / "usr/bin";
    KnownNames::Answer found = Glance{Kind::file, {}};
    known.learn(place, "1:2:3:4", "true", found);
    known.keep(file);
    const KnownNames again = KnownNames::recall(file, kNow);
    const KnownNames::Answer* answer = again.find(place, "1:2:3:4", "true");
    if (answer == nullptr || !*answer) return "a name that was found is lost";
    if (again.find(place, "1:2:3:4", "false") != nullptr && text.find("false") == std::string_view::npos)
        return "a name was invented";
    // A file without its last line would hide findings.
    base::Result<std::string> whole = base::read_file(file);
    if (!whole) return nullptr;
    if (!base::write_file_atomically(file, whole->substr(0, whole->size() - 1))) return nullptr;
    return kept_findings(file, kTitle) ? "a file that is cut is used" : nullptr;
}

}  // namespace host
