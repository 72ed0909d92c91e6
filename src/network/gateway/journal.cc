// SPDX-License-Identifier: MIT
#include "network/gateway/journal.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "network/rules/address.h"

namespace network::gateway {
namespace {

constexpr size_t kLongestText = 256;
constexpr size_t kLastLine = 160;  // room kept for the line that says that the file is full

// Printable ASCII stays; every other byte is escaped by itself, so that what is shown is what was there,
// whatever its encoding claims to be.
void append_text(std::string& line, std::string_view text) {
    bool is_cut = text.size() > kLongestText;
    line += '"';
    for (char letter : text.substr(0, kLongestText)) {
        auto byte = static_cast<unsigned char>(letter);
        if (letter == '"' || letter == '\\') {
            line += '\\';
            line += letter;
        } else if (byte < 0x20 || byte >= 0x7f) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", byte);
            line += escape;
        } else {
            line += letter;
        }
    }
    if (is_cut) line += "...";
    line += '"';
}

void append_member(std::string& line, std::string_view key, std::string_view value) {
    if (value.empty()) return;
    line += ",\"";
    line += key;
    line += "\":";
    append_text(line, value);
}

void append_member(std::string& line, std::string_view key, uint64_t value) {
    line += ",\"";
    line += key;
    line += "\":";
    line += std::to_string(value);
}

// By arithmetic alone: the C library would look for files of time zones, and the gateway has no files.
std::string line_of_now() {
    using namespace std::chrono;
    auto now = floor<milliseconds>(system_clock::now());
    auto day = floor<days>(now);
    year_month_day date(day);
    hh_mm_ss time(now - day);
    char text[80];
    std::snprintf(text, sizeof text, "{\"v\":1,\"time\":\"%04d-%02u-%02uT%02d:%02d:%02d.%03dZ\"",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                  static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
                  static_cast<int>(time.subseconds().count()));
    return text;
}

std::string line_of(const Entry& entry) {
    std::string line = line_of_now();
    append_member(line, "kind", entry.kind);
    append_member(line, "verdict", entry.is_allowed ? "allow" : "deny");
    append_member(line, "protocol", entry.protocol);
    append_member(line, "name", entry.name);
    append_member(line, "address", entry.address);
    if (entry.port != 0) append_member(line, "port", entry.port);
    append_member(line, "cause", entry.cause);
    append_member(line, "rule", entry.rule);
    append_member(line, "origin", entry.origin);
    append_member(line, "reason", entry.reason);
    if (entry.sent != 0 || entry.received != 0) {
        append_member(line, "sent", entry.sent);
        append_member(line, "received", entry.received);
    }
    if (entry.duration.count() > 0)
        append_member(line, "duration_ms", static_cast<uint64_t>(entry.duration.count()));
    line += "}\n";
    return line;
}

std::string target_of(const Entry& entry) {
    std::string target = base::printable(entry.name.empty() ? entry.address : entry.name);
    if (target.size() > kLongestText) target.resize(kLongestText);
    if (entry.port == 0) return target;
    if (entry.name.empty() && target.find(':') != std::string::npos) target = "[" + target + "]";
    return target + ":" + std::to_string(entry.port);
}

}  // namespace

Entry entry_of(const Verdict& verdict) {
    Entry entry;
    entry.is_allowed = verdict.is_allowed();
    entry.cause = to_text(verdict.cause);
    entry.rule = verdict.rule;
    entry.origin = verdict.origin.describe();
    entry.reason = verdict.reason;
    return entry;
}

void Journal::record(const Entry& entry) {
    if (!entry.is_allowed) count_refusal(entry);
    if (!file_) return;
    std::string line = line_of(entry);
    if (line.size() + kLastLine <= left_) {
        left_ -= line.size();
        write(line);
        return;
    }
    line = line_of_now();
    append_member(line, "kind", "journal");
    append_member(line, "reason", "the record has reached its size; nothing more is written");
    line += "}\n";
    if (line.size() <= left_) write(line);
    file_.reset();
}

void Journal::count_refusal(const Entry& entry) {
    ++refusals_.total;
    std::string target = target_of(entry);
    auto found = refusals_.by_target.find(target);
    if (found != refusals_.by_target.end()) {
        ++found->second;
    } else if (refusals_.by_target.size() < kMostRefusals) {
        refusals_.by_target.emplace(std::move(target), 1);
    }
}

void Journal::write(const std::string& line) {
    // A disk that is full costs the line, never the connection that it is about.
    while (::write(file_.get(), line.data(), line.size()) < 0 && errno == EINTR) {
    }
}

}  // namespace network::gateway
