// SPDX-License-Identifier: MIT
// Job control on a real pseudo-terminal: what works outside a jail works the same inside.
#include <pty.h>
#include <sys/ioctl.h>

#include "base/places.h"
#include "session/jail_fixture.h"

namespace {

// A program with its own terminal; the test acts as the user at the keyboard.
class Keyboard {
  public:
    explicit Keyboard(std::vector<std::string> words) {
        int master = -1;
        pid_ = ::forkpty(&master, nullptr, nullptr, nullptr);
        if (pid_ == 0) {
            ::setenv("PS1", "ready>", 1);
            ::setenv("TERM", "dumb", 1);
            ::setenv("HISTFILE", "/dev/null", 1);
            std::vector<char*> pointers;
            for (std::string& word : words) pointers.push_back(word.data());
            pointers.push_back(nullptr);
            ::execvp(pointers[0], pointers.data());
            ::_exit(99);
        }
        master_ = base::Fd(master);
    }
    ~Keyboard() {
        ::kill(pid_, SIGKILL);
        master_.reset();
        ::waitpid(pid_, nullptr, 0);
    }
    Keyboard(const Keyboard&) = delete;
    Keyboard& operator=(const Keyboard&) = delete;

    void type(const std::string& text) { (void)base::write_all(master_.get(), text); }
    // Reads until the text appears, and drops everything up to its end.
    testing::AssertionResult shows(const std::string& text) {
        for (size_t at; (at = shown_.find(text)) == std::string::npos;) {
            struct pollfd watched = {master_.get(), POLLIN, 0};
            char bytes[4096];
            ssize_t got =
                ::poll(&watched, 1, std::chrono::milliseconds(testing_support::kPatience).count()) > 0
                    ? ::read(master_.get(), bytes, sizeof bytes)
                    : 0;
            if (got <= 0) return testing::AssertionFailure() << "no '" << text << "' in: " << shown_;
            shown_.append(bytes, static_cast<size_t>(got));
        }
        shown_.erase(0, shown_.find(text) + text.size());
        return testing::AssertionSuccess();
    }
    void resize(unsigned short rows, unsigned short columns) {
        struct winsize size = {rows, columns, 0, 0};
        ::ioctl(master_.get(), TIOCSWINSZ, &size);
    }

  private:
    pid_t pid_ = -1;
    base::Fd master_;
    std::string shown_;
};

class TerminalTest : public testing_support::JailTest {
  protected:
    // A line for a shell at the keyboard.
    std::string line(const std::vector<std::string>& words) const {
        std::string text = test::beside(SESSION_PROGRAM);
        for (const std::string& word : words) text += " '" + word + "'";
        return text;
    }
    static std::vector<std::string> shell() { return {"bash", "--norc", "--noprofile", "-i"}; }

    static constexpr const char* kInterrupt = "\x03";
    static constexpr const char* kSuspend = "\x1a";
};

TEST_F(TerminalTest, AnInteractiveShellHasJobControl) {
    Keyboard keyboard(shell());
    ASSERT_TRUE(keyboard.shows("ready>"));
    keyboard.type(line(command({"bash", "--norc", "--noprofile", "-i"})) + "\n");
    ASSERT_TRUE(keyboard.shows("bash-"));
    keyboard.type("sh -c 'echo u\"\"p; exec sleep 100'\n");
    ASSERT_TRUE(keyboard.shows("up\r\n"));
    keyboard.type(kInterrupt);
    keyboard.type("echo ali''ve\n");
    EXPECT_TRUE(keyboard.shows("alive"));
    keyboard.type("sh -c 'echo u\"\"p; exec sleep 100'\n");
    ASSERT_TRUE(keyboard.shows("up\r\n"));
    keyboard.type(kSuspend);
    EXPECT_TRUE(keyboard.shows("Stopped"));
    keyboard.type("disown -a; exit 3\n");
    EXPECT_TRUE(keyboard.shows("ready>"));
    keyboard.type("echo status-$?\n");
    EXPECT_TRUE(keyboard.shows("status-3"));
}

TEST_F(TerminalTest, CtrlCReachesTheCommandOnce) {
    Keyboard keyboard(shell());
    ASSERT_TRUE(keyboard.shows("ready>"));
    std::string count =
        "n=0; trap \"let n++; echo it-came\" INT; echo u\"\"p; until test -e stop; do sleep 0.01; done; exit "
        "$n";
    keyboard.type(line(command({"bash", "-c", count})) + "\n");
    ASSERT_TRUE(keyboard.shows("up\r\n"));
    keyboard.type(kInterrupt);
    ASSERT_TRUE(keyboard.shows("it-came\r\n"));
    // Wait for a second SIGINT, which must not come.
    testing_support::let_others_run(std::chrono::milliseconds(50));
    directory_.write("p/stop", "");
    ASSERT_TRUE(keyboard.shows("ready>"));
    keyboard.type("echo status-$?\n");
    EXPECT_TRUE(keyboard.shows("status-1"));
}

TEST_F(TerminalTest, CtrlCEndsTheScriptAroundTheCommand) {
    Keyboard keyboard(shell());
    ASSERT_TRUE(keyboard.shows("ready>"));
    directory_.write("outer", line(script("echo u\"\"p; exec sleep 100")) + "; touch " + project("after"));
    keyboard.type("bash " + (directory_ / "outer") + "\n");
    ASSERT_TRUE(keyboard.shows("up\r\n"));
    keyboard.type(kInterrupt);
    ASSERT_TRUE(keyboard.shows("ready>"));
    EXPECT_FALSE(std::filesystem::exists(project("after")));
}

TEST_F(TerminalTest, CtrlZStopsTheJobAndFgContinuesIt) {
    Keyboard keyboard(shell());
    ASSERT_TRUE(keyboard.shows("ready>"));
    // Not dash: it starts programs with vfork, and a stop during vfork is lost outside a jail too.
    std::string reader = "until test -e stop; do echo t\"\"ick; sleep 0.01; done; read x; echo got-$x";
    keyboard.type(line(command({"bash", "-c", reader})) + "\n");
    for (int round = 0; round < 2; ++round) {
        ASSERT_TRUE(keyboard.shows("tick"));
        keyboard.type(kSuspend);
        ASSERT_TRUE(keyboard.shows("Stopped"));
        ASSERT_TRUE(keyboard.shows("ready>"));
        keyboard.type("fg\n");
    }
    ASSERT_TRUE(keyboard.shows("tick"));
    directory_.write("p/stop", "");
    keyboard.type("hello\n");
    EXPECT_TRUE(keyboard.shows("got-hello"));
    ASSERT_TRUE(keyboard.shows("ready>"));
    keyboard.type("echo status-$?\n");
    EXPECT_TRUE(keyboard.shows("status-0"));
}

TEST_F(TerminalTest, ABackgroundJobStopsWhenItReadsTheTerminal) {
    Keyboard keyboard(shell());
    ASSERT_TRUE(keyboard.shows("ready>"));
    keyboard.type(line(script("read x; echo got-$x")) + " &\n");
    ASSERT_TRUE(keyboard.shows("ready>"));
    keyboard.type("until jobs | grep Stop; do sleep 0.01; done; echo se\"\"en\n");
    ASSERT_TRUE(keyboard.shows("seen\r\n"));
    keyboard.type("fg\n");
    ASSERT_TRUE(keyboard.shows("/bin/sh"));
    keyboard.type("hello\n");
    EXPECT_TRUE(keyboard.shows("got-hello"));
}

TEST_F(TerminalTest, APipelineSharesTheTerminal) {
    Keyboard keyboard(shell());
    ASSERT_TRUE(keyboard.shows("ready>"));
    // At first the reader of the output has the terminal, as a pager needs it. The command gets the terminal
    // when it reads.
    keyboard.type(line(script("echo u\"\"p; read x; echo got-$x")) + " | cat\n");
    ASSERT_TRUE(keyboard.shows("up\r\n"));
    keyboard.type("hello\n");
    EXPECT_TRUE(keyboard.shows("got-hello"));
    ASSERT_TRUE(keyboard.shows("ready>"));

    keyboard.type(line(script("echo line")) + " | (read line; read answer < /dev/tty; echo $line-$answer)\n");
    keyboard.type("yes\n");
    EXPECT_TRUE(keyboard.shows("line-yes"));
}

TEST_F(TerminalTest, CtrlCEndsAPipeline) {
    Keyboard keyboard(shell());
    ASSERT_TRUE(keyboard.shows("ready>"));
    keyboard.type(
        line(script("trap \"echo x > trapped; exit\" INT; echo u\"\"p; while :; do sleep 0.01; done")) +
        " | cat\n");
    ASSERT_TRUE(keyboard.shows("up\r\n"));
    keyboard.type(kInterrupt);
    ASSERT_TRUE(keyboard.shows("ready>"));
    EXPECT_TRUE(std::filesystem::exists(project("trapped")));
}

TEST_F(TerminalTest, AResizeReachesTheCommand) {
    Keyboard keyboard(shell());
    ASSERT_TRUE(keyboard.shows("ready>"));
    keyboard.type(
        line(command(
            {"bash", "-c", "trap \"stty size; exit\" WINCH; echo u\"\"p; while :; do sleep 0.01; done"})) +
        "\n");
    ASSERT_TRUE(keyboard.shows("up\r\n"));
    keyboard.resize(33, 101);
    EXPECT_TRUE(keyboard.shows("33 101"));
}

TEST_F(TerminalTest, AScriptWithoutJobControlGetsTheTerminalBack) {
    Keyboard keyboard({"bash", "--norc", "-c", line(script("true")) + "; read x; echo got-$x; read y"});
    keyboard.type("hello\n");
    EXPECT_TRUE(keyboard.shows("got-hello"));
}

}  // namespace
