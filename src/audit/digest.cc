// SPDX-License-Identifier: MIT
// Threat: an agent asks for a million different names, to fill the memory or to hide its earlier requests. So
// the number of different entries is limited, in total and for each kind; further ones are only counted.
// (tests/audit/digest_test.cc, fuzz_record)
#include "audit/digest.h"

#include <algorithm>
#include <limits>

#include "audit/writer.h"
#include "base/encoding/json.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"

namespace audit {
namespace {

constexpr size_t kLargestFile = 4u << 20;

// The host of "udp:example.org:53" or "example.org:443".
std::string_view host_in(std::string_view what) {
    if (what.starts_with("udp:")) what.remove_prefix(4);
    size_t colon = what.rfind(':');
    return colon == std::string_view::npos ? what : what.substr(0, colon);
}

}  // namespace

base::Result<NotNeeded> NotNeeded::read(const std::string& path) {
    NotNeeded result;
    if (!base::file_exists(path)) return result;
    base::Result<std::string> text = base::read_file(path, kLargestFile);
    if (!text) return text.error();
    for (std::string_view line : base::split(*text, '\n')) {
        // Skip a damaged line and keep the others.
        base::Result<base::Json> json = base::Json::parse(line);
        if (!json || !json->is_object() || json->text("what").empty()) continue;
        result.rows_.push_back({json->text("project"), json->text("kind"), json->text("what")});
    }
    return result;
}

base::Status NotNeeded::write(const std::string& path) const {
    std::string text;
    for (const Row& row : rows_) {
        base::Json json = base::Json::object();
        json.set("project", row.project);
        if (!row.kind.empty()) json.set("kind", row.kind);
        text += json.set("what", row.what).dump(-1) + "\n";
    }
    if (base::Status made = base::make_directories(path.substr(0, path.rfind('/'))); !made) return made;
    return base::write_file_atomically(path, text);
}

bool NotNeeded::has(std::string_view project, std::string_view kind, std::string_view what) const {
    std::string place = base::printable(project);
    std::string thing = base::printable(what);
    std::string_view host = kind == "network" ? host_in(thing) : std::string_view();
    return std::ranges::any_of(rows_, [&](const Row& row) {
        return row.project == place && (row.kind.empty() || row.kind == kind) &&
               (row.what == thing || (!host.empty() && row.what == host));
    });
}

bool NotNeeded::add(std::string_view project, std::string_view kind, std::string_view what) {
    Row row{base::printable(project), std::string(kind), base::printable(what)};
    if (std::ranges::find(rows_, row) != rows_.end()) return false;
    rows_.push_back(std::move(row));
    return true;
}

bool NotNeeded::remove(std::string_view project, std::string_view what) {
    std::string place = base::printable(project);
    std::string thing = base::printable(what);
    return std::erase_if(rows_, [&](const Row& row) { return row.project == place && row.what == thing; }) >
           0;
}

namespace {

constexpr size_t kMostEntries = 1000;
constexpr size_t kMostOfKind = 500;
constexpr size_t kMostSessions = 64;
constexpr size_t kLongestShown = 120;

// Kinds of events, their kind in a digest, and the name for counting.
struct Kind {
    std::string_view event, kind, name;
};
constexpr Kind kKinds[] = {
    {"lookup", "network", "network"},
    {"connection", "network", "network"},
    {"datagrams", "network", "network"},
    {"publish", "network", "network"},
    {"request", "request", "requests"},
    {"signature", "ssh", "signatures"},
    {"file", "file", "files"},
    {"syscall", "syscall", "system calls"},
    {"mail", "mail", "mail"},
    {"git", "git", "git settings"},
    {"socket", "socket", "sockets"},
    {"namespace", "namespace", "namespaces"},
    {"slurm", "slurm", "Slurm"},
    {"limit", "limit", "limits"},
};

std::string what_of(const Event& event, std::string_view kind) {
    // All requests that one entry refuses are one line; its reason names the last of them.
    if (kind == "request" && !event.value("rule").empty()) return event.value("rule");
    if (kind == "request")
        return base::format("{} {}{}", event.value("method"), event.value("name"), event.value("path"));
    if (kind == "network") {
        std::string host = event.value("name");
        if (host.empty()) host = event.value("address");
        int64_t port = event.json.number("port");
        std::string prefix = event.kind() == "datagrams" ? "udp:" : "";
        return prefix + (port > 0 ? base::with_port(host, port) : host);
    }
    if (kind == "file") return event.value("path");
    if (kind == "ssh") return event.value(event.value("target").empty() ? "reason" : "target");
    // The whole text of a git configuration was refused, not one setting.
    if (kind == "git" && event.value("name").empty()) return event.value("path");
    if (kind == "slurm") {
        std::string command = event.value("command");
        std::string option = event.value("option");
        return command + (command.empty() || option.empty() ? "" : " ") + option;
    }
    return event.value("name");
}

uint64_t count_in(const Event& event) {
    return static_cast<uint64_t>(std::max<int64_t>(event.json.number("count", 1), 1));
}

void add_to(uint64_t& sum, uint64_t more) {
    sum = more > std::numeric_limits<int64_t>::max() - sum ? std::numeric_limits<int64_t>::max() : sum + more;
}

std::string key_of(const DigestEntry& entry) {
    std::string key = entry.kind;
    for (const std::string& part : {entry.what, entry.access, entry.verdict}) key += '\0' + part;
    return key;
}

std::string shown(std::string_view untrusted) {
    bool is_cut = untrusted.size() > kLongestShown;
    return base::printable(untrusted.substr(0, kLongestShown)) + (is_cut ? "..." : "");
}

std::string line_of(const DigestEntry& entry) {
    std::string line = base::format("{} {}", entry.kind, shown(entry.what));
    if (!entry.access.empty()) line += base::format(" ({})", shown(entry.access));
    if (entry.count > 1) line += base::format(", {} times", entry.count);
    if (entry.verdict == "observed") line += ", let through";
    std::string why = entry.reason.empty() ? entry.rule : entry.reason;
    if (!why.empty()) line += ": " + shown(why);
    if (!entry.origin.empty() && entry.origin != "built-in")
        line += base::format(" ({})", shown(entry.origin));
    if (!entry.change.empty()) line += "; to allow it: " + shown(entry.change);
    return line;
}

}  // namespace

void Gathering::add(const Event& event) {
    if (event.kind() == "start") {
        if (project_.empty()) project_ = event.value("project");
        if (!directories_.project && !project_.empty()) {
            if (base::Result<base::Path> path = base::Path::parse(project_)) directories_.project = *path;
        }
        digest_.lacks_files = digest_.lacks_files || !event.json.truth("traces_files");
        if (sessions_.size() < kMostSessions) sessions_.push_back(event.value("session"));
        return;
    }
    const auto* kind = std::ranges::find(kKinds, event.kind(), &Kind::event);
    if (kind == std::end(kKinds) || !event.is_refusal()) return;
    DigestEntry entry{.kind = std::string(kind->kind), .what = what_of(event, kind->kind)};
    entry.access = kind->kind == "file" ? event.value("access") : "";
    entry.verdict = event.json.text("verdict") == "observed" ? "observed" : "deny";
    add_refusal(event, std::move(entry));
}

void Gathering::add_refusal(const Event& event, DigestEntry entry) {
    uint64_t count = count_in(event);
    add_to(digest_.total, count);
    std::string key = key_of(entry);
    auto known = entries_.find(key);
    if (known == entries_.end()) {
        size_t& of_kind = of_kind_[entry.kind];
        if (entries_.size() == kMostEntries || of_kind == kMostOfKind) return add_to(digest_.beyond, count);
        ++of_kind;
        entry.first = event.value("time");
        known = entries_.emplace(std::move(key), std::move(entry)).first;
    }
    // Keep the newest rule: it may have changed in between.
    DigestEntry& found = known->second;
    add_to(found.count, count);
    found.last = event.value("time");
    found.position = digest_.total;
    found.rule = event.value("rule");
    found.origin = event.value("origin");
    found.reason = event.value("reason");
    found.change = vetted_change(event.value("change"), found.origin, directories_);
    // An entry that refuses is on purpose. Only what no entry permits is proposed.
    if (found.kind == "request" && !found.rule.empty()) found.change.clear();
}

base::Status Gathering::add_record(const std::string& first_part) {
    Reader reader(first_part);
    if (base::Status opened = reader.open(); !opened) return opened;
    while (std::optional<Event> event = reader.next()) add(*event);
    digest_.passed_over.damaged += reader.passed_over().damaged;
    digest_.passed_over.newer += reader.passed_over().newer;
    digest_.passed_over.missing_parts += reader.passed_over().missing_parts;
    return base::success();
}

Digest Gathering::finish(const NotNeeded& not_needed) && {
    for (auto& [key, entry] : entries_) {
        if (not_needed.has(project_, entry.kind, entry.what)) {
            ++digest_.not_needed;
        } else {
            digest_.entries.push_back(std::move(entry));
        }
    }
    std::ranges::stable_sort(digest_.entries, std::greater(), &DigestEntry::count);
    return std::move(digest_);
}

base::Json to_json(const DigestEntry& entry) {
    base::Json row = base::Json::object();
    row.set("kind", entry.kind).set("what", base::printable(entry.what));
    if (!entry.access.empty()) row.set("access", base::printable(entry.access));
    row.set("verdict", entry.verdict).set("count", static_cast<size_t>(entry.count));
    for (const auto& [key, value] :
         std::initializer_list<std::pair<const char*, const std::string&>>{{"rule", entry.rule},
                                                                           {"origin", entry.origin},
                                                                           {"reason", entry.reason},
                                                                           {"change", entry.change},
                                                                           {"first", entry.first},
                                                                           {"last", entry.last}}) {
        if (!value.empty()) row.set(key, base::printable(value));
    }
    return row;
}

base::Json to_json(const Digest& digest, const std::vector<std::string>& sessions) {
    base::Json json = base::Json::object();
    base::Json ids = base::Json::array();
    for (const std::string& session : sessions) ids.push(base::printable(session));
    json.set("v", kVersion).set("sessions", std::move(ids));
    json.set("refused", static_cast<size_t>(digest.total));
    base::Json entries = base::Json::array();
    for (const DigestEntry& entry : digest.entries) entries.push(to_json(entry));
    json.set("entries", std::move(entries));
    json.set("beyond", static_cast<size_t>(digest.beyond));
    json.set("not_needed", static_cast<size_t>(digest.not_needed));
    json.set("files_recorded", !digest.lacks_files);
    json.set("damaged_lines", static_cast<size_t>(digest.passed_over.damaged));
    return json;
}

std::vector<std::string> to_lines(const Digest& digest, size_t most) {
    std::vector<std::string> lines;
    uint64_t left_out = digest.beyond;
    for (const DigestEntry& entry : digest.entries) {
        if (lines.size() < most) {
            lines.push_back(line_of(entry));
        } else {
            add_to(left_out, entry.count);
        }
    }
    std::string rest;
    if (left_out > 0) rest = std::to_string(left_out) + " more refusals";
    if (digest.not_needed > 0) {
        rest += base::format("{}{} more {} marked as not needed", rest.empty() ? "" : "; ", digest.not_needed,
                             digest.not_needed == 1 ? "is" : "are");
    }
    if (!rest.empty()) lines.push_back(rest);
    return lines;
}

std::string last_refused_host(const Digest& digest) {
    const DigestEntry* newest = nullptr;
    for (const DigestEntry& entry : digest.entries) {
        bool is_host = entry.kind == "network" && entry.verdict == "deny";
        if (is_host && (newest == nullptr || entry.position > newest->position)) newest = &entry;
    }
    return newest == nullptr ? "" : shown(newest->what);
}

std::string counts_of(const Digest& digest) {
    std::string text;
    for (const Kind& kind : kKinds) {
        if (&kind != std::ranges::find(kKinds, kind.kind, &Kind::kind)) continue;
        uint64_t count = 0;
        for (const DigestEntry& entry : digest.entries) {
            if (entry.kind == kind.kind) add_to(count, entry.count);
        }
        if (count > 0) text += base::format("{}{} {}", text.empty() ? "" : ", ", kind.name, count);
    }
    return text;
}

}  // namespace audit
