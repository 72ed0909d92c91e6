// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>

#include "cli/verbs/explaining_stub.h"
#include "cli/verbs/ssh_explanation.h"
#include "credentials/credential.h"

namespace cli {
namespace {

TEST(ExplainingStub, IsPlayedUnderTheseNamesAlone) {
    EXPECT_EQ(explaining_stub_name("/run/agent-sandbox/stubs/ssh", "ssh"), "ssh");
    EXPECT_EQ(explaining_stub_name("/dev/fd/3", "/usr/bin/podman"), "podman");
    for (const char* name : {"ssh-keyscan", "sshd", "/ssh/agent-sandbox", "SSH", "podman-remote", ""})
        EXPECT_EQ(explaining_stub_name(name, name), std::nullopt) << name;
}

// As OpenSSH 9.2 and 8.0 print it.
TEST(SshExplanation, ReadsWhatSshWouldUse) {
    SshSettings settings = ssh_settings_of(
        "host other\nuser git\nhostname git.example.org\nport 2222\nidentityfile ~/.ssh/id_rsa\n"
        "identityfile /keys/a b\nidentityagent SSH_AUTH_SOCK\nloglevel INFO\nproxyjump none\n");
    EXPECT_EQ(settings.host, "git.example.org");
    EXPECT_EQ(settings.port, 2222);
    EXPECT_EQ(settings.keys, (std::vector<std::string>{"~/.ssh/id_rsa", "/keys/a b"}));
    EXPECT_EQ(settings.agent, "SSH_AUTH_SOCK");
    EXPECT_FALSE(settings.uses_proxy || settings.uses_token || settings.is_quiet);
    EXPECT_TRUE(ssh_settings_of("proxycommand nc %h %p\n").uses_proxy);
    EXPECT_TRUE(ssh_settings_of("proxyjump bastion\n").uses_proxy);
    EXPECT_TRUE(ssh_settings_of("pkcs11provider /usr/lib/p.so\n").uses_token);
    EXPECT_TRUE(ssh_settings_of("loglevel QUIET\n").is_quiet);
    EXPECT_TRUE(ssh_settings_of("loglevel SILENT\n").is_quiet) << "ssh -q with OpenSSH 9.2";
    EXPECT_EQ(ssh_settings_of("").host, "");
}

TEST(SshExplanation, TakesTheGatewaysRefusalForNoServer) {
    EXPECT_TRUE(has_greeting("# github.com:22 SSH-2.0-babeld\ngithub.com ssh-ed25519 AAAA\n"));
    EXPECT_FALSE(has_greeting("# a.example:22 SSH-2.0-agent_sandbox\n"));
    EXPECT_FALSE(has_greeting("getaddrinfo a.example: Name or service not known\n"));
    EXPECT_FALSE(has_greeting(""));
}

TEST(SshExplanation, NamesTheOptionsInOneLine) {
    const std::string github = ssh_text({.host = "github.com", .user = "git", .port = 22});
    EXPECT_NE(github.find("ssh has no key for github.com"), std::string::npos);
    // The narrow way comes first.
    EXPECT_LT(github.find("ssh.hosts = [\"git@github.com\"]"), github.find("--dangerous-socket"));
    EXPECT_NE(github.find("--credential github, so that git uses HTTPS"), std::string::npos);
    EXPECT_NE(github.find("--env SSH_AUTH_SOCK --allow-host github.com, "), std::string::npos);
    EXPECT_TRUE(credentials::preset_values("github"));
    const std::string gitlab = ssh_text({.host = "gitlab.com", .user = "git", .port = 22});
    EXPECT_NE(gitlab.find("--credential gitlab, "), std::string::npos);
    EXPECT_TRUE(credentials::preset_values("gitlab"));
    const std::string other = ssh_text({.host = "git.example.org", .user = "me", .port = 2222});
    EXPECT_EQ(other.find("--credential"), std::string::npos);
    EXPECT_NE(other.find("--allow-host git.example.org:2222, "), std::string::npos);
    EXPECT_NE(other.find("ssh.hosts = [\"me@git.example.org:2222\"]"), std::string::npos);
    const std::string hostile = ssh_text({.host = "a\x1b[31m\nb", .user = "c\x1b[31m\nd", .port = 22});
    EXPECT_EQ(hostile.find('\x1b'), std::string::npos);
    EXPECT_EQ(hostile.find('\n'), hostile.size() - 1);
}

}  // namespace
}  // namespace cli
