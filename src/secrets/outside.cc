// SPDX-License-Identifier: MIT
#include "secrets/outside.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>

#include "base/file.h"
#include "base/text.h"

namespace secrets {
namespace {

using base::Error;
using base::Path;
using base::Result;
using base::Status;

// Variables with a single path that is not searched.
constexpr std::string_view kNoSearchPath[] = {"HOME", "PWD", "OLDPWD"};

Error reachable(const std::string& path, std::string_view why) {
    return Error{.what = base::format("{} {}", base::printable(path), why),
                 .advice = "move the source out of the project and of other places that the jail can write"};
}

// Without links; nothing if it does not exist.
std::optional<Path> physical(const std::string& path) {
    char resolved[PATH_MAX];
    if (::realpath(path.c_str(), resolved) == nullptr) return std::nullopt;
    Result<Path> parsed = Path::parse(resolved);
    return parsed ? std::optional(*std::move(parsed)) : std::nullopt;
}

struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    bool operator==(const Identity&) const = default;
};

std::optional<Identity> identity_of(const Path& path) {
    struct stat status;
    if (::stat(path.c_str(), &status) != 0) return std::nullopt;
    return Identity{status.st_dev, status.st_ino};
}

// Whether `path` is a writable place or below one, also by another name of a place (a bind mount).
bool is_writable(const Surroundings& surroundings, const Path& path) {
    std::vector<Identity> places;
    for (const Path& place : surroundings.writable) {
        if (path.is_within(place)) return true;
        std::optional<Path> without_links = physical(place.str());
        if (without_links && path.is_within(*without_links)) return true;
        if (std::optional<Identity> identity = identity_of(place)) places.push_back(*identity);
    }
    for (Path ancestor = path;; ancestor = ancestor.parent()) {
        std::optional<Identity> identity = identity_of(ancestor);
        if (identity && std::ranges::find(places, *identity) != places.end()) return true;
        if (ancestor.is_root()) return false;
    }
}

// Whether a link in a writable place is on the way to `path`, or the way leads out of such a place again by
// "..". The jail could lead both elsewhere.
bool passes_writable(const Surroundings& surroundings, std::string_view path) {
    constexpr int kMostLinks = 40;  // as the kernel
    auto add_reversed = [](std::vector<std::string>& names, std::string_view text) {
        std::vector<std::string_view> parts = base::split(text, '/');
        names.insert(names.end(), parts.rbegin(), parts.rend());
    };
    std::vector<std::string> left;
    add_reversed(left, path);
    Path at;
    for (int links = 0; !left.empty();) {
        std::string name = std::move(left.back());
        left.pop_back();
        if (name.empty() || name == ".") continue;
        if (name == "..") {
            if (is_writable(surroundings, at)) return true;
            at = at.parent();
            continue;
        }
        Path next = at / name;
        char target[PATH_MAX];
        ssize_t size = ::readlink(next.c_str(), target, sizeof target);
        if (size < 0) {
            at = std::move(next);
            continue;
        }
        if (++links > kMostLinks || is_writable(surroundings, next)) return true;
        std::string_view led(target, static_cast<size_t>(size));
        if (led.starts_with('/')) at = Path();
        add_reversed(left, led);
    }
    return is_writable(surroundings, at);
}

// The paths that a text may name: "--require /a/b", "if=/a/b", "-I/a/b", "~/a" and "a/b", which counts from
// the root directory, where a source runs.
std::vector<std::string> paths_in(const Surroundings& surroundings, std::string_view text) {
    constexpr std::string_view kEnds = " \t\r\n=,;:'\"`()<>|&";
    std::vector<std::string> paths;
    while (!text.empty()) {
        std::string_view word = text.substr(0, text.find_first_of(kEnds));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        size_t slash = word.find('/');
        if (slash == std::string_view::npos) continue;
        paths.emplace_back(word.substr(slash));
        if (slash == 0) continue;
        paths.push_back(base::format("/{}", word));
        if (word[slash - 1] == '~') paths.push_back(surroundings.home.str() + paths[paths.size() - 2]);
    }
    return paths;
}

// The first path in a text that leads to a writable place, or nothing. A name with a blank in it is found
// too.
std::optional<std::string> writable_in(const Surroundings& surroundings, std::string_view text) {
    for (const Path& place : surroundings.writable) {
        bool has_blank = place.str().find_first_of(" ,;:=") != std::string::npos;
        if (has_blank && text.find(place.str()) != std::string_view::npos) return place.str();
    }
    for (std::string& path : paths_in(surroundings, text)) {
        if (is_writable(surroundings, Path() / path) || passes_writable(surroundings, path))
            return std::move(path);
    }
    return std::nullopt;
}

bool shares_a_device(const Surroundings& surroundings, dev_t device) {
    return std::ranges::any_of(surroundings.writable, [&](const Path& place) {
        std::optional<Identity> identity = identity_of(place);
        return identity && identity->device == device;
    });
}

// The git repository or virtual environment around a directory of PATH. A home directory and what is hidden
// in it, as ~/.pyenv, are not the project of a session.
std::optional<Path> project_around(const Surroundings& surroundings, const Path& directory) {
    std::optional<Path> home = physical(surroundings.home.str());
    for (Path at = directory; !at.is_root(); at = at.parent()) {
        if (home && home->is_within(at)) break;
        bool is_hidden_at_home = home && at.is_within(*home) && at.relative_to(*home).starts_with('.');
        bool is_repository = !is_hidden_at_home && ::access((at / ".git").c_str(), F_OK) == 0;
        if (is_repository || ::access((at / "pyvenv.cfg").c_str(), F_OK) == 0) return at;
    }
    return std::nullopt;
}

}  // namespace

Status check_outside(const Surroundings& surroundings, int file, const std::string& path) {
    struct stat status;
    if (::fstat(file, &status) != 0) return base::system_error("look at " + path, errno);
    std::optional<Path> opened = physical(base::format("/proc/self/fd/{}", file));
    // A link on the way may be in the jail although the file itself is not.
    Result<Path> named = Path::parse(path);
    bool is_inside = !opened || is_writable(surroundings, *opened) ||
                     (named && is_writable(surroundings, *named)) || passes_writable(surroundings, path);
    if (is_inside) return reachable(path, "is in a place that the jail can write");
    bool has_other_names = S_ISREG(status.st_mode) && status.st_nlink > 1;
    bool is_ours = status.st_uid == ::geteuid();
    if (has_other_names && is_ours && shares_a_device(surroundings, status.st_dev))
        return reachable(path, "has another name (a hard link), which may be in the jail");
    return base::success();
}

Status check_outside(const Surroundings& surroundings, const std::string& path) {
    base::Fd file(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (file) return check_outside(surroundings, file.get(), path);
    // The jail could make it.
    Result<Path> named = Path::parse(path);
    if ((named && is_writable(surroundings, *named)) || passes_writable(surroundings, path))
        return reachable(path, "is in a place that the jail can write");
    return base::success();
}

Status check_argument(const Surroundings& surroundings, const std::string& argument) {
    if (std::optional<std::string> path = writable_in(surroundings, argument))
        return reachable(*path, "is in a place that the jail can write");
    std::vector<std::string> paths = paths_in(surroundings, argument);
    if (argument.starts_with('/')) paths.push_back(argument);  // with blanks
    for (const std::string& path : paths) {
        // A pipe or a device has no other name.
        struct stat status;
        if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
        if (Status outside = check_outside(surroundings, path); !outside) return outside;
    }
    return base::success();
}

const char* variable_in(const std::vector<std::string>& environment, std::string_view name) {
    for (const std::string& entry : environment) {
        if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=')
            return entry.c_str() + name.size() + 1;
    }
    return nullptr;
}

Result<std::string> find_program(const Surroundings& surroundings, const std::string& name) {
    auto is_program = [](const std::string& path) {
        struct stat status;
        return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
               ::access(path.c_str(), X_OK) == 0;
    };
    if (name.starts_with('/')) {
        if (!is_program(name))
            return Error{.what = base::format("{} is not a program", base::printable(name))};
        Status outside = check_outside(surroundings, name);
        return outside ? Result<std::string>(name) : outside.error();
    }
    if (name.find('/') != std::string::npos) {
        return Error{.what = base::format("the program {} has a relative path", base::printable(name)),
                     .advice = "write its path from /, or its name alone"};
    }
    const char* search = variable_in(surroundings.environment, "PATH");
    for (std::string_view directory : base::split(search == nullptr ? "/usr/bin:/bin" : search, ':')) {
        if (!directory.starts_with('/')) continue;
        std::string path = base::format("{}/{}", directory, name);
        if (!is_program(path)) continue;
        std::optional<Path> place = physical(std::string(directory));
        if (std::optional<Path> project = place ? project_around(surroundings, *place) : std::nullopt) {
            return Error{
                .what = base::format("{} is in the project {}, where an earlier session could make it",
                                     base::printable(path), base::printable(project->str())),
                .advice = base::format("check it, and write its path from / in from_command: {}",
                                       base::shell_word(path))};
        }
        Status outside = check_outside(surroundings, path);
        return outside ? Result<std::string>(path) : outside.error();
    }
    return Error{.what = base::format("there is no program {} in PATH", base::printable(name)),
                 .advice = "install it, or write its path from /"};
}

std::vector<std::string> environment_for(const Surroundings& surroundings) {
    std::vector<std::string> kept;
    for (const std::string& entry : surroundings.environment) {
        size_t equals = entry.find('=');
        std::string_view name = std::string_view(entry).substr(0, equals);
        std::string_view value =
            equals == std::string::npos ? "" : std::string_view(entry).substr(equals + 1);
        bool is_searched = value.find('/') != std::string_view::npos &&
                           std::ranges::find(kNoSearchPath, name) == std::end(kNoSearchPath);
        if (!is_searched) {
            kept.push_back(entry);
            continue;
        }
        std::vector<std::string> parts;
        bool is_changed = false;
        for (std::string_view part : base::split(value, ':')) {
            Result<Path> path = Path::parse(part);
            std::optional<Path> place = path ? physical(path->str()) : std::nullopt;
            bool is_jails =
                path && (is_writable(surroundings, *path) || (place && is_writable(surroundings, *place)));
            // A program would be searched where the source runs.
            bool is_relative = name == "PATH" && !part.starts_with('/');
            is_changed = is_changed || is_jails || is_relative;
            if (!is_jails && !is_relative) parts.emplace_back(part);
        }
        std::string rest = base::join(parts, ":");
        // As NODE_OPTIONS="--require /path", which names code.
        if (writable_in(surroundings, rest)) continue;
        if (!is_changed) {
            kept.push_back(entry);
        } else if (!parts.empty()) {
            kept.push_back(base::format("{}={}", name, rest));
        }
    }
    return kept;
}

}  // namespace secrets
