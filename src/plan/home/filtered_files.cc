// SPDX-License-Identifier: MIT
// Start-up files that are shown as a copy without the lines that hold a secret (share/home/filtered.list), in
// every home mode. The copy is read-only, as these files are. A file without such lines is shown itself.
//
// Threat: the variable GITHUB_TOKEN is not passed, but the jail could read `export GITHUB_TOKEN=...` in
// ~/.bashrc (tests/jail/filtered_files.bats).
#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/glob.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"
#include "plan/home/secret_lines.h"

namespace plan {
namespace {

constexpr size_t kLargest = 1u << 20;
constexpr size_t kMostFiles = 256;  // of one directory

class FilteredFiles {
  public:
    explicit FilteredFiles(Draft& draft) : draft_(draft) {}

    void add(const config::DataRow& row) {
        if (!draft_.home_names.may_exist(row.entry)) return;
        const base::Path path = draft_.home / row.entry;
        if (!base::has_wildcard(path.name())) return consider(path, row.reason);
        // Do not look into a directory that no rule shows.
        base::Result<host::Tree::Resolved> directory = draft_.tree().resolve(path.parent());
        if (!directory || !directory->exists || shown_by(directory->path) == nullptr) return;
        const std::vector<host::Entry>& entries = draft_.tree().list(directory->path);
        if (entries.size() > kMostFiles)
            return hide(directory->path, "holds more files than are looked through");
        for (const host::Entry& entry : entries) {
            if (entry.kind != host::Kind::directory) consider(directory->path / entry.name, row.reason);
        }
    }

  private:
    // The rule that shows the host's own file read-only.
    const PathRule* shown_by(const base::Path& path) const {
        const PathRule* rule = draft_.rules.decide_unsettled(path);
        bool is_shown = rule != nullptr && rule->access == Access::readonly && rule->backing == Backing::host;
        return is_shown ? rule : nullptr;
    }

    // Whether a setting names the path.
    bool is_named(const base::Path& path) const {
        return std::ranges::any_of(draft_.rules.sorted(), [&](const PathRule& rule) {
            return rule.path == path && rule.reason.origin.layer != config::Layer::builtin;
        });
    }

    void consider(const base::Path& literal, std::string_view why) {
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(literal);
        if (!resolved || !resolved->exists || resolved->path.is_within(draft_.project)) return;
        const base::Path& path = resolved->path;
        std::optional<host::Node> node = draft_.tree().look(path);
        if (shown_by(path) == nullptr || !node || node->kind != host::Kind::file) return;
        base::Result<std::string> content = draft_.tree().read(path, kLargest);
        if (!content) return hide(path, "too large to look for secrets in it");
        FilteredText copy = without_secret_lines(*content, literal.name(), names());
        if (copy.left_out == 0 || is_named(path)) return;
        if (!draft_.backend().lays_files)
            return hide(path, "holds secrets, and this backend can't show a copy without them");
        std::string lines = copy.left_out == 1 ? "1 line" : std::to_string(copy.left_out) + " lines";
        draft_.after_rules.push_back(Mount{
            .kind = MountKind::file,
            .target = path,
            .source = std::move(copy.text),
            .reason = {
                base::format(
                    "{}; a copy is shown, without {} that hold a secret; --ro with its path shows it whole",
                    why, lines),
                {}}});
    }

    const SecretNames& names() {
        const auto& env = draft_.policy().env;
        if (!names_) names_.emplace(env.block, env.block_patterns);
        return *names_;
    }

    void hide(const base::Path& path, std::string_view why) {
        draft_.add_rule(path, Access::hidden, {std::string(why), {}});
    }

    Draft& draft_;
    std::optional<SecretNames> names_;  // made when the first file needs it
};

}  // namespace

void filter_start_up_files(Draft& draft) {
    FilteredFiles files(draft);
    for (const config::DataRow& row : config::data_list("home/filtered")) files.add(row);
}

}  // namespace plan
