// SPDX-License-Identifier: MIT
#include "audit/show.h"

#include <algorithm>
#include <map>

#include "base/table.h"
#include "base/text.h"
#include "config/toml_text.h"

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

std::string request(const Event& event) {
    std::string text = event.value("method");
    append(text, event.value("name"));
    text += event.value("path");
    append(text, number_in(event, "status", "status ", ""), ": ");
    append(text, event.value("credential"), ", credential ");
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

std::string signature(const Event& event) {
    std::string text = event.value("target");
    append(text, event.value("key"), " with ");
    return text;
}

std::string question(const Event& event) {
    std::string text = number_in(event, "id", "", ": ");
    if (const std::string asks = event.value("asks"); !asks.empty()) {
        text += base::format("{} {}{}", asks, event.value("name"),
                             asks == "host" ? number_in(event, "port", ":", "") : "");
        append(text, event.value("because"), ", because ");
        return text;
    }
    if (!event.value("key").empty()) return text + "sign for " + signature(event);
    if (event.value("method").empty()) return text + event.value("name") + number_in(event, "port", ":", "");
    text += base::format("{} {}{}", event.value("method"), event.value("name"), event.value("path"));
    append(text, event.value("detail"));
    append(text, event.value("credential"), ", credential ");
    return text;
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

std::string git(const Event& event) {
    std::string text = event.value("path");
    append(text, event.value("name"), ": ");
    append(text, number_in(event, "row", "line ", ""), ", ");
    return text;
}

std::string policy(const Event& event) {
    std::string text = event.value("action");
    append(text, event.value("target"));
    append(text, number_in(event, "closed", "", " connections closed"), ", ");
    return text;
}

std::string layer(const Event& event) {
    std::string text = event.value("action");
    append(text, event.value("layer"));
    append(text, event.value("path"));
    append(text, number_in(event, "count", "", " changes"), ": ");
    append(text, event.value("user"), ", by ");
    append(text, words_in(event, "held"), ", held back: ");
    append(text, event.value("sha256"), ", ");
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
    {"git", git},           {"request", request}, {"layer", layer},
    {"exec", command},      {"namespace", named}, {"signature", signature},
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

// Threat: names that the agent chose become lines of a file that a user may copy unchanged. A name is escaped
// by TOML's rules, a comment is made printable and stays on one line, and only entries that pass the
// settings' own check are written. (tests/audit/draft_test.cc: a hostile record makes a file with no more
// entries than comments say)

namespace {

// Masked files are masked because of their content. A user opens them by hand or not at all.
constexpr std::string_view kNeverDrafted[] = {"project.unmask"};

std::string how_often(const DigestEntry& entry) {
    std::string text = std::to_string(entry.count) + (entry.count == 1 ? " time" : " times");
    if (!entry.first.empty()) text += ", first " + base::printable(entry.first);
    if (entry.kind == "network" || entry.kind == "file" || entry.kind == "request")
        text += ": " + base::printable(entry.what);
    return text;
}

std::string cut(std::string text) {
    constexpr size_t kLongest = 200;
    if (text.size() <= kLongest) return text;
    size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return text.substr(0, end) + "...";
}

std::string why_not(const DigestEntry& entry, const std::string& objection) {
    std::string why = entry.reason.empty() ? "no setting opens it" : base::printable(entry.reason);
    if (!objection.empty()) why += "; not proposed: " + objection;
    return std::to_string(entry.count) + (entry.count == 1 ? " time: " : " times: ") + why;
}

bool is_list(const std::string& key) {
    const config::Setting* setting = config::find_setting(key);
    return setting != nullptr && config::is_list(setting->type);
}

}  // namespace

std::vector<DraftEntry> draft_of(const Digest& digest, const UserDirectories& directories) {
    std::vector<DraftEntry> entries;
    for (const DigestEntry& entry : digest.entries) {
        DraftEntry draft{.kind = entry.kind, .what = entry.what};
        std::optional<Proposal> proposal = proposal_in(entry.change);
        std::string objection;
        if (proposal) {
            objection = objection_to(*proposal, directories);
            if (std::ranges::find(kNeverDrafted, proposal->setting->key) != std::end(kNeverDrafted))
                objection = "it may hold secrets";
        }
        if (proposal && objection.empty()) {
            draft.key = proposal->setting->key;
            draft.value = proposal->value;
            draft.comment = how_often(entry);
        } else {
            draft.comment = why_not(entry, objection);
        }
        // One entry opens a host for all its ports, or a path for all processes, so write it once.
        bool is_known = !draft.key.empty() && std::ranges::any_of(entries, [&](const DraftEntry& known) {
            return known.key == draft.key && known.value == draft.value;
        });
        if (!is_known) entries.push_back(std::move(draft));
    }
    // A writable path is also readable.
    std::erase_if(entries, [&](const DraftEntry& entry) {
        return entry.key == "mounts.readonly" && std::ranges::any_of(entries, [&](const DraftEntry& other) {
                   return other.key == "mounts.writable" && other.value == entry.value;
               });
    });
    return entries;
}

std::string to_toml(const std::vector<DraftEntry>& entries, const std::vector<std::string>& sessions) {
    std::string text = "# A draft for review: take what the work needs, and nothing else.\n";
    for (const std::string& session : sessions)
        text += base::format("# from session {}\n", base::printable(session));

    std::map<std::string, std::map<std::string, std::vector<const DraftEntry*>>> tables;
    std::vector<const DraftEntry*> closed;
    for (const DraftEntry& entry : entries) {
        size_t dot = entry.key.find('.');
        if (dot == std::string::npos) {
            closed.push_back(&entry);
        } else {
            tables[entry.key.substr(0, dot)][entry.key.substr(dot + 1)].push_back(&entry);
        }
    }
    for (const auto& [table, keys] : tables) {
        text += base::format("\n[{}]\n", table);
        for (const auto& [key, rows] : keys) {
            if (!is_list(base::format("{}.{}", table, key))) {
                text += base::format("{} = {}  # {}\n", key, rows.front()->value, cut(rows.front()->comment));
                continue;
            }
            text += key + " = [\n";
            for (const DraftEntry* row : rows)
                text += base::format("    {},  # {}\n", config::toml_string(row->value), cut(row->comment));
            text += "]\n";
        }
    }
    if (!closed.empty()) text += "\n# Refused, and not to be opened from here:\n";
    for (const DraftEntry* entry : closed) {
        text += base::format("# {} {}: {}\n", cut(base::printable(entry->kind)),
                             cut(base::printable(entry->what)), cut(entry->comment));
    }
    return text;
}

base::Json to_json(const std::vector<DraftEntry>& entries) {
    base::Json json = base::Json::array();
    for (const DraftEntry& entry : entries) {
        base::Json row = base::Json::object();
        row.set("kind", entry.kind).set("what", base::printable(entry.what));
        if (!entry.key.empty()) row.set("setting", entry.key).set("value", base::printable(entry.value));
        json.push(row.set("comment", entry.comment));
    }
    return json;
}

}  // namespace audit
