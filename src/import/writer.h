// SPDX-License-Identifier: MIT
// Where all importers put what they found: it keeps what is a valid value of ours, lists the rest, and writes
// both down.
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

    // Where something stands in the file that is read.
    struct Source {
        int line = 0;
        std::string text;
    };

    // One value of a scalar, or one more entry of a list. False: it is no value of the setting, and was left
    // out. A variable that is set twice has its last value; any other entry is wanted once.
    bool set(const Setting& setting, std::string_view raw, const Source& source);
    bool set(std::string_view key, std::string_view raw, const Source& source);

    void leave_out(const Source& source, std::string_view reason);
    // Something to know about the file as a whole; a comment at its top.
    void remark(std::string text) { remarks_.push_back(std::move(text)); }

    // [match] project. False where no file of this kind can have it, or it has another one already that is
    // not wider.
    bool match(const std::string& pattern);

    bool is_for_administrator() const { return options_.for_administrator; }

    Imported finish(std::string_view origin);

  private:
    // In the order in which they were set last.
    struct List {
        std::map<std::string, size_t> places;  // of an entry, or of NAME=
        std::map<size_t, std::string> entries;
        size_t next = 0;
    };

    // A value as `starts` sees it: its origin names it.
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
    std::multimap<int, LeftOut> left_out_;  // by line, and in order
    std::vector<std::string> remarks_;
    std::optional<std::string> match_;
    std::map<const Setting*, std::string> scalars_;
    std::map<const Setting*, List> lists_;
    std::map<const Setting*, int> lines_;
};

}  // namespace config
