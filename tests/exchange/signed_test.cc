// SPDX-License-Identifier: MIT
// Playbooks of requests that are signed for AWS: signed by the client with the placeholder, and anew with the
// value. The service of these tests checks signatures with the value, as AWS does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "network/tls/digest.h"
#include "playbook.h"

namespace network::exchange {
namespace {

const std::string kId = "AKIAPLACEHOLDER00001", kSecret = "placeholderSecretKey0123456789abcdefghij";
const std::string kRealId = "ASIAREAL000000000001", kRealSecret = "realSecretKey/ABCDEFGHIJKLMNOPQRSTU+1";
const std::string kRealToken = "IQoJb3JpZ2luX2VjEXAMPLEtoken0123456789//==";
const std::string kDate = "20260131T120000Z";

struct Fields : std::vector<std::pair<std::string, std::string>> {
    using vector::vector;
};

// What a client sends, before it is changed.
struct Client {
    std::string method = "GET", target = "/", host = "s3.eu-central-1.amazonaws.com";
    std::string service = "s3", region = "eu-central-1";
    std::string id = kId, secret = kSecret;
    Fields fields;                // signed
    std::string unsigned_fields;  // whole lines
    std::string body;
    std::string payload = "hash";  // "hash", "none", or the text of X-Amz-Content-Sha256
    bool is_chunked = false;

    std::string request() const {
        Fields all = fields;
        std::string hash = tls::sha256_of(body);
        all.emplace_back("Host", host);
        all.emplace_back("X-Amz-Date", kDate);
        if (payload != "none") all.emplace_back("X-Amz-Content-Sha256", payload == "hash" ? hash : payload);
        Authorization authorization{
            .id = id, .day = kDate.substr(0, 8), .region = region, .service = service};
        SignedRequest signed_request{
            method, target, kDate, payload == "hash" || payload == "none" ? hash : payload, {}};
        for (const auto& [name, value] : all) {
            signed_request.fields.push_back({name, value});
            std::string lower;
            for (char letter : name) lower += static_cast<char>(std::tolower(letter));
            authorization.names.push_back(lower);
        }
        std::ranges::sort(authorization.names);
        authorization.signature = signature_of(signed_request, authorization, secret);
        std::string text = method + " " + target + " HTTP/1.1\r\n";
        for (const auto& [name, value] : all) text += name + ": " + value + "\r\n";
        text += "Authorization: " + authorization.text() + "\r\n" + unsigned_fields;
        if (is_chunked) {
            text += "Transfer-Encoding: chunked\r\n\r\n";
            wire::append_chunk(text, body);
            wire::append_last_chunk(text, "");
            return text;
        }
        if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
        return text + "\r\n" + body;
    }
};

Session aws(std::string host = "s3.eu-central-1.amazonaws.com") {
    Session session = Session().with("sigv4", host);
    session.bindings[0].name = "aws";
    session.bindings[0].placeholder = kId + " " + kSecret;
    session.place = {.host = host, .expected_host = host};
    return session;
}

Session within_scope(const char* scope) {
    Session session = aws();
    session.bindings[0].scope.push_back(*parse_signature_scope(scope));
    return session;
}

const std::string kPermanent = kRealId + " " + kRealSecret, kTemporary = kPermanent + " " + kRealToken;

// As the service: the key's ID, the token and the signature over what arrived.
std::string judged(const std::string& sent, const std::string& token = "") {
    size_t end = sent.find("\r\n\r\n");
    wire::HttpRequest request;
    if (end == std::string::npos || wire::parse_http_head(sent.substr(0, end + 4), request) != nullptr)
        return "malformed";
    auto parsed = parse_authorization(field_of(sent, "Authorization"));
    if (!parsed) return "no signature";
    if (parsed->id != kRealId) return "another key";
    std::string got = field_of(sent, "X-Amz-Security-Token");
    if (got != (token.empty() ? "absent" : token)) return "another token";
    bool is_token_signed = std::ranges::binary_search(parsed->names, std::string("x-amz-security-token"));
    if (!token.empty() && !is_token_signed) return "a token that is not signed";
    std::string hash = field_of(sent, "X-Amz-Content-Sha256");
    if (hash == "absent") hash = tls::sha256_of(sent.substr(end + 4));
    std::string date = field_of(sent, "X-Amz-Date");
    SignedRequest signed_request{request.method, request.path, date, hash, {}};
    for (const wire::HttpField& field : request.fields)
        signed_request.fields.push_back({field.name, field.value});
    return signature_of(signed_request, *parsed, kRealSecret) == parsed->signature ? "valid" : "wrong";
}

TEST(SignedRequest, IsSignedAnewWithTheValue) {
    for (size_t piece : {size_t{1}, size_t{7}, SIZE_MAX}) {
        Result result =
            run(aws(), Client{.target = "/?list-type=2&prefix=a%20b"}.request(), piece, kPermanent);
        EXPECT_EQ(result.stage, "complete");
        EXPECT_EQ(judged(result.sent), "valid");
        EXPECT_EQ(result.sent.find(kId), std::string::npos);
    }
    // Control: what the client sent is worth nothing at the service.
    EXPECT_EQ(judged(Client().request()), "another key");
}

TEST(SignedRequest, GetsTheTokenOfATemporaryKey) {
    Result result = run(aws(), Client().request(), SIZE_MAX, kTemporary);
    EXPECT_EQ(judged(result.sent, kRealToken), "valid");
}

TEST(SignedRequest, WithABodyIsReadWhole) {
    for (bool is_chunked : {false, true}) {
        Client client{.method = "PUT", .target = "/bucket/k", .body = std::string(100000, 'x')};
        client.is_chunked = is_chunked;
        Result result = run(aws(), client.request(), 5000, kPermanent);
        EXPECT_EQ(result.stage, "complete");
        EXPECT_EQ(judged(result.sent), "valid");
    }
    // Services other than S3 have no field with the hash.
    Client client{.method = "POST", .body = "Action=GetCallerIdentity", .payload = "none"};
    client.service = "sts";
    Result result = run(aws(), client.request(), 10, kPermanent);
    EXPECT_EQ(result.stage, "complete");
    EXPECT_EQ(judged(result.sent), "valid");
}

TEST(SignedRequest, WithAnUnsignedBodyIsForwardedAsItComes) {
    for (const char* payload : {"UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"}) {
        Client client{.method = "PUT", .target = "/bucket/k", .body = "0123456789", .payload = payload};
        std::string request = client.request();
        Result result = run(aws(), request.substr(0, request.size() - 5), SIZE_MAX, kPermanent);
        EXPECT_EQ(result.stage, "forwarding") << "before the end of the body";
        EXPECT_EQ(judged(result.sent), "valid");
        EXPECT_TRUE(result.sent.ends_with("\r\n\r\n01234"));
    }
}

TEST(SignedRequest, KeepsARange) {
    Client client;
    client.fields = {{"Range", "bytes=0-9"}};
    Result result = run(aws(), client.request(), SIZE_MAX, kPermanent);
    EXPECT_EQ(field_of(result.sent, "Range"), "bytes=0-9");
    EXPECT_EQ(judged(result.sent), "valid");
}

TEST(SignedRequest, IsSignedAsItIsSent) {
    // Accept-Encoding is written anew, and a field that Connection names ends at the gateway.
    Client client;
    client.fields = {{"Accept-Encoding", "gzip"}, {"X-Hop", "1"}};
    client.unsigned_fields = "Connection: X-Hop\r\n";
    Result result = run(aws(), client.request(), SIZE_MAX, kPermanent);
    EXPECT_EQ(judged(result.sent), "valid");
    EXPECT_EQ(field_of(result.sent, "Accept-Encoding"), "identity");
    EXPECT_EQ(field_of(result.sent, "X-Hop"), "absent");
}

struct Attack {
    const char* name;
    std::function<void(Client&)> sign;              // before the client signs
    std::function<void(std::string&)> change = {};  // after it
    const char* stage;
    const char* words;
};

void replace(std::string& text, const std::string& from, const std::string& to) {
    size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
}

// Threats: another session's placeholder, another key, and every part of the request that is changed after it
// was signed. The control is the same request unchanged.
TEST(SignedRequest, ThatIsNotSignedWithThePlaceholderIsRefused) {
    const std::string another = std::string(kId).replace(19, 1, "2");
    const std::vector<Attack> attacks = {
        {"the placeholder of another session",
         [&](Client& c) { c.id = another; },
         {},
         "foreign_credential",
         "another key"},
        {"its ID with another secret",
         [](Client& c) { c.secret = "x" + kSecret; },
         {},
         "foreign_credential",
         "not made with the placeholder"},
        {"another body", {}, [](std::string& r) { r.back() = '?'; }, "foreign_credential", "body"},
        {"another path",
         {},
         [](std::string& r) { replace(r, "PUT /a/k", "PUT /a/j"); },
         "foreign_credential",
         "not made"},
        {"another query",
         {},
         [](std::string& r) { replace(r, "?acl=1", "?acl=2"); },
         "foreign_credential",
         "not made"},
        {"another method",
         {},
         [](std::string& r) { replace(r, "PUT", "GET"); },
         "foreign_credential",
         "not made"},
        {"another date",
         {},
         [](std::string& r) { replace(r, "Date: 20260131T12", "Date: 20260131T13"); },
         "foreign_credential",
         "not made"},
        {"another region",
         {},
         [](std::string& r) { replace(r, "/eu-central-1/", "/us-east-1/"); },
         "foreign_credential",
         "not made"},
        {"another signed field",
         {},
         [](std::string& r) { replace(r, "X-Amz-Acl: private", "X-Amz-Acl: public"); },
         "foreign_credential",
         "not made"},
        {"a hash of another body",
         [](Client& c) { c.payload = tls::sha256_of("other"); },
         {},
         "foreign_credential",
         "body"},
    };
    auto client = [] {
        Client made{.method = "PUT", .target = "/a/k?acl=1", .body = "content"};
        made.fields = {{"X-Amz-Acl", "private"}};
        return made;
    };
    EXPECT_EQ(run(aws(), client().request(), SIZE_MAX, kPermanent).stage, "complete") << "the control";
    for (const Attack& attack : attacks) {
        Client changed = client();
        if (attack.sign) attack.sign(changed);
        std::string request = changed.request();
        if (attack.change) attack.change(request);
        Result result = run(aws(), request, SIZE_MAX, kPermanent);
        EXPECT_EQ(result.stage, std::string("refused ") + attack.stage) << attack.name;
        EXPECT_NE(result.answer.find(attack.words), std::string::npos) << attack.name << result.answer;
        EXPECT_EQ(result.sent, "") << attack.name;
    }
}

TEST(SignedRequest, ThatCanNotBeSignedAnewIsRefusedInWords) {
    auto refused = [](Client client, std::string line = "") {
        client.unsigned_fields += line;
        Result result = run(aws(), client.request(), SIZE_MAX, kPermanent);
        EXPECT_EQ(result.sent, "");
        return result.stage + result.answer;
    };
    auto has = [](const std::string& text, const std::string& words) {
        return text.starts_with("refused signature_refused") && text.find(words) != std::string::npos &&
               text.find("<Code>signature_refused</Code>") != std::string::npos;
    };
    EXPECT_TRUE(
        has(refused({.payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"}), "each chunk of its body is signed"));
    EXPECT_TRUE(
        has(refused({.target = "/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=00"}), "presigned"));
    EXPECT_TRUE(has(refused({.payload = "0123"}), "X-Amz-Content-Sha256"));
    auto with = [](const std::string& authorization) {
        return run(aws(),
                   "GET / HTTP/1.1\r\nHost: s3.eu-central-1.amazonaws.com\r\nAuthorization: " +
                       authorization + "\r\n\r\n",
                   SIZE_MAX, kPermanent);
    };
    Result result = with("AWS4-ECDSA-P256-SHA256 Credential=" + kId + "/20260131/s3/aws4_request");
    EXPECT_TRUE(has(result.stage + result.answer, "SigV4a")) << result.answer;
    result = with("AWS " + kId + ":c2lnbmF0dXJl");
    EXPECT_TRUE(has(result.stage + result.answer, "version 2"));
    // A form that has nothing to do with signatures.
    result = with("Bearer of-another-account");
    EXPECT_EQ(result.stage, "refused foreign_credential");
    EXPECT_NE(result.answer.find("<Code>foreign_credential</Code>"), std::string::npos);
}

TEST(SignedRequest, WithATokenOfTheJailIsRefused) {
    Client client;
    client.fields = {{"X-Amz-Security-Token", "token-of-another-account"}};
    Result result = run(aws(), client.request(), SIZE_MAX, kTemporary);
    EXPECT_EQ(result.stage, "refused foreign_credential");
    EXPECT_NE(result.answer.find("AWS_SESSION_TOKEN"), std::string::npos);
}

TEST(SignedRequest, OutsideItsScopeIsRefused) {
    auto stage = [](const char* scope) {
        return run(within_scope(scope), Client().request(), SIZE_MAX, kPermanent).stage;
    };
    for (const char* scope : {"eu-central-1/s3", "*/s3", "eu-central-1/*"})
        EXPECT_EQ(stage(scope), "complete");
    for (const char* scope : {"us-east-1/s3", "eu-central-1/sts", "*/bedrock"})
        EXPECT_EQ(stage(scope), "refused outside_the_binding") << scope;
}

TEST(SignedRequest, OutsideItsPathsIsRefused) {
    Session session = aws().within("/mine/**");
    EXPECT_EQ(run(session, Client{.target = "/mine/k"}.request(), SIZE_MAX, kPermanent).stage, "complete");
    EXPECT_EQ(run(session, Client{.target = "/other/k"}.request(), SIZE_MAX, kPermanent).stage,
              "refused outside_the_binding");
}

TEST(SignedRequest, TowardAnotherHostIsAFinding) {
    Session session = aws();
    session.place = {.host = "s3.evil.example", .expected_host = "s3.evil.example"};
    Client client{.host = "s3.evil.example"};
    Result result = run(session, client.request(), SIZE_MAX, kPermanent);
    EXPECT_EQ(result.stage, "refused placeholder_elsewhere");
    EXPECT_NE(result.answer.find("\"error\""), std::string::npos) << "not AWS: JSON as usual";
    // The secret part of the placeholder too.
    session.place = {.host = "a.example", .expected_host = "a.example"};
    EXPECT_EQ(run(session, "GET / HTTP/1.1\r\nHost: a.example\r\nX-Key: " + kSecret + "\r\n\r\n").stage,
              "refused placeholder_elsewhere");
    EXPECT_EQ(run(session, "GET / HTTP/1.1\r\nHost: a.example\r\nX-Key: k\r\n\r\n").stage, "complete");
    // And at its own host in another field.
    EXPECT_EQ(
        run(aws(), "GET / HTTP/1.1\r\nHost: s3.eu-central-1.amazonaws.com\r\nX-Key: " + kSecret + "\r\n\r\n")
            .stage,
        "refused outside_the_binding");
}

TEST(SignedRequest, WithALargeHashedBodyIsRefused) {
    Client client{.method = "PUT", .body = "x"};
    std::string request = client.request();
    replace(request, "Content-Length: 1\r\n", "Content-Length: 16777217\r\n");
    Result result = run(aws(), request, SIZE_MAX, kPermanent);
    EXPECT_EQ(result.stage, "refused body_too_large");
    EXPECT_NE(result.answer.find("payload_signing_enabled"), std::string::npos);
    client.payload = "UNSIGNED-PAYLOAD";
    request = client.request();
    replace(request, "Content-Length: 1\r\n", "Content-Length: 16777217\r\n");
    EXPECT_EQ(run(aws(), request, SIZE_MAX, kPermanent).stage, "forwarding") << "the control";
}

TEST(SignedRequest, WithARefusalOfARuleShowsItToTheClient) {
    Session session = aws().block("* s3.eu-central-1.amazonaws.com/**");
    Result result = run(session, Client().request(), SIZE_MAX, kPermanent);
    EXPECT_EQ(result.stage, "refused request_refused");
    EXPECT_NE(result.answer.find("<Error><Type>Sender</Type><Code>request_refused</Code><Message>"),
              std::string::npos);
    Client json{.method = "POST", .body = "{}", .payload = "none"};
    json.unsigned_fields =
        "Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n";
    result = run(session, json.request(), SIZE_MAX, kPermanent);
    EXPECT_NE(result.answer.find("\"__type\":\"request_refused\""), std::string::npos) << result.answer;
    Client sts;
    sts.service = "sts";
    result = run(session, sts.request(), SIZE_MAX, kPermanent);
    EXPECT_NE(result.answer.find("<ErrorResponse><Error>"), std::string::npos);
}

TEST(RequestWithoutASignature, PassesAsItIs) {
    Result result = run(aws(), "GET /public HTTP/1.1\r\nHost: s3.eu-central-1.amazonaws.com\r\n\r\n",
                        SIZE_MAX, kPermanent);
    EXPECT_EQ(result.stage, "complete");
    EXPECT_EQ(field_of(result.sent, "Authorization"), "absent");
}

TEST(ValueOfAnotherForm, SignsNothing) {
    Result result = run(aws(), Client().request(), SIZE_MAX, "a-value-without-parts");
    EXPECT_EQ(judged(result.sent), "no signature");
    EXPECT_EQ(result.sent.find("a-value"), std::string::npos);
}

}  // namespace
}  // namespace network::exchange
