// SPDX-License-Identifier: MIT
#include <pty.h>
#include <sys/ioctl.h>

#include "slurm_chaperon/harness.h"

namespace slurm::chaperon {
namespace {

class Relay : public ServeTest {};

// Resident memory in bytes.
size_t resident_of(const std::string& pid) {
    std::ifstream status("/proc/" + pid.substr(0, pid.find(' ')) + "/statm");
    size_t pages = 0, resident = 0;
    status >> pages >> resident;
    EXPECT_GT(resident, 0u) << pid;
    return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_F(Relay, OutputErrorsAndStatusArrive) {
    serve_with();
    Ran ran = run({"squeue", "sh", "-c", "echo out; echo err >&2; exit 3"});
    EXPECT_EQ(ran.output, "out\n");
    EXPECT_EQ(ran.errors, "err\n");
    EXPECT_EQ(ran.code(), 3);
}

TEST_F(Relay, TheStubEndsByTheSameSignal) {
    serve_with();
    EXPECT_EQ(run({"squeue", "sh", "-c", "kill -9 $$"}).signal(), SIGKILL);
    EXPECT_EQ(run({"squeue", "sh", "-c", "kill -TERM $$"}).signal(), SIGTERM);
}

TEST_F(Relay, InputGoesThrough) {
    serve_with();
    std::string text(3 << 20, 'x');
    for (size_t at = 0; at < text.size(); at += 61) text[at] = '\n';
    auto file = base::memory_file("input", text);
    ASSERT_TRUE(file.ok());
    Ran ran = run({"srun", "cat"}, file->get());
    EXPECT_EQ(ran.code(), 0);
    EXPECT_EQ(ran.output.size(), text.size());
    EXPECT_TRUE(ran.output == text);
}

TEST_F(Relay, WhoReadsNoInputLeavesItAlone) {
    serve_with();
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    base::Fd read_end(ends[0]), write_end(ends[1]);
    ASSERT_TRUE(base::write_all(write_end.get(), "next line\n").ok());
    // If cat got the input, it would print the line and wait for more.
    EXPECT_EQ(run({"squeue", "cat"}, read_end.get()).output, "");
    char bytes[32];
    EXPECT_EQ(::read(read_end.get(), bytes, sizeof bytes), 10);
}

TEST_F(Relay, AHandlersInputIsTheInput) {
    serve_with();
    EXPECT_EQ(run({"scancel", "cat"}).output, std::string(500'000, 'j'));
    // A command that does not read all of its input delays nothing.
    EXPECT_EQ(run({"scancel", "true"}).code(), 0);
}

TEST_F(Relay, EnvironmentIsTheContextsAlone) {
    serve_with();
    ::setenv("LEAKED", "1", 1);
    EXPECT_EQ(run({"squeue", "env"}).output, "PATH=/usr/bin:/bin\nCLEAN=yes\nEXTRA=more\n");
    ::unsetenv("LEAKED");
}

// Threat: srun starts programs at the request of ranks. Only salloc is meant to start a program.
TEST_F(Relay, OnlySallocStartsAnything) {
    serve_with();
    EXPECT_EQ(run({"squeue", "sh", "-c", "/bin/echo started"}).output, "started\n")
        << "control: not a name of Slurm's";
    EXPECT_EQ(run({"squeue", "srun", "-c", "/bin/echo started"}).output, "");
    EXPECT_EQ(run({"squeue", "srun", "-c", "echo builtin"}).output, "builtin\n");
}

TEST_F(Relay, NothingIsInherited) {
    serve_with();
    // Descriptor 3 is the directory that ls reads.
    EXPECT_EQ(run({"squeue", "sh", "-c", "ls /proc/self/fd; pwd; ulimit -c >/dev/null"}).output,
              "0\n1\n2\n3\n/\n");
}

TEST_F(Relay, LinesAreRewritten) {
    serve_with();
    EXPECT_EQ(run({"sinfo", "sh", "-c", "printf 'a\\nsecret\\nb'; sleep 0.1; echo c; printf d"}).output,
              "<a\n<bc\n<d");
}

TEST_F(Relay, ASlowReaderSlowsTheCommandDown) {
    serve_with();
    const std::string mark = folder_ + "/mark";
    Stub stub(socket_, {"squeue", "sh", "-c", "head -c 20000000 /dev/zero; touch " + mark});
    std::this_thread::sleep_for(500ms);
    // The command waits for its reader, and no process buffers the rest.
    EXPECT_FALSE(base::file_exists(mark));
    const size_t usual = resident_of(std::to_string(chaperon_));
    for (const std::string& pid : {std::to_string(stub.pid()), children()})
        EXPECT_LT(resident_of(pid), usual + (8u << 20)) << pid;
    Ran ran = stub.finish();
    EXPECT_EQ(ran.output.size(), 20'000'000u);
    EXPECT_EQ(ran.code(), 0);
}

TEST_F(Relay, SignalsReachTheCommandPastUnreadInput) {
    serve_with();
    base::Fd zero(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
    Stub stub(
        socket_,
        {"srun", "sh", "-c", "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.05; done"},
        zero.get());
    ASSERT_EQ(stub.first(6), "ready\n");
    std::this_thread::sleep_for(200ms);
    ::kill(stub.pid(), SIGINT);
    Ran ran = stub.finish();
    EXPECT_EQ(ran.output, "caught\n");
    EXPECT_EQ(ran.code(), 7);
}

TEST_F(Relay, AStubThatIsKilledTakesTheCommandWithIt) {
    serve_with({.grace = 300ms});
    // A command that exits on SIGTERM, and one that ignores it.
    for (const char* trap : {"", "trap '' TERM; "}) {
        const std::string file = folder_ + "/pid";
        Stub stub(socket_, {"srun", "sh", "-c",
                            std::string(trap) + "echo $$ >" + file + "; while :; do sleep 0.05; done"});
        pid_t pid = 0;
        ASSERT_TRUE(happens([&] { return static_cast<bool>(std::ifstream(file) >> pid) && pid > 0; }));
        ::kill(stub.pid(), SIGKILL);
        EXPECT_TRUE(happens([&] { return ::kill(pid, 0) != 0; }));
        EXPECT_TRUE(happens([&] { return children().empty(); }));
        std::filesystem::remove(file);
    }
}

TEST_F(Relay, TheReadersEndIsTheStubsEnd) {
    serve_with();
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    base::Fd read_end(ends[0]), write_end(ends[1]);
    Stub stub(socket_, {"squeue", "sh", "-c", "while echo line; do :; done"}, -1, write_end.get());
    write_end.reset();
    char byte;
    ASSERT_EQ(::read(read_end.get(), &byte, 1), 1);
    read_end.reset();
    EXPECT_EQ(stub.finish().signal(), SIGPIPE);
    EXPECT_TRUE(happens([&] { return children().empty(); }));
}

TEST_F(Relay, AStepGoesOnWithoutAReader) {
    serve_with();
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    base::Fd read_end(ends[0]), write_end(ends[1]);
    read_end.reset();
    Stub stub(socket_, {"srun", "sh", "-c", "head -c 2000000 /dev/zero; exit 9"}, -1, write_end.get());
    EXPECT_EQ(stub.finish().code(), 9);
}

TEST_F(Relay, ALeftBehindProcessDoesNotHoldTheStub) {
    serve_with();
    auto begin = Clock::now();
    EXPECT_EQ(run({"squeue", "sh", "-c", "sleep 60 & echo done"}).output, "done\n");
    EXPECT_LT(Clock::now() - begin, 50s);
}

TEST_F(Relay, ATerminalIsATerminal) {
    serve_with();
    int master = -1, slave = -1;
    struct winsize size = {.ws_row = 33, .ws_col = 101, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(::openpty(&master, &slave, nullptr, nullptr, &size), 0);
    base::Fd ours(master), theirs(slave);
    struct termios before, during, after;
    ::tcgetattr(slave, &before);
    Stub stub(socket_,
              {"sattach", "sh", "-c", "tty >/dev/null && stty size; read line; echo got $line; exit 5"},
              slave);
    ASSERT_TRUE(happens([&] { return ::tcgetattr(slave, &during) == 0 && !(during.c_lflag & ICANON); }));
    ASSERT_EQ(stub.first(8), "33 101\r\n");
    ASSERT_TRUE(base::write_all(master, "hello\r").ok());
    Ran ran = stub.finish();
    EXPECT_EQ(ran.output, "hello\r\ngot hello\r\n");
    EXPECT_EQ(ran.code(), 5);
    ::tcgetattr(slave, &after);
    EXPECT_EQ(before.c_lflag, after.c_lflag);
    EXPECT_EQ(before.c_iflag, after.c_iflag);
}

TEST_F(Relay, TheKeyboardsInterruptIsTheTerminals) {
    serve_with();
    int master = -1, slave = -1;
    ASSERT_EQ(::openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
    base::Fd ours(master), theirs(slave);
    Stub stub(socket_, {"sattach", "sh", "-c", "trap 'exit 6' INT; echo ready; while :; do sleep 0.05; done"},
              slave);
    ASSERT_EQ(stub.first(7), "ready\r\n");
    ASSERT_TRUE(base::write_all(master, "\x03").ok());
    EXPECT_EQ(stub.finish().code(), 6);
}

TEST_F(Relay, ACommandThatIsNotThereIsAFault) {
    serve_with();
    Ran ran = run({"squeue", "nothing"});
    EXPECT_EQ(ran.code(), 1);
    EXPECT_NE(ran.errors.find("squeue: failed [slurm-unavailable]: nothing is not installed"),
              std::string::npos)
        << ran.errors;
}

}  // namespace
}  // namespace slurm::chaperon
