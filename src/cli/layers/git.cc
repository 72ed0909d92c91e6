// SPDX-License-Identifier: MIT
#include "cli/layers/git.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/no_links.h"
#include "base/text.h"
#include "cli/layers/view.h"
#include "diff/merge.h"
#include "diff/patch.h"
#include "layers/git_index.h"
#include "layers/tree.h"
#include "secrets/outside.h"

namespace cli {
namespace {

using base::printable;

constexpr std::string_view kBranchFiles = ".git/refs/heads/";

// The words after `sh -c SCRIPT sh`, of which git adds the path of the repository.
constexpr const char* kSendRepository = R"sh(exec git upload-pack "$1")sh";

// The objects and the index are outside the layer, so that it does not change. Threat: its configuration,
// attributes of its repository and hooks would run programs that commit other files than the user was shown
// (tests/jail/cow_attacks.bats). So git gets a repository of its own, with the references and objects of the
// layer alone, and only `rev-parse` about names reads the layer's.
constexpr const char* kSendCommit = R"sh(set -e
list=$1 name=$2 message=$3 user=$4 email=$5 PATH=$6:/usr/local/bin:/usr/bin:/bin
cd "$7"
export LC_ALL=C PATH
work=$(mktemp -d)
objects=$(cd "$(git rev-parse --git-path objects)" && pwd)
own=$(git rev-parse --absolute-git-dir) common=$(cd "$(git rev-parse --git-common-dir)" && pwd)
format=$(git rev-parse --show-object-format 2>/dev/null) || format=sha1
git init -q --bare --template= --object-format="$format" "$work/repository"
mkdir -p "$work/repository/info"
cp -R -P "$common/refs" "$own/HEAD" "$work/repository"
[ ! -f "$common/packed-refs" ] || cp "$common/packed-refs" "$work/repository"
[ ! -f "$common/info/exclude" ] || cp "$common/info/exclude" "$work/repository/info"
printf '%s\n' "$objects" >"$work/repository/objects/info/alternates"
export GIT_DIR="$work/repository" GIT_WORK_TREE="$PWD" GIT_INDEX_FILE="$work/index"
head=$(git rev-parse -q --verify 'HEAD^0') || head=
[ -z "$head" ] || git read-tree "$head"
git check-ignore -z --stdin <"$list" | sort -z >"$work/ignored"
sort -z "$list" >"$work/all"
comm -z -23 "$work/all" "$work/ignored" >"$work/files"
git update-index -z --add --remove --replace --stdin <"$work/files"
tree=$(git write-tree)
[ -z "$user" ] || export GIT_AUTHOR_NAME="$user" GIT_COMMITTER_NAME="$user"
[ -z "$email" ] || export GIT_AUTHOR_EMAIL="$email" GIT_COMMITTER_EMAIL="$email"
git var GIT_COMMITTER_IDENT >/dev/null 2>&1 || export GIT_AUTHOR_NAME=agent-sandbox GIT_AUTHOR_EMAIL=agent-sandbox@localhost \
    GIT_COMMITTER_NAME=agent-sandbox GIT_COMMITTER_EMAIL=agent-sandbox@localhost
if [ -n "$head" ] && [ "$tree" = "$(git rev-parse "$head^{tree}")" ]; then commit=$head
else commit=$(git commit-tree "$tree" ${head:+-p "$head"} -m "$message"); fi
git update-ref "refs/heads/$name" "$commit"
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
exec git upload-pack "$work/repository")sh";

constexpr size_t kLargestMerged = 4u << 20;
constexpr size_t kLargestKeptIndex = 256u << 20;

constexpr const char* kIndexLock = "index.lock";
constexpr std::string_view kLockMark = "agent-sandbox apply\n";

// git's own lock has the new index, or nothing.
bool is_left_by_apply(int repository) {
    base::Fd lock(::openat(repository, kIndexLock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!lock) return false;
    char text[64];
    const ssize_t count = ::read(lock.get(), text, sizeof text);
    return count > 0 && std::string_view(text, static_cast<size_t>(count)) == kLockMark;
}

// By git-check-ref-format(1). Threat: a file name in a layer that git would read as another refspec.
bool is_branch_name(std::string_view name) {
    constexpr std::string_view kNever = " ~^:?*[\\\x7f";
    bool has_never = std::ranges::any_of(name, [&](char letter) {
        return static_cast<unsigned char>(letter) < ' ' || kNever.find(letter) != std::string_view::npos;
    });
    const std::vector<std::string_view> parts = base::split(name, '/');
    bool has_bad_part = std::ranges::any_of(parts, [](std::string_view part) {
        return part.empty() || part.starts_with('.') || part.ends_with(".lock");
    });
    return !has_never && !has_bad_part && !name.starts_with('-') && !name.ends_with('.') &&
           name.find("..") == std::string_view::npos && name.find("@{") == std::string_view::npos;
}

struct GitCommand {
    std::string program;
    std::vector<std::string> environment;
    base::Path project;
};

// The user's git, not one that a session could have put into the project, and without variables that lead it
// to another repository.
base::Result<GitCommand> find_git_command(const Invocation& call, const layers::Layer& layer) {
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return workspace.error();
    const secrets::Surroundings surroundings{.environment = call.caller.environment,
                                             .home = workspace->identity.home,
                                             .store = {},
                                             .writable = {layer.about.project}};
    base::Result<std::string> program = secrets::find_program(surroundings, "git");
    if (!program) return program.error();
    GitCommand git{.program = *std::move(program),
                   .environment = secrets::environment_for(surroundings),
                   .project = layer.about.project};
    std::erase_if(git.environment, [](const std::string& variable) {
        return variable.starts_with("GIT_") || variable.starts_with("AGENT_SANDBOX_COW_");
    });
    // For the session that sends: it must not apply the layer when it ends.
    git.environment.emplace_back("AGENT_SANDBOX_COW_AT_END=keep");
    return git;
}

// Runs git in the project. The error has what git printed.
base::Status run_git(const GitCommand& git, const std::vector<std::string>& words,
                     std::string* output = nullptr) {
    std::vector<std::string> all{git.program, "-C", git.project.str(), "-c", "core.hooksPath=/dev/null"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments, environment;
    for (std::string& word : all) arguments.push_back(word.data());
    std::vector<std::string> variables = git.environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
    base::Fd printed(::memfd_create("git", MFD_CLOEXEC));
    base::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    base::Fd written(output != nullptr ? ::memfd_create("git", MFD_CLOEXEC) : ::dup(nothing.get()));
    if (!printed || !nothing || !written) return base::system_error("run git", errno);
    const pid_t child = ::fork();
    if (child < 0) return base::system_error("run git", errno);
    if (child == 0) {
        ::dup2(nothing.get(), STDIN_FILENO);
        ::dup2(written.get(), STDOUT_FILENO);
        ::dup2(printed.get(), STDERR_FILENO);
        ::execve(arguments[0], arguments.data(), environment.data());
        ::_exit(127);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        if (output == nullptr) return base::success();
        ::lseek(written.get(), 0, SEEK_SET);
        base::Result<std::string> text = base::read_descriptor(written.get(), kLargestMerged);
        if (!text) return text.error();
        *output = *std::move(text);
        return base::success();
    }
    ::lseek(printed.get(), 0, SEEK_SET);
    constexpr size_t kMostPrinted = 4096;
    std::string text(kMostPrinted, '\0');
    const ssize_t count = ::read(printed.get(), text.data(), text.size());
    text.resize(count > 0 ? static_cast<size_t>(count) : 0);
    return base::Error{.what = "git failed: " + printable(base::trim(text)),
                       .exit_code = base::ExitCode::check_failed};
}

// Of the project and the user; empty: not set.
std::string user_setting(const GitCommand& git, const std::string& name) {
    std::string value;
    if (!run_git(git, {"config", "--get", name}, &value)) return "";
    return std::string(base::trim(value));
}

// This program as git starts it for the side that sends; git adds the path of the repository.
std::string sender(const layers::Layer& layer, const std::vector<std::string>& options,
                   const std::vector<std::string>& command) {
    std::string program(PATH_MAX, '\0');
    const ssize_t length = ::readlink("/proc/self/exe", program.data(), program.size());
    program.resize(length > 0 ? static_cast<size_t>(length) : 0);
    std::vector<std::string> words{program,    "--quiet",     "--network",
                                   "isolated", "--project",   layer.about.project.str(),
                                   "--layer",  layer.about.id};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    for (std::string& word : words) word = base::shell_word(word);
    return base::join(words, " ");
}

base::Status fetch_from(const GitCommand& git, const std::string& program,
                        const std::vector<std::string>& references) {
    std::vector<std::string> words{"-c",
                                   "fetch.fsckObjects=true",
                                   "-c",
                                   "gc.auto=0",
                                   "-c",
                                   "maintenance.auto=false",
                                   "fetch",
                                   "--quiet",
                                   "--no-tags",
                                   "--no-recurse-submodules",
                                   "--upload-pack=" + program,
                                   git.project.str()};
    words.insert(words.end(), references.begin(), references.end());
    return run_git(git, words);
}

base::Result<std::string> content_below(int root, const std::string& path) {
    base::Fd file(layers::open_below(root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    if (!file) return base::system_error("read " + printable(path), -file.get());
    return base::read_descriptor(file.get(), kLargestMerged);
}

// With the permissions of the change, by one rename.
bool replace_below(int root, const layers::Change& change, const std::string& content) {
    constexpr const char* kNew = ".agent-sandbox-merged";
    const layers::Place place = layers::place_of(root, change.path);
    if (place.error != 0) return false;
    base::Fd file(
        ::openat(place.directory.get(), kNew, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    bool is_written = file && base::write_all(file.get(), content) &&
                      ::fchmod(file.get(), change.after.mode) == 0 && ::fsync(file.get()) == 0;
    bool is_done =
        is_written && ::renameat(place.directory.get(), kNew, place.directory.get(), place.name.c_str()) == 0;
    if (file && !is_done) ::unlinkat(place.directory.get(), kNew, 0);
    return is_done;
}

// A file with the names, which the jail can read.
class NameList {
  public:
    static base::Result<NameList> make(const std::vector<std::string>& names) {
        std::string path = "/tmp/agent-sandbox-names.XXXXXX";
        NameList list;
        base::Fd file(::mkostemp(path.data(), O_CLOEXEC));
        if (!file) return base::system_error("make a file in /tmp", errno);
        list.path_ = path;
        std::string text;
        for (const std::string& name : names) text += name + '\0';
        if (base::Status written = base::write_all(file.get(), text); !written) return written.error();
        return list;
    }
    NameList(NameList&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
    NameList(const NameList&) = delete;
    NameList& operator=(const NameList&) = delete;
    NameList& operator=(NameList&&) = delete;
    ~NameList() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    const std::string& path() const { return path_; }

  private:
    NameList() = default;
    std::string path_;
};

}  // namespace

base::Result<RepositoryLocks> RepositoryLocks::take(int project, const std::vector<std::string>& paths) {
    std::set<std::string> repositories;
    for (const std::string& path : paths) repositories.insert(repository_of(path));
    repositories.erase("");
    RepositoryLocks locks;
    for (const std::string& name : repositories) {
        base::Fd directory(layers::open_below(project, name, O_RDONLY | O_DIRECTORY));
        if (!directory) continue;  // a new one
        base::Fd lock(
            ::openat(directory.get(), kIndexLock, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        const int problem = errno;
        if (lock) {
            (void)base::write_all(lock.get(), kLockMark);
        } else if (problem != EEXIST) {
            return base::system_error(base::format("make {}/{}", printable(name), kIndexLock), problem);
        } else if (!is_left_by_apply(directory.get())) {
            return base::Error{
                .what = base::format("git uses the repository: {}/{} exists", printable(name), kIndexLock),
                .advice = "wait until git has finished; if no git runs, remove this file",
                .exit_code = base::ExitCode::check_failed};
        }
        locks.repositories_.push_back(std::move(directory));
    }
    return locks;
}

RepositoryLocks::~RepositoryLocks() {
    for (const base::Fd& directory : repositories_) ::unlinkat(directory.get(), kIndexLock, 0);
}

bool is_repository_lock(std::string_view path) {
    const std::string repository = repository_of(path);
    return !repository.empty() && path.substr(repository.size()) == std::string("/") + kIndexLock;
}

std::vector<std::string> branches_in(const std::vector<layers::Change>& changes) {
    std::vector<std::string> branches;
    for (const layers::Change& change : changes) {
        if (change.is_deletion() || change.after.kind != layers::EntryKind::file) continue;
        if (change.path == ".git/packed-refs") return {"*"};
        if (!change.path.starts_with(kBranchFiles)) continue;
        std::string name = change.path.substr(kBranchFiles.size());
        if (is_branch_name(name)) branches.push_back(std::move(name));
    }
    return branches;
}

std::string branch_prefix(const layers::Layer& layer) {
    return base::format("agent/{}/", layer.about.title());
}

base::Status fetch_branches(const Invocation& call, const layers::Layer& layer,
                            const std::vector<std::string>& branches) {
    base::Result<GitCommand> git = find_git_command(call, layer);
    if (!git) return git.error();
    std::vector<std::string> references;
    for (const std::string& branch : branches)
        references.push_back(
            base::format("refs/heads/{}:refs/heads/{}{}", branch, branch_prefix(layer), branch));
    return fetch_from(*git, sender(layer, {}, {"sh", "-c", kSendRepository, "sh"}), references);
}

bool merge_into_layer(const Invocation& call, const layers::Layer& layer, const layers::Change& change) {
    bool are_files = change.before.kind == layers::EntryKind::file &&
                     change.after.kind == layers::EntryKind::file && !is_of_repository(change.path) &&
                     change.before.size <= kLargestMerged && change.after.size <= kLargestMerged;
    if (!are_files) return false;
    base::Result<std::string> index = base::read_file(layer.index(), kLargestKeptIndex);
    std::optional<std::string> object = index ? layers::object_of(*index, change.path) : std::nullopt;
    base::Result<GitCommand> git = find_git_command(call, layer);
    std::string base;
    if (!object || !git || !run_git(*git, {"cat-file", "blob", *object}, &base)) return false;
    base::Fd upper(base::open_without_links(base::Path::known(layer.upper()), O_RDONLY | O_DIRECTORY));
    base::Fd project(base::open_without_links(layer.about.project, O_RDONLY | O_DIRECTORY));
    base::Result<std::string> theirs = content_below(upper.get(), change.path);
    base::Result<std::string> yours = content_below(project.get(), change.path);
    if (!theirs || !yours) return false;
    bool is_text = !diff::is_binary(base) && !diff::is_binary(*theirs) && !diff::is_binary(*yours);
    std::optional<std::string> merged = is_text ? diff::merge(base, *yours, *theirs) : std::nullopt;
    return merged && replace_below(upper.get(), change, *merged);
}

base::Status make_branch(const Invocation& call, const layers::Layer& layer, const BranchRequest& request) {
    base::Result<GitCommand> git = find_git_command(call, layer);
    if (!git) return git.error();
    const std::string reference = "refs/heads/" + request.name;
    if (!run_git(*git, {"check-ref-format", "--branch", request.name}))
        return base::Error{
            .what = base::format("'{}' can't be the name of a branch", printable(request.name)),
            .exit_code = base::ExitCode::usage};
    if (run_git(*git, {"show-ref", "--verify", "--quiet", reference}))
        return base::Error{.what = base::format("the branch {} exists already", printable(request.name)),
                           .advice = "use another name",
                           .exit_code = base::ExitCode::check_failed};
    base::Result<NameList> names = NameList::make(request.files);
    if (!names) return names.error();
    const std::string programs = base::Path::known(git->program).parent().str();
    const std::string program =
        sender(layer, {"--ro", names->path()},
               {"/bin/sh", "-c", kSendCommit, "sh", names->path(), request.name, request.message,
                user_setting(*git, "user.name"), user_setting(*git, "user.email"), programs});
    return fetch_from(*git, program, {reference + ":" + reference});
}

base::Result<std::vector<std::string>> files_of_branches(const Invocation& call, const layers::Layer& layer,
                                                         const std::vector<std::string>& branches) {
    base::Result<GitCommand> git = find_git_command(call, layer);
    if (!git) return git.error();
    std::vector<std::string> patterns{"for-each-ref", "--format=%(objectname)"};
    for (const std::string& branch : branches) patterns.push_back("refs/heads/" + branch);
    std::string commits;
    if (base::Status listed = run_git(*git, patterns, &commits); !listed) return listed.error();
    std::set<std::string> files;
    for (std::string_view line : base::split(commits, '\n')) {
        const std::string commit(line);
        if (commit.empty()) continue;
        // git compares trees for that, and reads neither files of the project nor attributes.
        std::string text, base;
        const base::Status found = run_git(*git, {"merge-base", "HEAD", commit}, &base);
        base::Status read = found ? run_git(*git,
                                            {"diff-tree", "-r", "-z", "--name-only", "--no-renames",
                                             "--diff-filter=AMT", std::string(base::trim(base)), commit},
                                            &text)
                                  : run_git(*git, {"ls-tree", "-r", "-z", "--name-only", commit}, &text);
        if (!read) return read.error();
        for (std::string_view name : base::split(text, '\0')) {
            if (!name.empty()) files.emplace(name);
        }
    }
    return std::vector<std::string>(files.begin(), files.end());
}

}  // namespace cli
