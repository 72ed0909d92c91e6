// SPDX-License-Identifier: MIT
#include "landlock/wall.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/no_links.h"
#include "base/path.h"
#include "landlock/rights.h"

namespace landlock {
namespace {

constexpr unsigned kAskVersion = 1u << 0;
constexpr int kRuleBelowPath = 1;

struct __attribute__((packed)) BelowPath {
    uint64_t rights;
    int32_t descriptor;
};

int add_rule(const Built& built, int descriptor, uint64_t rights) {
    BelowPath rule = {rights, descriptor};
    long added = ::syscall(SYS_landlock_add_rule, built.ruleset.get(), kRuleBelowPath, &rule, 0);
    return added == 0 ? 0 : errno;
}

// The command can't reach such a place either, so that there is nothing to give.
bool is_out_of_reach(int number) {
    return number == ENOENT || number == EACCES;
}

// Threat: the name of a writable place is swapped for a link while the jail is built, and the rule is made
// for what it leads to. So no link is followed, and what is there is not more than the mounts show.
int add_place(const Built& built, const std::string& text, uint64_t rights) {
    base::Result<base::Path> path = base::Path::parse(text);
    if (!path) return EINVAL;
    base::Fd place(base::open_without_links(*path, O_PATH));
    if (!place) return is_out_of_reach(-place.get()) ? 0 : -place.get();
    struct stat status;
    if (::fstat(place.get(), &status) != 0) return errno;
    if (!S_ISDIR(status.st_mode)) rights &= rights_to_use(built.abi);
    return add_rule(built, place.get(), rights);
}

// A terminal or a file of the caller's, opened by the shell that started us. Pipes and sockets have no place
// in a file system: EBADFD, and no need of a rule.
int add_reopened(const Built& built, int descriptor) {
    int flags = ::fcntl(descriptor, F_GETFL);
    bool can_write = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && !(flags & O_PATH);
    if (!can_write) return 0;
    int number = add_rule(built, descriptor, rights_to_use(built.abi));
    return number == EBADFD ? 0 : number;
}

int create(Built& built, uint64_t files, uint64_t scopes) {
    RulesetAttributes attributes{.files = files, .scoped = scopes};
    long descriptor = ::syscall(SYS_landlock_create_ruleset, &attributes, size_for(built.abi), 0);
    if (descriptor < 0) return errno;
    built.ruleset = base::Fd(static_cast<int>(descriptor));
    return 0;
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
    uint64_t files = wall.guards_files && abi >= kFirstUsableAbi ? guarded_rights(abi) : 0;
    uint64_t scopes = guarded_scopes(abi);
    if (!wall.is_wanted || (files == 0 && scopes == 0)) return {};
    Built built{.abi = abi};
    if (int number = create(built, files, scopes); number != 0) return failed(number, "ruleset");
    if (files == 0) return built;
    for (const std::string& place : wall.writable) {
        if (int number = add_place(built, place, rights_to_write(abi)); number != 0)
            return failed(number, place);
    }
    for (const std::string& place : wall.used) {
        if (int number = add_place(built, place, rights_to_use(abi)); number != 0)
            return failed(number, place);
    }
    for (int descriptor : reopened) {
        if (int number = add_reopened(built, descriptor); number != 0)
            return failed(number, "descriptor " + std::to_string(descriptor));
    }
    return built;
}

int enter(const Built& built) {
    if (built.abi == 0) return 0;
    return ::syscall(SYS_landlock_restrict_self, built.ruleset.get(), 0) == 0 ? 0 : errno;
}

}  // namespace landlock
