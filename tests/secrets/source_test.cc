// SPDX-License-Identifier: MIT
#include "secrets/source.h"

#include <fcntl.h>
#include <signal.h>

#include <fstream>

#include "base/process/event_loop.h"
#include "base/text.h"
#include "secrets/places.h"
#include "secrets/store.h"

namespace secrets {
namespace {

using credentials::Credential;
using Kind = credentials::Source::Kind;
using Words = std::vector<std::string>;

constexpr std::string_view kCanary = "canary-5f1c9a7e42d0";

Credential from_command(Words words) {
    return {.name = "tracker", .source = {.kind = Kind::command, .words = std::move(words)}};
}
// Words for a shell: the source itself has none.
Credential from_shell(std::string script) {
    return from_command({"sh", "-c", std::move(script)});
}

class SourceTest : public test::Places {
  protected:
    SourceTest() { surroundings_.environment.push_back("CANARY=" + std::string(kCanary)); }
    std::string problem(const Credential& credential) {
        base::Result<Fetched> fetched = fetch(credential, surroundings_);
        if (fetched) return "no problem";
        std::string line = fetched.error().line();
        EXPECT_EQ(line.find(kCanary), std::string::npos) << line;
        EXPECT_NE(line.find("tracker"), std::string::npos) << line;
        return line;
    }
    bool gives(const Credential& credential, std::string_view value) {
        base::Result<Fetched> fetched = fetch(credential, surroundings_);
        EXPECT_TRUE(fetched.ok()) << fetched.error().line();
        return fetched.ok() && fetched->value.equals(value);
    }
};

TEST_F(SourceTest, ACommandRunsWithoutAShell) {
    EXPECT_TRUE(gives(from_command({"printf", "%s\n", kCanary.data()}), kCanary));
    EXPECT_TRUE(gives(from_command({"echo", "$HOME;`id` && true"}), "$HOME;`id` && true"));
}

TEST_F(SourceTest, ACommandGetsTheEnvironmentOfTheShellAndNoTerminal) {
    surroundings_.environment.emplace_back("VAULT_TOKEN=value-of-the-shell");
    EXPECT_TRUE(gives(from_shell("printf %s \"$VAULT_TOKEN\""), "value-of-the-shell"));
    EXPECT_TRUE(
        gives(from_shell("if (: </dev/tty) 2>/dev/null; then echo has-a-terminal; else echo no-terminal; fi"),
              "no-terminal"));
    EXPECT_TRUE(gives(from_shell("readlink /proc/self/fd/0 /proc/self/fd/2 | tr '\\n' ' '; pwd"),
                      "/dev/null /dev/null /"));
    // Only its own three descriptors.
    base::Fd leak(::open("/etc/passwd", O_RDONLY));
    EXPECT_TRUE(gives(
        from_shell("n=0; for f in /proc/$$/fd/*; do case ${f##*/} in [012]) ;; *) n=$((n+1));; esac; done; "
                   "[ $n -le 1 ] && echo nothing-else || echo $n-descriptors"),
        "nothing-else"));
}

TEST_F(SourceTest, ACommandMayPrintJson) {
    base::Result<Fetched> fetched = fetch(
        from_shell(
            R"(echo '{"kind": {"token": "no"}, "token": "0123456789abcdef", "expires_at": "2026-11-18T06:30:00Z"}')"),
        surroundings_);
    ASSERT_TRUE(fetched.ok()) << fetched.error().line();
    EXPECT_TRUE(fetched->value.equals("0123456789abcdef"));
    EXPECT_EQ(fetched->expires_at, 1794983400);
}

TEST_F(SourceTest, FailuresHaveWords) {
    const std::string canary = "$CANARY";  // not in the command itself, which messages name
    EXPECT_NE(
        problem(from_shell("echo " + canary + " >&2; echo " + canary + "; exit 3")).find("exit status 3"),
        std::string::npos);
    EXPECT_NE(problem(from_shell("kill -9 $$")).find("exit status 137"), std::string::npos);
    EXPECT_NE(problem(from_command({"true"})).find("printed nothing"), std::string::npos);
    EXPECT_NE(problem(from_shell("printf '%s\\n%s\\n' " + canary + " " + canary)).find("control character"),
              std::string::npos);
    EXPECT_NE(problem(from_command({"no-such-program-here"})).find("no program no-such-program-here in PATH"),
              std::string::npos);
    EXPECT_NE(problem(from_command({"./get"})).find("relative"), std::string::npos);
    EXPECT_NE(problem(from_shell("echo '{\"token\": \"'" + canary + "'\"'")).find("not an object"),
              std::string::npos);
    EXPECT_NE(problem(from_shell("echo '{\"key\": \"'" + canary + "'\"}'")).find("named token"),
              std::string::npos);
}

TEST_F(SourceTest, AnEndlessAnswerIsStopped) {
    EXPECT_NE(problem(from_shell("while :; do echo $CANARY; done")).find("16 KiB"), std::string::npos);
    // Exactly the limit is a value.
    EXPECT_TRUE(gives(from_shell("head -c 16384 /dev/zero | tr '\\0' a"), std::string(16384, 'a')));
}

TEST_F(SourceTest, ADaemonThatKeepsThePipeDoesNotHoldTheValueUp) {
    std::string pid_file = root_ + "/pid";
    auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE(gives(from_shell("sleep 300 & echo $! >" + pid_file + "; echo value-before-the-daemon"),
                      "value-before-the-daemon"));
    EXPECT_LT(std::chrono::steady_clock::now() - before, kLongestSource);
    pid_t daemon = 0;
    std::ifstream(pid_file) >> daemon;
    if (daemon > 1) ::kill(daemon, SIGKILL);
}

TEST_F(SourceTest, ACommandThatHangsIsKilledWithItsChildren) {
    std::string pid_file = root_ + "/pid";
    Credential hanging = from_shell("sleep 300 & echo $! >" + pid_file + "; wait");
    pid_t child = 0;
    {
        Fetching fetching(hanging, surroundings_);
        // The file is there a moment before its number.
        while (!(std::ifstream(pid_file) >> child)) ::usleep(1000);
        fetching.serve();
        EXPECT_FALSE(fetching.is_done());
        EXPECT_GE(fetching.patience(), 0);
        EXPECT_LE(fetching.patience(), 50);
    }
    // Its number is free, or it is a zombie until init has read its status.
    auto is_running = [&] {
        base::Result<std::string> status = base::read_file(base::format("/proc/{}/stat", child));
        return status.ok() && status->find(") Z") == std::string::npos;
    };
    while (is_running()) ::usleep(1000);
}

TEST_F(SourceTest, WaitsInAnEventLoop) {
    Fetching fetching(from_command({"echo", "value-by-the-loop"}), surroundings_);
    base::EventLoop loop;
    loop.add({[&] { return fetching.descriptor(); }, [&] { fetching.serve(); },
              [&] { return fetching.patience(); }});
    loop.add_check([&] { return fetching.patience(); }, [&] { fetching.serve(); });
    while (!fetching.is_done()) loop.turn();
    base::Result<Fetched> fetched = fetching.take();
    ASSERT_TRUE(fetched.ok()) << fetched.error().line();
    EXPECT_TRUE(fetched->value.equals("value-by-the-loop"));
    EXPECT_EQ(fetching.origin(), "the command echo value-by-the-loop");
}

TEST_F(SourceTest, AFileIsReadAnew) {
    Credential credential{.name = "tracker", .source = {.kind = Kind::file, .text = "~/token"}};
    EXPECT_NE(problem(credential).find("No such file"), std::string::npos);
    file("token", "first-value-of-the-file\n");
    EXPECT_TRUE(gives(credential, "first-value-of-the-file"));
    file("token", "second-value-of-the-file");
    EXPECT_TRUE(gives(credential, "second-value-of-the-file"));
    file("token", kCanary, 0622);
    EXPECT_NE(problem(credential).find("others can write it"), std::string::npos);
    file("token", std::string(20000, 'x'));
    EXPECT_NE(problem(credential).find("16 KiB"), std::string::npos);
    credential.source.text = root_;
    EXPECT_NE(problem(credential).find("not a file"), std::string::npos);
    ASSERT_EQ(::mkfifo((root_ + "/pipe").c_str(), 0600), 0);
    credential.source.text = root_ + "/pipe";
    EXPECT_NE(problem(credential).find("not a file"), std::string::npos)
        << "and it does not wait for a writer";
}

TEST_F(SourceTest, AVariableIsThatOfTheLaunchingShell) {
    Credential credential{.name = "tracker", .source = {.kind = Kind::variable, .text = "TRACKER"}};
    EXPECT_NE(problem(credential).find("export TRACKER"), std::string::npos);
    ::setenv("TRACKER", "of-this-process", 1);
    surroundings_.environment.emplace_back("TRACKER=value-of-the-shell");
    EXPECT_TRUE(gives(credential, "value-of-the-shell"));
    ::unsetenv("TRACKER");
}

TEST_F(SourceTest, WithoutASourceTheStoreComesBeforeTheVariable) {
    Credential credential{.name = "tracker", .variables = {"A_TOKEN", "B_TOKEN"}};
    std::string missing = problem(credential);
    EXPECT_NE(missing.find("A_TOKEN, B_TOKEN"), std::string::npos) << missing;
    EXPECT_NE(missing.find("agent-sandbox secret add tracker"), std::string::npos) << missing;
    surroundings_.environment.emplace_back("B_TOKEN=value-of-the-shell");
    EXPECT_TRUE(gives(credential, "value-of-the-shell"));
    base::Result<base::SecretValue> value = base::SecretValue::make("value-of-the-store");
    ASSERT_TRUE(write_stored(surroundings_.store, "tracker", *value).ok());
    EXPECT_TRUE(gives(credential, "value-of-the-store"));
}

TEST_F(SourceTest, AKeyOfAwsComesFromTwoVariablesAndMaybeATokenOrFromOneAnswer) {
    Credential credential{.name = "tracker",
                          .puts = *network::exchange::parse_puts("sigv4"),
                          .variables = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}};
    surroundings_.environment.emplace_back("AWS_ACCESS_KEY_ID=AKIAEXAMPLE");
    EXPECT_NE(problem(credential).find("AWS_SECRET_ACCESS_KEY"), std::string::npos) << "the ID alone";
    surroundings_.environment.emplace_back("AWS_SECRET_ACCESS_KEY=secret-key");
    EXPECT_TRUE(gives(credential, "AKIAEXAMPLE secret-key"));
    surroundings_.environment.emplace_back("AWS_SESSION_TOKEN=token");
    EXPECT_TRUE(gives(credential, "AKIAEXAMPLE secret-key token"));
    credential.source = {
        .kind = Kind::command,
        .words = {"printf", R"({"AccessKeyId": "AKIAOTHER", "SecretAccessKey": "other-key"})"}};
    EXPECT_TRUE(gives(credential, "AKIAOTHER other-key"));
}

TEST_F(SourceTest, EveryPathInAnArgumentIsOutside) {
    make_writable("project");
    const std::string inside = file("project/token", kCanary);
    const std::string outside = file("outside/token", kCanary);
    EXPECT_TRUE(gives(from_command({"dd", "if=" + outside, "status=none"}), kCanary)) << "the control";
    EXPECT_TRUE(gives(from_shell("cat '" + outside + "' | head -1"), kCanary));
    for (const Credential& credential :
         {from_command({"dd", "if=" + inside, "status=none"}), from_shell("cat '" + inside + "' | head -1"),
          from_command({"cat", inside.substr(1)}), from_command({"grep", "-f" + inside, outside})})
        EXPECT_NE(problem(credential).find("the jail can write"), std::string::npos);
}

// The agent would choose the program that runs outside the jail, or the value.
TEST_F(SourceTest, ASourceThatTheJailCanWriteIsRefused) {
    make_writable("project");
    std::string script = file("project/get", "#!/bin/sh\necho canary-5f1c9a7e42d0\n", 0700);
    EXPECT_NE(problem(from_command({script})).find("the jail can write"), std::string::npos);
    EXPECT_NE(problem(from_command({"sh", script})).find("the jail can write"), std::string::npos);
    Credential credential{.name = "tracker",
                          .source = {.kind = Kind::file, .text = file("project/token", kCanary)}};
    EXPECT_NE(problem(credential).find("the jail can write"), std::string::npos);
    // The control: the same outside.
    surroundings_.writable.clear();
    EXPECT_TRUE(gives(from_command({script}), kCanary));
    EXPECT_TRUE(gives(credential, kCanary));
}

}  // namespace
}  // namespace secrets
