// SPDX-License-Identifier: MIT
#include "audit/show.h"

#include <algorithm>

#include "base/format.h"
#include "base/style.h"
#include "base/text.h"

namespace audit {
namespace {

using base::Style;

constexpr size_t kKindWidth = 10;
constexpr size_t kVerdictWidth = 8;

// "2024-02-29T23:59:59.123Z" without the day, because a record is about one session.
std::string time_of(const Event& event) {
    std::string time = event.value("time");
    size_t begin = time.find('T');
    if (begin == std::string::npos || time.size() < begin + 9) return base::printable(time);
    return base::printable(time.substr(begin + 1, 8));
}

std::string padded(std::string text, size_t width) {
    if (text.size() < width) text.resize(width, ' ');
    return text;
}

std::string words_in(const Event& event, std::string_view key) {
    std::string line;
    for (const base::Json& word : event.json.items(key)) {
        if (!word.as_text()) continue;
        line += (line.empty() ? "" : " ") + base::shell_word(recorded_bytes(*word.as_text()));
    }
    return line;
}

std::string number_in(const Event& event, std::string_view key, std::string_view before,
                      std::string_view after) {
    const base::Json* value = event.json.find(key);
    if (value == nullptr || value->as_number() == nullptr) return {};
    return std::string(before) + std::to_string(*value->as_number()) + std::string(after);
}

void append(std::string& text, std::string_view part, std::string_view separator = " ") {
    if (part.empty()) return;
    if (!text.empty()) text += separator;
    text += part;
}

std::string network(const Event& event) {
    std::string host = event.value("name").empty() ? event.value("address") : event.value("name");
    std::string text = host + number_in(event, "port", ":", "");
    append(text, event.value("protocol"));
    append(text, number_in(event, "sent", "", " bytes out"), ", ");
    append(text, number_in(event, "received", "", " bytes in"), ", ");
    append(text, number_in(event, "duration_ms", "", " ms"), ", ");
    return text;
}

std::string start(const Event& event) {
    std::string text = words_in(event, "command");
    append(text, event.value("directory"), " in ");
    append(text, event.value("backend"), "; ");
    append(text, event.value("network"), ", network ");
    return text;
}

std::string command(const Event& event) {
    std::string text = words_in(event, "command");
    append(text, event.value("directory"), " in ");
    append(text, number_in(event, "status", "status ", ""), ": ");
    append(text, number_in(event, "signal", "signal ", ""), ": ");
    append(text, number_in(event, "duration_ms", "", " ms"), ", ");
    return text;
}

std::string end(const Event& event) {
    std::string text = number_in(event, "status", "status ", "");
    append(text, number_in(event, "signal", "signal ", ""), ", ");
    append(text, number_in(event, "duration_ms", "after ", " ms"), ", ");
    return text;
}

std::string question(const Event& event) {
    return number_in(event, "id", "", ": ") + event.value("name") + number_in(event, "port", ":", "");
}

std::string file(const Event& event) {
    std::string text = event.value("path");
    append(text, event.value("access"), ", to ");
    append(text, event.value("cause"), ": ");
    return text;
}

std::string named(const Event& event) {
    std::string text = event.value("name");
    append(text, event.value("command"));
    append(text, event.value("option"));
    append(text, event.value("error"));
    append(text, number_in(event, "count", "", " times"), ", ");
    return text;
}

std::string policy(const Event& event) {
    std::string text = event.value("action");
    append(text, event.value("target"));
    append(text, number_in(event, "closed", "", " connections closed"), ", ");
    return text;
}

std::string journal(const Event& event) {
    std::string text = number_in(event, "part", "part ", "");
    append(text, number_in(event, "count", "", " lines"), ", ");
    return text;
}

struct Row {
    std::string_view kind;
    std::string (*what)(const Event&);
};
constexpr Row kRows[] = {
    {"start", start},       {"lookup", network},  {"connection", network},
    {"datagrams", network}, {"publish", network}, {"ask", question},
    {"answer", question},   {"policy", policy},   {"mail", named},
    {"slurm", named},       {"file", file},       {"syscall", named},
    {"command", command},   {"limit", named},     {"end", end},
    {"journal", journal},   {"cover", file},      {"socket", named},
};

Style style_of(std::string_view verdict) {
    if (verdict == "deny") return Style::red;
    return verdict == "observed" ? Style::yellow : Style::plain;
}

}  // namespace

std::string to_line(const Event& event, bool is_coloured) {
    std::string kind = event.kind();
    std::string verdict = event.value("verdict");
    const auto* row = std::ranges::find(kRows, kind, &Row::kind);
    std::string about = row == std::end(kRows) ? "" : row->what(event);
    std::string why = event.value("reason");
    if (std::string rule = event.value("rule"); !rule.empty()) append(why, base::format("({})", rule));
    append(about, why, ": ");
    append(about, event.value("origin") == "built-in" ? "" : event.value("origin"), ", ");
    std::string line = base::format(
        "{}  {}  {}  {}", base::styled(time_of(event), Style::dim, is_coloured),
        padded(base::printable(kind), kKindWidth),
        base::styled(padded(base::printable(verdict), kVerdictWidth), style_of(verdict), is_coloured),
        base::printable(about));
    return line.substr(0, line.find_last_not_of(' ') + 1);
}

}  // namespace audit
