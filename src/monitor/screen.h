// SPDX-License-Identifier: MIT
// What the monitor shows, as data, and the rows of text that this becomes on a screen of some size. Nothing
// here knows a terminal or a session; everything that came from one is made printable and cut on the way.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/style.h"

namespace monitor {

// One session as the list and the details show it.
struct Entry {
    std::string id;
    base::Json metadata = base::Json::object();
    bool is_elsewhere = false;
    base::Json status = base::Json::object();  // the reply to "status"; without members: there was none
    std::string problem;                       // why there was none
    std::vector<base::Json> refusals;  // lines of its record, the newest first; of the selected one only
};

struct Screen {
    std::vector<Entry> entries;
    size_t selected = 0;
    std::string home;      // shown as ~
    std::string notice;    // what the last key did
    std::string question;  // to be answered with y or n
    bool shows_help = false;
    bool is_interactive = true;  // there are keys to tell of
};

struct Row {
    std::string text;
    base::Style style = base::Style::plain;
    bool operator==(const Row&) const = default;
};

// Exactly `height` rows, each of at most `width` cells. Not interactive: as many as are needed, at most
// `height`.
std::vector<Row> render(const Screen& screen, size_t width, size_t height);

// What a terminal that shows `before` has to be told to show `after`: the rows that differ, and no others.
std::string repaint(const std::vector<Row>& before, const std::vector<Row>& after, bool is_coloured);

// The words of a command line, or of a project, as lists show them.
std::string command_text(const base::Json& metadata);
std::string project_text(const base::Json& metadata, std::string_view home);
// "256M of 512M", or what is used where there is no limit, or the limit where use is not known.
std::string limit_text(const base::Json& limit);

}  // namespace monitor
