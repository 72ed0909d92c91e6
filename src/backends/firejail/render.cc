// SPDX-License-Identifier: MIT
// Theory of operation. firejail interprets every path as a pattern, so special characters are put into
// brackets. It refuses some characters in any path. A line of a profile ends at a '#', and several blanks
// count as one: a path with these becomes a separate argument. firejail gets each path exactly, or the launch
// fails with a message that names the path.
//
// A profile that is named on the command line is the only one that is read: neither the user's
// (~/.config/firejail) nor the administrator's (/etc/firejail) can add to it. (tests/jail/firejail.bats)
#include "backends/firejail/render.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/no_links.h"
#include "base/text.h"

namespace backends::firejail {
namespace {

constexpr std::string_view kRefused = "\\&!\"<>%^{};,";
constexpr size_t kLongestPath = 4000;  // including the name of the act
constexpr size_t kMostLateOptions = 80;

// --writable-var: without it firejail makes all of /var read-only and not executable, also a project there;
// the shown parts of /var have their own rules. With the others no program of the system gains privileges,
// the user's services can't be reached, and kinds of devices are left out. The green prompt, the clean-up of
// ~/.config/pulse and a home directory without completion are defaults of firejail that nothing here needs.
constexpr std::string_view kAlways[] = {
    "--quiet",       "--caps.drop=all", "--nonewprivs", "--private-dev", "--nosound",           "--novideo",
    "--notv",        "--nodvd",         "--nou2f",      "--noinput",     "--keep-config-pulse", "--tab",
    "--writable-var"};

std::string_view word_of(Act act) {
    switch (act) {
        case Act::whitelist:
            return "whitelist";
        case Act::read_only:
            return "read-only";
        case Act::read_write:
            return "read-write";
        case Act::blacklist:
            return "blacklist";
        case Act::tmpfs:
            return "tmpfs";
    }
    return "";
}

bool is_control(char character) {
    auto byte = static_cast<unsigned char>(character);
    return byte < 0x20 || byte == 0x7f;
}

bool can_be_told(std::string_view path) {
    bool is_refused = std::ranges::any_of(path, [](char character) {
        return is_control(character) || kRefused.find(character) != std::string_view::npos;
    });
    return !is_refused && path.find("..") == std::string_view::npos && path.size() <= kLongestPath;
}

bool fits_a_line(std::string_view path) {
    return path.find('#') == std::string_view::npos && path.find("  ") == std::string_view::npos &&
           !path.ends_with(' ');
}

// A pattern that matches only this path.
std::string pattern_of(std::string_view path) {
    std::string pattern;
    for (char character : path) {
        bool is_special = character == '*' || character == '?' || character == '[';
        if (is_special) {
            pattern += {'[', character, ']'};
        } else {
            pattern += character;
        }
    }
    return pattern;
}

base::Error refuse(const base::Path& path) {
    return base::Error{.what = base::format("firejail can't be told of {}: its paths have none of {}, no two "
                                            "dots and no control characters in them",
                                            base::printable(path.str()), kRefused),
                       .advice = "rename it, or use another backend"};
}

std::vector<std::string> options_of(const plan::Plan& plan, const View& view) {
    std::vector<std::string> options(std::begin(kAlways), std::end(kAlways));
    bool is_networked = plan.network.reached == policy::NetworkMode::open;
    // Not with the host's network: there firejail would exit if an X server has an abstract socket. No jail
    // gets a key to that server in any case.
    if (!is_networked) options.insert(options.end(), {"--net=none", "--x11=none"});
    options.emplace_back(plan.processes.private_ipc ? "--ipc-namespace" : "--keep-dev-shm");
    if (!view.shows_graphics) options.emplace_back("--no3d");
    if (view.keeps_var_tmp) options.emplace_back("--keep-var-tmp");
    if (view.shows_all_homes) options.emplace_back("--allusers");
    return options;
}

}  // namespace

base::Result<Rendered> render(const plan::Plan& plan, const View& view) {
    Rendered rendered{.options = options_of(plan, view)};
    for (const Entry& entry : view.entries) {
        const std::string& path = entry.path.str();
        if (!can_be_told(path)) return refuse(entry.path);
        std::string pattern = pattern_of(path);
        std::string word(word_of(entry.act));
        if (fits_a_line(path)) {
            rendered.profile += base::format("{} {}\n", word, pattern);
        } else {
            rendered.late_options.push_back(base::format("--{}={}", word, pattern));
        }
    }
    if (rendered.late_options.size() > kMostLateOptions) {
        return base::Error{
            .what = "firejail can't be told of so many paths with '#' or with blanks side by side",
            .advice = "rename them, or use another backend"};
    }
    return rendered;
}

namespace {

using inner::Check;

void set_identity(Check& check, const struct stat& status) {
    check.device = status.st_dev;
    check.inode = status.st_ino;
    check.type = status.st_mode & S_IFMT;
}

// Checks that the jail has something else there, or nothing that can be opened. Not needed if the host has
// nothing there either.
void add_other(std::vector<Check>& checks, const std::string& target) {
    struct stat status;
    if (::stat(target.c_str(), &status) != 0) return;
    Check check{.target = target, .is_other = true};
    set_identity(check, status);
    checks.push_back(std::move(check));
}

base::Status identify(Check& check) {
    base::Result<base::Path> path = base::Path::parse(check.target);
    if (!path) return path.error();
    base::Fd fd(base::open_without_links(*path, O_PATH));
    struct stat status;
    if (!fd || ::fstat(fd.get(), &status) != 0) {
        base::Error error =
            base::system_error(base::format("show {} in the jail", check.target), fd ? errno : -fd.get());
        error.advice = "something else changed it just now; try again";
        return error;
    }
    check.has_identity = true;
    set_identity(check, status);
    return base::success();
}

// Threat: if firejail finds no kernel threads in /proc, or a certain name in the environment of pid 1, it
// drops its privileges and executes the program outside of any jail. (tests/jail/firejail.bats)
void add_namespaces(const plan::Plan& plan, std::vector<Check>& checks) {
    add_other(checks, "/proc/self/ns/pid");
    add_other(checks, "/proc/self/ns/mnt");
    if (plan.processes.private_ipc) add_other(checks, "/proc/self/ns/ipc");
    if (plan.network.reached != policy::NetworkMode::open) add_other(checks, "/proc/self/ns/net");
}

// The last act on each path, which decides what is there in the end.
std::map<base::Path, Act> last_acts(const View& view) {
    std::map<base::Path, Act> acts;
    for (const Entry& entry : view.entries) acts[entry.path] = entry.act;
    return acts;
}

base::Status check_shown(const base::Path& path, Act act, std::vector<Check>& checks) {
    Check check{.target = path.str(), .is_readonly = act == Act::read_only};
    if (base::Status identified = identify(check); !identified) return identified;
    checks.push_back(std::move(check));
    return base::success();
}

bool exists(const base::Path& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace

base::Result<std::vector<inner::Check>> make_checks(const plan::Plan& plan, const View& view) {
    std::vector<Check> checks;
    add_namespaces(plan, checks);
    for (const base::Path& place : view.emptied) add_other(checks, place.str());
    // If a sound server has its sockets in the host's /dev/shm, firejail shows all of it again.
    if (plan.processes.private_ipc) add_other(checks, "/dev/shm");
    if (view.filters_accounts && !view.shows_all_homes) {
        for (const char* file : {"/etc/passwd", "/etc/group"}) add_other(checks, file);
    }
    for (const auto& [path, act] : last_acts(view)) {
        if (std::ranges::find(view.emptied, path) != view.emptied.end()) continue;
        bool is_closed = act == Act::blacklist || act == Act::tmpfs;
        if (is_closed) {
            add_other(checks, path.str());
        } else if (exists(path)) {
            if (base::Status checked = check_shown(path, act, checks); !checked) return checked.error();
        }
    }
    for (const Check& check : checks) {
        bool is_another = check.target == plan.project.str() && plan.project_inode != 0 &&
                          check.has_identity && check.inode != plan.project_inode;
        if (is_another) {
            return base::Error{
                .what = plan.project.str() + " is another directory than when the job was submitted",
                .advice = "submit it again"};
        }
    }
    return checks;
}

}  // namespace backends::firejail
