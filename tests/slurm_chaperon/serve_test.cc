// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "base/encoding/json.h"
#include "base/encoding/sha256.h"
#include "base/text.h"
#include "slurm_chaperon/harness.h"

namespace slurm::chaperon {
namespace {

class Serve : public ServeTest {};

channel::StubRequest sample() {
    channel::StubRequest request;
    request.command = "squeue";
    request.arguments = {"true"};
    request.directory = "/";
    return request;
}

TEST_F(Serve, OnlyTheSameUserIsServed) {
    EXPECT_TRUE(is_served({.pid = 1, .uid = 1000, .gid = 5}, 1000));
    EXPECT_FALSE(is_served({.pid = 1, .uid = 0, .gid = 1000}, 1000));
    EXPECT_FALSE(is_served({.pid = 1, .uid = 1001, .gid = 1000}, 1000));
}

TEST_F(Serve, WithoutASocketTheStubSaysThatSlurmIsClosed) {
    Ran ran = run({"squeue"});
    EXPECT_EQ(ran.code(), 127);
    EXPECT_TRUE(ran.errors.starts_with("squeue: Slurm is closed in this sandbox (slurm.mode); "))
        << ran.errors;
}

TEST_F(Serve, WithoutAChaperonTheStubSaysSo) {
    serve_with();
    ::kill(chaperon_, SIGKILL);
    ::waitpid(std::exchange(chaperon_, -1), nullptr, 0);
    Ran ran = run({"squeue"});
    EXPECT_EQ(ran.code(), 127);
    EXPECT_TRUE(ran.errors.starts_with("squeue: the sandbox's Slurm helper is not there; ")) << ran.errors;
}

TEST_F(Serve, CapturedTextIsTheHandlers) {
    serve_with();
    Ran ran = run({"sacct", "sh", "", "-c", "cat; echo out; echo err >&2; exit 2"});
    EXPECT_EQ(ran.output, "out\n");
    EXPECT_EQ(ran.errors, "err\n");
    EXPECT_EQ(ran.code(), 2);
    EXPECT_EQ(run({"sacct", "cat", "given"}).output, "given");
    EXPECT_NE(log().find("\"captured\""), std::string::npos);
}

TEST_F(Serve, CapturedTextIsBounded) {
    serve_with({.grace = 300ms, .captured = 100'000});
    Ran ran = run({"sacct", "cat", "", "/dev/zero"});
    EXPECT_EQ(ran.code(), 1);
    EXPECT_NE(ran.errors.find("more than can be read"), std::string::npos);
}

TEST_F(Serve, ACapturedCommandEndsWithItsStub) {
    serve_with();
    const std::string file = folder_ + "/pid";
    Stub stub(socket_, {"sacct", "sh", "", "-c", "echo $$ >" + file + "; exec sleep 100"});
    pid_t pid = 0;
    ASSERT_TRUE(happens([&] { return static_cast<bool>(std::ifstream(file) >> pid) && pid > 0; }));
    // The stub does not forward its signals here: it ends like any program.
    ::kill(stub.pid(), SIGINT);
    EXPECT_EQ(stub.finish().signal(), SIGINT);
    EXPECT_TRUE(happens([&] { return ::kill(pid, 0) != 0; }));
}

TEST_F(Serve, RefusedCommandsAreRefused) {
    serve_with();
    Ran ran = run({"strigger"});
    EXPECT_EQ(ran.code(), 1);
    EXPECT_TRUE(ran.errors.starts_with("strigger: refused [")) << ran.errors;
    EXPECT_NE(log().find("\"denied\""), std::string::npos);
}

TEST_F(Serve, RefusalsAreInTheSessionsRecordInOneChain) {
    serve_with();
    for (int i = 0; i < 3; ++i) run({"strigger"});
    ASSERT_TRUE(happens([&] { return std::ranges::count(record(), '\n') == 3; })) << record();
    std::string previous = base::sha256("seed");
    std::string text = record();
    for (std::string_view line : base::split(text, '\n')) {
        if (line.empty()) continue;
        auto json = base::Json::parse(line);
        ASSERT_TRUE(json.ok());
        EXPECT_EQ(json->text("kind"), "slurm");
        EXPECT_EQ(json->text("verdict"), "deny");
        EXPECT_EQ(json->text("command"), "strigger");
        EXPECT_EQ(json->text("previous"), previous);
        previous = base::sha256(line);
    }
}

TEST_F(Serve, UnknownCommandsAreRefused) {
    serve_with();
    Ran ran = run({"nonsense"});
    EXPECT_EQ(ran.code(), 1);
    EXPECT_NE(ran.errors.find("[slurm-command]"), std::string::npos) << ran.errors;
}

TEST_F(Serve, TheAgentCanReadItsLog) {
    serve_with();
    run({"sacct", "true", ""});
    Ran ran = run({"log"});
    EXPECT_EQ(ran.output, log());
    auto line = base::Json::parse(ran.output.substr(0, ran.output.find('\n')));
    ASSERT_TRUE(line.ok()) << ran.output;
    EXPECT_EQ(line->text("command"), "sacct");
    EXPECT_EQ(line->text("event"), "captured");
    EXPECT_EQ(line->text("bytes"), "0");
    EXPECT_EQ(line->text("time").size(), 24u);
}

TEST_F(Serve, TheScriptTravels) {
    serve_with();
    const std::string file = folder_ + "/job.sh";
    std::string text = "#!/bin/sh\n" + std::string(1 << 20, '#') + "\n";
    ASSERT_TRUE(base::write_file_atomically(file, text).ok());
    EXPECT_TRUE(run({"sbatch", "-n4", file, "argument"}).output == text);
    auto input = base::memory_file("script", "#!/bin/cat\n");
    EXPECT_EQ(run({"sbatch", "-n4"}, input->get()).output, "#!/bin/cat\n");
    EXPECT_EQ(run({"sbatch", "--wrap=true"}).output, "no script\n");
    Ran ran = run({"sbatch", folder_ + "/missing"});
    EXPECT_EQ(ran.code(), 1);
    EXPECT_EQ(ran.errors, "sbatch: error: Unable to open file " + folder_ + "/missing\n");
}

TEST_F(Serve, AScriptWithoutEndIsRefused) {
    serve_with();
    Ran ran = run({"sbatch", "/dev/zero"});
    EXPECT_EQ(ran.code(), 1);
    EXPECT_TRUE(ran.errors.starts_with("sbatch: refused [slurm-too-large]: the script is larger than 4 MiB"))
        << ran.errors;
}

TEST_F(Serve, TooMuchIsRefusedByTheChaperonToo) {
    serve_with();
    std::vector<std::string> words = {"squeue", "true"};
    for (int count = 0; count < 30; ++count) words.emplace_back(100'000, 'x');
    Ran ran = run(words);
    EXPECT_EQ(ran.code(), 1);
    EXPECT_TRUE(
        ran.errors.starts_with("squeue: refused [slurm-too-large]: the arguments are larger than 256 KiB"))
        << ran.errors;
}

TEST_F(Serve, FilesOfSrunAreOpenedByTheStub) {
    serve_with();
    const std::string file = folder_ + "/out";
    ASSERT_TRUE(base::write_file_atomically(file, "old, and longer than the new\n").ok());
    // The stub reads the options as srun does. This handler's command is the first word, so the options are
    // in the environment, which has the same effect.
    ::setenv("SLURM_STDOUTMODE", file.c_str(), 1);
    Ran ran = run({"srun", "sh", "-c", "echo out; echo err >&2; echo 'srun: own' >&2"});
    EXPECT_EQ(ran.output, "");
    EXPECT_EQ(ran.errors, "srun: own\n");
    std::string text = *base::read_file(file);
    EXPECT_TRUE(text == "out\nerr\n" || text == "err\nout\n") << text;
    ::setenv("SLURM_OPEN_MODE", "append", 1);
    run({"srun", "sh", "-c", "echo more"});
    EXPECT_EQ(*base::read_file(file), text + "more\n");
    ::unsetenv("SLURM_OPEN_MODE");
    ::setenv("SLURM_STDOUTMODE", "/nowhere/file", 1);
    EXPECT_EQ(run({"srun", "true"}).code(), 1);
    ::unsetenv("SLURM_STDOUTMODE");
}

TEST_F(Serve, SallocRunsTheCommandInPlace) {
    serve_with();
    ::setenv("SALLOC_TEST", "kept", 1);
    // The real holder passes the status on; here it is printed.
    Ran ran = run({"salloc", "-n1", "sh", "-c", "echo $SLURM_JOB_ID $OTHER $SALLOC_TEST; exit 65"});
    EXPECT_EQ(ran.output, "17 kept\n");
    EXPECT_EQ(ran.errors, "granted\nA");
    EXPECT_EQ(ran.code(), 4);
    ::unsetenv("SALLOC_TEST");
}

TEST_F(Serve, AnAllocationEndsWithItsStub) {
    serve_with({.grace = 300ms});
    const std::string file = folder_ + "/started";
    Stub stub(socket_, {"salloc", "sh", "-c", "echo $$ >" + file + "; sleep 30"});
    pid_t pid = 0;
    ASSERT_TRUE(happens([&] { return static_cast<bool>(std::ifstream(file) >> pid) && pid > 0; }));
    EXPECT_FALSE(children().empty());
    ::kill(stub.pid(), SIGKILL);
    EXPECT_TRUE(happens([&] { return children().empty(); }));
    ::kill(pid, SIGKILL);
}

TEST_F(Serve, SignalsOfAHeldAllocationAreTheCommands) {
    serve_with();
    const std::string file = folder_ + "/started";
    Stub stub(socket_, {"salloc", "sh", "-c",
                        "trap 'exit 66' TERM; touch " + file + "; while :; do sleep 0.05; done"});
    ASSERT_TRUE(happens([&] { return base::file_exists(file); }));
    ::kill(stub.pid(), SIGTERM);
    Ran ran = stub.finish();
    EXPECT_EQ(ran.errors, "granted\nB");
    EXPECT_EQ(ran.code(), 4);
}

TEST_F(Serve, JunkIsAnsweredAndClosed) {
    serve_with();
    for (std::string junk :
         {std::string("GET / HTTP/1.0\r\n\r\n"), std::string(100'000, '\xff'),
          channel::frame(channel::Type::ready), channel::hello("squeue") + channel::hello("squeue")}) {
        base::Fd fd = connect();
        (void)base::write_all(fd.get(), junk);
        auto frames = frames_from(fd.get());
        ASSERT_EQ(frames.size(), 2u);
        EXPECT_EQ(frames[0].type, channel::Type::denied);
        EXPECT_EQ(frames[1].type, channel::Type::exit);
    }
    // Invalid bytes after the request also end the command.
    base::Fd fd = connect();
    channel::StubRequest request = sample();
    request.arguments = {"sleep", "100"};
    (void)base::write_all(fd.get(), channel::render(request) + "junk" + std::string(100, '\0'));
    frames_from(fd.get());
    EXPECT_TRUE(happens([&] { return children().empty(); }));
    EXPECT_EQ(run({"squeue", "true"}).code(), 0);
}

TEST_F(Serve, InputWithoutRoomIsNonsense) {
    serve_with({.grace = 300ms});
    channel::StubRequest request = sample();
    request.arguments = {"sleep", "100"};
    base::Fd fd = connect();
    (void)base::write_all(fd.get(), channel::render(request));
    std::this_thread::sleep_for(100ms);
    (void)base::write_all(fd.get(), channel::frame(channel::Type::input, "x"));
    EXPECT_TRUE(frames_from(fd.get()).empty());
}

TEST_F(Serve, ARequestHasToArriveInTime) {
    serve_with({.request = 200ms, .script = 600ms});
    for (std::string beginning : {std::string(), channel::hello("squeue")}) {
        base::Fd fd = connect();
        (void)base::write_all(fd.get(), beginning);
        auto begin = Clock::now();
        auto frames = frames_from(fd.get());
        EXPECT_LT(Clock::now() - begin, 60s);
        ASSERT_EQ(frames.size(), 2u);
        EXPECT_EQ(channel::parse_denied(frames[0].payload)->what, "the request did not arrive in time");
    }
    // A script may take longer while it arrives, but not for ever. On a busy machine a part of it may be
    // late.
    auto longest = Clock::duration::zero();
    for (int tries = 0; tries < 50 && longest <= 400ms; ++tries) {
        base::Fd fd = connect();
        (void)base::write_all(fd.get(), channel::hello("sbatch"));
        auto begin = Clock::now();
        std::string part = channel::frame(channel::Type::script, "x");
        while (::send(fd.get(), part.data(), part.size(), MSG_NOSIGNAL) > 0)
            std::this_thread::sleep_for(20ms);
        longest = std::max(longest, Clock::now() - begin);
    }
    EXPECT_GT(longest, 400ms);
    EXPECT_LT(longest, 60s);
}

TEST_F(Serve, OneTooManyWaitsForItsTurn) {
    serve_with();
    std::vector<base::Fd> callers;
    channel::StubRequest request = sample();
    request.command = "srun";
    // Each creates a file when it runs.
    auto call = [&](int count) {
        request.arguments = {"sh", "-c",
                             "touch " + folder_ + "/ran-" + std::to_string(count) + "; exec sleep 100"};
        callers.push_back(connect());
        ASSERT_TRUE(base::write_all(callers.back().get(), channel::render(request)).ok());
    };
    auto has_run = [&](int count) {
        return std::filesystem::exists(folder_ + "/ran-" + std::to_string(count));
    };
    for (int count = 0; count < 64; ++count) call(count);
    for (int count = 0; count < 64; ++count) ASSERT_TRUE(happens([&] { return has_run(count); }));
    call(64);
    call(65);
    // A command that ends soon is served meanwhile, again and again; the others wait.
    for (int count = 0; count < 20; ++count) EXPECT_EQ(run({"squeue", "true"}).code(), 0);
    EXPECT_FALSE(has_run(64));
    // One that leaves while it waits takes no turn.
    callers[64].reset();
    EXPECT_EQ(run({"squeue", "true"}).code(), 0);
    callers[0].reset();
    EXPECT_TRUE(happens([&] { return has_run(65); }));
    EXPECT_FALSE(has_run(64));
    // Silent connections keep none waiting.
    for (int count = 0; count < 60; ++count) callers.push_back(connect());
    EXPECT_EQ(run({"squeue", "true"}).code(), 0);
    // The end of the session ends all commands.
    end_session();
    int status = -1;
    ASSERT_EQ(::waitpid(chaperon_, &status, 0), chaperon_);
    chaperon_ = -1;
    EXPECT_EQ(status, 0);
    std::erase_if(callers, [](const base::Fd& caller) { return !caller; });
    for (base::Fd& caller : callers) frames_from(caller.get());
}

TEST_F(Serve, TheSessionsEndEndsRealCommands) {
    serve_with();
    const std::string file = folder_ + "/pid";
    Stub stub(socket_, {"squeue", "sh", "-c", "echo $$ >" + file + "; exec sleep 100"});
    pid_t pid = 0;
    ASSERT_TRUE(happens([&] { return static_cast<bool>(std::ifstream(file) >> pid) && pid > 0; }));
    end_session();
    EXPECT_TRUE(happens([&] { return ::kill(pid, 0) != 0; }));
    EXPECT_EQ(stub.finish().code(), 127);
}

TEST_F(Serve, SrunHasAMomentAtTheSessionsEnd) {
    serve_with();
    const std::string file = folder_ + "/pid", mark = folder_ + "/given-back";
    Stub stub(socket_, {"squeue", "srun", "-c",
                        "trap ': >" + mark + "; exit' TERM; echo $$ >" + file + "; while :; do :; done"});
    pid_t pid = 0;
    ASSERT_TRUE(happens([&] { return static_cast<bool>(std::ifstream(file) >> pid) && pid > 0; }));
    ::kill(chaperon_, SIGKILL);
    EXPECT_TRUE(happens([&] { return base::file_exists(mark); }));
    EXPECT_EQ(stub.finish().code(), 127);
}

TEST_F(Serve, ManyRequestsLeaveNothing) {
    serve_with();
    ASSERT_EQ(run({"squeue", "true"}).code(), 0);
    ASSERT_TRUE(happens([&] { return children().empty(); }));
    const size_t before = descriptors();
    auto begin = Clock::now();
    for (int count = 0; count < 500; ++count) {
        base::Fd fd = connect();
        ASSERT_TRUE(base::write_all(fd.get(), channel::render(sample())).ok());
        auto frames = frames_from(fd.get());
        ASSERT_EQ(frames.size(), 1u) << count << ": " << frames[0].payload;
    }
    RecordProperty("microseconds_each", static_cast<int>((Clock::now() - begin) / 500us));
    EXPECT_TRUE(happens([&] { return children().empty(); }));
    // The first request's may still be open when they are counted.
    EXPECT_TRUE(happens([&] { return descriptors() <= before; })) << descriptors() << " after " << before;
}

}  // namespace
}  // namespace slurm::chaperon
