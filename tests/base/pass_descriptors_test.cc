// SPDX-License-Identifier: MIT
#include "base/process/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace base {
namespace {

struct Ends {
    Fd one, other;
};

Ends make_ends() {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    return {Fd(pair[0]), Fd(pair[1])};
}

size_t open_descriptors() {
    auto all = std::filesystem::directory_iterator("/proc/self/fd");
    return static_cast<size_t>(std::distance(begin(all), end(all)));
}

bool is_same_file(int one, int other) {
    struct stat first, second;
    return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 && first.st_ino == second.st_ino &&
           first.st_dev == second.st_dev;
}

TEST(PassDescriptors, ArriveAsTheSameFilesClosedByExec) {
    Ends ends = make_ends();
    Fd root(::open("/", O_RDONLY | O_DIRECTORY)), null(::open("/dev/null", O_RDONLY));
    int sent[] = {root.get(), null.get()};
    ASSERT_TRUE(send_descriptors(ends.one.get(), "two", sent));
    Result<PassedDescriptors> passed = receive_descriptors(ends.other.get());
    ASSERT_TRUE(passed);
    EXPECT_EQ(passed->note, "two");
    ASSERT_EQ(passed->descriptors.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
        EXPECT_NE(passed->descriptors[i].get(), sent[i]);
        EXPECT_TRUE(is_same_file(passed->descriptors[i].get(), sent[i]));
        EXPECT_EQ(::fcntl(passed->descriptors[i].get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    }
}

TEST(PassDescriptors, ANoteAloneIsAMessage) {
    Ends ends = make_ends();
    ASSERT_TRUE(send_descriptors(ends.one.get(), "first", {}));
    ASSERT_TRUE(send_descriptors(ends.one.get(), "second", {}));
    EXPECT_EQ(receive_descriptors(ends.other.get())->note, "first");
    EXPECT_EQ(receive_descriptors(ends.other.get())->note, "second");
}

TEST(PassDescriptors, TheEndIsAnEmptyNote) {
    Ends ends = make_ends();
    ends.one.reset();
    Result<PassedDescriptors> passed = receive_descriptors(ends.other.get());
    ASSERT_TRUE(passed);
    EXPECT_TRUE(passed->note.empty());
    EXPECT_TRUE(passed->descriptors.empty());
    EXPECT_FALSE(send_descriptors(ends.other.get(), "nobody", {}));
}

TEST(PassDescriptors, AsManyAsTheKernelTakes) {
    Ends ends = make_ends();
    Fd null(::open("/dev/null", O_RDONLY));
    std::vector<int> sent(kMostPassed, null.get());
    ASSERT_TRUE(send_descriptors(ends.one.get(), std::string(kLongestNote, 'n'), sent));
    Result<PassedDescriptors> passed = receive_descriptors(ends.other.get());
    ASSERT_TRUE(passed);
    EXPECT_EQ(passed->descriptors.size(), kMostPassed);
    EXPECT_EQ(passed->note.size(), kLongestNote);
}

TEST(PassDescriptors, WhatCanNotBeOneMessageIsRefused) {
    Ends ends = make_ends();
    std::vector<int> many(kMostPassed + 1, ends.one.get());
    EXPECT_FALSE(send_descriptors(ends.one.get(), "many", many));
    EXPECT_FALSE(send_descriptors(ends.one.get(), "", {}));
    EXPECT_FALSE(send_descriptors(ends.one.get(), std::string(kLongestNote + 1, 'n'), {}));
    int closed[] = {-1};
    EXPECT_FALSE(send_descriptors(ends.one.get(), "closed", closed));
}

// A message that is too long is an error, and the descriptors that came with it are closed.
TEST(PassDescriptors, WhatWasCutOffLeavesNothingOpen) {
    Ends ends = make_ends();
    Fd null(::open("/dev/null", O_RDONLY));
    std::string text(kLongestNote + 1, 'n');
    struct iovec place = {text.data(), text.size()};
    alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    struct msghdr message = {};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    struct cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    int number = null.get();
    std::memcpy(CMSG_DATA(header), &number, sizeof number);
    size_t before = open_descriptors();
    ASSERT_GT(::sendmsg(ends.one.get(), &message, 0), 0);
    EXPECT_FALSE(receive_descriptors(ends.other.get()));
    EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace base
