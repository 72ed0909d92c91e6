// SPDX-License-Identifier: MIT
// Properties of a record with arbitrary bytes. The unit tests check them with the seeds and with damaged
// seeds, the fuzzer with its mutations of the seeds.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "audit/show.h"
#include "audit/verify.h"
#include "base/file.h"
#include "config/layer.h"

namespace audit {

inline bool has_control(std::string_view text) {
    return std::ranges::any_of(text, [](char letter) {
        auto byte = static_cast<unsigned char>(letter);
        return byte < 0x20 || byte == 0x7f;
    });
}

inline const char* broken_for_draft(const Digest& digest, const UserDirectories& directories) {
    std::string toml = to_toml(draft_of(digest, directories), {});
    config::ParsedFile parsed = config::parse_layer(config::Layer::user, "draft", toml);
    if (!parsed.problems.empty()) return "a draft is no valid file";
    for (const auto& [key, value] : parsed.content.values) {
        for (const config::Item& item : value.items) {
            if (key == "network.allow" && item.text.find('*') != std::string::npos)
                return "a draft opens a pattern of hosts";
            if (!key.starts_with("mounts.")) continue;
            base::Result<base::Path> path = base::Path::parse(item.text);
            if (!path || path->depth() < 2) return "a draft opens a top-level directory";
            if (directories.home->is_within(*path)) return "a draft opens the home directory";
            if (directories.project && directories.project->is_strictly_within(*path))
                return "a draft opens what is above the project";
        }
    }
    return nullptr;
}

inline const char* broken_for_record(std::string_view bytes) {
    base::Result<base::Fd> file = base::memory_file("record", bytes);
    if (!file) return nullptr;
    std::string path = "/proc/self/fd/" + std::to_string(file->get());

    Reader reader(path);
    if (!reader.open()) return "a record can't be opened";
    while (std::optional<Event> event = reader.next()) {
        if (event->kind().empty()) return "an event is of no kind";
        if (has_control(to_line(*event, false))) return "a line for people has control characters";
    }
    base::Result<Verification> verification = verify(path);
    if (!verification) return "a record can't be verified";
    if (has_control(to_json(*verification).dump(-1))) return "a verification has control characters";

    Gathering gathering(
        {.home = base::Path::known("/home/me"), .project = std::nullopt, .admin_directory = "/etc/x"});
    if (!gathering.add_record(path)) return "a record can't be gathered";
    UserDirectories directories = gathering.directories();
    Digest digest = std::move(gathering).finish({});
    if (digest.entries.size() > 1000) return "a digest grows with the record";
    for (const std::string& line : to_lines(digest, 10)) {
        if (has_control(line)) return "a line of a digest has control characters";
    }
    return broken_for_draft(digest, directories);
}

}  // namespace audit
