// SPDX-License-Identifier: MIT
// Theory of operation. From the top: the title, the list of sessions, the sections of the selected one, and
// one line for keys, questions and notices. The sections share the rest: each section with content gets its
// title and one line, then one more line in turn until there is no room. So a flood in one section hides none
// of the others.
#include "monitor/screen.h"

#include <algorithm>
#include <chrono>

#include "base/parse.h"
#include "base/text.h"
#include "monitor/cells.h"

namespace monitor {
namespace {

using base::Json;
using base::Style;

constexpr size_t kNarrow = 60;  // below it, columns are left out

struct Section {
    std::string title;
    std::vector<Row> rows;
    size_t room = 0;  // number of rows that are shown
};

std::chrono::milliseconds milliseconds_in(const Json& object, std::string_view key) {
    return std::chrono::milliseconds(object.number(key));
}

std::string target_of(const Json& object) {
    std::string name = object.text("name");
    if (name.empty()) name = object.text("address");
    int64_t port = object.number("port");
    return port > 0 ? base::with_port(name, port) : name;
}

// ---- The list

struct Columns {
    size_t backend = 0, network = 0, project = 0, command = 0;
};
constexpr size_t kId = 8, kAge = 6;

Columns columns_for(size_t width) {
    Columns columns;
    size_t taken = 2 + kId + 1 + kAge + 1;
    if (width >= kNarrow) {
        columns.backend = 9;
        columns.network = 9;
        taken += columns.backend + columns.network + 2;
    }
    size_t left = width > taken ? width - taken : 0;
    columns.project = left / 2;
    columns.command = left > columns.project ? left - columns.project - 1 : 0;
    return columns;
}

std::string list_line(std::string_view mark, const std::vector<std::string>& texts, size_t width) {
    Columns columns = columns_for(width);
    std::string line = base::format("{}{} {} ", mark, padded(texts[0], kId), padded_left(texts[1], kAge));
    if (columns.backend > 0)
        line += base::format("{} {} ", padded(texts[2], columns.backend), padded(texts[3], columns.network));
    return base::format("{}{} {}", line, padded(texts[4], columns.project), texts[5]);
}

size_t questions_of(const Entry& entry) {
    return entry.status.items("pending").size();
}

Row list_row(const Entry& entry, bool is_selected, std::string_view home, size_t width) {
    std::string network =
        entry.is_elsewhere ? "on " + entry.metadata.text("host") : entry.metadata.text("network");
    // The mark of a question, visible without colours too.
    std::string mark = std::string(is_selected ? ">" : " ") + (questions_of(entry) > 0 ? "!" : " ");
    Row row{list_line(mark,
                      {entry.id.substr(0, kId), age_text(age_of(entry.metadata.text("started"))),
                       entry.metadata.text("backend"), network, project_text(entry.metadata, home),
                       command_text(entry.metadata)},
                      width)};
    if (is_selected) row.style = Style::bold;
    if (entry.is_elsewhere) row.style = Style::dim;
    if (questions_of(entry) > 0) row.style = Style::yellow;
    return row;
}

// The part of the list around the selected session.
void add_list(const Screen& screen, size_t width, size_t room, std::vector<Row>& rows) {
    if (room == 0) return;
    size_t shown = std::min(room, screen.entries.size());
    size_t first = screen.selected >= shown ? screen.selected - shown + 1 : 0;
    for (size_t index = first; index < first + shown; ++index)
        rows.push_back(list_row(screen.entries[index], index == screen.selected, screen.home, width));
}

// ---- The sections of the selected session

Section questions(const Entry& entry, size_t width) {
    Section section{.title = "Waiting for your answer"};
    for (const Json& question : entry.status.items("pending")) {
        // A question of an agent has no time limit.
        const bool has_limit = question.number("left_ms") >= 0;
        std::string left = has_limit ? age_text(milliseconds_in(question, "left_ms")) + " left" : "";
        std::string line = base::format("  #{} ", question.number("id"));
        size_t name = width > line.size() + 12 ? width - line.size() - 12 : 0;
        section.rows.push_back(
            {line + padded(question_text(question), name) + padded_left(left, 12), Style::yellow});
    }
    return section;
}

Section connections(const Entry& entry, size_t width) {
    const Json::Array& open = entry.status.items("connections");
    Section section{.title = "Connections"};
    int64_t count = entry.status.number("connection_count", static_cast<int64_t>(open.size()));
    section.title += " " + std::to_string(count);
    bool is_narrow = width < kNarrow;
    size_t taken = is_narrow ? 16 : 2 + 9 + 16 + 14 + 7;
    size_t name = width > taken ? width - taken : 0;
    for (const Json& one : open) {
        std::string age = padded_left(age_text(milliseconds_in(one, "age_ms")), 7);
        std::string sent = bytes_text(one.number("sent")), received = bytes_text(one.number("received"));
        std::string line = "  " + padded(target_of(one), name);
        if (is_narrow) {
            line += padded_left(received, 7) + age;
        } else {
            line += " " + padded(one.text("protocol"), 8) + padded_left(sent + " sent", 12) +
                    padded_left(received + " received", 18) + age;
        }
        section.rows.push_back({std::move(line)});
    }
    return section;
}

std::string refusal_text(const Json& line) {
    std::string what = line.text("kind");
    if (what == "connection" || what == "lookup" || what == "datagrams" || what == "publish" ||
        what == "answer") {
        what = target_of(line);
    } else if (what == "request") {
        what = base::format("{} {}{}", line.text("method"), line.text("name"), line.text("path"));
    } else if (!line.text("path").empty()) {
        what = base::format("{} {}", line.text("access", "use"), line.text("path"));
    } else if (what == "slurm") {
        what = base::format("{} {}", line.text("command"), line.text("option"));
    } else {
        what += " " + line.text("name");
    }
    std::string reason = line.text("reason", line.text("cause"));
    return reason.empty() ? what : base::format("{}  {}", what, reason);
}

Section refusals(const Entry& entry) {
    Section section{.title = "Refused"};
    if (int64_t count = entry.status.number("refused"); count > 0)
        section.title += " " + std::to_string(count);
    for (const Json& line : entry.refusals)
        section.rows.push_back(
            {base::format("  {} {}", clock_text(line.text("time")), refusal_text(line)), Style::red});
    return section;
}

Section requests(const Entry& entry) {
    Section section{.title = "Requests"};
    const std::string counts = requests_text(entry.status);
    if (counts.empty()) return section;
    section.rows.push_back({"  " + counts});
    for (const Json& credential : entry.status.items("credentials")) {
        bool has_failed = credential.truth("failed");
        section.rows.push_back({base::format("  credential {}: {}", base::printable(credential.text("name")),
                                             credential_text(credential)),
                                has_failed ? Style::red : Style::plain});
    }
    return section;
}

Section limits(const Entry& entry, size_t width) {
    Section section{.title = "Limits"};
    for (const Json& limit : entry.status.items("limits")) {
        std::string name = limit.text("name");
        if (name.starts_with("limits.")) name.erase(0, 7);
        Style style = Style::plain;
        int64_t used = limit.number("used", -1), value = limit.number("value");
        std::string line = base::format("  {} ", padded(name, width < kNarrow ? 12 : 20));
        if (used >= 0 && value > 0) {
            line += bar(used, value, width < kNarrow ? 7 : 22) + " ";
            if (used / 9 >= value / 10) style = Style::yellow;
        }
        section.rows.push_back({line + limit_text(limit), style});
    }
    return section;
}

Section layer(const Entry& entry) {
    Section section{.title = "Layer of changes"};
    if (!entry.layer.empty()) section.rows.push_back({"  " + entry.layer});
    return section;
}

// ---- Sharing the room

void share(std::vector<Section>& sections, size_t room) {
    for (Section& section : sections) {
        if (section.rows.empty() || room < 2) continue;
        section.room = 1;
        room -= 2;
    }
    for (bool is_given = true; is_given && room > 0;) {
        is_given = false;
        for (Section& section : sections) {
            if (section.room == 0 || section.room == section.rows.size() || room == 0) continue;
            ++section.room;
            --room;
            is_given = true;
        }
    }
}

void add_details(const Entry& entry, size_t width, size_t room, std::vector<Row>& rows) {
    if (!entry.problem.empty() || entry.is_elsewhere) {
        std::string text =
            entry.is_elsewhere ? "runs on another machine, which has to be asked" : entry.problem;
        if (room > 0) rows.push_back({text, Style::dim});
        return;
    }
    std::vector<Section> sections = {questions(entry, width), connections(entry, width), requests(entry),
                                     refusals(entry),         limits(entry, width),      layer(entry)};
    share(sections, room);
    size_t used = 0;
    for (const Section& section : sections) used += section.room > 0 ? section.room + 1 : 0;
    for (const Section& section : sections) {
        if (section.room == 0) continue;
        std::string title = section.title;
        if (section.room < section.rows.size())
            title += base::format(" ({} more)", section.rows.size() - section.room);
        rows.push_back({std::move(title), Style::bold});
        rows.insert(rows.end(), section.rows.begin(),
                    section.rows.begin() + static_cast<ptrdiff_t>(section.room));
    }
    if (used == 0 && room > 0) rows.push_back({"no connections, nothing refused, no limits", Style::dim});
}

constexpr std::string_view kHelp[] = {
    "up, k     the session above",
    "down, j   the session below",
    "a         yes to its oldest question",
    "d         no to its oldest question",
    "s         end it (asks)",
    "?         this help",
    "q         leave; sessions go on",
};

Row foot(const Screen& screen) {
    if (!screen.question.empty()) return {screen.question + " y/n", Style::yellow};
    if (!screen.notice.empty()) return {screen.notice};
    return {"q quit  ? help  j/k select  a approve  d deny  s stop", Style::dim};
}

Row title(const Screen& screen) {
    size_t waiting = 0;
    for (const Entry& entry : screen.entries) waiting += questions_of(entry);
    size_t count = screen.entries.size();
    std::string text = "agent-sandbox: ";
    text += count == 0 ? "no session is running"
                       : std::to_string(count) + (count == 1 ? " session" : " sessions");
    if (waiting > 0) text += base::format(", {} {}", waiting, waiting == 1 ? "question" : "questions");
    return {std::move(text), Style::bold};
}

}  // namespace

std::string command_text(const Json& metadata) {
    std::string text;
    for (const Json& word : metadata.items("command")) {
        if (word.as_text()) text += (text.empty() ? "" : " ") + *word.as_text();
        if (text.size() > 400) break;
    }
    return text;
}

std::string project_text(const Json& metadata, std::string_view home) {
    std::string project = metadata.text("project");
    bool is_below = home.size() > 1 && project.starts_with(home) &&
                    (project.size() == home.size() || project[home.size()] == '/');
    return is_below ? "~" + project.substr(home.size()) : project;
}

std::string limit_text(const Json& limit) {
    std::string name = limit.text("name"), text = limit.text("text");
    int64_t used = limit.number("used", -1);
    if (used < 0) return text;
    std::string amount = std::to_string(used);
    if (name.ends_with("memory")) amount = bytes_text(used);
    if (name.ends_with("time")) amount = age_text(std::chrono::seconds(std::min<int64_t>(used, INT32_MAX)));
    return text.empty() ? amount + ", no limit" : base::format("{} of {}", amount, text);
}

std::string requests_text(const Json& status) {
    const Json* requests = status.find("requests");
    if (requests == nullptr) return {};
    return base::format("{} permitted, {} refused", requests->number("permitted"),
                        requests->number("refused"));
}

std::string credential_text(const Json& credential) {
    if (credential.truth("failed")) return "its source gave no value";
    const int64_t count = credential.number("requests");
    if (count == 0) return "not used yet";
    return base::format("{}, the last {} ago",
                        base::counted(static_cast<uint64_t>(count), "request", "requests"),
                        age_text(milliseconds_in(credential, "last_ms")));
}

// What an agent asked for. Its reason comes last and in quotes: it is the agent's text.
namespace {
std::string asked_text(const Json& question, const std::string& kind) {
    const std::string name = base::printable(question.text("name"));
    std::string text = base::format(
        "{} {}", base::printable(kind),
        kind == "host" ? base::with_port(name, question.number("port")) : base::shell_word(name));
    if (std::string note = question.text("note"); !note.empty())
        text += base::format(" ({})", base::printable(note));
    std::string because = base::printable(question.text("because"));
    std::ranges::replace(because, '"', '\'');
    return text + base::format(", \"{}\"", because);
}
}  // namespace

std::string question_text(const Json& question) {
    std::string name = base::printable(question.text("name"));
    int64_t port = question.number("port");
    if (std::string kind = question.text("asks"); !kind.empty()) return asked_text(question, kind);
    std::string method = question.text("method");
    // Of the ssh-agent.
    if (std::string key = question.text("key"); !key.empty())
        return base::format("sign for {} with {}", base::printable(question.text("target")),
                            base::printable(key));
    if (method.empty()) return base::with_port(name, port);
    constexpr int64_t kHttps = 443;
    std::string text =
        base::format("{} {}{}", base::printable(method), port == kHttps ? name : base::with_port(name, port),
                     base::printable(question.text("path")));
    if (std::string detail = question.text("detail"); !detail.empty())
        text += base::format(" ({})", base::printable(detail));
    if (std::string credential = question.text("credential"); !credential.empty())
        text += ", with " + base::printable(credential);
    return text;
}

std::vector<Row> render(const Screen& screen, size_t width, size_t height) {
    std::vector<Row> rows;
    if (height == 0) return rows;
    const size_t feet = screen.is_interactive && height > 1 ? 1 : 0;
    const size_t body = height - feet;
    rows.push_back(title(screen));
    if (screen.shows_help) {
        for (std::string_view line : kHelp) rows.push_back({std::string(line)});
    } else if (!screen.entries.empty()) {
        const bool is_high = height >= 16;
        if (is_high)
            rows.push_back({list_line("  ", {"ID", "AGE", "BACKEND", "NETWORK", "PROJECT", "COMMAND"}, width),
                            Style::dim});
        add_list(screen, width, std::max<size_t>(body / 4, 2), rows);
        if (is_high) rows.emplace_back();
        size_t left = body > rows.size() ? body - rows.size() : 0;
        add_details(screen.entries[std::min(screen.selected, screen.entries.size() - 1)], width, left, rows);
    }
    if (rows.size() > body) rows.resize(body);
    if (screen.is_interactive) rows.resize(body);
    if (feet > 0) rows.push_back(foot(screen));
    for (Row& row : rows) row.text = cut(row.text, width);
    return rows;
}

// Clear the row first: after its last cell is written, some terminals would clear that cell.
std::string repaint(const std::vector<Row>& before, const std::vector<Row>& after, bool is_coloured) {
    std::string text;
    for (size_t index = 0; index < after.size(); ++index) {
        if (index < before.size() && before[index] == after[index]) continue;
        text += base::format("\x1b[{};1H\x1b[K{}", index + 1,
                             base::styled(after[index].text, after[index].style, is_coloured));
    }
    return text;
}

}  // namespace monitor
