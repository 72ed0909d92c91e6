// SPDX-License-Identifier: MIT
#include "plan/project/git.h"

#include <algorithm>
#include <optional>

#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"

namespace plan {
namespace {

class Parser {
  public:
    explicit Parser(std::string_view text) : rest_(text) {
        // git skips a byte order mark.
        if (constexpr std::string_view kMark = "\xef\xbb\xbf"; rest_.starts_with(kMark))
            rest_.remove_prefix(kMark.size());
    }

    std::vector<GitSetting> settings() {
        while (!rest_.empty()) {
            skip_blanks();
            if (rest_.empty()) break;
            if (rest_.front() == '#' || rest_.front() == ';') {
                skip_line();
            } else if (rest_.front() == '[') {
                take_section();
            } else {
                take_assignment();
            }
        }
        return std::move(settings_);
    }

  private:
    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
    void skip_line() { rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size())); }

    char take() {
        char letter = rest_.front();
        rest_.remove_prefix(1);
        return letter;
    }

    // [section], [section.sub] and [section "sub"]; an assignment may follow on the same line. As in git, a
    // name can't contain a line break, not even after a backslash.
    void take_section() {
        take();
        size_t end = std::min(rest_.find_first_of("\"]\n"), rest_.size());
        section_ = base::lower(base::trim(rest_.substr(0, end)));
        rest_.remove_prefix(end);
        if (!rest_.empty() && rest_.front() == '"') {
            take();
            section_ += '.';
            while (!rest_.empty() && rest_.front() != '"' && rest_.front() != '\n') {
                if (char letter = take(); letter != '\\') {
                    section_ += letter;
                } else if (!rest_.empty() && rest_.front() != '\n') {
                    section_ += take();
                }
            }
            rest_.remove_prefix(std::min(rest_.find_first_of("]\n"), rest_.size()));
        }
        if (!rest_.empty()) take();
    }

    void take_assignment() {
        size_t end = std::min(rest_.find_first_of("=\n#;"), rest_.size());
        std::string name = base::lower(base::trim(rest_.substr(0, end)));
        rest_.remove_prefix(end);
        if (rest_.empty() || rest_.front() != '=') {
            skip_line();
            settings_.push_back({base::format("{}.{}", section_, name), "true"});
            return;
        }
        take();
        settings_.push_back({base::format("{}.{}", section_, name), take_value()});
    }

    std::string take_value() {
        std::string value;
        size_t kept = 0;  // trailing blanks count only inside quotes
        bool is_quoted = false;
        while (!rest_.empty() && rest_.front() != '\n') {
            char letter = take();
            if (!is_quoted && (letter == '#' || letter == ';')) {
                skip_line();
                break;
            }
            if (letter == '"') {
                is_quoted = !is_quoted;
                kept = value.size();
                continue;
            }
            if (letter == '\\' && !rest_.empty()) {
                char escaped = take();
                if (escaped == '\n') continue;
                value += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
                kept = value.size();
                continue;
            }
            bool is_blank = letter == ' ' || letter == '\t' || letter == '\r';
            if (is_blank && !is_quoted && value.empty()) continue;
            value += letter;
            if (!is_blank || is_quoted) kept = value.size();
        }
        value.resize(kept);
        return value;
    }

    std::string_view rest_;
    std::string section_;
    std::vector<GitSetting> settings_;
};

std::string in_quotes(std::string_view text) {
    std::string result = "\"";
    for (char letter : text) {
        if (letter == '"' || letter == '\\') result += '\\';
        result += letter == '\n' ? "\\n" : std::string(1, letter);
    }
    return result + '"';
}

// Git does not run a program for this value.
bool is_harmless(const GitSetting& setting) {
    bool runs_when_marked = setting.key.starts_with("alias.") || setting.key.starts_with("submodule.");
    if (runs_when_marked) return !setting.value.starts_with('!');
    return setting.key == "core.fsmonitor" && (setting.value == "false" || setting.value == "true");
}

}  // namespace

const config::DataRow* program_row(const GitSetting& setting) {
    if (is_harmless(setting)) return nullptr;
    for (const config::DataRow& row : config::data_list("review/git_keys")) {
        if (base::matches_name(row.entry, setting.key)) return &row;
    }
    return nullptr;
}

std::vector<GitSetting> parse_git_config(std::string_view text) {
    return Parser(text).settings();
}

std::string git_config_text(const std::vector<GitSetting>& settings) {
    std::string text;
    for (const GitSetting& setting : settings) {
        size_t first = setting.key.find('.');
        size_t last = setting.key.rfind('.');
        if (first == std::string::npos) continue;
        text += '[' + setting.key.substr(0, first);
        if (last > first)
            text += ' ' + in_quotes(std::string_view(setting.key).substr(first + 1, last - first - 1));
        text += base::format("]\n\t{} = {}\n", setting.key.substr(last + 1), in_quotes(setting.value));
    }
    return text;
}

namespace {

constexpr size_t kSmallFile = 64u << 10;
constexpr size_t kMostSubmodules = 200;
constexpr size_t kMostWorktrees = 200;
constexpr size_t kMostModules = 2000;  // that are looked at below "modules"
constexpr size_t kDeepest = 16;        // below "modules"

std::optional<base::Path> physical(const host::Tree& tree, const base::Path& path) {
    base::Result<host::Tree::Resolved> resolved = tree.resolve(path);
    if (!resolved || !resolved->exists) return std::nullopt;
    return resolved->path;
}

// A file that holds one path, absolute or relative to `from`.
std::optional<base::Path> path_in_file(const host::Tree& tree, const base::Path& file,
                                       std::string_view prefix, const base::Path& from) {
    base::Result<std::string> content = tree.read(file, kSmallFile);
    if (!content) return std::nullopt;
    std::string_view text = base::trim(*content);
    if (!text.starts_with(prefix)) return std::nullopt;
    text = base::trim(text.substr(prefix.size()));
    if (text.empty() || text.find('\n') != std::string_view::npos ||
        text.find('\0') != std::string_view::npos) {
        return std::nullopt;
    }
    return physical(tree, text.front() == '/' ? base::Path::known("/") / text : from / text);
}

bool is_repository(const host::Tree& tree, const base::Path& directory) {
    for (std::string_view name : {"HEAD", "objects", "refs"}) {
        if (!tree.look(directory / name)) return false;
    }
    return true;
}

// Repositories below `modules`, with a bound on the search: a project may contain an endless directory tree.
class Submodules {
  public:
    Submodules(const host::Tree& tree, GitPlaces& places) : tree_(tree), places_(places) {}

    void add(const base::Path& modules) {
        std::optional<host::Node> node = tree_.look(modules);
        if (!node) return;
        if (node->kind != host::Kind::directory) {
            places_.has_all_submodules = false;
            return;
        }
        add_below(modules, 0);
    }

  private:
    // Names of submodules may hold slashes: look into each directory that does not hold a repository.
    void add_below(const base::Path& modules, size_t depth) {
        for (const host::Entry& entry : tree_.list(modules)) {
            if (entry.kind == host::Kind::file) continue;
            bool is_too_much = ++looked_at_ > kMostModules || depth >= kDeepest ||
                               places_.submodules.size() >= kMostSubmodules;
            if (is_too_much || entry.kind == host::Kind::symlink) places_.has_all_submodules = false;
            if (is_too_much) return;
            if (entry.kind != host::Kind::directory) continue;
            base::Path directory = modules / entry.name;
            if (tree_.look(directory / "config") || tree_.look(directory / "HEAD")) {
                places_.submodules.push_back(directory);
                add_nested(directory / "modules", depth + 1);
            } else {
                add_below(directory, depth + 1);
            }
        }
    }

    void add_nested(const base::Path& modules, size_t depth) {
        std::optional<host::Node> node = tree_.look(modules);
        if (node && node->kind == host::Kind::symlink) places_.has_all_submodules = false;
        if (node && node->kind == host::Kind::directory) add_below(modules, depth);
    }

    const host::Tree& tree_;
    GitPlaces& places_;
    size_t looked_at_ = 0;
};

void add_worktrees(const host::Tree& tree, Submodules& submodules, GitPlaces& places) {
    const base::Path worktrees = places.common / "worktrees";
    std::optional<host::Node> node = tree.look(worktrees);
    if (!node) return;
    if (node->kind != host::Kind::directory) {
        places.has_all_worktrees = false;
        return;
    }
    for (const host::Entry& entry : tree.list(worktrees)) {
        bool is_too_much = places.worktrees.size() >= kMostWorktrees;
        if (is_too_much || entry.kind == host::Kind::symlink) places.has_all_worktrees = false;
        if (is_too_much) return;
        if (entry.kind != host::Kind::directory) continue;
        places.worktrees.push_back(worktrees / entry.name);
        submodules.add(places.worktrees.back() / "modules");
    }
}

// Whether git would read objects, hooks and configuration from another directory.
bool leads_elsewhere(const host::Tree& tree, const base::Path& directory) {
    if (!tree.look(directory / "commondir")) return false;
    return path_in_file(tree, directory / "commondir", "", directory) != directory;
}

std::optional<GitPlaces> from_link(const host::Tree& tree, const base::Path& working_tree,
                                   const base::Path* open) {
    const base::Path link = working_tree / ".git";
    std::optional<base::Path> directory = path_in_file(tree, link, "gitdir:", working_tree);
    if (!directory) return std::nullopt;
    GitPlaces places{.link = link, .directory = *directory, .common = *directory};
    std::optional<base::Path> common = path_in_file(tree, *directory / "commondir", "", *directory);
    if (common && *common != *directory) {
        std::optional<base::Path> back = path_in_file(tree, *directory / "gitdir", "", *directory);
        bool is_worktree =
            back == link && directory->parent() == *common / "worktrees" && is_repository(tree, *common);
        if (!is_worktree) return std::nullopt;
        places.common = *common;
        return places;
    }
    bool is_open =
        open != nullptr && directory->is_strictly_within(*open) && !working_tree.is_within(*directory);
    bool is_permitted = is_open || working_tree_of(tree, *directory) == working_tree;
    if (!is_permitted || !is_repository(tree, *directory)) return std::nullopt;
    return places;
}

}  // namespace

std::optional<GitPlaces> find_git(const host::Tree& tree, const base::Path& working_tree,
                                  const base::Path* open) {
    const base::Path dot_git = working_tree / ".git";
    std::optional<host::Node> node = tree.look(dot_git);
    if (!node) return std::nullopt;
    std::optional<GitPlaces> places;
    if (node->kind == host::Kind::directory && !leads_elsewhere(tree, dot_git)) {
        places = GitPlaces{.directory = dot_git, .common = dot_git};
    } else if (node->kind == host::Kind::file) {
        places = from_link(tree, working_tree, open);
    }
    if (!places) return std::nullopt;
    Submodules submodules(tree, *places);
    submodules.add(places->common / "modules");
    add_worktrees(tree, submodules, *places);
    return places;
}

std::optional<base::Path> working_tree_of(const host::Tree& tree, const base::Path& repository) {
    base::Result<std::string> config = tree.read(repository / "config", 1u << 20);
    if (!config) return std::nullopt;
    for (const GitSetting& setting : parse_git_config(*config)) {
        if (setting.key != "core.worktree" || setting.value.empty()) continue;
        return physical(
            tree, setting.value.front() == '/' ? base::Path() / setting.value : repository / setting.value);
    }
    return std::nullopt;
}

}  // namespace plan
