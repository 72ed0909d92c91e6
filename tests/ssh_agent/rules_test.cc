// SPDX-License-Identifier: MIT
#include "ssh_agent/rules.h"

#include <gtest/gtest.h>

#include "base/encoding/sha1.h"
#include "base/text.h"
#include "ssh_agent/messages.h"

namespace ssh_agent {
namespace {

TEST(Hosts, AreAUserAtAHost) {
    EXPECT_EQ(parse_host("git@GitHub.com")->text(), "git@github.com");
    EXPECT_EQ(parse_host("me@host.example:2222")->text(), "me@host.example:2222");
    EXPECT_EQ(parse_host("me@host.example:22")->text(), "me@host.example");
    EXPECT_EQ(parse_host("me@[2001:db8::1]:2222")->text(), "me@[2001:db8::1]:2222");
    EXPECT_EQ(parse_host("me@[2001:db8::1]")->name, "2001:db8::1");
    for (const char* text :
         {"", "github.com", "@github.com", "git@", "git@a b", "git@a:", "git@a:0", "git@a:70000", "git@a/b",
          "git@-oProxyCommand=x", "-git@a", "git@[::1", "git@*.example", "g t@a"})
        EXPECT_FALSE(parse_host(text)) << text;
}

TEST(PublicKeys, AreReadFromTheirFiles) {
    const std::string line = base::format("ssh-ed25519 {} me@home\n", kVectors[0].key);
    base::Result<Key> key = parse_public_key(line);
    ASSERT_TRUE(key);
    EXPECT_EQ(key->blob, bytes_of(kVectors[0].key));
    EXPECT_TRUE(key->fingerprint.starts_with("SHA256:"));
    EXPECT_EQ(key->fingerprint.size(), 50u);
    EXPECT_FALSE(parse_public_key(base::format("ssh-rsa {}", kVectors[0].key)));
    EXPECT_FALSE(parse_public_key("ssh-ed25519"));
    EXPECT_FALSE(parse_public_key("ssh-ed25519 ===="));
    base::Result<Key> secret = parse_public_key("-----BEGIN OPENSSH PRIVATE KEY-----\n");
    ASSERT_FALSE(secret);
    EXPECT_NE(secret.error().what.find("private key"), std::string::npos);
}

// The value that `ssh-keygen -l` prints.
TEST(PublicKeys, HaveTheFingerprintOfOpenSsh) {
    EXPECT_EQ(fingerprint_of(""), "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU");
}

TEST(KnownHosts, HaveTheKeysOfOneHost) {
    const std::string_view one = kVectors[0].key, other = kVectors[1].key, third = kVectors[2].key;
    const std::string text = base::format(
        "# comment\n\ngit.example,203.0.113.1 ssh-ed25519 {} comment\nGIT.example ecdsa-sha2-nistp256 {}\n"
        "[git.example]:2222 ecdsa-sha2-nistp384 {}\nother.example ssh-rsa {}\n",
        one, other, third, kVectors[4].key);
    EXPECT_EQ(known_keys(text, *parse_host("git@git.example")),
              (std::vector<std::string>{bytes_of(one), bytes_of(other)}));
    EXPECT_EQ(known_keys(text, *parse_host("git@git.example:2222")),
              std::vector<std::string>{bytes_of(third)});
    EXPECT_TRUE(known_keys(text, *parse_host("git@evil.example")).empty());
}

TEST(KnownHosts, MayHaveHashedNames) {
    const std::string salt(20, 's');
    const std::string line =
        base::format("|1|{}|{} ssh-ed25519 {}\n", base::to_base64(salt),
                     base::to_base64(base::hmac_sha1(salt, "[git.example]:2222")), kVectors[0].key);
    EXPECT_EQ(known_keys(line, *parse_host("git@git.example:2222")).size(), 1u);
    EXPECT_TRUE(known_keys(line, *parse_host("git@git.example")).empty());
    EXPECT_TRUE(known_keys("|1|x|y ssh-ed25519 AAAA\n|1| ssh-ed25519 AAAA", *parse_host("git@x")).empty());
}

TEST(KnownHosts, LeaveOutPatternsAuthoritiesAndRevokedKeys) {
    const std::string_view key = kVectors[0].key;
    for (const char* names :
         {"*.example", "git.exampl?", "!evil.example,git.example", "@cert-authority git.example"})
        EXPECT_TRUE(
            known_keys(base::format("{} ssh-ed25519 {}\n", names, key), *parse_host("git@git.example"))
                .empty())
            << names;
    const std::string revoked =
        base::format("git.example ssh-ed25519 {}\n@revoked * ssh-ed25519 {}\n", key, key);
    EXPECT_TRUE(known_keys(revoked, *parse_host("git@git.example")).empty());
}

TEST(KnownHosts, AreWrittenWithTheNameAlone) {
    Host host = *parse_host("git@git.example:2222");
    host.keys = {bytes_of(kVectors[0].key)};
    EXPECT_EQ(known_lines(host), base::format("[git.example]:2222 ssh-ed25519 {}\n", kVectors[0].key));
}

}  // namespace
}  // namespace ssh_agent
