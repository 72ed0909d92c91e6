// SPDX-License-Identifier: MIT
#include "network/exchange/placeholders.h"

#include <gtest/gtest.h>

#include "base/encoding/base64.h"
#include "base/parse.h"
#include "playbook.h"

namespace network::exchange {
using namespace std::string_literals;

namespace {

std::string url_safe(std::string text) {
    for (char& letter : text) letter = letter == '+' ? '-' : letter == '/' ? '_' : letter;
    return text;
}
std::string unpadded(std::string text) {
    while (text.ends_with('=')) text.pop_back();
    return text;
}
std::string percent(std::string_view text, bool is_upper = true, size_t every = 1) {
    std::string coded;
    for (size_t i = 0; i < text.size(); ++i) {
        char code[4];
        std::snprintf(code, sizeof code, is_upper ? "%%%02X" : "%%%02x", static_cast<unsigned char>(text[i]));
        coded += i % every == 0 ? std::string(code) : std::string(1, text[i]);
    }
    return coded;
}

std::vector<std::string> spellings() {
    const std::string& p = kPlaceholder;
    using base::to_base64;
    return {
        p,
        "Bearer " + p,
        "token " + p,
        "\"" + p + "\"",
        "Digest username=\"" + p + "\", realm=\"x\"",
        "session=" + p + "; path=/",
        "{\"token\":\"" + p + "\"}",
        "x" + p + "y",
        base::upper(p),
        base::lower(p),
        "Basic " + to_base64("x:" + p),
        "Basic " + to_base64(p + ":"),
        "Basic " + to_base64(p + ":x-oauth-basic"),
        "basic " + to_base64("user:" + p),
        "Basic " + unpadded(to_base64("us:" + p)),
        to_base64(p),
        to_base64("a" + p),
        to_base64("ab" + p),
        to_base64("abc" + p + "def"),
        unpadded(to_base64(p)),
        url_safe(to_base64("\xff\xfe" + p)),
        unpadded(url_safe(to_base64("?>" + p))),
        "v1." + to_base64(p) + ".sig",
        "x" + to_base64(p),
        percent(p),
        percent(p, false),
        percent(p, true, 2),
        percent(p, true, 5),
        percent("Bearer ") + p,
        percent(to_base64(p), true, 3),
        to_base64("{\"a\":\"" + p + "\"}"),
        "a=b&c=" + percent(p, true, 3),
    };
}

TEST(PlaceholderFinder, FindsThirtySpellings) {
    PlaceholderFinder finder({kOtherPlaceholder, kPlaceholder});
    EXPECT_GE(spellings().size(), 30u);
    for (const std::string& spelling : spellings())
        EXPECT_EQ(finder.find(spelling), std::optional<size_t>(1)) << spelling;
}

TEST(PlaceholderFinder, FindsNothingInOtherText) {
    PlaceholderFinder finder({kPlaceholder});
    for (const std::string& text :
         {std::string(), std::string("Bearer ghp_0123"), kPlaceholder.substr(1), kValue,
          std::string(5000, 'A'), std::string("%%%%zz%"), base::to_base64(kValue)})
        EXPECT_EQ(finder.find(text), std::nullopt) << text;
    EXPECT_EQ(PlaceholderFinder({}).find(kPlaceholder), std::nullopt);
}

TEST(PlaceholderElsewhere, IsRefusedInEverySpellingInFieldsAndInTheQuery) {
    Session session = Session().with("bearer", "bound.example");
    for (const std::string& spelling : spellings()) {
        for (const char* name : {"Authorization", "X-Anything", "Cookie", "User-Agent", "Referer"}) {
            Result result = run(session, get(std::string(name) + ": " + spelling + "\r\n"));
            EXPECT_EQ(result.stage, "refused placeholder_elsewhere") << name << ": " << spelling;
            EXPECT_EQ(result.sent, "");
        }
        std::string target;  // bytes that a target can't hold are coded by every client
        for (char letter : spelling)
            target += letter == ' '   ? "%20"
                      : letter == '"' ? "%22"
                      : letter == '#' ? "%23"
                                      : std::string(1, letter);
        EXPECT_EQ(run(session, get("", "/x?a=" + target)).stage, "refused placeholder_elsewhere") << target;
    }
    EXPECT_EQ(run(session, get("", "/" + kPlaceholder + "/x")).stage, "refused placeholder_elsewhere");
    EXPECT_EQ(run(session, get(kPlaceholder + ": x\r\n")).stage, "refused placeholder_elsewhere")
        << "as a name";
    EXPECT_EQ(run(session, "GET http://" + kPlaceholder +
                               "@api.example.org/ HTTP/1.1\r\nHost: api.example.org\r\n\r\n")
                  .stage,
              "refused malformed")
        << "a user part is not read at all";
}

TEST(PlaceholderElsewhere, IsAFindingWithItsCredential) {
    Session session = Session().with("bearer", "bound.example").with("bearer");
    Result result = run(session, get("X-A: " + kPlaceholder + "\r\n"));
    EXPECT_TRUE(result.answer.starts_with("HTTP/1.1 403 Forbidden\r\n"));
    EXPECT_NE(result.answer.find("x-agent-sandbox: placeholder_elsewhere\r\n"), std::string::npos);
    EXPECT_NE(
        result.answer.find("the placeholder of the credential 'github' is in the field X-A of a request to "
                           "api.example.org; it is for bound.example"),
        std::string::npos)
        << result.answer;
    EXPECT_EQ(result.answer.find(kPlaceholder), std::string::npos);
    EXPECT_EQ(run(session, get("Authorization: Bearer " + kOtherPlaceholder + "\r\n")).stage, "complete")
        << "the control";
}

TEST(PlaceholderElsewhere, DoesNotCountInABody) {
    Session session = Session().with("bearer", "bound.example");
    std::string body = "{\"text\":\"GH_TOKEN=" + kPlaceholder + "\"}";
    Result result = run(session, "POST / HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: " +
                                     std::to_string(body.size()) + "\r\n\r\n" + body);
    EXPECT_EQ(result.stage, "complete");
    EXPECT_TRUE(result.sent.ends_with(body));
}

TEST(PlaceholderElsewhere, IsRefusedInTrailers) {
    Session session = Session().with("bearer");
    for (const std::string& trailer :
         {"X-A: " + kPlaceholder, "Authorization: Bearer mine"s, "Content-Length: 5"s,
          "X-HTTP-Method-Override: DELETE"s, "no colon"s}) {
        Result result = run(
            session, "POST / HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" +
                         trailer + "\r\n\r\n");
        EXPECT_EQ(result.stage, "refused malformed") << trailer;
        EXPECT_EQ(result.sent.find(trailer), std::string::npos);
    }
}

}  // namespace
}  // namespace network::exchange
