// SPDX-License-Identifier: MIT
// Which files git ignores, by gitignore(5). A jailed process writes these rules, so no git of the user reads
// them, and work on them is bounded. A file that is ignored is neither shown nor applied, so a rule can't
// bring a file into the project. What git tracks is never ignored.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace layers {

struct IgnoreRule {
    std::string pattern;
    bool is_negated = false;
    bool is_for_directories = false;
    bool is_for_names = false;  // of files at any depth: it has no slash
};

// One file of rules.
std::vector<IgnoreRule> parse_ignore_rules(std::string_view text);

// Whether a path matches the pattern of a rule, by wildmatch of git. Each comparison costs one of `budget`;
// nothing matches when it is used up.
bool matches_pattern(std::string_view pattern, std::string_view path, size_t& budget);

class IgnoredFiles {
  public:
    // The content of a .gitignore, by its path; nothing: the file is missing.
    using Reader = std::function<std::optional<std::string>(const std::string& path)>;
    // `excluded` is the content of .git/info/exclude, `tracked` the paths in git's index.
    IgnoredFiles(Reader read, std::string_view excluded, std::set<std::string> tracked);

    bool is_ignored(const std::string& path, bool is_directory);

  private:
    bool is_tracked(const std::string& path) const;
    bool is_matched(const std::string& path, bool is_directory);
    std::optional<bool> verdict(const std::vector<IgnoreRule>& rules, std::string_view path,
                                bool is_directory);
    const std::vector<IgnoreRule>& rules_in(const std::string& directory);

    Reader read_;
    std::vector<IgnoreRule> excluded_;
    std::set<std::string> tracked_;
    std::map<std::string, std::vector<IgnoreRule>> rules_;  // by directory
    std::map<std::string, bool> directories_;               // that have been looked at
    size_t budget_;
};

}  // namespace layers
