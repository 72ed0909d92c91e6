// SPDX-License-Identifier: MIT
// Token endpoints: log-in and refresh of a subscription, in both directions.
#include "network/exchange/tokens.h"

#include <gtest/gtest.h>

#include "playbook.h"

namespace network::exchange {
namespace {

const std::string kAccess = "sk-ant-oat01-NewAccessToken0123456789";
const std::string kRefresh = "sk-ant-ort01-NewRefreshToken0123456789";

// An access token for one host, and a refresh token for the token endpoint at another one.
Session login() {
    Session session = Session().with("bearer").with("body refresh_token", "auth.example.org");
    session.bindings[0].issues = {*parse_issuer("POST auth.example.org/v1/token access_token")};
    session.bindings[1].issues = {*parse_issuer("POST auth.example.org/v1/token refresh_token")};
    session.place = {.host = "auth.example.org", .expected_host = "auth.example.org"};
    return session;
}

std::string post(const std::string& body, const std::string& type = "application/json",
                 const std::string& path = "/v1/token", const std::string& fields = "") {
    return "POST " + path + " HTTP/1.1\r\nHost: auth.example.org\r\nContent-Type: " + type + "\r\n" + fields +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string body_of(const std::string& message) {
    return message.substr(message.find("\r\n\r\n") + 4);
}

std::string refresh(const std::string& token = kOtherPlaceholder) {
    return R"({"grant_type": "refresh_token", "refresh_token": ")" + token + R"(", "client_id": "x"})";
}

TEST(TokenRequest, GetsTheValueInItsFieldAlone) {
    for (size_t piece : {size_t{1}, size_t{7}, size_t{100000}}) {
        Result result = run(login(), post(refresh()), piece);
        EXPECT_EQ(result.stage, "complete");
        EXPECT_EQ(body_of(result.sent), refresh(kValue));
        EXPECT_EQ(field_of(result.sent, "Content-Length"), std::to_string(refresh(kValue).size()));
    }
    const std::string form = "application/x-www-form-urlencoded";
    Result result = run(login(), post("grant_type=refresh_token&refresh_token=" + kOtherPlaceholder, form));
    EXPECT_EQ(body_of(result.sent),
              "grant_type=refresh_token&refresh_token=ghp_RealValue%2F0123456789%2Babcdef%3D%3Dxyz");
    result = run(login(), "POST /v1/token HTTP/1.1\r\nHost: auth.example.org\r\nContent-Type: " + form +
                              "\r\nTransfer-Encoding: chunked\r\n\r\n18\r\ngrant_type=refresh_token\r\n"
                              "2e\r\n&refresh_token=" +
                              kOtherPlaceholder + "\r\n0\r\n\r\n");
    EXPECT_EQ(result.stage, "complete");
    EXPECT_EQ(field_of(result.sent, "Transfer-Encoding"), "absent") << "the length is known now";
}

TEST(TokenRequest, IsRefusedWithThePlaceholderAtAnotherPlace) {
    const std::string second = R"({"grant_type":"refresh_token","refresh_token":")" + kOtherPlaceholder +
                               R"(","x":")" + kOtherPlaceholder + R"("})";
    EXPECT_EQ(run(login(), post(second)).stage, "refused outside_the_binding");
    const std::string other = R"({"grant_type":"refresh_token","x":")" + kOtherPlaceholder + R"("})";
    EXPECT_EQ(run(login(), post(other)).stage, "refused outside_the_binding");
    const std::string inner = R"({"x":{"refresh_token":")" + kOtherPlaceholder +
                              R"("},"refresh_token":"own","grant_type":"refresh_token"})";
    EXPECT_EQ(run(login(), post(inner)).stage, "refused outside_the_binding");
    const std::string access = R"({"grant_type":"refresh_token","refresh_token":")" + kPlaceholder + R"("})";
    EXPECT_EQ(run(login(), post(access)).stage, "refused placeholder_elsewhere")
        << "the access token is for another host";
    EXPECT_EQ(run(login(), post(refresh(), "application/json", "/v1/other")).sent.find(kValue),
              std::string::npos)
        << "no token endpoint: the body passes as it is";
}

TEST(TokenRequest, OfAnotherAccountIsRefused) {
    EXPECT_EQ(run(login(), post(refresh("sk-ant-ort01-the-agents-own-token"))).stage,
              "refused foreign_credential");
    EXPECT_EQ(
        run(login(), post(refresh(), "application/json", "/v1/token", "Content-Encoding: gzip\r\n")).stage,
        "refused request_refused");
}

// Of two fields with one name, servers take the first or the last.
TEST(TokenRequest, WithAFieldTwiceIsRefused) {
    const std::string token = R"("refresh_token":")" + kOtherPlaceholder + R"(")",
                      own = R"("refresh_token":"own")";
    const std::string grant = R"("grant_type":"refresh_token")", other = R"("grant_type":"token-exchange")";
    for (const std::string& fields : {grant + "," + token + "," + own, grant + "," + own + "," + token,
                                      other + "," + grant + "," + token}) {
        EXPECT_EQ(run(login(), post("{" + fields + "}")).stage, "refused request_refused") << fields;
    }
    // Go's reader compares names without case; U+212A is the sign of Kelvin, U+017F a long s.
    for (const char* name : {"Refresh_Token", R"(refresh_to\u212aen)", R"(refre\u017fh_token)"}) {
        const std::string alike = "{" + grant + "," + token + R"(,")" + name + R"(":"own"})";
        EXPECT_EQ(run(login(), post(alike)).stage, "refused request_refused") << name;
    }
    const std::string start = "grant_type=refresh_token&refresh_token=" + kOtherPlaceholder;
    for (const char* end :
         {"&refresh_token=own", "&refresh%5ftoken=own", ";refresh_token=own", "&refresh.token=own",
          "&refresh_token[]=own", "&refresh_token%5B%5D=own", "&+refresh_token=own", "&REFRESH_TOKEN=own"}) {
        EXPECT_EQ(run(login(), post(start + end, "application/x-www-form-urlencoded")).stage,
                  "refused request_refused")
            << end;
    }
    EXPECT_EQ(run(login(), post(refresh(), "application/json", "/v1/token?refresh_token=own")).stage,
              "refused request_refused");
    EXPECT_EQ(run(login(), post(start, "application/x-www-form-urlencoded")).stage, "complete")
        << "the control";
}

TEST(TokenRequest, OfAnotherGrantIsRefused) {
    for (const char* body : {R"({"grant_type":"urn:ietf:params:oauth:grant-type:token-exchange"})", "{}",
                             R"(["refresh_token"])", "", "grant_type=authorization_code"}) {
        EXPECT_EQ(run(login(), post(body)).stage, "refused request_refused") << body;
    }
    EXPECT_EQ(run(login(), post(refresh(), "text/plain")).stage, "refused request_refused");
    Result result = run(login(), post(R"({"grant_type":"authorization_code","code":"c"})"));
    EXPECT_EQ(result.stage, "complete") << "a log-in";
}

TEST(TokenRequest, ThatIsTooLongIsRefused) {
    std::string body = refresh();
    body.append(kMaximumTokenRequest, ' ');
    EXPECT_EQ(run(login(), post(body)).stage, "refused body_too_large");
}

struct Read {
    std::string client;
    NewTokens issued;
    std::string fault;
};
Read answered(const Session& session, const std::string& input, size_t piece = SIZE_MAX) {
    wire::HttpRequest request;
    request.method = "POST";
    Answer answer(request, nullptr);
    requests::CanonicalPath path;
    EXPECT_EQ(requests::read_target("/v1/token", path), "");
    answer.expect_tokens(session.bindings, issued_by(session.bindings, session.place, "POST", path));
    Read read;
    for (size_t at = 0; at < input.size();) {
        size_t used = answer.take(std::string_view(input).substr(at, piece), read.client);
        if (used == 0) break;
        at += used;
    }
    answer.end(read.client);
    read.fault = answer.fault();
    read.issued = answer.take_tokens();
    return read;
}

std::string reply(const std::string& body, const std::string& fields = "Content-Type: application/json\r\n",
                  const std::string& status = "200 OK") {
    return "HTTP/1.1 " + status + "\r\n" + fields + "Content-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

std::string tokens(const std::string& access = kAccess, const std::string& refresh_token = kRefresh) {
    return R"({"access_token": ")" + access +
           R"(", "expires_in": 28800, "scope": "a b", "refresh_token": ")" + refresh_token +
           R"(", "ratio": 0.5})";
}

TEST(TokenAnswer, HasPlaceholdersForTheNewTokens) {
    for (size_t piece : {size_t{1}, size_t{9}, size_t{100000}}) {
        Read read = answered(login(), reply(tokens()), piece);
        EXPECT_EQ(body_of(read.client), tokens(kPlaceholder, kOtherPlaceholder));
        EXPECT_EQ(field_of(read.client, "Content-Length"), std::to_string(body_of(read.client).size()));
        ASSERT_EQ(read.issued.tokens.size(), 2u);
        EXPECT_EQ(text_of(read.issued.tokens[0].value), kAccess);
        EXPECT_EQ(text_of(read.issued.tokens[1].value), kRefresh);
        EXPECT_EQ(read.issued.expires_in, 28800);
        EXPECT_EQ(read.issued.scope, "a b");
    }
    Read form = answered(login(), reply("access_token=" + kAccess + "&scope=a+b",
                                        "Content-Type: application/x-www-form-urlencoded\r\n"));
    EXPECT_EQ(body_of(form.client), "access_token=" + kPlaceholder + "&scope=a+b");
    EXPECT_EQ(form.issued.tokens.size(), 1u);
}

TEST(TokenAnswer, HidesEveryOtherSpellingAndToken) {
    Read read = answered(login(), reply(tokens().insert(1, R"("id_token": "eyJ.someone.known", )"),
                                        "Content-Type: application/json\r\nX-Debug: " + kAccess + "\r\n"));
    EXPECT_EQ(read.client.find("eyJ.someone"), std::string::npos);
    EXPECT_EQ(read.client.find(kAccess), std::string::npos);
    read = answered(login(), reply(R"({"access_token":"sk\u002dant-oat01-NewAccessToken0123456789"})"));
    EXPECT_EQ(read.fault, "the answer of a token endpoint spells a token in an unknown way");
    EXPECT_EQ(read.client, "");
    read = answered(login(), reply("<html>" + kAccess));
    EXPECT_EQ(read.client, "") << "what can't be read does not pass";
    read = answered(login(), reply(tokens(), "Content-Type: application/json\r\nContent-Encoding: gzip\r\n"));
    EXPECT_EQ(read.client, "");
    std::string large(kMaximumTokenAnswer + 1, ' ');
    EXPECT_EQ(answered(login(), reply(large)).client, "");
}

TEST(TokenAnswer, OfAnErrorPassesAndGivesNoToken) {
    const std::string body = R"({"error": "invalid_grant"})";
    Read read = answered(login(), reply(body, "Content-Type: application/json\r\n", "400 Bad Request"));
    EXPECT_EQ(body_of(read.client), body);
    EXPECT_TRUE(read.issued.tokens.empty());
    read = answered(login(), reply("<html>", "Content-Type: text/html\r\n", "502 Bad Gateway"));
    EXPECT_EQ(body_of(read.client), "<html>");
    read = answered(login(), reply(tokens(), "Content-Type: application/json\r\n", "500 Oops"));
    EXPECT_EQ(read.client.find(kAccess), std::string::npos);
    EXPECT_TRUE(read.issued.tokens.empty());
}

// "SIGNATURE" stays, the claims follow the value.
TEST(TokenClaims, FollowTheValueWhileThePlaceholderIsStillFound) {
    Session session = Session().with("bearer");
    Binding& binding = session.bindings[0];
    binding.has_claims = true;
    binding.placeholder = "eyJh.eyJvbGQi.Random-Signature_0123456789abcdefghijklmnop";
    const std::string next = "eyJh.eyJuZXci.Random-Signature_0123456789abcdefghijklmnop";
    EXPECT_EQ(binding.placeholder_for("eyJh.eyJuZXci.RealSignature"), next);
    EXPECT_EQ(binding.placeholder_for("opaque"), binding.placeholder);
    for (const std::string& sent : {binding.placeholder, next}) {
        Result result = run(session, get("Authorization: Bearer " + sent + "\r\n"));
        EXPECT_EQ(field_of(result.sent, "Authorization"), "Bearer " + kValue);
    }
    EXPECT_EQ(run(session, get("Authorization: Bearer eyJh.eyJuZXci.Other-Signature\r\n")).stage,
              "refused foreign_credential");
    EXPECT_EQ(run(session, get("X-Other: " + next + "\r\n")).stage, "refused outside_the_binding");
}

TEST(Issuer, NamesOneRequest) {
    for (const char* text : {"", "access_token", "GET a.example/token t", "POST a.example/* t",
                             "POST *.a.example/token t", "POST a.example/token", "a.example/token t"}) {
        EXPECT_FALSE(parse_issuer(text).ok()) << text;
    }
}

}  // namespace
}  // namespace network::exchange
