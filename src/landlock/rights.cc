// SPDX-License-Identifier: MIT
#include "landlock/rights.h"

namespace landlock {
namespace {

struct Right {
    uint64_t bit;
    int since;
    bool is_given;       // for a writable path
    bool is_for_a_file;  // the kernel refuses the others for anything but a directory
};

constexpr Right kRights[] = {
    {kWriteFile, 1, true, true},
    {kRemoveDirectory, 1, true, false},
    {kRemoveFile, 1, true, false},
    {kMakeCharacterDevice, 1, false, false},
    {kMakeDirectory, 1, true, false},
    {kMakeFile, 1, true, false},
    {kMakeSocket, 1, true, false},
    {kMakeFifo, 1, true, false},
    {kMakeBlockDevice, 1, false, false},
    {kMakeLink, 1, true, false},
    {kMoveBetweenDirectories, 2, true, false},
    {kTruncate, 3, true, true},
    // Only for device directories: the jail must not control a device node elsewhere.
    {kControlDevice, 5, false, true},
};

template <typename Choose>
uint64_t chosen(int abi, Choose choose) {
    uint64_t rights = 0;
    for (const Right& right : kRights) {
        if (right.since <= abi && choose(right)) rights |= right.bit;
    }
    return rights;
}

}  // namespace

size_t size_for(int abi) {
    if (abi >= 6) return offsetof(RulesetAttributes, scoped) + sizeof(uint64_t);
    if (abi >= 4) return offsetof(RulesetAttributes, network) + sizeof(uint64_t);
    return offsetof(RulesetAttributes, files) + sizeof(uint64_t);
}

uint64_t guarded_rights(int abi) {
    return chosen(abi, [](const Right&) { return true; });
}

uint64_t rights_to_write(int abi) {
    return chosen(abi, [](const Right& right) { return right.is_given; });
}

uint64_t rights_to_use(int abi) {
    return chosen(abi, [](const Right& right) { return right.is_for_a_file; });
}

uint64_t rights_to_read() {
    return kExecute | kReadFile | kReadDirectory;
}

uint64_t rights_of_files(int abi) {
    return rights_to_use(abi) | kExecute | kReadFile;
}

uint64_t guarded_network(int abi) {
    return abi >= 4 ? kListenTcp | kConnectTcp : 0;
}

uint64_t guarded_scopes(int abi) {
    return abi >= 6 ? kScopeAbstractSockets | kScopeSignals : 0;
}

}  // namespace landlock
