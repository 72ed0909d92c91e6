// SPDX-License-Identifier: MIT
// The output of all importers: it keeps valid values, lists the rest, and writes both to the file.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/import.h"

namespace config {

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
