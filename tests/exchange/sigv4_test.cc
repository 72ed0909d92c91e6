// SPDX-License-Identifier: MIT
// The published values of AWS Signature Version 4: the test suite of the scheme (get-vanilla …), and the
// examples of the manuals of IAM and S3.
#include "network/exchange/sigv4.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "network/tls/digest.h"

namespace network::exchange {
namespace {

constexpr std::string_view kKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
constexpr std::string_view kDate = "20150830T123600Z";

Authorization authorization(std::vector<std::string> names, std::string service = "service",
                            std::string day = "20150830") {
    return {.id = "AKIDEXAMPLE",
            .day = std::move(day),
            .region = "us-east-1",
            .service = std::move(service),
            .names = std::move(names)};
}

struct Vector {
    const char* name;
    const char* method;
    const char* target;
    std::vector<SignedField> fields;
    const char* body;
    const char* signature;
};

std::vector<std::string> names_of(const std::vector<SignedField>& fields) {
    std::vector<std::string> names;
    for (const SignedField& field : fields) {
        std::string name;
        for (char letter : field.name) name += static_cast<char>(std::tolower(letter));
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    std::ranges::sort(names);
    return names;
}

constexpr const char* kToken =
    "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflf"
    "KD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd"
    "8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3i"
    "SIlTJabIQwj2ICCR/oLxBA==";

TEST(Signature, IsThePublishedOne) {
    const SignedField host{"Host", "example.amazonaws.com"}, date{"X-Amz-Date", kDate};
    const std::vector<Vector> vectors = {
        {"get-vanilla",
         "GET",
         "/",
         {host, date},
         "",
         "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        {"get-vanilla-query-order-key-case",
         "GET",
         "/?Param2=value2&Param1=value1",
         {host, date},
         "",
         "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
        {"get-unreserved",
         "GET",
         "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
         {host, date},
         "",
         "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
        {"get-utf8",
         "GET",
         "/\u1234",
         {host, date},
         "",
         "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
        {"get-space",
         "GET",
         "/example space/",
         {host, date},
         "",
         "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
        {"get-slashes",
         "GET",
         "//example//",
         {host, date},
         "",
         "9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84"},
        {"get-relative",
         "GET",
         "/example1/example2/../..",
         {host, date},
         "",
         "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
        {"post-vanilla",
         "POST",
         "/",
         {host, date},
         "",
         "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
        {"post-x-www-form-urlencoded",
         "POST",
         "/",
         {{"Content-Type", "application/x-www-form-urlencoded"}, host, date},
         "Param1=value1",
         "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
        {"get-header-key-duplicate",
         "GET",
         "/",
         {host, {"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}, date},
         "",
         "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
        {"get-header-value-trim",
         "GET",
         "/",
         {host, {"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}, date},
         "",
         "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
        {"post-sts-header-before",
         "POST",
         "/",
         {host, date, {"X-Amz-Security-Token", kToken}},
         "",
         "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
    };
    for (const Vector& one : vectors) {
        std::string hash = tls::sha256_of(one.body);
        SignedRequest request{one.method, one.target, kDate, hash, one.fields};
        EXPECT_EQ(signature_of(request, authorization(names_of(one.fields)), kKey), one.signature)
            << one.name;
    }
}

TEST(Signature, IsTheOneOfTheManualOfIam) {
    std::string hash = tls::sha256_of("");
    SignedRequest request{"GET",
                          "/?Action=ListUsers&Version=2010-05-08",
                          kDate,
                          hash,
                          {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"},
                           {"Host", "iam.amazonaws.com"},
                           {"X-Amz-Date", kDate}}};
    EXPECT_EQ(signature_of(request, authorization({"content-type", "host", "x-amz-date"}, "iam"), kKey),
              "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
    base::SecretValue token;
    token.append(kToken);
    std::vector<SignedField> fields = {
        {"Host", "example.amazonaws.com"}, {"X-Amz-Date", kDate}, {"X-Amz-Security-Token", "", &token}};
    SignedRequest with_token{"POST", "/", kDate, hash, fields};
    base::SecretValue key;
    key.append(kKey);
    EXPECT_EQ(signature_of(with_token, authorization(names_of(fields)), key),
              "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead")
        << "a token that is secret is signed as any other field";
}

TEST(Signature, IsTheOneOfTheManualOfS3) {
    constexpr std::string_view key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", date = "20130524T000000Z";
    const std::string empty = tls::sha256_of(""), welcome = tls::sha256_of("Welcome to Amazon S3.");
    const SignedField host{"Host", "examplebucket.s3.amazonaws.com"}, when{"x-amz-date", date};
    auto signed_with = [&](const char* method, const char* target, const std::string& hash,
                           std::vector<SignedField> fields) {
        fields.push_back({"x-amz-content-sha256", hash});
        return signature_of({method, target, date, hash, fields},
                            authorization(names_of(fields), "s3", "20130524"), key);
    };
    EXPECT_EQ(signed_with("GET", "/test.txt", empty, {host, when, {"Range", "bytes=0-9"}}),
              "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    EXPECT_EQ(signed_with("PUT", "/test%24file.text", welcome,
                          {host,
                           when,
                           {"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                           {"x-amz-storage-class", "REDUCED_REDUNDANCY"}}),
              "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    EXPECT_EQ(signed_with("GET", "/?lifecycle", empty, {host, when}),
              "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    EXPECT_EQ(signed_with("GET", "/?max-keys=2&prefix=J", empty, {host, when}),
              "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(CanonicalPath, OfS3IsAsSent) {
    EXPECT_EQ(canonical_path("/a%20b//c/../d", true), "/a%20b//c/../d");
    EXPECT_EQ(canonical_path("/a%20b//c/../d", false), "/a%2520b/d");
    EXPECT_EQ(canonical_path("", false), "/");
    EXPECT_EQ(canonical_path("/..", false), "/");
    EXPECT_EQ(canonical_path("/a/", false), "/a/");
}

TEST(CanonicalQuery, IsSortedAndEncodedOnce) {
    EXPECT_EQ(canonical_query("b=2&a=%7e&a=1&c"), "a=1&a=~&b=2&c=");
    EXPECT_EQ(canonical_query("k=a+b%2Fc"), "k=a%2Bb%2Fc");
    EXPECT_EQ(canonical_query(""), "");
}

constexpr const char* kWhole =
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, "
    "SignedHeaders=content-type;host;x-amz-date, "
    "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7";

std::string changed(const std::string& from, const std::string& to) {
    std::string text = kWhole;
    return text.replace(text.find(from), from.size(), to);
}

TEST(AuthorizationField, IsReadAndWritten) {
    auto parsed = parse_authorization(kWhole);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->text(), kWhole);
    EXPECT_EQ(parsed->scope(), "20150830/us-east-1/iam/aws4_request");
    EXPECT_FALSE(parsed->is_s3());
    EXPECT_TRUE(parse_authorization(changed(", SignedHeaders", ",SignedHeaders")).ok()) << "without blanks";
}

TEST(AuthorizationField, ThatIsMalformedIsRefusedWithTheReason) {
    auto reason = [](const std::string& value) {
        auto parsed = parse_authorization(value);
        return parsed.ok() ? std::string("accepted") : parsed.error().what;
    };
    const std::string malformed = "the AWS signature in Authorization is malformed";
    for (const auto& [from, to] :
         std::initializer_list<std::pair<const char*, const char*>>{{"aws4_request", "aws5_request"},
                                                                    {"20150830", "2015083"},
                                                                    {"us-east-1", ""},
                                                                    {"us-east-1", "us east"},
                                                                    {"host;x-amz-date", "x-amz-date;host"},
                                                                    {"content-type;host", "host;host"},
                                                                    {"content-type;", "Content-Type;"},
                                                                    {"5d672d", "5D672D"},
                                                                    {"5d672d", "5d672"},
                                                                    {"Signature=", "Sign="},
                                                                    {"AKIDEXAMPLE/", ""},
                                                                    {", Signature=", ", X=1, Signature="}})
        EXPECT_EQ(reason(changed(from, to)), malformed) << to;
    EXPECT_EQ(reason("AWS4-HMAC-SHA256 "), malformed);
    EXPECT_EQ(reason(changed("host;", "hosts;")), "its AWS signature does not cover the field Host");
    EXPECT_NE(reason(changed("AWS4-HMAC", "AWS4-ECDSA-P256")).find("SigV4a"), std::string::npos);
    EXPECT_NE(reason("AWS AKIDEXAMPLE:c2ln").find("version 2"), std::string::npos);
    EXPECT_NE(reason("Bearer x").find("no AWS signature"), std::string::npos);
}

TEST(PresignedAddress, IsFoundInAnySpelling) {
    for (const char* target : {"/k?X-Amz-Signature=1", "/k?a=1&x-amz-credential=c", "/k?%58-Amz-Algorithm=x",
                               "/k?AWSAccessKeyId=A&Signature=s", "/?X-Amz-Security-Token=t"})
        EXPECT_TRUE(is_presigned(target)) << target;
    for (const char* target : {"/", "/k?list-type=2&prefix=X-Amz-Signature", "/X-Amz-Signature"})
        EXPECT_FALSE(is_presigned(target)) << target;
}

TEST(ContentHash, TellsHowTheBodyIsSigned) {
    EXPECT_EQ(read_payload(tls::sha256_of("")), Payload::hashed);
    EXPECT_EQ(read_payload("UNSIGNED-PAYLOAD"), Payload::unsigned_body);
    EXPECT_EQ(read_payload("STREAMING-UNSIGNED-PAYLOAD-TRAILER"), Payload::unsigned_body);
    for (const char* chunks :
         {"STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
          "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD"})
        EXPECT_EQ(read_payload(chunks), Payload::in_signed_chunks) << chunks;
    for (const char* other : {"", "unsigned-payload", "abc"})
        EXPECT_EQ(read_payload(other), Payload::malformed);
}

TEST(SignatureDate, IsOfTheDayOfTheScope) {
    EXPECT_TRUE(is_date_of("20150830T123600Z", "20150830"));
    for (const char* date :
         {"20150831T123600Z", "20150830T123600", "2015-08-30T12:36Z", "20150830T1236xxZ", ""})
        EXPECT_FALSE(is_date_of(date, "20150830")) << date;
}

TEST(SignatureScope, HasARegionAndAService) {
    auto scope = parse_signature_scope("eu-central-1/s3");
    ASSERT_TRUE(scope.ok());
    EXPECT_TRUE(scope->permits("eu-central-1", "s3"));
    EXPECT_FALSE(scope->permits("eu-central-1", "sts"));
    EXPECT_FALSE(scope->permits("us-east-1", "s3"));
    EXPECT_TRUE(parse_signature_scope("*/bedrock")->permits("us-east-1", "bedrock"));
    EXPECT_TRUE(parse_signature_scope("us-east-1/*")->permits("us-east-1", "sts"));
    for (const char* text : {"", "s3", "/s3", "eu/", "eu/s3/x", "e u/s3", "**/s3"})
        EXPECT_FALSE(parse_signature_scope(text).ok()) << text;
}

TEST(AwsKeys, HaveTwoOrThreeParts) {
    auto split = [](std::string_view text) {
        base::SecretValue value;
        value.append(text);
        return AwsKeys::split(value);
    };
    auto keys = split("AKIAEXAMPLE secret");
    ASSERT_TRUE(keys);
    EXPECT_EQ(keys->id, "AKIAEXAMPLE");
    EXPECT_TRUE(keys->secret.equals("secret"));
    EXPECT_TRUE(keys->token.is_empty());
    EXPECT_TRUE(split("A s t")->token.equals("t"));
    EXPECT_FALSE(split("AKIAEXAMPLE"));
    EXPECT_FALSE(split(" secret"));
    EXPECT_FALSE(split("A/B secret"));
    EXPECT_EQ(key_id_of("A s"), "A");
    EXPECT_EQ(secret_key_of("A s"), "s");
}

TEST(AwsError, HasTheFormOfTheService) {
    EXPECT_EQ(form_of_service("s3"), AwsForm::s3_xml);
    EXPECT_EQ(form_of_service("s3express"), AwsForm::s3_xml);
    EXPECT_EQ(form_of_service("sts"), AwsForm::xml);
    EXPECT_EQ(form_of_service("dynamodb"), AwsForm::json);
}

}  // namespace
}  // namespace network::exchange
