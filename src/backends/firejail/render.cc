// SPDX-License-Identifier: MIT
// Theory of operation. firejail interprets every path as a pattern, so special characters are put into
// brackets. It refuses some characters in any path. A line of a profile ends at a '#', and several blanks
// count as one: a path with these becomes a separate argument. firejail gets each path exactly, or the launch
// fails with a message that names the path.
//
// A profile that is named on the command line is the only one that is read: neither the user's
// (~/.config/firejail) nor the administrator's (/etc/firejail) can add to it. (tests/jail/firejail.bats)
#include "backends/firejail/render.h"

#include <algorithm>

#include "base/format.h"
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

}  // namespace backends::firejail
