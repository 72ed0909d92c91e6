// SPDX-License-Identifier: MIT
#include "network/wire/http/http_exchange.h"

#include <gtest/gtest.h>

#include "base/encoding/json.h"

namespace network::wire {
namespace {

struct Parts {
    std::string head;
    std::string body;
};

Parts parts(const std::string& response) {
    HttpResponseReader reader;
    EXPECT_EQ(reader.look(response), HttpResponseReader::State::complete);
    return {response.substr(0, reader.head_size()), response.substr(reader.head_size())};
}

TEST(HttpRefusal, SaysWhichRuleAndThatTryingAgainIsNoUse) {
    auto [head, body] =
        parts(http_refusal({.status = 403, .rule = "pastebin.com", .reason = "a paste \"site\"\r\n"}));
    EXPECT_EQ(head,
              "HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"
              "Connection: close\r\nContent-Length: " +
                  std::to_string(body.size()) + "\r\n\r\n");
    auto json = base::Json::parse(body);
    ASSERT_TRUE(json);
    EXPECT_EQ(json->text("rule"), "pastebin.com");
    EXPECT_EQ(json->text("reason"), "a paste \"site\"\r\n");
    EXPECT_TRUE(json->truth("do_not_retry"));
}

TEST(HttpRefusal, KnowsWhenTryingAgainMayHelp) {
    EXPECT_FALSE(base::Json::parse(parts(http_refusal({.status = 502, .reason = "x"})).body)
                     ->truth("do_not_retry", true));
    EXPECT_TRUE(
        base::Json::parse(parts(http_refusal({.status = 400, .reason = "x"})).body)->truth("do_not_retry"));
    EXPECT_TRUE(http_refusal({.status = 504}).starts_with("HTTP/1.1 504 Gateway Timeout\r\n"));
    EXPECT_TRUE(http_refusal({.status = 7}).starts_with("HTTP/1.1 403 ")) << "a status that we do not send";
}

TEST(HttpRefusal, OfAHeadRequestHasNoBody) {
    std::string with_body = http_refusal({.reason = "x"});
    EXPECT_EQ(http_refusal({.reason = "x", .answers_head = true}), parts(with_body).head);
}

TEST(HttpRefusal, SurvivesTextThatIsNotUtf8) {
    EXPECT_TRUE(base::Json::parse(parts(http_refusal({.rule = "\xff\x1b", .reason = "\xc3"})).body));
}

}  // namespace
}  // namespace network::wire
