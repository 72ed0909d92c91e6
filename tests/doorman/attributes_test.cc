// SPDX-License-Identifier: MIT
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/temporary_directory.h"
#include "doorman/answered_calls.h"
#include "jail.h"

namespace doorman {
namespace {

using testing_support::TemporaryDirectory;

struct World {
    World() {
        calls.is_wanted = true;
        calls.guards_attributes = calls.guards_truncation = true;
        calls.changeable = {directory / "open"};
        for (const std::string& file : {inside, outside}) ::chmod(file.c_str(), 0600);
        (void)!::symlink(outside.c_str(), (directory / "open/out").c_str());
        (void)!::symlink(inside.c_str(), (directory / "closed/in").c_str());
    }
    TemporaryDirectory directory;
    std::string inside = directory.write("open/file", "content");
    std::string outside = directory.write("closed/file", "content");
    AnsweredCalls calls;
};

struct stat status_of(const std::string& path) {
    struct stat status = {};
    ::stat(path.c_str(), &status);
    return status;
}

unsigned mode_of(const std::string& path) {
    return status_of(path).st_mode & 07777;
}

using Act = std::function<int(const std::string&)>;

// Every act works inside, and outside only without the doorman.
void expect_guarded(const char* name, const Act& act) {
    World world;
    Jail jail(world.calls);
    EXPECT_EQ(jail.run([&] { return act(world.inside); }), 0) << name;
    struct stat before = status_of(world.outside);
    EXPECT_EQ(jail.run([&] { return act(world.outside); }), EPERM) << name;
    EXPECT_EQ(jail.run([&] { return act(world.directory / "open/out"); }), EPERM) << name << " by a link";
    EXPECT_EQ(jail.run([&] { return act(world.directory / "open/../closed/file"); }), EPERM) << name;
    EXPECT_EQ(jail.run([&] { return act(world.directory / "open/none"); }), ENOENT) << name;
    struct stat after = status_of(world.outside);
    EXPECT_EQ(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec) << name;
    EXPECT_EQ(before.st_ctim.tv_sec, after.st_ctim.tv_sec) << name;
    EXPECT_EQ(Jail::control([&] { return act(world.outside); }), 0) << name;
}

TEST(Attributes, ChangeOnlyWhereTheyMay) {
    expect_guarded("chmod", [](const std::string& path) { return result_of(::chmod(path.c_str(), 0640)); });
    expect_guarded("fchmodat", [](const std::string& path) {
        return result_of(::syscall(SYS_fchmodat, AT_FDCWD, path.c_str(), 0640));
    });
    expect_guarded("chown", [](const std::string& path) {
        return result_of(::chown(path.c_str(), ::geteuid(), ::getegid()));
    });
    expect_guarded("utimensat", [](const std::string& path) {
        struct timespec times[2] = {{5, 6}, {7, 8}};
        if (::utimensat(AT_FDCWD, path.c_str(), times, 0) != 0) return errno;
        return status_of(path).st_mtim.tv_nsec == 8 ? 0 : kUnexpected;
    });
    expect_guarded("utimes", [](const std::string& path) {
        struct timeval times[2] = {{5, 6}, {7, 8}};
        return result_of(::utimes(path.c_str(), times));
    });
    expect_guarded("truncate", [](const std::string& path) {
        if (::truncate(path.c_str(), 3) != 0) return errno;
        return status_of(path).st_size == 3 ? 0 : kUnexpected;
    });
    expect_guarded("fchmod", [](const std::string& path) {
        int file = ::open(path.c_str(), O_RDONLY);
        return file < 0 ? errno : result_of(::fchmod(file, 0604));
    });
    expect_guarded("fchown", [](const std::string& path) {
        int file = ::open(path.c_str(), O_RDONLY);
        return file < 0 ? errno : result_of(::fchown(file, ::geteuid(), ::getegid()));
    });
    expect_guarded("futimens", [](const std::string& path) {
        int file = ::open(path.c_str(), O_RDONLY);
        return file < 0 ? errno : result_of(::futimens(file, nullptr));
    });
    expect_guarded("a descriptor as a path", [](const std::string& path) {
        int file = ::open(path.c_str(), O_PATH);
        if (file < 0) return errno;
        return result_of(::chmod(("/proc/self/fd/" + std::to_string(file)).c_str(), 0604));
    });
    expect_guarded("an empty path", [](const std::string& path) {
        int file = ::open(path.c_str(), O_PATH);
        if (file < 0) return errno;
        return result_of(::fchownat(file, "", ::geteuid(), ::getegid(), AT_EMPTY_PATH));
    });
    expect_guarded("a directory's descriptor", [](const std::string& path) {
        size_t slash = path.rfind('/');
        int directory = ::open(path.substr(0, slash).c_str(), O_RDONLY | O_DIRECTORY);
        return result_of(::syscall(SYS_fchmodat, directory, path.substr(slash + 1).c_str(), 0640));
    });
    expect_guarded("the working directory", [](const std::string& path) {
        size_t slash = path.rfind('/');
        if (::chdir(path.substr(0, slash).c_str()) != 0) return kUnexpected;
        return result_of(::chmod(path.substr(slash + 1).c_str(), 0640));
    });
}

TEST(Attributes, ExtendedOnesAreGuardedToo) {
    World world;
    if (::setxattr(world.outside.c_str(), "user.test", "x", 1, 0) != 0) {
        GTEST_LOG_(INFO) << "this file system has none; another name is refused all the same";
    }
    bool has_any = ::setxattr(world.inside.c_str(), "user.probe", "x", 1, 0) == 0;
    Jail jail(world.calls);
    auto sets = [](const std::string& path) {
        return result_of(::setxattr(path.c_str(), "user.a", "abc", 3, 0));
    };
    auto removes = [](const std::string& path) { return result_of(::removexattr(path.c_str(), "user.a")); };
    EXPECT_EQ(jail.run([&] { return sets(world.inside); }), has_any ? 0 : EOPNOTSUPP);
    EXPECT_EQ(jail.run([&] { return sets(world.outside); }), EPERM);
    EXPECT_EQ(jail.run([&] { return removes(world.outside); }), EPERM);
    if (has_any) {
        char value[8] = {};
        EXPECT_EQ(::getxattr(world.inside.c_str(), "user.a", value, sizeof value), 3);
        EXPECT_STREQ(value, "abc");
        EXPECT_EQ(jail.run([&] { return removes(world.inside); }), 0);
    }
    EXPECT_EQ(jail.run([&] {
        return result_of(::syscall(kSetxattrat, AT_FDCWD, world.outside.c_str(), 0, "user.a", nullptr, 0));
    }),
              ENOSYS);
    auto flags = [&] {
        int file = ::open(world.outside.c_str(), O_RDONLY);
        long none = 0;
        return result_of(::syscall(SYS_ioctl, file, 0x40086602, &none));
    };
    EXPECT_EQ(jail.run(flags), EPERM);
    EXPECT_NE(Jail::control(flags), EPERM);
}

TEST(Attributes, OfNamelessThingsAreTheirHolders) {
    World world;
    Jail jail(world.calls);
    EXPECT_EQ(jail.run([] {
        int ends[2];
        return ::pipe(ends) == 0 ? result_of(::fchmod(ends[0], 0600)) : kUnexpected;
    }),
              0);
    EXPECT_EQ(jail.run([] { return result_of(::fchmod(::memfd_create("x", 0), 0600)); }), 0);
    EXPECT_EQ(jail.run([&] {
        std::string path = world.directory / "closed/passing";
        int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
        ::unlink(path.c_str());
        return result_of(::fchmod(file, 0640));
    }),
              0);
    // It only looks deleted.
    std::string odd = world.directory.write("closed/file (deleted)", "");
    EXPECT_EQ(jail.run([&] { return result_of(::chmod(odd.c_str(), 0640)); }), EPERM);
    EXPECT_EQ(jail.run([&] { return result_of(::fchmod(::open(odd.c_str(), O_RDONLY), 0640)); }), EPERM);
}

// /proc/self is the doorman when the doorman looks.
TEST(Attributes, DoNotReachTheDoormansOwnDescriptors) {
    World world;
    base::Fd own(::memfd_create("the doorman's", MFD_CLOEXEC));
    ASSERT_EQ(::fchmod(own.get(), 0600), 0);
    pid_t stage = ::getpid();
    Jail jail(world.calls);
    for (const std::string& process :
         {std::string("self"), std::string("thread-self"), std::to_string(stage)}) {
        std::string path = "/proc/" + process + "/fd/" + std::to_string(own.get());
        int number = jail.run([&] {
            ::close(own.get());
            return result_of(::chmod(path.c_str(), 0640));
        });
        EXPECT_NE(number, 0) << path;
    }
    struct stat status;
    ASSERT_EQ(::fstat(own.get(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    std::string root = "/proc/self/root" + world.outside;
    EXPECT_NE(jail.run([&] { return result_of(::chmod(root.c_str(), 0640)); }), 0);
}

TEST(Attributes, AreNotFooledByALinkOrAPathThatChanges) {
    World world;
    Jail jail(world.calls);
    EXPECT_EQ(jail.run([&] {
        char shown[4096] = {};
        std::string link = world.directory / "open/link", next = world.directory / "open/next";
        std::strcpy(shown, world.inside.c_str());
        std::atomic<bool> is_done = false;
        std::thread flipping([&] {
            for (int i = 0; !is_done; ++i) {
                ::memcpy(shown, (i % 2 ? world.inside : world.outside).c_str(), world.inside.size());
                (void)!::symlink((i % 2 ? world.inside : world.outside).c_str(), next.c_str());
                ::rename(next.c_str(), link.c_str());
            }
        });
        int done = 0;
        for (int i = 0; i < 300; ++i) {
            done += ::chmod(shown, 0644) == 0;
            done += ::chmod(link.c_str(), 0644) == 0;
        }
        is_done = true;
        flipping.join();
        return done > 0 ? 0 : kUnexpected;
    }),
              0);
    EXPECT_EQ(mode_of(world.outside), 0600u);
    EXPECT_EQ(mode_of(world.inside), 0644u);
}

TEST(Attributes, OfALinkItselfAreMeantWhereTheCallSaysSo) {
    World world;
    Jail jail(world.calls);
    struct timespec times[2] = {{5, 6}, {7, 8}};
    std::string link = world.directory / "open/out";
    EXPECT_EQ(
        jail.run([&] { return result_of(::utimensat(AT_FDCWD, link.c_str(), times, AT_SYMLINK_NOFOLLOW)); }),
        0);
    struct stat status;
    ASSERT_EQ(::lstat(link.c_str(), &status), 0);
    EXPECT_EQ(status.st_mtim.tv_nsec, 8);
    EXPECT_NE(status_of(world.outside).st_mtim.tv_nsec, 8);
    EXPECT_EQ(jail.run([&] { return result_of(::lchown(link.c_str(), ::geteuid(), ::getegid())); }), 0);
    EXPECT_EQ(jail.run([&] {
        return result_of(::syscall(kFchmodat2, AT_FDCWD, link.c_str(), 0644, AT_SYMLINK_NOFOLLOW));
    }),
              Jail::control([&] {
                  return result_of(::syscall(kFchmodat2, AT_FDCWD, link.c_str(), 0644, AT_SYMLINK_NOFOLLOW));
              }));
    EXPECT_EQ(mode_of(world.outside), 0600u);
}

TEST(Attributes, TruncationCannotHideInReading) {
    World world;
    Jail jail(world.calls);
    for (int access : {O_RDONLY, 3}) {
        auto truncates = [&] { return result_of(::open(world.outside.c_str(), access | O_TRUNC)); };
        EXPECT_EQ(jail.run(truncates), EACCES);
        EXPECT_EQ(status_of(world.outside).st_size, 7);
    }
    EXPECT_EQ(Jail::control([&] { return result_of(::open(world.outside.c_str(), O_RDONLY | O_TRUNC)); }), 0);
    EXPECT_EQ(status_of(world.outside).st_size, 0);
    EXPECT_EQ(jail.run([&] { return result_of(::open(world.inside.c_str(), O_WRONLY | O_TRUNC)); }), 0);
}

}  // namespace
}  // namespace doorman
