// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "plan/project/git.h"
#include "review/git.h"
#include "review/walk.h"

namespace review {
namespace {

constexpr int kDeepestInclude = 10;  // MAX_INCLUDE_DEPTH of git's config.c
constexpr size_t kLargestConfiguration = 1u << 20;
constexpr size_t kMostWords = 64;    // of one setting
constexpr size_t kMostNames = 1000;  // of one configuration with those that it includes

// The words of a command line, for a shell or not: everything between blanks, quotes and operators.
std::vector<std::string> words_of(std::string_view value) {
    constexpr std::string_view kBetween = " \t\n\"'`;|&()<>=!";
    std::vector<std::string> words;
    while (!value.empty() && words.size() < kMostWords) {
        size_t begin = std::min(value.find_first_not_of(kBetween), value.size());
        size_t end = std::min(value.find_first_of(kBetween, begin), value.size());
        if (end > begin) words.emplace_back(value.substr(begin, end - begin));
        value.remove_prefix(end);
    }
    return words;
}

// The caller's own may be a symbolic link.
std::optional<std::string> content_of_own(const base::Path& file) {
    struct stat status;
    if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    base::Result<std::string> text = base::read_file(file.str(), kLargestConfiguration);
    return text ? std::optional(*std::move(text)) : std::nullopt;
}

class Programs {
  public:
    Programs(const Configuration& configuration, const Session& session, Known& known,
             std::vector<Finding>& findings)
        : configuration_(configuration), session_(session), known_(known), findings_(findings) {}

    void look_into(const base::Path& file, int depth = 0) {
        if (depth > kDeepestInclude || !may_open(file) || !seen_.insert(file).second) return;
        std::optional<std::string> text =
            file.is_within(session_.project) ? content_of(file) : content_of_own(file);
        if (!text) return;
        for (const plan::GitSetting& setting : plan::parse_git_config(*text)) {
            if (plan::program_row(setting) == nullptr || setting.key == "core.worktree") continue;
            bool is_include = setting.key == "include.path" || setting.key.starts_with("includeif.");
            if (is_include) {
                look_into(meant(setting.value, file.parent()), depth + 1);
            } else {
                look_at(setting);
            }
        }
    }

  private:
    // Threat: a configuration that the session wrote could name a FIFO, or a path that mounts a server.
    bool may_open(const base::Path& path) const {
        return configuration_.is_callers || path.is_strictly_within(session_.project);
    }

    base::Path meant(std::string_view word, const base::Path& from) const {
        for (std::string_view home : {"~/", "$HOME/", "${HOME}/"}) {
            if (word.starts_with(home)) return session_.home / word.substr(home.size());
        }
        return word.starts_with('/') ? base::Path() / word : from / word;
    }

    void look_at(const plan::GitSetting& setting) {
        bool names_directory = setting.key == "core.hookspath" || setting.key == "init.templatedir";
        std::vector<std::string> words = words_of(setting.value);
        if (names_directory) words = {setting.value};
        for (size_t i = 0; i < words.size(); ++i) {
            // The shell finds a first word without a slash on the PATH.
            bool is_on_path = i == 0 && words[i].find('/') == std::string::npos && !names_directory;
            if (is_on_path) continue;
            for (const base::Path& from : {configuration_.working_tree, session_.project}) {
                const base::Path named = meant(words[i], from);
                if (!may_open(named) || ++names_ > kMostNames) continue;
                std::optional<base::Path> path = physical(named.str());
                // A new file of a layer is not in the project yet.
                if (!path && session_.layer) path = named;
                if (!path || !path->is_strictly_within(session_.project)) continue;
                names_directory ? look_at_directory(*path, setting) : look_at_file(*path, setting);
                look_at_file(named, setting);  // a link
            }
        }
    }

    void look_at_directory(const base::Path& directory, const plan::GitSetting& setting) {
        if (session_.layer) return look_at_changes_in(directory, setting);
        std::optional<std::vector<Name>> names = names_in(directory);
        if (!names) return findings_.push_back({Kind::git, directory, why(setting)});
        for (const Name& name : *names) {
            const base::Path path = directory / name.text;
            if (name.is_directory && name.text == "hooks") look_at_directory(path, setting);
            if (!name.is_directory) look_at_file(path, setting);
        }
    }

    void look_at_changes_in(const base::Path& directory, const plan::GitSetting& setting) {
        for (const base::Path& path : session_.layer->changed) {
            bool is_in_it = path.parent() == directory || path.parent() == directory / "hooks";
            if (is_in_it) look_at_file(path, setting);
        }
    }

    void look_at_file(const base::Path& path, const plan::GitSetting& setting) {
        if (!path.is_strictly_within(session_.project)) return;
        if (session_.layer) {
            if (session_.layer->changed.contains(path))
                findings_.push_back({Kind::git, path, why(setting), needs_request(setting.key)});
            return;
        }
        std::optional<struct stat> status = review::look_at(path);
        if (!status || S_ISDIR(status->st_mode) || !known_.is_new_or_replaced(path, *status)) return;
        findings_.push_back({Kind::git, path, why(setting), needs_request(setting.key)});
    }

    static std::string why(const plan::GitSetting& setting) {
        return base::format("your git settings run it ({})", setting.key);
    }

    const Configuration& configuration_;
    const Session& session_;
    Known& known_;
    std::vector<Finding>& findings_;
    std::set<base::Path> seen_;
    size_t names_ = 0;
};

}  // namespace

void look_at_programs(const Configuration& configuration, const Session& session, Known& known,
                      std::vector<Finding>& findings) {
    Programs(configuration, session, known, findings).look_into(configuration.file);
}

}  // namespace review
