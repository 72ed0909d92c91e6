// SPDX-License-Identifier: MIT
// Runs in a jail and prints everything that a process can see and do there, sorted, so that the jails of two
// backends can be compared word by word. It is linked statically, so that it also runs in a jail without any
// library.
//
//   walker [deep=DIRECTORY | shallow=DIRECTORY | NAMESPACE=NUMBER]…
//       NUMBER identifies the host's namespace; a process in the jail can't read it
//   walker compare FIRST SECOND
//       prints the differences between two reports; status 1 if there are any
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "differential/compare.h"
#include "differential/report.h"

namespace {

int compare(const char* first, const char* second) {
    base::Result<std::string> left = base::read_file(first), right = base::read_file(second);
    if (!left || !right || left->empty() || right->empty()) {
        std::fprintf(stderr, "walker: no report in %s\n", !left || left->empty() ? first : second);
        return 2;
    }
    std::string found = differential::differences(*left, *right);
    std::fputs(found.c_str(), stdout);
    return found.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 4 && std::strcmp(argv[1], "compare") == 0) return compare(argv[2], argv[3]);
    // The walker tries to remove mount points, which must not happen on a host.
    if (::access(std::string(base::kOwnDirectory).c_str(), F_OK) != 0) {
        std::fputs("walker: this is no jail\n", stderr);
        return 2;
    }
    differential::WalkerArguments arguments;
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i];
        if (word.starts_with("deep=")) {
            arguments.deep.push_back(word.substr(5));
        } else if (word.starts_with("shallow=")) {
            arguments.shallow.push_back(word.substr(8));
        } else {
            arguments.host_namespaces.push_back(word);
        }
    }
    differential::Report report;
    // First the checks that only read, then those that try to change something.
    differential::tell_process(report, arguments);
    differential::tell_processes(report);
    differential::tell_network(report, arguments);
    differential::tell_files(report, arguments);
    differential::tell_mounts(report);
    differential::tell_first_process(report);
    differential::tell_calls(report);
    differential::tell_sockets(report);
    differential::tell_writing(report, arguments);
    return base::write_all(STDOUT_FILENO, report.text()) ? 0 : 1;
}
