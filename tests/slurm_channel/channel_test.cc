// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/places.h"
#include "slurm/channel/channel.h"
#include "slurm_channel/properties.h"

namespace slurm::channel {
namespace {

StubRequest sample() {
    StubRequest request;
    request.command = "sbatch";
    request.arguments = {"-n4", "", "a b"};
    request.environment = {"HOME=/home/a", "EMPTY="};
    request.directory = "/home/a/project";
    request.script = std::string("#!/bin/sh\n\0x", 12);
    request.terminal = Window{50, 132};
    return request;
}

// Decodes a request from its frames. Returns the code of the refusal, or "".
std::string code_of(const std::string& bytes, StubRequest* request = nullptr) {
    Decoder decoder;
    Assembler assembler;
    std::vector<Frame> frames;
    if (!decoder.feed(bytes, frames)) return "broken";
    for (Frame& frame : frames) {
        switch (assembler.take(std::move(frame))) {
            case Assembler::Progress::more:
                continue;
            case Assembler::Progress::failed:
                return std::string(assembler.code());
            case Assembler::Progress::complete:
                if (request) *request = assembler.request();
                return "";
        }
    }
    return "incomplete";
}

TEST(StubRequest, ArrivesAsItWasSent) {
    StubRequest arrived;
    ASSERT_EQ(code_of(render(sample()), &arrived), "");
    EXPECT_EQ(arrived.command, "sbatch");
    EXPECT_EQ(arrived.arguments, sample().arguments);
    EXPECT_EQ(arrived.environment, sample().environment);
    EXPECT_EQ(arrived.directory, sample().directory);
    EXPECT_EQ(arrived.script, sample().script);
    ASSERT_TRUE(arrived.terminal);
    EXPECT_EQ(arrived.terminal->rows, 50);
    EXPECT_EQ(arrived.terminal->columns, 132);
}

TEST(StubRequest, LongWordsArriveInPieces) {
    for (size_t size : {kMaximumPayload - 1, kMaximumPayload, kMaximumPayload + 1, 3 * kMaximumPayload}) {
        StubRequest request = sample(), arrived;
        request.arguments = {std::string(size, 'x'), "y"};
        request.environment = {"A=" + std::string(size, 'z')};
        ASSERT_EQ(code_of(render(request), &arrived), "") << size;
        EXPECT_EQ(arrived.arguments, request.arguments);
        EXPECT_EQ(arrived.environment, request.environment);
    }
}

TEST(StubRequest, EmptyScriptIsAScript) {
    StubRequest request = sample(), arrived;
    request.script = "";
    ASSERT_EQ(code_of(render(request), &arrived), "");
    EXPECT_EQ(arrived.script, "");
    request.script.reset();
    ASSERT_EQ(code_of(render(request), &arrived), "");
    EXPECT_FALSE(arrived.script);
}

TEST(StubRequest, LimitsHold) {
    StubRequest request = sample();
    request.arguments = {std::string(kMaximumArguments - 1, 'x')};
    EXPECT_EQ(code_of(render(request)), "");
    request.arguments = {std::string(kMaximumArguments, 'x')};
    EXPECT_EQ(code_of(render(request)), kTooLarge);
    request.arguments = {std::string(4 * kMaximumArguments, 'x')};
    EXPECT_EQ(code_of(render(request)), kTooLarge);
    request.arguments.assign(kMaximumArguments + 1, "");
    EXPECT_EQ(code_of(render(request)), kTooLarge);

    request = sample();
    request.environment.assign(10, "A=" + std::string(30'000, 'x'));
    EXPECT_EQ(code_of(render(request)), kTooLarge);

    request = sample();
    request.script = std::string(kMaximumScript, 'x');
    EXPECT_EQ(code_of(render(request)), "");
    *request.script += 'x';
    EXPECT_EQ(code_of(render(request)), kTooLarge);
}

TEST(StubRequest, WhatDoesNotBelongIsRefused) {
    const std::string begin = hello("squeue"), place = frame(Type::directory, "/");
    EXPECT_EQ(code_of(begin + place + frame(Type::ready)), "");
    for (const std::string& bytes : {
             frame(Type::ready),                                         // no hello
             begin + begin,                                              // two hellos
             frame(Type::hello, std::string("\0\0\0\2", 4) + "squeue"),  // another version
             frame(Type::hello, "abc"),                                  // too short
             hello(""),
             hello("../sh"),
             hello("Squeue"),
             hello(std::string(33, 'a')),                            // invalid names
             begin + frame(Type::ready),                             // no directory
             begin + frame(Type::directory, "here"),                 // relative
             begin + frame(Type::directory, std::string("/\0", 2)),  //
             begin + frame(Type::directory, "/" + std::string(kMaximumDirectory, 'x')),
             begin + place + place,                                          //
             begin + frame(Type::argument, std::string("a\0b", 3)),          // NUL
             begin + frame(Type::variable, "NONAME"),                        //
             begin + frame(Type::variable, "=x"),                            //
             begin + place + frame(Type::piece, "x") + frame(Type::ready),   // within a word
             begin + place + frame(Type::script, "x") + frame(Type::ready),  // within the script
             begin + frame(Type::script_end) + frame(Type::script, "x"),     // after its end
             begin + frame(Type::terminal, "123"),                           // wrong length
             begin + frame(Type::input, "x"),                                // too early
             begin + frame(Type::output, "x"),                               // wrong direction
         })
        EXPECT_EQ(code_of(bytes), kBadProtocol);
}

TEST(Decoder, RefusesUnknownTypesAndLongFrames) {
    for (const std::string& bytes :
         {std::string("\0\0\0\0\0", 5), std::string("\x20\0\0\0\0", 5), std::string("\xff\0\0\0\0", 5),
          std::string("\3\xff\xff\xff\xff", 5), std::string("\3\0\1\0\1", 5)}) {
        Decoder decoder;
        std::vector<Frame> frames;
        EXPECT_FALSE(decoder.feed(bytes, frames));
        // The decoder stays failed: it ignores everything that follows.
        EXPECT_FALSE(decoder.feed(frame(Type::ready), frames));
        EXPECT_TRUE(frames.empty());
    }
}

TEST(Decoder, JunkIsNotMistakenForFrames) {
    Decoder decoder;
    std::vector<Frame> frames;
    EXPECT_FALSE(decoder.feed("GET / HTTP/1.1\r\n\r\n", frames));
}

TEST(Frames, NumbersAndEndingsAreReadBack) {
    auto payload = [](const std::string& bytes) { return bytes.substr(kHeaderSize); };
    EXPECT_EQ(parse_number(payload(number(Type::room, 0x12345678))), 0x12345678u);
    EXPECT_FALSE(parse_number("123"));
    auto ending = parse_exit(payload(exit({.number = 9, .is_signal = true})));
    ASSERT_TRUE(ending);
    EXPECT_EQ(ending->number, 9);
    EXPECT_TRUE(ending->is_signal);
    EXPECT_FALSE(parse_exit("x"));
    EXPECT_FALSE(parse_exit(std::string("\2\0\0\0\1", 5)));
    EXPECT_FALSE(parse_exit(std::string("\0\0\0\1\0", 5)));
    auto denial = parse_denied(payload(denied({"code", std::string(200'000, 'w'), "advice"})));
    ASSERT_TRUE(denial);
    EXPECT_EQ(denial->code, "code");
    EXPECT_EQ(denial->advice, "advice");
    EXPECT_FALSE(parse_denied("code"));
}

TEST(Frames, ClaimsHoldForTheSeeds) {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test::data("/fuzz/slurm/corpus/channel"))) {
        auto bytes = base::read_file(entry.path().string());
        ASSERT_TRUE(bytes.ok());
        EXPECT_EQ(broken_for_frames(*bytes), nullptr) << entry.path();
        ++count;
    }
    EXPECT_GE(count, 3u);
}

}  // namespace
}  // namespace slurm::channel
