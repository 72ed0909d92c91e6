// SPDX-License-Identifier: MIT
#include "network/wire/tls.h"

#include <gtest/gtest.h>

#include "network/wire/bytes.h"
#include "verdicts.h"

namespace network::wire {
namespace {

using State = ServerHelloReader::State;

const char* const kRetry = "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c";

std::string message(std::string_view random) {
    return bytes("02 00 00 2c 03 03") + std::string(random) + std::string(10, '\0');
}

std::string record(std::string_view fragment) {
    std::string record = bytes("16 03 03");
    append_u16(record, static_cast<unsigned>(fragment.size()));
    return record + std::string(fragment);
}

State read(const std::string& answer) {
    ServerHelloReader whole, pieces;
    State state = State::need_more;
    for (char byte : answer) {
        if (state == State::need_more) state = pieces.take({&byte, 1});
    }
    EXPECT_EQ(whole.take(answer), state);
    return state;
}

TEST(ServerHello, KnowsARequestForASecondHello) {
    EXPECT_EQ(read(record(message(bytes(kRetry)))), State::retry);
    EXPECT_EQ(read(record(message(std::string(32, 'r')))), State::other);
    EXPECT_EQ(read(bytes("15 03 03 00 02 02 28")), State::other) << "an alert";
    EXPECT_EQ(read("HTTP/1.1 400 Bad Request\r\n"), State::other);
}

TEST(ServerHello, ReadsAMessageThatIsCutIntoRecords) {
    std::string whole = message(bytes(kRetry)), cut;
    for (size_t at = 0; at < whole.size(); at += 5) cut += record(whole.substr(at, 5));
    EXPECT_EQ(read(cut), State::retry);
    EXPECT_EQ(read(record("") + record(whole)), State::retry);
}

TEST(ServerHello, GivesUpOnAnAnswerThatStaysUnreadable) {
    std::string empty_records;
    for (int i = 0; i < 300; ++i) empty_records += record("");
    EXPECT_EQ(read(empty_records), State::refused);
}

}  // namespace
}  // namespace network::wire
