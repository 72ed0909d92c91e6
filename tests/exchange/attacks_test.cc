// SPDX-License-Identifier: MIT
// Attacks on the swap and on the search of answers: what a program in the jail could send to see a value or
// to be judged otherwise than the server reads it.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/encoding/base64.h"
#include "playbook.h"

namespace network::exchange {
namespace {

const std::string kUse = "Authorization: Bearer " + kPlaceholder + "\r\n";

std::string post_graphql(std::string_view fields) {
    constexpr std::string_view kQuery = R"({"query":"{ viewer { login } }"})";
    return "POST /graphql HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: " +
           std::to_string(kQuery.size()) + "\r\n" + std::string(fields) + "\r\n" + std::string(kQuery);
}

// Threat: the gateway reads the first of two fields, and the server the second.
TEST(RepeatedField, ThatDescribesTheBodyIsRefused) {
    Session session = Session().with("bearer").allow("graphql query api.example.org/graphql");
    const std::string json = "Content-Type: application/json\r\n";
    EXPECT_EQ(run(session, post_graphql(json)).stage, "complete") << "the control";
    for (const std::string& fields :
         {json + "Content-Type: text/plain\r\n", json + "content-type: application/json\r\n",
          json + "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n"}) {
        Result result = run(session, post_graphql(fields));
        EXPECT_EQ(result.stage, "refused request_refused") << fields;
        EXPECT_EQ(result.sent, "");
    }
}

// Threat: the server decodes the body in another charset than the gateway.
TEST(GraphqlCharset, IsUtf8OrAbsent) {
    Session session = Session().with("bearer").allow("graphql query api.example.org/graphql");
    auto stage = [&](const std::string& type) {
        return run(session, post_graphql("Content-Type: " + type + "\r\n")).stage;
    };
    for (const char* type : {"application/json", "application/json;", "Application/JSON; Charset=UTF-8",
                             "application/json;charset=\"utf-8\"", "application/json; charset=utf8"})
        EXPECT_EQ(stage(type), "complete") << type;
    for (const char* type :
         {"application/json; charset=utf-7", "application/json; charset=utf-16le",
          "application/json; charset=utf-8; charset=utf-7", "application/json; x=y; charset=utf-7",
          "application/json; x=\"charset=utf-8\"", "application/json, text/plain"})
        EXPECT_EQ(stage(type), "refused request_refused") << type;
}

// Threat: Connection names a field that the gateway itself writes, and it is removed.
TEST(ConnectionField, DoesNotRemoveWhatTheGatewayWrites) {
    Session session = Session().with("bearer").always();
    Result result = run(session, get("Connection: Accept-Encoding, Authorization, X-Hop\r\nX-Hop: 1\r\n"
                                     "Accept-Encoding: gzip\r\n"));
    EXPECT_EQ(field_of(result.sent, "Accept-Encoding"), "identity");
    EXPECT_EQ(field_of(result.sent, "Authorization"), "Bearer " + kValue);
    EXPECT_EQ(field_of(result.sent, "X-Hop"), "absent") << "of the client";
    result = run(session, get("Connection: close, accept-encoding\r\n" + kUse));
    EXPECT_EQ(field_of(result.sent, "Accept-Encoding"), "identity");
    EXPECT_EQ(field_of(result.sent, "Connection"), "close");
}

// Threat: the rules read the body as its type says, and the server gets no type and reads a form.
TEST(ConnectionField, DoesNotTakeTheTypeOfABodyAway) {
    Session session = Session().with("bearer").allow("graphql query api.example.org/graphql");
    const std::string json = "Content-Type: application/json\r\n";
    EXPECT_EQ(run(session, post_graphql(json + "Connection: close\r\n")).stage, "complete") << "the control";
    for (const char* named : {"Content-Type", "close, content-type", "Content_Type, content-type"}) {
        Result result = run(session, post_graphql(json + "Connection: " + named + "\r\n"));
        EXPECT_EQ(result.stage, "refused request_refused") << named;
        EXPECT_EQ(result.sent, "");
    }
}

// Threat: a server keeps a value of an earlier request and shows it to a request that got none.
TEST(HostOfACredential, IsAskedForPlainAnswersAlways) {
    Session session = Session().with("bearer");
    EXPECT_EQ(field_of(run(session, get("Accept-Encoding: gzip\r\n")).sent, "Accept-Encoding"), "identity");
    EXPECT_EQ(field_of(run(session, get("")).sent, "Accept-Encoding"), "identity");
    EXPECT_EQ(field_of(run(session, get("grpc-accept-encoding: gzip\r\n")).sent, "grpc-accept-encoding"),
              "absent");
    Session other = Session().with("bearer", "bound.example");
    EXPECT_EQ(field_of(run(other, get("grpc-accept-encoding: gzip\r\n")).sent, "grpc-accept-encoding"),
              "gzip");
    EXPECT_EQ(field_of(run(other, get("Accept-Encoding: gzip\r\n")).sent, "Accept-Encoding"), "gzip")
        << "of another host";
}

// Threat: a server names a coding that it did not apply.
TEST(AnswerWithACoding, IsSearchedAndReported) {
    RedactionForms forms;
    forms.add(secret(kValue));
    for (const char* coding :
         {"Content-Encoding: utf-8", "Content-Encoding: gzip", "Content-Encoding: aws-chunked",
          "Content-Encoding: identity, identity", "grpc-encoding: gzip"}) {
        wire::HttpRequest request;
        request.method = "GET";
        request.minor_version = 1;
        Answer answer(request, &forms);
        std::string out;
        std::string body = "your token is " + kValue + ".";
        answer.take("HTTP/1.1 200 OK\r\n" + std::string(coding) +
                        "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body,
                    out);
        EXPECT_EQ(answer.stage(), Answer::Stage::complete);
        EXPECT_TRUE(out.ends_with("\r\n\r\nyour token is " + std::string(kValue.size(), '*') + ".")) << out;
        EXPECT_TRUE(answer.is_uninspected()) << coding;
    }
}

// Threat: a server behind CGI or WSGI reads X_Api_Key as X-Api-Key.
TEST(NameWithUnderscores, IsTheNameWithHyphens) {
    Session session = Session().with("header X-Api-Key");
    EXPECT_EQ(run(session, get("X-Api-Key: " + kPlaceholder + "\r\n")).stage, "complete") << "the control";
    for (const char* name : {"X_Api_Key", "x-api_key", "X_API-KEY"}) {
        EXPECT_EQ(run(session, get(name + std::string(": foreign\r\n"))).stage, "refused foreign_credential")
            << name;
        EXPECT_EQ(run(session, get(name + (": " + kPlaceholder) + "\r\n")).stage,
                  "refused outside_the_binding")
            << name;
        EXPECT_EQ(run(session,
                      "POST / HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: chunked\r\n"
                      "\r\n0\r\n" +
                          std::string(name) + ": foreign\r\n\r\n")
                      .stage,
                  "refused malformed")
            << name;
    }
    Session always = Session().with("header X-Api-Key").always();
    Result added = run(always, get("X_Api_Key:\r\n"));
    EXPECT_EQ(field_of(added.sent, "X-Api-Key"), kValue);
    EXPECT_EQ(added.sent.find("X_Api_Key"), std::string::npos) << added.sent;
    for (const char* trailer : {"Content_Length: 5", "Proxy_Authorization: x", "X_HTTP_Method_Override: PUT"})
        EXPECT_EQ(run(session,
                      "POST / HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: chunked\r\n"
                      "\r\n0\r\n" +
                          std::string(trailer) + "\r\n\r\n")
                      .stage,
                  "refused malformed")
            << trailer;
    EXPECT_EQ(run(Session().block("DELETE api.example.org/x"),
                  "POST /x HTTP/1.1\r\nHost: api.example.org\r\nX_HTTP_Method_Override: DELETE\r\n\r\n")
                  .stage,
              "refused request_refused");
    Session graphql = Session().with("bearer").allow("graphql query api.example.org/graphql");
    for (const char* fields : {"Content_Encoding: gzip\r\n", "Content_Type: text/plain\r\n"})
        EXPECT_EQ(
            run(graphql, post_graphql("Content-Type: application/json\r\n" + std::string(fields))).stage,
            "refused request_refused")
            << fields;
}

// Threat: a server behind CGI takes the length of the body from a field that the gateway does not read.
TEST(LengthWithAnUnderscore, IsRefused) {
    Session session = Session().with("bearer");
    EXPECT_EQ(run(session, get(kUse + "X_Length: 5\r\n")).stage, "complete") << "the control";
    for (const char* field : {"Content_Length: 5", "content_length: 0", "Transfer_Encoding: chunked"})
        EXPECT_EQ(run(session, get(kUse + field + "\r\n")).stage, "refused request_refused") << field;
}

// Threat: a framework takes the path from a field, and the rules judge the one of the request line.
TEST(FieldWithAnotherPath, IsRefused) {
    Session session = Session().with("bearer").block("GET api.example.org/keys");
    EXPECT_EQ(run(session, get(kUse + "X-Original-Name: /keys\r\n")).stage, "complete") << "the control";
    for (const char* name : {"X-Original-URL", "x-rewrite-url", "X_Original_URL", "X-Override-Url"})
        EXPECT_EQ(run(session, get(kUse + name + ": /keys\r\n")).stage, "refused request_refused") << name;
}

// Threat: a copy from or to a path that is closed.
TEST(FieldWithASecondPath, IsRefusedWherePathsAreJudged) {
    Session judged = Session().with("bearer").block("GET api.example.org/keys"),
            free = Session().with("bearer");
    for (const char* name : {"Destination", "x-amz-copy-source", "X-Ms-Rename-Source", "x_copy_from"}) {
        const std::string field = std::string(name) + ": /keys\r\n";
        EXPECT_EQ(run(judged, get(kUse + field)).stage, "refused request_refused") << name;
        EXPECT_EQ(run(free, get(kUse + field)).stage, "complete") << "the control: " << name;
    }
    Session bound = Session().with("bearer");
    bound.bindings[0].paths.push_back(*parse_bound_path("/me/**"));
    EXPECT_EQ(run(bound, get(kUse + "Destination: /keys\r\n")).stage, "refused request_refused");
}

// Threat: a server ignores the body of a GET and takes it for the next request.
TEST(BodyOfAGet, EndsBothConnections) {
    auto request = [](std::string_view method, bool is_chunked) {
        return std::string(method) + " /x HTTP/1.1\r\nHost: api.example.org\r\n" +
               (is_chunked ? "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
                           : "Content-Length: 5\r\n\r\nhello");
    };
    auto keeps_alive = [](std::string_view text) {
        wire::HttpHeadReader reader;
        reader.look(text);
        Answer answer(reader.request(), nullptr);
        std::string out;
        answer.take("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", out);
        EXPECT_EQ(field_of(out, "Connection"), answer.keeps_alive() ? "absent" : "close") << text;
        return answer.keeps_alive();
    };
    Session session = Session().with("bearer");
    for (bool is_chunked : {false, true}) {
        for (const char* method : {"POST", "PUT", "PATCH"}) {
            std::string text = request(method, is_chunked);
            EXPECT_EQ(field_of(run(session, text).sent, "Connection"), "absent") << "the control: " << method;
            EXPECT_TRUE(keeps_alive(text)) << method;
        }
        for (const char* method : {"GET", "HEAD", "DELETE", "OPTIONS", "get", "post", "PROPFIND"}) {
            std::string text = request(method, is_chunked);
            EXPECT_EQ(field_of(run(session, text).sent, "Connection"), "close") << method;
            EXPECT_FALSE(keeps_alive(text)) << method;
        }
    }
    EXPECT_EQ(field_of(run(session, get("Content-Length: 0\r\n")).sent, "Connection"), "absent");
    EXPECT_TRUE(keeps_alive(get("")));
}

TEST(FieldsOfProxies, ThatNameAnotherPathMethodOrHostAreRefused) {
    Session session = Session().with("bearer").block("GET api.example.org/keys");
    auto stage = [&](const std::string& field) { return run(session, get(kUse + field + "\r\n")).stage; };
    for (const char* field :
         {"X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "Via: 1.1 proxy",
          "X-Forwarded-Host: api.example.org", "X-Forwarded-Host: API.example.org:443",
          "Forwarded: for=192.0.2.1;proto=https",
          "Forwarded: for=192.0.2.1;host=api.example.org, for=x; Host=\"api.example.org:443\"",
          "X-Forwarded-Method: GET", "X-Original-Method: get"})
        EXPECT_EQ(stage(field), "complete") << "the control: " << field;
    for (const char* field :
         {"X-Original-URI: /keys", "X_Original_Uri: /keys", "X-Original-Path: /keys",
          "X-Forwarded-Uri: /keys", "X-Forwarded-Path: /keys", "X-Forwarded-Prefix: /keys",
          "X-Envoy-Original-Path: /keys", "X-Replaced-Path: /keys", "X-Request-URI: /keys",
          "Script-Name: /user", "SCRIPT_NAME: /user", "PATH_INFO: /keys", "X-Forwarded-Method: DELETE",
          "x_original_method: POST"})
        EXPECT_EQ(stage(field), "refused request_refused") << field;
    for (const char* field :
         {"X-Forwarded-Host: other.example", "x_forwarded_host: other.example",
          "X-Original-Host: other.example", "X-Host: other.example", "X-HTTP-Host-Override: other.example",
          "X-Forwarded-Server: other.example", "X-Forwarded-Host: api.example.org, other.example",
          "X-Forwarded-Host: api.example.org:8443", "Forwarded: host=other.example",
          "Forwarded: for=x;HOST=\"other.example\"", "Forwarded: host=api.example.org, host=other.example",
          "Forwarded: for=\"a;host=api.example.org\";host=b"})
        EXPECT_EQ(stage(field), "refused host_mismatch") << field;
    for (const char* trailer :
         {"X-Original-URL: /keys", "X-Forwarded-Host: other.example", "Forwarded: host=x"})
        EXPECT_EQ(run(session,
                      "POST / HTTP/1.1\r\nHost: api.example.org\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" +
                          std::string(trailer) + "\r\n\r\n")
                      .stage,
                  "refused malformed")
            << trailer;
}

// Threat: a range of an answer that repeats the value holds a half of it, and the next range the other.
TEST(RequestWithAValue, GetsWholeAnswers) {
    const std::string range = "Range: bytes=0-19\r\nIf-Range: \"x\"\r\n";
    Session session = Session().with("bearer");
    for (const Result& result :
         {run(session, get(range + kUse)), run(Session().with("bearer").always(), get(range))}) {
        EXPECT_NE(result.sent.find(kValue), std::string::npos);
        EXPECT_EQ(field_of(result.sent, "Range"), "absent");
        EXPECT_EQ(field_of(result.sent, "If-Range"), "absent");
    }
    EXPECT_EQ(field_of(run(session, get(range)).sent, "Range"), "bytes=0-19") << "without a value";
}

// Threat: a server compresses the frames of a WebSocket, and a value in them is not found.
TEST(WebSocketWithAValue, HasNoExtensions) {
    const std::string upgrade =
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Extensions: permessage-deflate\r\n";
    Session session = Session().with("bearer");
    Result result = run(session, get(upgrade + kUse));
    EXPECT_EQ(result.stage, "upgrading");
    EXPECT_EQ(field_of(result.sent, "Sec-WebSocket-Extensions"), "absent");
    EXPECT_EQ(field_of(run(session, get(upgrade)).sent, "Sec-WebSocket-Extensions"), "permessage-deflate")
        << "without a value";
}

// Threat: a token of another account in the name of a WebSocket's protocol, where browsers send it.
TEST(SubprotocolOfAWebSocket, IsATokensPlace) {
    const std::string upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: ";
    auto sent = [&](const Session& session, const std::string& value) {
        Result result = run(session, get(upgrade + value + "\r\n"));
        return result.stage == "upgrading" ? field_of(result.sent, "Sec-WebSocket-Protocol") : result.stage;
    };
    auto coded = [](std::string text) {
        text = base::to_base64(text);
        std::ranges::replace(text, '/', '_');
        std::ranges::replace(text, '+', '-');
        return "base64url.bearer.authorization.k8s.io." + text.substr(0, text.find('='));
    };
    Session session = Session().with("bearer");
    const std::string openai = "openai-insecure-api-key.";
    EXPECT_EQ(sent(session, "graphql-transport-ws, v5.channel.k8s.io"),
              "graphql-transport-ws, v5.channel.k8s.io")
        << "the control";
    EXPECT_EQ(sent(session, "realtime, " + openai + kPlaceholder + ", openai-beta.realtime-v1"),
              "realtime, " + openai + kValue + ", openai-beta.realtime-v1");
    EXPECT_EQ(sent(session, coded(kPlaceholder) + ", base64.binary.k8s.io"),
              coded(kValue) + ", base64.binary.k8s.io");
    for (const std::string& foreign :
         std::vector<std::string>{openai + "sk-foreign", "realtime," + openai, "OpenAI-Insecure-API-Key.x",
                                  coded("foreign"), coded("foreign") + "==", "a, " + coded("x") + " ,b"})
        EXPECT_EQ(sent(session, foreign), "refused foreign_credential") << foreign;
    EXPECT_EQ(sent(session, openai + kPlaceholder + ", " + openai + "x"), "refused outside_the_binding");
    EXPECT_EQ(sent(session, "access_token, " + kPlaceholder), "refused outside_the_binding");
    EXPECT_EQ(sent(Session().with("header X-Key"), openai + "x"), "refused foreign_credential");
    EXPECT_EQ(run(session, get("Sec_WebSocket_Protocol: " + openai + "x\r\n")).stage,
              "refused foreign_credential");
    EXPECT_EQ(sent(Session().with("bearer", "bound.example"), openai + "x"), openai + "x")
        << "of another host";
}

// Threat: a server repeats the value as its language escapes it.
TEST(Redactor, FindsTheEscapesOfCommonLanguages) {
    RedactionForms forms;
    forms.add(secret("tok(1)!'*/a b\"c\\d+e~/end"));
    for (const std::string text : {
             R"(tok%281%29%21%27%2A/a%20b%22c%5Cd%2Be~/end)",    // Python's quote
             R"(tok(1)!'*%2Fa%20b%22c%5Cd%2Be~%2Fend)",          // encodeURIComponent
             R"(tok(1)!'*%2fa%20b%22c%5cd%2be~%2fend)",          // with small digits
             R"(tok%281%29%21%27%2A%2Fa+b%22c%5Cd%2Be~%2Fend)",  // quote_plus
             R"(tok(1)!'*/a b\"c\\d+e~/end)",                    // JSON
             R"(tok(1)!'*\/a b\"c\\d+e~\/end)",                  // JSON of PHP
         })
        EXPECT_EQ(Redactor(&forms).redacted("<" + text + ">"), "<" + std::string(text.size(), '*') + ">");
}

// Threat: a stream that was opened before the first use of a value shows it later.
TEST(AnswerThatRuns, IsSearchedForNewValues) {
    RedactionForms one, two;
    one.add(secret("first-value-0123"));
    two.add(secret("first-value-0123"));
    two.add(secret(kValue));
    wire::HttpRequest request;
    request.method = "GET";
    request.minor_version = 1;
    for (size_t cut = 0; cut <= 16; ++cut) {
        Answer answer(request, nullptr);
        std::string out;
        answer.take("HTTP/1.1 200 OK\r\n\r\nbefore ", out);
        answer.search_for(&one);
        answer.take(std::string("first-value-0123").substr(0, cut), out);
        answer.search_for(&two);
        answer.take(std::string("first-value-0123").substr(cut) + " " + kValue, out);
        answer.end(out);
        EXPECT_TRUE(out.ends_with("\r\n\r\nbefore **************** " + std::string(kValue.size(), '*')))
            << cut << out;
    }
}

// Threat: a server decodes the path before it looks for the place of the value.
TEST(PathOfACredential, IsComparedDecoded) {
    Session session = Session().with("path /bot{}/");
    EXPECT_EQ(run(session, get("", "/bot" + kPlaceholder + "/send")).stage, "complete") << "the control";
    for (const char* target :
         {"/%62otforeign/send", "/bo%74foreign/send", "/%62%6f%74foreign%2Fsend", "/botforeign%2fsend"})
        EXPECT_EQ(run(session, get("", target)).stage, "refused foreign_credential") << target;
    EXPECT_NE(run(session, get("", "/%62ot" + kPlaceholder + "/send")).stage, "complete");
    EXPECT_EQ(run(session, get("", "/%61bout/x")).stage, "complete") << "another path";
}

}  // namespace
}  // namespace network::exchange
