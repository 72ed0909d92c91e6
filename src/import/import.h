// SPDX-License-Identifier: MIT
// Converts settings of other programs to ours. Settings that can't be converted are listed with a reason, on
// standard error and as comments at the end of the file, so that the user finds them in either place. For any
// input, the generated TOML passes parse_layer.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "config/value.h"

namespace config {

struct LeftOut {
    int line;          // 0 if the format has no lines; then the text names the key
    std::string text;  // printable
    std::string reason;

    // "line 5: /scratch/$USER: $USER gets its value outside this file"
    std::string describe() const;
};

struct Imported {
    std::string toml;
    size_t carried = 0;  // settings that the file sets
    std::vector<LeftOut> left_out;
    size_t more_left_out = 0;  // not listed: there were too many
    std::string obstacle;      // why no run starts with the file, if no single value is the reason

    // "carried over 12 settings, left out 3"
    std::string summary() const;
};

// Checks that this library can't make, such as whether an entry of network.allow is valid.
using EntryCheck = std::function<base::Status(const Setting& setting, const std::string& entry)>;

// Runs 'bash -c SCRIPT agent-sandbox FILE ARGUMENTS…' (bash_values.h) in a jail, with `text` as FILE, and
// returns its output.
using RunBash = std::function<base::Result<std::string>(std::string_view text,
                                                        const std::vector<std::string>& arguments)>;

// Whether a run starts with these values. An error names the origin of the value that prevents it.
using StartCheck = std::function<base::Status(const Values& values)>;

struct ImportOptions {
    bool for_administrator = false;  // the result is a ceiling, not a user's file
    EntryCheck check;
    std::string home;  // the home directory, for paths that name it in full; empty if unknown
    RunBash run_bash;  // for a sandbox.conf
    StartCheck starts;
};

// A sandbox.conf of the bash predecessor, or the JSON of sandbox-runtime or Claude Code, recognised by how
// the file begins. Returns an error for any other file.
base::Result<Imported> import_file(std::string_view text, const ImportOptions& options = {});

// The output of all importers: it keeps valid values, lists the rest, and writes both to the file.

class ImportWriter {
  public:
    explicit ImportWriter(const ImportOptions& options) : options_(options) {}

    // The place of an entry in the imported file.
    struct Source {
        int line = 0;
        std::string text;
    };

    // Sets a scalar or adds an entry to a list. False: the value is invalid for the setting and was left out.
    // A variable that is set twice keeps its last value; other entries are added only once.
    bool set(const Setting& setting, std::string_view raw, const Source& source);
    bool set(std::string_view key, std::string_view raw, const Source& source);

    void leave_out(const Source& source, std::string_view reason);
    // A remark about the file as a whole; it becomes a comment at its top.
    void remark(std::string text) { remarks_.push_back(std::move(text)); }

    // Sets [match] project. False for an administrator's file, or if the file already has a pattern and
    // neither contains the other. Of two nested patterns the narrower one stays.
    bool match(const std::string& pattern);

    Imported finish(std::string_view origin);

  private:
    // Entries in the order in which they were last set.
    struct List {
        std::map<std::string, size_t> places;  // by entry, or by NAME=
        std::map<size_t, std::string> entries;
        size_t next = 0;
    };

    // A value as passed to `starts`. Its origin identifies it in an error.
    struct Tagged {
        const Setting* setting;
        std::string text;
        Origin origin;
    };

    std::vector<Tagged> tagged_values() const;
    void drop_what_prevents_starts();
    void drop(const Tagged& value, const base::Error& reason);
    std::string line_of(const Setting& setting) const;
    void leave_out_of_users_file(const Setting& setting);

    const ImportOptions& options_;
    Imported result_;
    std::multimap<int, LeftOut> left_out_;  // by line, then in order
    std::vector<std::string> remarks_;
    std::optional<std::string> match_;
    std::map<const Setting*, std::string> scalars_;
    std::map<const Setting*, List> lists_;
    std::map<const Setting*, int> lines_;
};

}  // namespace config
