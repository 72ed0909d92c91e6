// SPDX-License-Identifier: MIT
#include "session/inherited.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/format.h"
#include "plan/backend.h"

namespace session {
namespace {

bool shares_network(const plan::Plan& plan) {
    return plan.network.reached == policy::NetworkMode::open || !plan::traits_of(plan.backend).has_namespaces;
}

int option(int socket, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

// A connected or listening socket can't be used for another address. A pair of datagram sockets can be
// disconnected.
bool is_free_unix_socket(int descriptor) {
    if (option(descriptor, SO_DOMAIN) != AF_UNIX) return false;
    struct sockaddr_un peer = {};
    socklen_t size = sizeof peer;
    bool is_connected = ::getpeername(descriptor, reinterpret_cast<struct sockaddr*>(&peer), &size) == 0;
    bool is_datagram = option(descriptor, SO_TYPE) == SOCK_DGRAM;
    return is_datagram || !(is_connected || option(descriptor, SO_ACCEPTCONN) == 1);
}

base::Error refusal(int descriptor, const char* what) {
    return {.what = base::format("descriptor {}{}", descriptor, what),
            .advice = "redirect it from a file or from /dev/null"};
}

}  // namespace

// Threat: through an inherited directory descriptor the command can reach the host's files around that
// directory, whatever the jail shows (tests/jail/processes.bats). An inherited Unix socket belongs to the
// host's network namespace: with it the command can bind and reach abstract names there
// (tests/jail/sockets.bats).
base::Status check_inherited(const plan::Plan& plan) {
    std::vector<int> inherited = plan.kept_descriptors;
    inherited.insert(inherited.end(), {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
    for (int descriptor : inherited) {
        struct stat status;
        if (::fstat(descriptor, &status) != 0) continue;
        if (S_ISDIR(status.st_mode))
            return refusal(descriptor, " is a directory, through which the command would leave the jail");
        if (S_ISSOCK(status.st_mode) && shares_network(plan) && is_free_unix_socket(descriptor))
            return refusal(descriptor,
                           " is a Unix socket without a fixed other end, by which the command would reach "
                           "abstract sockets of the host");
    }
    return base::success();
}

}  // namespace session
