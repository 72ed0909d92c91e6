// SPDX-License-Identifier: MIT
// Names, rules, pushes and GraphQL as an exchange applies them.
#include <gtest/gtest.h>

#include "base/encoding/json.h"
#include "playbook.h"

namespace network::exchange {
namespace {

std::string post(std::string_view target, std::string_view fields, std::string_view body) {
    return "POST " + std::string(target) +
           " HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           std::string(fields) + "\r\n" + std::string(body);
}

TEST(Names, MustAllBeOne) {
    Session session = Session().with("bearer");
    auto stage = [&](std::string_view target, std::string_view hosts) {
        return run(session, "GET " + std::string(target) + " HTTP/1.1\r\n" + std::string(hosts) + "\r\n")
            .stage;
    };
    struct Host {
        const char* field;
        bool is_same;
    };
    constexpr Host kHosts[] = {
        {"Host: api.example.org\r\n", true},
        {"Host: API.Example.ORG\r\n", true},
        {"Host: api.example.org.\r\n", true},
        {"Host: api.example.org:443\r\n", true},
        {"Host: api.example.org:8443\r\n", false},
        {"Host: evil.example\r\n", false},
        {"Host: xapi.example.org\r\n", false},
        {"Host: 127.0.0.1\r\n", false},
        {"Host: [::1]\r\n", false},
        {"", false},
        {"Host: api.example.org\r\nHost: api.example.org\r\n", false},
        {"Host: api.example.org\r\nHost: evil.example\r\n", false},
        {"Host: api.example.org, evil.example\r\n", false},
        {"Host: user@api.example.org\r\n", false},
        {"Host:\r\n", false},
    };
    for (const Host& host : kHosts) {
        EXPECT_EQ(stage("/x", host.field) == "complete", host.is_same) << host.field;
        for (const char* target :
             {"http://api.example.org/x", "http://evil.example/x", "http://api.example.org:443/x",
              "https://api.example.org/x", "//evil.example/x@", "api.example.org:443"})
            EXPECT_TRUE(stage(target, host.field).starts_with("refused") ||
                        std::string_view(target).starts_with("//"))
                << target << " with " << host.field;
    }
    EXPECT_EQ(stage("/x", "Host: evil.example\r\n"), "refused host_mismatch");
    EXPECT_EQ(stage("http://api.example.org/x", "Host: api.example.org\r\n"), "refused host_mismatch");
}

// The name of the connection in eight spellings, against eight spellings of Host: only two that are one name
// in normal form, with the usual port, are served.
TEST(Names, EveryPairOfEightSpellings) {
    struct Spelling {
        std::string_view text;
        std::string_view name;  // in normal form; empty: not a name
    };
    constexpr Spelling kSpellings[] = {{"api.example.org", "api.example.org"},
                                       {"API.EXAMPLE.ORG", "api.example.org"},
                                       {"api.example.org.", "api.example.org"},
                                       {"api.example.org:443", "api.example.org"},
                                       {"api.example.org:8443", ""},
                                       {"xapi.example.org", "xapi.example.org"},
                                       {"api.example.org.evil.example", "api.example.org.evil.example"},
                                       {"user@api.example.org", ""}};
    for (const Spelling& connection : kSpellings) {
        if (connection.name.empty()) continue;
        Session session = Session().with("bearer", std::string(connection.name));
        session.place.host = session.place.expected_host = connection.name;
        for (const Spelling& host : kSpellings) {
            const std::string text = "GET /x HTTP/1.1\r\nHost: " + std::string(host.text) +
                                     "\r\nAuthorization: Bearer " + kPlaceholder + "\r\n\r\n";
            Result result = run(session, text);
            bool is_one = host.name == connection.name;
            EXPECT_EQ(result.stage == "complete", is_one) << connection.text << " and " << host.text;
            EXPECT_EQ(result.sent.find(kValue) != std::string::npos, is_one)
                << connection.text << " and " << host.text;
        }
    }
}

TEST(Rules, RefuseBeforeAnythingIsForwarded) {
    Session session = Session().with("bearer").block("POST api.example.org/keys");
    Result result = run(session, post("/keys", "Authorization: Bearer " + kPlaceholder + "\r\n", "{}"));
    EXPECT_EQ(result.stage, "refused request_refused");
    EXPECT_EQ(result.sent, "");
    EXPECT_TRUE(result.answer.starts_with("HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\n"));
    auto body = base::Json::parse(result.answer.substr(result.answer.find("\r\n\r\n") + 4));
    ASSERT_TRUE(body.ok());
    EXPECT_EQ(body->text("rule"), "POST api.example.org/keys");
    // What npm prints, and what gh prints.
    EXPECT_EQ(body->text("error"), "refused by the sandbox's rules about requests: " + body->text("reason"));
    EXPECT_EQ(body->text("message"), body->text("error"));
    EXPECT_EQ(body->text("origin"), "--block-request");
    EXPECT_EQ(body->text("change"), "agent-sandbox allow 'POST api.example.org/keys'");
    EXPECT_TRUE(body->truth("do_not_retry"));
    EXPECT_EQ(run(session, get("", "/keys/../x")).stage, "refused path_not_canonical");
    EXPECT_EQ(run(session, post("/x", "X-HTTP-Method-Override: DELETE\r\n", "")).stage,
              "refused request_refused");
    for (const std::string method : {"TRACE", "trace", "Trace", "CONNECT"}) {
        std::string target = method[0] == 'C' ? "api.example.org:443" : "/";
        EXPECT_EQ(
            run(Session(), method + (" " + target) + " HTTP/1.1\r\nHost: api.example.org\r\n\r\n").stage,
            "refused request_refused");
    }
}

TEST(Rules, AnswerHeadWithoutABody) {
    Session session = Session().block("HEAD api.example.org/**");
    Result result = run(session, "HEAD /x HTTP/1.1\r\nHost: api.example.org\r\n\r\n");
    EXPECT_TRUE(result.answer.ends_with("\r\n\r\n"));
}

TEST(Rules, MalformedRequestsKeepTheReadersStatus) {
    EXPECT_TRUE(run(Session(), "GET / HTTP/3\r\n\r\n").answer.starts_with("HTTP/1.1 505 "));
    EXPECT_TRUE(
        run(Session(), get("A: " + std::string(17000, 'x') + "\r\n")).answer.starts_with("HTTP/1.1 431 "));
    for (const char* fields :
         {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Content-Length: 5\r\nContent-Length: 5\r\n",
          "Transfer-Encoding: gzip\r\n", "A : b\r\n", "A: b\r\n c\r\n", "A: b\rc\r\n",
          "Connection: Content-Length\r\n"}) {
        Result result = run(Session().with("bearer"), get(fields));
        EXPECT_EQ(result.stage, "refused malformed") << fields;
        EXPECT_EQ(result.sent, "");
    }
    Result smuggled = run(
        Session(), "POST / HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\n");
    EXPECT_EQ(smuggled.stage, "refused malformed");
}

TEST(Rules, AQuestionWaitsBeforeTheHeadIsWritten) {
    Session session = Session().ask("POST api.example.org/**");
    auto rules = requests::RequestRules::make(session.settings);
    PlaceholderFinder finder({});
    Context context{session.place, &*rules, session.bindings, finder};
    Exchange exchange(context);
    std::string onward;
    std::string input = post("/x", "", "hello");
    size_t used = exchange.take(input, onward);
    EXPECT_EQ(exchange.stage(), Exchange::Stage::ask);
    EXPECT_EQ(exchange.take(std::string_view(input).substr(used), onward), 0u)
        << "the body stays with the client";
    exchange.deny("the user answered no");
    EXPECT_EQ(exchange.stage(), Exchange::Stage::refused);
    EXPECT_NE(exchange.refusal_answer().find("x-agent-sandbox: request_denied\r\n"), std::string::npos);
    exchange.approve();
    EXPECT_EQ(exchange.stage(), Exchange::Stage::refused) << "too late";
    EXPECT_EQ(run(session, input).stage, "complete") << "after an approval";
}

// What one answer covers.
TEST(Rules, AQuestionNamesMethodPathAndFieldsButNoQuery) {
    Session session =
        Session().ask("graphql mutation * api.example.org/graphql").ask("* api.example.org/x/**");
    auto rules = requests::RequestRules::make(session.settings);
    PlaceholderFinder finder({});
    Context context{session.place, &*rules, session.bindings, finder};
    auto asked = [&](const std::string& input) {
        Exchange exchange(context);
        std::string onward;
        size_t used = exchange.take(input, onward);
        exchange.take(std::string_view(input).substr(used), onward);
        EXPECT_EQ(exchange.stage(), Exchange::Stage::ask);
        return exchange.asked();
    };
    Exchange::Question plain = asked(post("/x/y?secret=1", "", "hello"));
    EXPECT_EQ(plain.method + " " + plain.path + plain.detail, "POST /x/y");
    EXPECT_EQ(plain.key, asked(post("/x/y?secret=2", "", "")).key);
    EXPECT_NE(plain.key, asked(post("/x/z", "", "")).key);
    auto mutation = [&](const std::string& fields) {
        return asked(post("/graphql", "Content-Type: application/json\r\n",
                          R"({"query":"mutation M { )" + fields + R"( }"})"));
    };
    EXPECT_EQ(mutation("b: addStar(id: 1) a: addComment").detail, "mutation addComment, mutation addStar");
    EXPECT_EQ(mutation("addComment").key, mutation("x: addComment(id: 2)").key);
    EXPECT_NE(mutation("addComment").key, mutation("addComment addStar").key);
}

TEST(Rules, AFailedSourceIsAnAnswer) {
    Session session = Session().with("bearer");
    auto rules = requests::RequestRules::make({});
    PlaceholderFinder finder({kPlaceholder});
    Context context{session.place, &*rules, session.bindings, finder};
    Exchange exchange(context);
    std::string onward;
    exchange.take(get("Authorization: Bearer " + kPlaceholder + "\r\n"), onward);
    ASSERT_EQ(exchange.stage(), Exchange::Stage::ready);
    EXPECT_EQ(exchange.credentials(), std::vector<size_t>{0});
    exchange.refuse(Code::credential_unavailable, "gh auth token exited with 1");
    EXPECT_TRUE(exchange.refusal_answer().starts_with("HTTP/1.1 502 Bad Gateway\r\n"));
}

// Rules that change between two calls.
struct Changing {
    explicit Changing(const Session& session) : rules(*requests::RequestRules::make(session.settings)) {
        context.place = session.place;
    }
    Exchange::Stage take(std::string_view input) {
        size_t used = exchange.take(input, onward);
        exchange.take(input.substr(used), onward);
        return exchange.stage();
    }
    Exchange::Stage change(const Session& session) {
        later = *requests::RequestRules::make(session.settings);
        context.rules = &later;
        exchange.judge_again();
        return exchange.stage();
    }

    requests::RequestRules rules, later;
    PlaceholderFinder finder{{}};
    Context context{.place = {}, .rules = &rules, .bindings = {}, .finder = finder};
    Exchange exchange{context};
    std::string onward;
};

TEST(ChangedRules, JudgeARequestOfWhichNothingWasForwarded) {
    using Stage = Exchange::Stage;
    Session blocking = Session().block("POST api.example.org/x");
    Session asking = Session().ask("POST api.example.org/x");
    Session reading = Session().allow("graphql query api.example.org/x");
    Changing ready{Session()};
    ASSERT_EQ(ready.take(post("/x", "", "hello")), Stage::ready);
    EXPECT_EQ(ready.change(asking), Stage::ask);
    EXPECT_EQ(ready.change(Session()), Stage::ready);
    EXPECT_EQ(ready.change(blocking), Stage::refused);
    EXPECT_EQ(ready.change(Session()), Stage::refused) << "the client has its answer";

    const std::string fields = "Content-Type: application/json\r\n";
    const std::string query = R"({"query":"{ a }"})", mutation = R"({"query":"mutation { b }"})";
    Changing read{reading};
    ASSERT_EQ(read.take(post("/x", fields, query)), Stage::ready);
    EXPECT_EQ(read.change(Session().allow("graphql mutation b api.example.org/x")), Stage::refused)
        << "the body is judged again";
    Changing unread{Session()};
    ASSERT_EQ(unread.take(post("/x", fields, mutation)), Stage::ready);
    EXPECT_EQ(unread.change(reading), Stage::body) << "a body that no rule had to read";
    EXPECT_EQ(unread.take(mutation), Stage::refused);
    EXPECT_EQ(unread.onward, "");
}

TEST(ChangedRules, LeaveARequestThatIsOnItsWay) {
    Changing sent{Session()};
    ASSERT_EQ(sent.take(get("")), Exchange::Stage::ready);
    std::string body;
    (void)sent.exchange.write_head({}, body);
    ASSERT_EQ(sent.exchange.stage(), Exchange::Stage::complete);
    EXPECT_EQ(sent.change(Session().block("GET api.example.org/user")), Exchange::Stage::complete);
    EXPECT_FALSE(sent.exchange.is_permitted_by(sent.later)) << "a WebSocket would be closed";
    EXPECT_TRUE(sent.exchange.is_permitted_by(sent.rules));
    auto asking = requests::RequestRules::make(Session().ask("GET api.example.org/user").settings);
    EXPECT_FALSE(sent.exchange.is_permitted_by(*asking)) << "the user was not asked";
}

TEST(Upgrade, WaitsForTheServer) {
    Result result = run(
        Session().with("bearer"),
        get("Connection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Bearer " + kPlaceholder + "\r\n") +
            "frames");
    EXPECT_EQ(result.stage, "upgrading");
    EXPECT_EQ(result.left, "frames");
    EXPECT_EQ(field_of(result.sent, "Authorization"), "Bearer " + kValue);
}

// ---- git

std::string push(const std::string& ref, std::string_view pack = "PACKdata") {
    std::string line = std::string(40, '0') + " " + std::string(40, '1') + " " + ref;
    line += std::string("\0 report-status side-band-64k", 29);
    return requests::packet_line(line) + "0000" + std::string(pack);
}

TEST(GitPush, IsJudgedByItsRefs) {
    Session session = Session().with("git").git("push api.example.org/me/app refs/heads/agent/*");
    std::string body = push("refs/heads/agent/x", std::string(200000, 'P'));
    for (size_t piece : {SIZE_MAX, size_t{1000}, size_t{5}}) {
        Result result =
            run(session, post("/me/app.git/git-receive-pack", "Expect: 100-continue\r\n", body), piece);
        EXPECT_EQ(result.stage, "complete");
        EXPECT_TRUE(result.sent.ends_with(body));
        EXPECT_EQ(field_of(result.sent, "Expect"), "absent") << "the gateway has answered it";
    }
    Result refused = run(session, post("/me/app.git/git-receive-pack", "", push("refs/heads/main")));
    EXPECT_EQ(refused.stage, "refused request_refused");
    EXPECT_EQ(refused.sent, "");
    EXPECT_TRUE(refused.answer.starts_with(
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-receive-pack-result\r\n"));
    EXPECT_NE(refused.answer.find(
                  "ng refs/heads/main refused by agent-sandbox: only refs/heads/agent/* may be pushed\n"),
              std::string::npos);
    EXPECT_EQ(run(session, post("/me/app.git/git-receive-pack", "", "0000")).stage, "complete")
        << "the probe";
}

TEST(GitPush, ThatCanNotBeReadIsRefused) {
    Session session = Session().with("git").git("push api.example.org/me/app **");
    EXPECT_EQ(
        run(session, post("/me/app/git-receive-pack", "Content-Encoding: gzip\r\n", push("refs/heads/x")))
            .stage,
        "refused request_refused");
    EXPECT_EQ(run(session, post("/me/app/git-receive-pack", "", "0010short")).stage,
              "refused request_refused");
    EXPECT_EQ(run(session, post("/me/app/git-receive-pack", "", "")).stage, "refused request_refused");
    EXPECT_EQ(run(session, post("/me/app/git-receive-pack", "", requests::packet_line("push-cert"))).stage,
              "refused request_refused");
    Result fetch = run(session, get("", "/you/x/info/refs?service=git-upload-pack"));
    EXPECT_TRUE(fetch.answer.starts_with(
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n"));
    EXPECT_NE(
        fetch.answer.find("ERR refused by agent-sandbox: no entry of requests.git permits to fetch from "
                          "api.example.org/you/x\n"),
        std::string::npos);
}

TEST(GitLfs, IsJudgedByItsOperation) {
    Session session = Session().with("git").git("fetch api.example.org/me/app");
    constexpr std::string_view kBatch = "/me/app.git/info/lfs/objects/batch";
    const std::string type = "Content-Type: application/vnd.git-lfs+json; charset=utf-8\r\n";
    const std::string download = R"({"operation": "download"})", upload = R"({"operation": "upload"})";
    for (size_t piece : {SIZE_MAX, size_t{3}}) {
        EXPECT_EQ(run(session, post(kBatch, type, download), piece).stage, "complete");
        Result refused = run(session, post(kBatch, type, upload), piece);
        EXPECT_EQ(refused.stage, "refused request_refused");
        EXPECT_EQ(refused.sent, "");
        EXPECT_TRUE(refused.answer.starts_with("HTTP/1.1 403 "));
        EXPECT_NE(refused.answer.find("permits to push to api.example.org/me/app"), std::string::npos);
    }
    for (const std::string& fields :
         {std::string("Content-Type: application/vnd.git-lfs+json; charset=utf-7\r\n"),
          std::string("Content-Type: text/plain\r\n"), std::string(), type + "Content-Encoding: gzip\r\n"})
        EXPECT_EQ(run(session, post(kBatch, fields, download)).stage, "refused request_refused") << fields;
    EXPECT_EQ(run(session, post(kBatch, type, "")).stage, "refused request_refused");
    EXPECT_EQ(run(session, post(kBatch, type, std::string(300000, ' '))).stage, "refused body_too_large");
}

TEST(GitPush, InChunksIsForwardedInChunks) {
    Session session = Session().with("git").git("push api.example.org/me/app **");
    std::string body = push("refs/heads/x");
    std::string input =
        "POST /me/app/git-receive-pack HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: "
        "chunked\r\n\r\n";
    for (char letter : body) input += std::string("1\r\n") + letter + "\r\n";
    Result result = run(session, input + "0\r\n\r\n", 100);
    EXPECT_EQ(result.stage, "complete");
    wire::HttpBody chunks(wire::HttpBody::Framing::chunked, 0);
    std::string data;
    chunks.take(std::string_view(result.sent).substr(result.sent.find("\r\n\r\n") + 4), data);
    EXPECT_EQ(data, body);
    EXPECT_EQ(chunks.state(), wire::HttpBody::State::complete);
}

TEST(GraphqlRequest, IsNotHiddenInTheBodyOfAnotherMethod) {
    Session session = Session().ask("graphql mutation * api.example.org/graphql");
    std::string mutation = R"({"query":"mutation { deleteX }"})";
    auto stage = [&](std::string_view method, std::string_view body) {
        std::string sent = post("/graphql", "Content-Type: application/json\r\n", body);
        return run(session, std::string(method) + sent.substr(sent.find(' '))).stage;
    };
    for (std::string_view method : {"GET", "HEAD", "OPTIONS", "DELETE", "PUT", "QUERY"})
        EXPECT_EQ(stage(method, mutation), "refused request_refused") << method;
    EXPECT_EQ(stage("GET", ""), "complete");
    EXPECT_EQ(stage("DELETE", ""), "complete");
}

TEST(GraphqlRequest, IsReadWholeBeforeItIsForwarded) {
    Session session = Session().with("bearer").allow("graphql query api.example.org/graphql");
    std::string fields = "Content-Type: application/json; charset=utf-8\r\n";
    std::string query = R"({"query":"{ viewer { login } }"})",
                mutation = R"({"query":"mutation { deleteX }"})";
    EXPECT_EQ(run(session, post("/graphql", fields, query), 3).stage, "complete");
    EXPECT_TRUE(run(session, post("/graphql", fields, query)).sent.ends_with(query));
    Result refused = run(session, post("/graphql", fields, mutation), 3);
    EXPECT_EQ(refused.stage, "refused request_refused");
    EXPECT_EQ(refused.sent, "");
    EXPECT_EQ(run(session, post("/graphql", "Content-Type: text/plain\r\n", query)).stage,
              "refused request_refused");
    EXPECT_EQ(run(session, post("/graphql", fields + "Content-Encoding: gzip\r\n", query)).stage,
              "refused request_refused");
    EXPECT_EQ(run(session, post("/graphql", fields, "")).stage, "refused request_refused");
    Result large = run(session, post("/graphql", fields, std::string(requests::kMaximumGraphql + 1, ' ')));
    EXPECT_EQ(large.stage, "refused body_too_large");
    EXPECT_TRUE(large.answer.starts_with("HTTP/1.1 413 "));
}

}  // namespace
}  // namespace network::exchange
