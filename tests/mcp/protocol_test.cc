// SPDX-License-Identifier: MIT
#include "mcp/protocol.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "mcp/client.h"

namespace mcp {
namespace {

using base::Json;

constexpr int kParse = -32700, kInvalid = -32600, kUnknown = -32601, kWrong = -32602;

TEST(Protocol, AnswersWithTheClientsVersionOrItsNewest) {
    for (std::string_view version : kVersions)
        EXPECT_EQ(Client().begin(version).find("result")->text("protocolVersion"), version);
    EXPECT_EQ(Client().begin("2199-01-01").find("result")->text("protocolVersion"), "2025-11-25");
    const Json answer = Client().begin();
    EXPECT_EQ(answer.text("id"), "first");
    EXPECT_EQ(answer.text("jsonrpc"), "2.0");
    EXPECT_EQ(answer.find("result")->find("serverInfo")->text("version"), "1.2.3");
    EXPECT_NE(answer.find("result")->find("capabilities")->find("tools"), nullptr);
}

TEST(Protocol, RefusesRequestsBeforeInitializeExceptPing) {
    Client client;
    EXPECT_EQ(client.code_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"), kInvalid);
    EXPECT_EQ(client.code_of(R"({"jsonrpc":"2.0","id":1,"method":"nonsense"})"), kInvalid);
    EXPECT_EQ(client.code_of(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"), 0);
    client.begin();
    EXPECT_EQ(client.code_of(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})"), 0);
    EXPECT_EQ(client.code_of(R"({"jsonrpc":"2.0","id":1,"method":"initialize"})"), kInvalid);
}

struct Wrong {
    std::string text;
    int code;
};

TEST(Protocol, AnswersWrongMessagesWithTheCodesOfJsonRpcAndGoesOn) {
    const Wrong wrong[] = {
        {"{", kParse},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}", kParse},
        {"[]", kInvalid},
        {"3", kInvalid},
        {"{}", kInvalid},
        {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", kInvalid},
        {R"({"jsonrpc":"2.0","id":1})", kInvalid},
        {R"({"jsonrpc":"2.0","id":1,"method":7})", kInvalid},
        {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", kInvalid},
        {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", kInvalid},
        {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})", kWrong},
        {R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})", kUnknown},
        {R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})", kWrong},
        {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"allow"}})", kWrong},
        {std::string(40, '[') + std::string(40, ']'), kInvalid},
        {std::string(kLongestLine + 1, ' '), kInvalid},
    };
    Client client;
    client.begin();
    for (const Wrong& one : wrong) {
        EXPECT_EQ(client.code_of(one.text), one.code) << one.text.substr(0, 100);
        EXPECT_EQ(client.code_of(R"({"jsonrpc":"2.0","id":2,"method":"ping"})"), 0);
    }
    const size_t before = client.sent.size();
    client.put(R"({"jsonrpc":"2.0","id":1,"result":{}})");
    client.put(R"({"jsonrpc":"2.0","method":"notifications/unknown"})");
    client.put(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}})");
    EXPECT_EQ(client.sent.size(), before);
    EXPECT_TRUE(client.started.empty());
}

TEST(Protocol, EchoesTheIdOfARequestWithItsType) {
    Client client;
    EXPECT_EQ(*client.ask(R"({"jsonrpc":"2.0","id":7,"method":"ping"})").find("id")->as_number(), 7);
    EXPECT_EQ(*client.ask(R"({"jsonrpc":"2.0","id":"7","method":"ping"})").find("id")->as_text(), "7");
}

TEST(Protocol, RunsEightCallsAtOnceAndTheOthersInTheirOrder) {
    Client client;
    client.begin();
    for (int id = 1; id <= 10; ++id) client.call(id);
    EXPECT_EQ(client.started.size(), kMostCalls);
    client.protocol().finish(client.started[3].first, {.content = Json::object().set("a", 1)});
    EXPECT_EQ(client.started.size(), kMostCalls + 1);
    const Json answer = Json::parse(client.sent.back()).value();
    EXPECT_EQ(answer.number("id"), 4);
    EXPECT_EQ(answer.find("result")->find("structuredContent")->number("a"), 1);
    EXPECT_EQ(answer.find("result")->items("content")[0].text("text"), R"({"a":1})");
    EXPECT_FALSE(answer.find("result")->truth("isError", true));
    client.protocol().finish(client.started[0].first, {.problem = "broken"});
    const Json failed = Json::parse(client.sent.back()).value();
    EXPECT_TRUE(failed.find("result")->truth("isError"));
    EXPECT_EQ(failed.find("result")->items("content")[0].text("text"), "broken");
    EXPECT_EQ(failed.find("result")->find("structuredContent"), nullptr);
    EXPECT_EQ(client.started.size(), kMostCalls + 2);
}

TEST(Protocol, SendsNoDataBesideTheTextToAnOldClient) {
    Client client;
    client.begin("2024-11-05");
    client.call(1);
    client.protocol().finish(client.started[0].first, {.content = Json::object()});
    EXPECT_EQ(Json::parse(client.sent.back())->find("result")->find("structuredContent"), nullptr);
}

TEST(Protocol, IsFullWhenTooMuchWaits) {
    Client client;
    client.begin();
    for (int id = 1; !client.protocol().is_full(); ++id) client.call(id);
    EXPECT_EQ(client.started.size(), kMostCalls);
    client.protocol().finish(client.started[0].first, {.content = Json::object()});
    EXPECT_FALSE(client.protocol().is_full());
    Client large;
    large.begin();
    for (int id = 101; id <= 108; ++id) large.call(id);
    const std::string input = R"({"command":"x","stdin":")" + std::string(kLongestLine - 500, 'x') + "\"}";
    int sent = 0;
    while (!large.protocol().is_full()) large.call(++sent, "run", input);
    EXPECT_LT(sent, 4);
}

TEST(Protocol, CancelsRunningAndWaitingCallsOnceWithoutAnAnswer) {
    Client client;
    client.begin();
    for (int id = 1; id <= 10; ++id) client.call(id);
    const size_t before = client.sent.size();
    client.cancel(2);
    client.cancel(2);
    EXPECT_EQ(client.cancelled, std::vector<Protocol::CallNumber>{client.started[1].first});
    EXPECT_EQ(client.started.size(), kMostCalls + 1);  // the ninth
    client.cancel(10);
    client.cancel(77);
    EXPECT_EQ(client.cancelled.size(), 1U);
    client.protocol().finish(client.started[1].first, {.content = Json::object()});
    EXPECT_EQ(client.sent.size(), before);
    EXPECT_EQ(client.protocol().running(), kMostCalls);
}

TEST(Protocol, RefusesAnIdThatIsInUse) {
    Client client;
    client.begin();
    for (int id = 1; id <= 9; ++id) client.call(id);
    for (int id : {1, 9}) {
        client.call(id);
        EXPECT_EQ(Json::parse(client.sent.back())->find("error")->number("code"), kInvalid);
    }
    EXPECT_EQ(client.started.size(), kMostCalls);
}

TEST(Protocol, ReportsProgressOnlyToAToken) {
    Client client;
    client.begin();
    client.call(1);
    client.put(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run",)"
               R"("arguments":{"command":["x"]}}})");
    const size_t before = client.sent.size();
    client.protocol().report_progress(client.started[1].first, 1, 5);
    EXPECT_EQ(client.sent.size(), before);
    client.protocol().report_progress(client.started[0].first, 1, 5);
    const Json message = Json::parse(client.sent.back()).value();
    EXPECT_EQ(message.text("method"), "notifications/progress");
    EXPECT_EQ(message.find("params")->text("progressToken"), "p1");
    EXPECT_EQ(message.find("params")->number("progress"), 1);
    EXPECT_EQ(message.find("id"), nullptr);
}

TEST(Protocol, SendsOneLineWhateverTheContent) {
    Client client;
    client.begin();
    client.call(1);
    client.protocol().finish(client.started[0].first,
                             {.content = Json::object().set("x", "a\nb\x1b[31m\xff\r\n")});
    const std::string& line = client.sent.back();
    EXPECT_EQ(std::ranges::count(line, '\n'), 1);
    EXPECT_TRUE(std::ranges::none_of(line.substr(0, line.size() - 1),
                                     [](char letter) { return static_cast<unsigned char>(letter) < ' '; }));
}

}  // namespace
}  // namespace mcp
