// SPDX-License-Identifier: MIT
// The refusals of one or several sessions, by cause: each with its count, the rule, the origin of the rule,
// and the smallest change that would allow it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "audit/proposal.h"
#include "audit/reader.h"
#include "base/encoding/json.h"
#include "base/result.h"

namespace audit {

// Refusals that the user has marked as not needed, because a command works without them. One JSON object a
// line in the state directory: project, kind (absent: any) and what.

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

struct DigestEntry {
    std::string kind;     // "network", "file", "syscall", "mail", "git", "socket", "namespace", "slurm",
                          // "limit"
    std::string what;     // host:port, a path, a name; untrusted
    std::string access;   // of a file: "read" or "write"
    std::string verdict;  // "deny", or "observed": it was allowed
    uint64_t count = 0;
    std::string rule, origin, reason;
    std::string change;  // the change to recommend; empty: not recommended, or it would not help
    std::string first, last;
    uint64_t position = 0;  // of its last event among all refusals
};

struct Digest {
    std::vector<DigestEntry> entries;  // the most frequent first
    uint64_t total = 0;                // events
    uint64_t beyond = 0;               // events for names that are not in the entries
    uint64_t not_needed = 0;           // entries that the user has marked
    bool lacks_files = false;          // a session ran without a trace of files: their refusals are unknown
    PassedOver passed_over;
};

class Gathering {
  public:
    explicit Gathering(UserDirectories directories) : directories_(std::move(directories)) {}

    void add(const Event& event);
    // Adds all parts of a record. If no project was given, the start of the first record determines it.
    base::Status add_record(const std::string& first_part);
    const std::string& project() const { return project_; }
    const UserDirectories& directories() const { return directories_; }
    const std::vector<std::string>& sessions() const { return sessions_; }

    Digest finish(const NotNeeded& not_needed) &&;

  private:
    void add_refusal(const Event& event, DigestEntry entry);

    UserDirectories directories_;
    std::string project_;
    std::vector<std::string> sessions_;
    std::map<std::string, DigestEntry> entries_;
    std::map<std::string, size_t> of_kind_;
    Digest digest_;
};

base::Json to_json(const DigestEntry& entry);
base::Json to_json(const Digest& digest, const std::vector<std::string>& sessions);

// One line each, at most `most`. Text from a jail is made printable.
std::vector<std::string> to_lines(const Digest& digest, size_t most);

// "network 3, files 1"
std::string counts_of(const Digest& digest);

// The host that was refused last; printable, empty if none was.
std::string last_refused_host(const Digest& digest);

}  // namespace audit
