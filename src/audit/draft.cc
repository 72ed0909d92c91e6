// SPDX-License-Identifier: MIT
// Threat: names that the agent chose become lines of a file that a user may copy unchanged. A name is escaped
// by TOML's rules, a comment is made printable and stays on one line, and only entries that pass the
// settings' own check are written. (tests/audit/draft_test.cc: a hostile record makes a file with no more
// entries than comments say)
#include "audit/draft.h"

#include <algorithm>
#include <map>

#include "base/format.h"
#include "base/text.h"
#include "config/toml_text.h"

namespace audit {
namespace {

// Masked files are masked because of their content. A user opens them by hand or not at all.
constexpr std::string_view kNeverDrafted[] = {"project.unmask"};

std::string how_often(const DigestEntry& entry) {
    std::string text = std::to_string(entry.count) + (entry.count == 1 ? " time" : " times");
    if (!entry.first.empty()) text += ", first " + base::printable(entry.first);
    if (entry.kind == "network" || entry.kind == "file") text += ": " + base::printable(entry.what);
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
