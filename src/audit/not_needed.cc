// SPDX-License-Identifier: MIT
#include "audit/not_needed.h"

#include <algorithm>

#include "base/encoding/json.h"
#include "base/file.h"
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

}  // namespace audit
