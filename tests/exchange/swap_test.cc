// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "base/encoding/base64.h"
#include "base/text.h"
#include "playbook.h"

namespace network::exchange {
namespace {

std::string authorization(const Session& session, const std::string& value,
                          std::string_view target = "/user") {
    Result result = run(session, get("Authorization: " + value + "\r\n", target));
    return result.stage == "complete" ? field_of(result.sent, "Authorization") : result.stage;
}

TEST(Swap, PutsTheValueIntoTheBoundFieldAlone) {
    Session bearer = Session().with("bearer");
    EXPECT_EQ(authorization(bearer, "Bearer " + kPlaceholder), "Bearer " + kValue);
    EXPECT_EQ(authorization(bearer, "bearer  " + kPlaceholder), "Bearer " + kValue);
    EXPECT_EQ(authorization(bearer, "token " + kPlaceholder), "token " + kValue) << "as gh writes it";
    Session header = Session().with("header X-Api-Key");
    Result result = run(header, get("x-api-key: " + kPlaceholder + "\r\n"));
    EXPECT_EQ(field_of(result.sent, "x-api-key"), kValue);
    result =
        run(Session().with("header X-Auth Key={}; v=1"), get("X-Auth: Key=" + kPlaceholder + "; v=1\r\n"));
    EXPECT_EQ(field_of(result.sent, "X-Auth"), "Key=" + kValue + "; v=1");
}

TEST(Swap, DecodesBasicAndEncodesItAgain) {
    auto basic = [](const std::string& text) { return "Basic " + base::to_base64(text); };
    Session session = Session().with("basic __token__");
    EXPECT_EQ(authorization(session, basic("__token__:" + kPlaceholder)), basic("__token__:" + kValue));
    EXPECT_EQ(authorization(session, "basic " + base::to_base64("__token__:" + kPlaceholder)),
              basic("__token__:" + kValue));
    std::string unpadded = basic("__token__:" + kPlaceholder);
    while (unpadded.ends_with('=')) unpadded.pop_back();
    EXPECT_EQ(authorization(session, unpadded), basic("__token__:" + kValue)) << "without padding";
    EXPECT_EQ(authorization(session, basic("you:" + kPlaceholder)), "refused outside_the_binding");
    EXPECT_EQ(authorization(Session().with("basic *"), basic("you:" + kPlaceholder)), basic("you:" + kValue));
    EXPECT_EQ(authorization(Session().with("basic *"), basic(kPlaceholder + ":")), basic(kValue + ":"))
        << "as the user's name";
    EXPECT_EQ(authorization(session, basic(kPlaceholder + ":")), "refused outside_the_binding");
    EXPECT_EQ(authorization(session, basic(kPlaceholder)), "refused outside_the_binding");
    EXPECT_EQ(authorization(session, basic("__token__:other")), "refused foreign_credential");
    EXPECT_EQ(authorization(session, "Basic !!!"), "refused foreign_credential");
}

TEST(Swap, PutsGitsValueOnGitsPaths) {
    auto basic = [](const std::string& text) { return "Basic " + base::to_base64(text); };
    Session session = Session().with("git");
    constexpr std::string_view kRefs = "/me/app.git/info/refs?service=git-upload-pack";
    EXPECT_EQ(authorization(session, basic("x:" + kPlaceholder), kRefs), basic("x:" + kValue));
    EXPECT_EQ(authorization(session, basic(kPlaceholder + ":x-oauth-basic"), kRefs),
              basic(kValue + ":x-oauth-basic"));
    EXPECT_EQ(authorization(session, basic(kPlaceholder + ":"), kRefs), basic(kValue + ":"));
    EXPECT_EQ(authorization(session, basic("x:" + kPlaceholder), "/me/app.git/info/lfs/objects/batch"),
              basic("x:" + kValue));
    EXPECT_EQ(authorization(session, basic("x:" + kPlaceholder), "/user"), "refused outside_the_binding");
    EXPECT_EQ(authorization(session, basic(kPlaceholder + ":" + kPlaceholder), kRefs),
              "refused outside_the_binding")
        << "the second one would be forwarded";
}

TEST(Swap, RefusesAnotherAccountsTokenBesideThePlaceholder) {
    auto basic = [](const std::string& text) { return "Basic " + base::to_base64(text); };
    constexpr std::string_view kRefs = "/me/app.git/info/refs?service=git-upload-pack";
    for (const char* put : {"git", "basic *"}) {
        Session session = Session().with(put);
        for (const std::string& pair : {kPlaceholder + ":glpat-ATTACKERTOKEN1234567", kPlaceholder + ":x",
                                        "ghp_ATTACKERATTACKERATTACKERATTACKERATTA:" + kPlaceholder,
                                        "glpat-ATTACKERTOKEN1234567:" + kPlaceholder,
                                        "a user:" + kPlaceholder, std::string(65, 'u') + ":" + kPlaceholder})
            EXPECT_EQ(authorization(session, basic(pair), kRefs), "refused outside_the_binding")
                << put << pair;
        // Control: users of git, pip, docker, npm and curl.
        for (const std::string user : {"", "x-access-token", "oauth2", "__token__", "ann@example.org",
                                       "$oauthtoken", "00000000-0000-0000-0000-000000000000"})
            EXPECT_EQ(authorization(session, basic(user + ":" + kPlaceholder), kRefs),
                      basic(user + ":" + kValue))
                << put << user;
    }
}

TEST(Swap, EncodesTheValueInAQueryAndInAPath) {
    Session query = Session().with("query key");
    Result result = run(query, get("", "/v1/models?a=b&key=" + kPlaceholder + "&c=d"));
    EXPECT_TRUE(result.sent.starts_with(
        "GET /v1/models?a=b&key=ghp_RealValue%2F0123456789%2Babcdef%3D%3Dxyz&c=d HTTP/1.1\r\n"))
        << result.sent;
    EXPECT_EQ(result.path, "/v1/models");
    EXPECT_EQ(run(query, get("", "/x?key=" + percent_encoded(kPlaceholder))).stage, "complete");
    EXPECT_EQ(run(query, get("", "/x?key=foreign")).stage, "refused foreign_credential");
    EXPECT_EQ(run(query, get("", "/x?key=" + kPlaceholder + "&key=foreign")).stage,
              "refused foreign_credential");
    EXPECT_EQ(run(query, get("", "/x?other=" + kPlaceholder)).stage, "refused outside_the_binding");
    EXPECT_EQ(run(query, get("", "/x?key=" + kPlaceholder + "&x=" + kPlaceholder)).stage,
              "refused outside_the_binding");
    Session path = Session().with("path /bot{}/");
    result = run(path, get("", "/bot" + kPlaceholder + "/sendMessage?x=y"));
    EXPECT_TRUE(result.sent.starts_with(
        "GET /botghp_RealValue%2F0123456789%2Babcdef%3D%3Dxyz/sendMessage?x=y HTTP/1.1\r\n"));
    EXPECT_EQ(result.path, "/bot{github}/sendMessage") << "the record has no secret";
    EXPECT_EQ(run(path, get("", "/botforeign/sendMessage")).stage, "refused foreign_credential");
    EXPECT_EQ(run(path, get("", "/about")).stage, "complete");
}

TEST(Swap, TakesAnyOfSeveralForms) {
    Session session = Session().with("header x-api-key or bearer");
    EXPECT_EQ(authorization(session, "Bearer " + kPlaceholder), "Bearer " + kValue);
    EXPECT_EQ(field_of(run(session, get("x-api-key: " + kPlaceholder + "\r\n")).sent, "x-api-key"), kValue);
    EXPECT_EQ(run(session, get("x-api-key: " + kPlaceholder + "\r\nAuthorization: Bearer mine\r\n")).stage,
              "refused foreign_credential");
}

TEST(Swap, AddsTheValueWhereTheClientSentNothing) {
    Session session = Session().with("bearer or git").always();
    EXPECT_EQ(field_of(run(session, get("")).sent, "Authorization"), "Bearer " + kValue);
    EXPECT_EQ(field_of(run(session, get("Authorization: \r\n")).sent, "Authorization"), "Bearer " + kValue);
    EXPECT_EQ(field_of(run(session, get("", "/a/git-upload-pack")).sent, "Authorization"),
              "Basic " + base::to_base64("x-access-token:" + kValue))
        << "git's paths take Basic alone";
    EXPECT_EQ(field_of(run(Session().with("bearer"), get("")).sent, "Authorization"), "absent");
    Session bound = Session().with("bearer").always().within("/me/**");
    EXPECT_EQ(field_of(run(bound, get("", "/you/x")).sent, "Authorization"), "absent")
        << "outside of its paths";
    EXPECT_EQ(field_of(run(bound, get("", "/me/x")).sent, "Authorization"), "Bearer " + kValue);
    EXPECT_EQ(field_of(run(bound, get("", "/me/../you")).sent, "Authorization"), "absent");
}

TEST(Swap, AsksForAnAnswerThatCanBeSearched) {
    Session session = Session().with("bearer");
    Result result =
        run(session, get("Accept-Encoding: gzip, br\r\nAuthorization: Bearer " + kPlaceholder + "\r\n"));
    EXPECT_EQ(field_of(result.sent, "Accept-Encoding"), "identity");
}

TEST(Swap, WritesTheHeadAnewWithTheServersName) {
    Session session = Session().with("bearer");
    session.place.expected_host = "github.credential.agent-sandbox.internal";
    session.place.expected_port = 80;
    session.place.is_intercepted = false;
    Result result = run(session,
                        "GET /user HTTP/1.1\r\nHost: github.credential.agent-sandbox.internal\r\n"
                        "Authorization: Bearer " +
                            kPlaceholder + "\r\nProxy-Authorization: x\r\nTE: trailers\r\n\r\n");
    EXPECT_EQ(result.sent, "GET /user HTTP/1.1\r\nHost: api.example.org\r\nAuthorization: Bearer " + kValue +
                               "\r\nAccept-Encoding: identity\r\n\r\n");
    session.place.port = 8443;
    EXPECT_EQ(
        field_of(
            run(session, "GET / HTTP/1.1\r\nHost: github.credential.agent-sandbox.internal:80\r\n\r\n").sent,
            "Host"),
        "api.example.org:8443");
}

TEST(Swap, IsTheSameInEveryCut) {
    Session session = Session().with("bearer").allow("POST api.example.org/**");
    std::string input =
        "POST /x HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: chunked\r\nAuthorization: Bearer " +
        kPlaceholder + "\r\n\r\n5\r\nhello\r\n3\r\nyou\r\n0\r\nX-Sum: 1\r\n\r\nGET /next";
    Result whole = run(session, input);
    EXPECT_EQ(whole.stage, "complete");
    EXPECT_TRUE(whole.sent.ends_with("\r\n\r\n8\r\nhelloyou\r\n0\r\nX-Sum: 1\r\n\r\n")) << whole.sent;
    EXPECT_EQ(whole.left, "GET /next");
    for (size_t piece : {1, 2, 3, 7, 64}) {
        Result cut = run(session, input, piece);
        EXPECT_EQ(cut.stage, "complete") << piece;
        EXPECT_TRUE(cut.sent.starts_with(whole.sent.substr(0, whole.sent.find("\r\n\r\n") + 4))) << piece;
        EXPECT_TRUE(cut.sent.ends_with("0\r\nX-Sum: 1\r\n\r\n")) << piece;
    }
}

TEST(Binding, RefusesWhatIsOutsideOfItsPathsAndMethods) {
    Session session = Session()
                          .with("bearer")
                          .within("/repos/me/**")
                          .within("api.example.org/user")
                          .within("/teams/*/members")
                          .within("/projects/*%2F*")
                          .within("other.example/all");
    auto stage = [&](std::string_view target) {
        return run(session, get("Authorization: Bearer " + kPlaceholder + "\r\n", target)).stage;
    };
    EXPECT_EQ(stage("/repos/me/app"), "complete");
    EXPECT_EQ(stage("/user"), "complete");
    EXPECT_EQ(stage("/repos/you/app"), "refused outside_the_binding");
    EXPECT_EQ(stage("/all"), "refused outside_the_binding") << "of another host";
    EXPECT_EQ(stage("/repos/me/../you"), "refused path_not_canonical");
    EXPECT_EQ(stage("/repos/me/..%2Fyou"), "refused path_not_canonical");
    EXPECT_EQ(stage("/repos/me/app%2Fkeys"), "refused outside_the_binding");
    EXPECT_EQ(stage("/teams/a%2Fb/members"), "refused outside_the_binding");
    EXPECT_EQ(stage("/projects/group%2Fproject"), "complete") << "an entry spells it";
    EXPECT_EQ(stage("/repos/ME/app"), "refused outside_the_binding");
    EXPECT_EQ(run(session, get("", "/repos/you/app")).stage, "complete") << "without the placeholder";
    const std::string overridden =
        "Authorization: Bearer " + kPlaceholder + "\r\nX-HTTP-Method-Override: DELETE\r\n";
    EXPECT_EQ(run(session, get(overridden, "/user")).stage, "complete") << "every method is permitted";
    session.bindings[0].methods = {"POST"};
    EXPECT_EQ(stage("/user"), "refused outside_the_binding");
    session.bindings[0].methods = {"GET"};
    EXPECT_EQ(stage("/user"), "complete");
    EXPECT_EQ(run(session, get(overridden, "/user")).stage, "refused outside_the_binding");
    EXPECT_EQ(stage("/user?_method=DELETE"), "refused outside_the_binding");
    // Where the client sends nothing, nothing is added.
    session.always();
    EXPECT_NE(run(session, get("", "/user")).sent.find(kValue), std::string::npos);
    EXPECT_EQ(run(session, get("", "/user?_method=DELETE")).sent.find(kValue), std::string::npos);
}

TEST(Put, RefusesWhatIsNotAPlace) {
    for (const char* text : {"",
                             "bearer x",
                             "header",
                             "header a b",
                             "header X {} {}",
                             "header Bad Name",
                             "header Host",
                             "header content-length {}",
                             "header X \xc3\xa9{}",
                             "basic",
                             "basic a:b",
                             "query",
                             "query a b",
                             "query a&b",
                             "path",
                             "path /bot",
                             "path bot{}/",
                             "path /a/../{}/",
                             "path /{}{}/",
                             "sigv4 x",
                             "sigv4 or bearer",
                             "bearer or sigv4",
                             "bearer or",
                             "or bearer",
                             "git x",
                             "bearer, git"})
        EXPECT_FALSE(parse_puts(text).ok()) << text;
    EXPECT_EQ(parse_puts("header x-api-key or bearer or git")->size(), 3u);
}

TEST(ForeignCredential, IsRefusedOnABoundHostAlone) {
    Session session = Session().with("bearer");
    EXPECT_EQ(authorization(session, "Bearer mine"), "refused foreign_credential");
    EXPECT_EQ(authorization(session, "Bearer " + kPlaceholder + "x"), "refused outside_the_binding");
    EXPECT_EQ(authorization(session, "Digest x"), "refused foreign_credential");
    EXPECT_EQ(
        run(session, get("Authorization: Bearer " + kPlaceholder + "\r\nAuthorization: Bearer mine\r\n"))
            .stage,
        "refused foreign_credential");
    session.place.host = session.place.expected_host = "free.example";
    EXPECT_EQ(
        run(session, "GET / HTTP/1.1\r\nHost: free.example\r\nAuthorization: Bearer mine\r\n\r\n").stage,
        "complete");
}

TEST(PlaceholderElsewhere, IsRefusedWithoutEncryption) {
    Session session = Session().with("bearer");
    session.place.is_encrypted = false;
    EXPECT_EQ(authorization(session, "Bearer " + kPlaceholder), "refused placeholder_elsewhere");
}

}  // namespace
}  // namespace network::exchange
