// SPDX-License-Identifier: MIT
// What the monitor shows, as data, and the rows of text for a screen of a given size. Nothing here uses a
// terminal or a session; all text that comes from one is made printable and cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "base/table.h"

namespace monitor {

// One session in the list and in the details.
struct Entry {
    std::string id;
    base::Json metadata = base::Json::object();
    bool is_elsewhere = false;
    base::Json status = base::Json::object();  // the reply to "status"; without members: no reply
    std::string problem;                       // why there is no reply
    std::string layer;                 // what a copy-on-write session has written; only for the selected one
    std::vector<base::Json> refusals;  // lines of its record, the newest first; only for the selected one
};

struct Screen {
    std::vector<Entry> entries;
    size_t selected = 0;
    std::string home;      // shown as ~
    std::string notice;    // what the last key did
    std::string question;  // to be answered with y or n
    bool shows_help = false;
    bool is_interactive = true;  // shows the line for keys
};

struct Row {
    std::string text;
    base::Style style = base::Style::plain;
    bool operator==(const Row&) const = default;
};

// Exactly `height` rows, each of at most `width` cells. Not interactive: only as many as are needed, at most
// `height`.
std::vector<Row> render(const Screen& screen, size_t width, size_t height);

// The bytes that change a terminal from `before` to `after`: only the rows that differ.
std::string repaint(const std::vector<Row>& before, const std::vector<Row>& after, bool is_coloured);

// The words of a command line, or the path of a project, as lists show them.
std::string command_text(const base::Json& metadata);
std::string project_text(const base::Json& metadata, std::string_view home);
// "256M of 512M", or the use if there is no limit, or the limit if the use is not known.
std::string limit_text(const base::Json& limit);

// "12 permitted, 3 refused", of a session that reads requests; otherwise empty.
std::string requests_text(const base::Json& status);
// "5 requests, the last 3 s ago", of a credential in a status.
std::string credential_text(const base::Json& credential);

// What a question is about, printable: "api.example.org:443", or "POST api.example.org/issues, with tracker".
std::string question_text(const base::Json& question);

}  // namespace monitor
