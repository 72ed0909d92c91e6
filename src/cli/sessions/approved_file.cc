// SPDX-License-Identifier: MIT
#include "cli/sessions/approved_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "base/encoding/sha256.h"
#include "base/file.h"
#include "base/text.h"
#include "config/layer.h"
#include "config/settings.h"
#include "config/toml_text.h"

namespace cli {
namespace {

constexpr size_t kDigits = 16;
constexpr std::string_view kApprovedKeys[] = {"mounts.approved", "env.allow"};
constexpr std::string_view kHead =
    "# Written by 'agent-sandbox approve': what you approved for this project. Remove a line to withdraw "
    "it.\n";

base::Error not_written(const std::string& file, const std::string& why, const ApprovedEntry& entry) {
    return {.what = base::format("{} was not changed: {}", base::printable(file), why),
            .advice =
                base::format("add '{}' to {} in a file of your own", base::printable(entry.text), entry.key)};
}

base::Result<std::string> text_of(const std::string& file) {
    base::Fd opened(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (!opened && errno == ENOENT) return std::string();
    struct stat status;
    if (!opened || ::fstat(opened.get(), &status) != 0) return base::system_error("read " + file, errno);
    if (!S_ISREG(status.st_mode)) return base::Error{.what = file + " is not a file"};
    return base::read_descriptor(opened.get());
}

std::string render(const base::Path& project, const config::Values& values) {
    std::string text(kHead);
    text += base::format("[match]\nproject = {}\n", config::toml_string(project.str()));
    for (std::string_view key : kApprovedKeys) {
        auto found = values.find(key);
        if (found == values.end() || found->second.items.empty()) continue;
        const config::Setting& setting = *config::find_setting(key);
        text += base::format("\n[{}]\n{} = [\n", section_of(setting), name_in_section(setting));
        for (const config::Item& item : found->second.items)
            text += base::format("    {},\n", config::toml_string(item.text));
        text += "]\n";
    }
    return text;
}

// Counted from 1; 0: not there.
size_t line_of(std::string_view text, const std::string& entry) {
    const std::string wanted = base::format("    {},", config::toml_string(entry));
    size_t number = 0;
    for (std::string_view line : base::split(text, '\n')) {
        ++number;
        if (line == wanted) return number;
    }
    return 0;
}

// What the file has besides what is written here; empty: nothing.
std::string foreign_content(const config::LayerFile& content, const base::Path& project) {
    for (const auto& [key, value] : content.values) {
        if (std::ranges::find(kApprovedKeys, std::string_view(key)) == std::end(kApprovedKeys))
            return "it has " + key;
    }
    if (!content.credentials.empty()) return "it has a credential";
    return content.match_project == project.str() ? "" : "[match] names another project";
}

}  // namespace

base::Result<std::string> add_approved(const config::Places& places, const base::Path& project,
                                       const ApprovedEntry& entry) {
    const std::string directory = places.user_directory + "/conf.d";
    const std::string file =
        base::format("{}/approved-{}.toml", directory, base::sha256(project.str()).substr(0, kDigits));
    // [match] takes a pattern.
    if (project.str().find_first_of("*?[\\") != std::string::npos)
        return not_written(file, "the path of the project has characters of a pattern", entry);
    if (base::Status made = base::make_directories(directory); !made) return made.error();
    // Two sessions of one project may write at once.
    base::Fd lock(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!lock || ::flock(lock.get(), LOCK_EX) != 0) return base::system_error("lock " + directory, errno);
    base::Result<std::string> before = text_of(file);
    if (!before) return not_written(file, before.error().what, entry);
    config::Values values;
    if (!before->empty()) {
        config::ParsedFile parsed = config::parse_layer(config::Layer::user, file, *before);
        if (!parsed.problems.empty()) return not_written(file, "it has a mistake", entry);
        if (std::string foreign = foreign_content(parsed.content, project); !foreign.empty())
            return not_written(file, foreign, entry);
        values = std::move(parsed.content.values);
    }
    std::vector<config::Item>& items = values[std::string(entry.key)].items;
    if (std::ranges::find(items, entry.text, &config::Item::text) == items.end())
        items.push_back({entry.text, {}});
    const std::string after = render(project, values);
    // Threat: a text that reads back as another setting (tests/cli/approved_file_test.cc).
    config::ParsedFile again = config::parse_layer(config::Layer::user, file, after);
    const size_t line = line_of(after, entry.text);
    bool is_same = again.problems.empty() && foreign_content(again.content, project).empty() && line != 0;
    if (!is_same) return not_written(file, "the entry can't be written as a setting", entry);
    if (base::Status written = base::write_file_atomically(file, after); !written) return written.error();
    return base::format("{}:{}", file, line);
}

}  // namespace cli
