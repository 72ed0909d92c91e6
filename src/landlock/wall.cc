// SPDX-License-Identifier: MIT
#include "landlock/wall.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/no_links.h"
#include "base/path.h"

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

namespace {

constexpr unsigned kAskVersion = 1u << 0;
constexpr int kRuleBelowPath = 1;
// LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON: also for programs that this process executes.
constexpr unsigned kLogPrograms = 1u << 1;
constexpr int kFirstLoggingAbi = 7;

struct __attribute__((packed)) BelowPath {
    uint64_t rights;
    int32_t descriptor;
};

int add_rule(const Built& built, int descriptor, uint64_t rights) {
    BelowPath rule = {rights, descriptor};
    long added = ::syscall(SYS_landlock_add_rule, built.ruleset.get(), kRuleBelowPath, &rule, 0);
    return added == 0 ? 0 : errno;
}

// The command can't reach this path either, so it needs no rule.
bool is_out_of_reach(int number) {
    return number == ENOENT || number == EACCES;
}

// Threat: an attacker replaces a writable path by a link while the jail is built, so that the rule would be
// made for the link's target. So no link is followed, and the opened file is not more than the mounts show.
int add_place(const Built& built, const std::string& text, uint64_t rights) {
    base::Result<base::Path> path = base::Path::parse(text);
    if (!path) return EINVAL;
    base::Fd place(base::open_without_links(*path, O_PATH));
    if (!place) return is_out_of_reach(-place.get()) ? 0 : -place.get();
    struct stat status;
    if (::fstat(place.get(), &status) != 0) return errno;
    if (!S_ISDIR(status.st_mode)) rights &= rights_of_files(built.abi);
    return add_rule(built, place.get(), rights);
}

// The mode of an open descriptor as rights for its file. Nothing for a directory: a rule for one would apply
// to everything below it.
uint64_t rights_of_opened(int descriptor, uint64_t handled) {
    struct stat status;
    int flags = ::fcntl(descriptor, F_GETFL);
    if (flags < 0 || flags & O_PATH || ::fstat(descriptor, &status) != 0 || S_ISDIR(status.st_mode)) return 0;
    int mode = flags & O_ACCMODE;
    uint64_t rights = 0;
    if (mode != O_RDONLY) rights |= kWriteFile | kTruncate | kControlDevice;
    if (mode != O_WRONLY && handled & kReadFile) rights |= kReadFile | kControlDevice;
    return rights & handled;
}

int create(Built& built, const RulesetAttributes& attributes) {
    long descriptor = ::syscall(SYS_landlock_create_ruleset, &attributes, size_for(built.abi), 0);
    if (descriptor < 0) return errno;
    built.ruleset = base::Fd(static_cast<int>(descriptor));
    return 0;
}

RulesetAttributes attributes_of(const Wall& wall, int abi) {
    RulesetAttributes attributes{.scoped = guarded_scopes(abi)};
    if (!wall.keeps_abstract_sockets) attributes.scoped &= ~kScopeAbstractSockets;
    if (wall.guards_files && abi >= kFirstUsableAbi) attributes.files = guarded_rights(abi);
    if (wall.guards_reading) attributes.files = guarded_rights(abi) | rights_to_read();
    if (wall.refuses_tcp) attributes.network = guarded_network(abi);
    return attributes;
}

Built failed(int number, std::string at) {
    return Built{.failure = number, .failed_at = std::move(at)};
}

}  // namespace

int kernel_abi() {
    long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion);
    return version > 0 ? static_cast<int>(version) : 0;
}

Built build(const Wall& wall, int abi, const std::vector<int>& reopened) {
    RulesetAttributes attributes = attributes_of(wall, abi);
    if (!wall.is_wanted) return {};
    // If Landlock is the only wall, a kernel without it is an error.
    if (wall.guards_reading && abi < 1) return failed(ENOSYS, "Landlock");
    if (attributes.files == 0 && attributes.network == 0 && attributes.scoped == 0) return {};
    Built built{.abi = abi};
    built.is_logged = wall.is_logged && abi >= kFirstLoggingAbi;
    if (int number = create(built, attributes); number != 0) return failed(number, "ruleset");
    built.files = attributes.files;
    if (attributes.files == 0) return built;

    struct PathRights {
        const std::vector<std::string>& places;
        uint64_t rights;
    };
    const PathRights all[] = {{wall.readable, rights_to_read()},
                              {wall.writable, rights_to_write(abi) | rights_to_read()},
                              {wall.used, rights_to_use(abi) | kReadFile | kReadDirectory}};
    for (const PathRights& granted : all) {
        uint64_t rights = granted.rights & attributes.files;
        for (const std::string& place : granted.places) {
            if (rights == 0) break;
            if (int number = add_place(built, place, rights); number != 0) return failed(number, place);
        }
    }
    for (int descriptor : reopened) {
        if (int number = add_reopened(built, descriptor); number != 0)
            return failed(number, "descriptor " + std::to_string(descriptor));
    }
    return built;
}

// A terminal or a file of the caller, opened by the shell that started us. Pipes and sockets are not in a
// file system: the kernel returns EBADFD, and they need no rule.
int add_reopened(const Built& built, int descriptor) {
    uint64_t rights = rights_of_opened(descriptor, built.files);
    if (rights == 0) return 0;
    int number = add_rule(built, descriptor, rights);
    return number == EBADFD ? 0 : number;
}

int enter(const Built& built) {
    if (built.abi == 0) return 0;
    unsigned flags = built.is_logged ? kLogPrograms : 0;
    return ::syscall(SYS_landlock_restrict_self, built.ruleset.get(), flags) == 0 ? 0 : errno;
}

int give_up_files() {
    int abi = kernel_abi();
    if (abi == 0) return ENOSYS;
    // A ruleset without rules: the rights are handled and granted nowhere.
    RulesetAttributes attributes{.files = guarded_rights(abi) | rights_to_read(),
                                 .network = abi >= 4 ? kListenTcp : 0,
                                 .scoped = guarded_scopes(abi)};
    base::Fd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size_for(abi), 0)));
    if (!ruleset) return errno;
    return ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0 ? 0 : errno;
}

}  // namespace landlock
