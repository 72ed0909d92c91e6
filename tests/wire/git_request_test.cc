// SPDX-License-Identifier: MIT
#include "network/wire/protocol_guess.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace network::wire {
namespace {

using State = GitRequestState;
using namespace std::string_literals;

std::string packet(const std::string& text) {
    char length[5];
    std::snprintf(length, sizeof length, "%04zx", text.size() + 4);
    return length + text;
}

std::string host_of(const std::string& text) {
    GitRequest request;
    if (read_git_request(packet(text) + "more", request) != State::complete) return "refused";
    EXPECT_EQ(request.size, text.size() + 4);
    return request.host ? authority_text(*request.host) : "none";
}

TEST(GitRequest, ReadsTheHost) {
    EXPECT_EQ(host_of("git-upload-pack /a.git\0host=example.org\0"s), "example.org");
    EXPECT_EQ(host_of("git-receive-pack /a b\0host=example.org:9419\0\0version=2\0"s), "example.org:9419");
    EXPECT_EQ(host_of("git-upload-archive /a\0host=[2001:db8::1]\0"s), "[2001:db8::1]");
    EXPECT_EQ(host_of("git-upload-pack /a\0"s), "none");
}

TEST(GitRequest, RefusesWhatCouldBeReadOtherwise) {
    for (const std::string& text :
         {"git-upload-pack /a\0host=a.org\0host=b.org\0"s, "git-upload-pack /a\0host=a@b\0"s,
          "git-upload-pack / HTTP/1.1\r\nHost: b.org\r\n\r\n"s, "git-other /a\0"s, "git-upload-pack"s})
        EXPECT_EQ(host_of(text), "refused") << text;
    GitRequest request;
    EXPECT_EQ(read_git_request("0004git-", request), State::refused);
    EXPECT_EQ(read_git_request("ffffgit-", request), State::refused);
}

TEST(GitRequest, WaitsForTheWholePacket) {
    std::string whole = packet("git-upload-pack /a.git\0host=example.org\0"s);
    for (size_t size = 0; size < whole.size(); ++size) {
        GitRequest request;
        EXPECT_EQ(read_git_request(std::string_view(whole).substr(0, size), request), State::need_more);
    }
}

}  // namespace
}  // namespace network::wire
