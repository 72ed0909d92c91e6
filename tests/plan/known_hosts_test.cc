// SPDX-License-Identifier: MIT
#include "plan/network/known_hosts.h"

#include <gtest/gtest.h>

#include "base/encoding/base64.h"
#include "base/encoding/sha1.h"
#include "plan/case.h"

namespace {

std::vector<network::Rule> rules(const std::vector<std::string>& texts) {
    std::vector<network::Rule> parsed;
    for (const std::string& text : texts) {
        auto rule = network::parse_rule(text, network::Side::allow);
        EXPECT_TRUE(rule) << rule.error().line();
        if (rule) parsed.push_back(*rule);
    }
    return parsed;
}

std::string hashed(std::string_view name) {
    const std::string salt = "twenty bytes of salt";
    return "|1|" + base::to_base64(salt) + "|" + base::to_base64(base::hmac_sha1(salt, name));
}

// RFC 2202, test cases 1, 2 and 6.
TEST(HmacSha1, IsTheOneOfTheStandard) {
    auto hex = [](std::string_view bytes) {
        std::string text;
        for (char byte : bytes) {
            char digits[3];
            std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
            text += digits;
        }
        return text;
    };
    EXPECT_EQ(hex(base::hmac_sha1(std::string(20, '\x0b'), "Hi There")),
              "b617318655057264e28bc0b6fb378c8ef146be00");
    EXPECT_EQ(hex(base::hmac_sha1("Jefe", "what do ya want for nothing?")),
              "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
    EXPECT_EQ(hex(base::hmac_sha1(std::string(80, '\xaa'),
                                  "Test Using Larger Than Block-Size Key - Hash Key First")),
              "aa4ae5e15272d00e95705637ce8a3b55ed402112");
}

TEST(KnownHosts, ShowKeysOfNamedHostsAndNoOtherName) {
    const std::string file =
        "# comment SECRET\n"
        "github.com,140.82.112.3,SECRET.example ssh-ed25519 AAAAgithub ann@SECRET\n" +
        hashed("gitlab.com") + " ecdsa-sha2-nistp256 AAAAgitlab\n" + hashed("SECRET.example") +
        " ssh-ed25519 AAAASECRET\n"
        "[git.example.org]:2222 ssh-rsa AAAAport\n"
        "[git.example.org]:2223 ssh-rsa AAAASECRET\n"
        "*.github.com,github.com ssh-ed25519 AAAApattern\n"
        "!github.com,* ssh-ed25519 AAAASECRET\n"
        "@revoked github.com ssh-ed25519 AAAArevoked\n"
        "@SECRET github.com ssh-ed25519 AAAA\n"
        "GitHub.com\tssh-rsa  AAAAcase\n"
        "github.com\n"
        "github.com ssh-rsa SECRET$\n"
        "notgithub.com ssh-rsa AAAASECRET\n";
    EXPECT_EQ(plan::permitted_host_keys(file, rules({"github.com", "gitlab.com:22", "git.example.org:2222"})),
              "github.com ssh-ed25519 AAAAgithub\n"
              "gitlab.com ecdsa-sha2-nistp256 AAAAgitlab\n"
              "[git.example.org]:2222 ssh-rsa AAAAport\n"
              "github.com ssh-ed25519 AAAApattern\n"
              "@revoked github.com ssh-ed25519 AAAArevoked\n"
              "github.com ssh-rsa AAAAcase\n");
    EXPECT_EQ(plan::permitted_host_keys(file, rules({"*.example.org", "github.com:443", "*"})), "");
    EXPECT_EQ(plan::permitted_host_keys(file, {}), "");
}

TEST(KnownHosts, AreInEtcIfASettingNamesTheHost) {
    test::Case example;
    example.tree +=
        "f /home/ann/.ssh/known_hosts 0600 github.com ssh-ed25519 AAAA\\nother.example ssh-rsa BBBB\\n\n";
    auto keys = [&](const char* user) {
        example.toml = {.user = user};
        auto plan = test::planned(example);
        EXPECT_TRUE(plan) << plan.error().line();
        const plan::Mount* file = plan ? test::mount_at(*plan, "/etc/ssh/ssh_known_hosts") : nullptr;
        return file ? file->source : std::string("absent");
    };
    EXPECT_EQ(keys("[network]\nallow = [\"github.com\"]\n"), "github.com ssh-ed25519 AAAA\n");
    EXPECT_EQ(keys("[network]\nallow = [\"@github\"]\n"), "github.com ssh-ed25519 AAAA\n");
    EXPECT_EQ(keys(""), "absent");
    EXPECT_EQ(keys("[network]\nmode = \"isolated\"\nallow = [\"github.com\"]\n"), "absent");
    EXPECT_EQ(keys("[network]\nallow = [\"github.com\"]\n[mounts]\nhidden = [\"~/.ssh\"]\n"), "absent");
}

}  // namespace
