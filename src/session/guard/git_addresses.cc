// SPDX-License-Identifier: MIT
#include "session/guard/git_addresses.h"

#include <arpa/inet.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/parse.h"

namespace session {
namespace {

// Calls `visit` with the path and each directory above it, the root not included.
template <typename Visit>
bool all_above(std::string place, const Visit& visit) {
    for (; place.size() > 1; place.resize(std::max<size_t>(place.rfind('/'), 1))) {
        if (!visit(place)) return false;
    }
    return true;
}

std::string resolved(const std::string& path) {
    char* real = ::realpath(path.c_str(), nullptr);
    std::string text = real == nullptr ? "" : real;
    std::free(real);
    return text;
}

// Threat: a session removes the permission to write, sets the address, and gives the permission back. The
// owner can always do that (tests/jail/git_addresses.bats).
bool is_shut(const std::string& path) {
    struct stat status;
    bool is_own = ::stat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid();
    return !is_own && ::access(path.c_str(), W_OK) != 0;
}

// Paths that mean something else to another process.
bool is_relative_to_process(std::string_view path) {
    return (std::string(path) + '/').find("/../") != std::string::npos || path.starts_with("/proc/") ||
           path.starts_with("/dev/") || path.find("//") != std::string_view::npos ||
           path.find("/./") != std::string_view::npos;
}

// No link may be on the way: one could lead through /proc/self/cwd, which is the root here and the project
// for git.
bool is_local_out_of_reach(std::string_view path) {
    if (!path.starts_with('/') || is_relative_to_process(path)) return false;
    while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    return all_above(std::string(path), [](const std::string& place) {
        const std::string real = resolved(place);
        return real.empty() || (real == place && is_shut(place));
    });
}

// Every form of an address in numbers that a resolver takes, such as "0x7f.1".
bool is_numeric(const std::string& server) {
    struct in_addr address;
    return ::inet_aton(server.c_str(), &address) != 0;
}

// RFC 6761: names in "localhost" are this host. Some systems call it "localhost.localdomain".
bool is_localhost(std::string_view server) {
    return server.ends_with(".localhost") || server.starts_with("localhost.");
}

// Nodes of a cluster share the home directory. Their names have no dot or the domain of this host.
bool may_share_home(std::string_view server) {
    while (server.ends_with('.')) server.remove_suffix(1);
    char own[256] = {};
    ::gethostname(own, sizeof own - 1);
    const std::string name = base::lower(server), host = base::lower(own);
    const size_t dot = name.find('.'), own_dot = host.find('.');
    if (dot == std::string::npos || is_numeric(name) || is_localhost(name) || name == host) return true;
    return own_dot != std::string::npos && name.substr(dot) == host.substr(own_dot);
}

bool is_remote_out_of_reach(std::string_view server, std::string_view path) {
    if (is_relative_to_process(path)) return false;
    if (path.starts_with('/')) {
        return all_above(std::string(path), [](const std::string& place) {
            const std::string real = resolved(place);
            return real.empty() || all_above(real, is_shut);
        });
    }
    if (!may_share_home(server)) return true;
    const char* home = ::getenv("HOME");
    if (home == nullptr || path.starts_with('~')) return false;
    // The name right below the home decides: what does not exist there, no jail can make.
    return resolved(std::string(home) + '/' + std::string(path.substr(0, path.find('/')))).empty();
}

}  // namespace

bool is_beyond_user(std::string_view server, std::string_view path) {
    return server.empty() ? is_local_out_of_reach(path) : is_remote_out_of_reach(server, path);
}

}  // namespace session
