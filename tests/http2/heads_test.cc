// SPDX-License-Identifier: MIT
#include "network/http2/heads.h"

#include <gtest/gtest.h>

#include "frames.h"

namespace network::http2 {
namespace {

std::string head_of(const Fields& fields, bool has_body = false) {
    std::string head;
    std::string_view fault = write_request_head(fields, has_body, head);
    EXPECT_EQ(fault.empty(), !head.empty());
    return fault.empty() ? head : "refused: " + std::string(fault);
}

bool is_refused(const Fields& fields) {
    return head_of(fields).starts_with("refused");
}

TEST(RequestHead, IsWrittenFromTheFields) {
    EXPECT_EQ(head_of(with(kGet, "accept", "*/*")),
              "GET /user HTTP/1.1\r\nhost: api.example.org\r\naccept: */*\r\n\r\n");
    Fields post = changed(kGet, ":method", "POST");
    EXPECT_EQ(head_of(post, true),
              "POST /user HTTP/1.1\r\nhost: api.example.org\r\ntransfer-encoding: chunked\r\n\r\n");
    EXPECT_EQ(head_of(post), "POST /user HTTP/1.1\r\nhost: api.example.org\r\ncontent-length: 0\r\n\r\n");
    EXPECT_EQ(head_of(with(post, "content-length", "3"), true),
              "POST /user HTTP/1.1\r\nhost: api.example.org\r\ncontent-length: 3\r\n\r\n");
}

TEST(RequestHead, JoinsCookiesAndDropsTe) {
    Fields fields = with(with(with(kGet, "cookie", "a=1"), "te", "trailers"), "cookie", "b=2");
    EXPECT_EQ(head_of(fields), "GET /user HTTP/1.1\r\nhost: api.example.org\r\ncookie: a=1; b=2\r\n\r\n");
}

TEST(RequestHead, RefusesWhatHttp1WouldReadOtherwise) {
    const Fields forbidden = {
        {"transfer-encoding", "chunked"},  // HTTP/2 ignores it, HTTP/1.1 obeys
        {"connection", "close"},
        {"keep-alive", "1"},
        {"proxy-connection", "close"},
        {"upgrade", "websocket"},
        {"te", "gzip"},
        {"Accept", "a"},
        {"", "a"},
        {"a b", "c"},
        {"a:", "b"},
        {"a\r\nb", "c"},
        {"a", "b\r\nc: d"},
        {"a", "b\nc"},
        {"a", "b\rc"},
        {"a", std::string("b\0c", 3)},
        {"a", "\x7f"},
        {"a", " b"},
        {"a", "b\t"},
        {":path", "/other"},
        {":protocol", "websocket"},
        {"host", "other.example"},
    };
    for (const wire::HttpField& field : forbidden)
        EXPECT_TRUE(is_refused(with(kGet, field.name, field.value))) << field.name << ": " << field.value;
    EXPECT_FALSE(is_refused(with(kGet, "host", "api.example.org")));
}

TEST(RequestHead, RefusesMalformedPseudoFields) {
    const Fields bad = {
        {":method", "CONNECT"},
        {":method", "connect"},
        {":method", ""},
        {":method", "GET /x HTTP/1.1\r\nA: b\r\n\r\nGET"},
        {":method", "G T"},
        {":scheme", "http"},
        {":path", ""},
        {":path", "user"},
        {":path", "*"},
        {":path", "https://other.example/"},
        {":path", "/a HTTP/1.1\r\nb: c"},
        {":path", "/a b"},
        {":path", "/a\x01"},
        {":authority", ""},
        {":authority", "user@api.example.org"},
        {":authority", "api.example.org/"},
        {":authority", "api.example.org:0"},
        {":authority", "a b"},
    };
    for (const wire::HttpField& field : bad)
        EXPECT_TRUE(is_refused(changed(kGet, field.name, field.value))) << field.name << " " << field.value;
    for (const wire::HttpField& field : kGet) {
        Fields twice = kGet, without;
        twice.insert(twice.begin(), field);
        for (const wire::HttpField& other : kGet) {
            if (other.name != field.name) without.push_back(other);
        }
        EXPECT_TRUE(is_refused(twice)) << field.name;
        EXPECT_TRUE(is_refused(without)) << field.name;
    }
    Fields late = with(kGet, "accept", "a");
    std::swap(late[0], late.back());
    EXPECT_TRUE(is_refused(late));
    EXPECT_TRUE(is_refused(with(kGet, ":status", "200")));
    EXPECT_FALSE(is_refused(changed(changed(kGet, ":method", "OPTIONS"), ":path", "*")));
}

// The reader of HTTP/1.1 refuses them with its own reason.
TEST(RequestHead, LeavesLengthsToTheReader) {
    for (const char* length : {"-1", "1,1", "0x1", "99999999999999999999"}) {
        wire::HttpRequest request;
        std::string head = head_of(with(kGet, "content-length", length), true);
        EXPECT_NE(wire::parse_http_head(head, request), nullptr) << length;
    }
    wire::HttpRequest request;
    Fields two = with(with(kGet, "content-length", "1"), "content-length", "2");
    EXPECT_NE(wire::parse_http_head(head_of(two, true), request), nullptr);
}

std::string answer_of(const Fields& fields, AnswerForm form) {
    std::string head;
    std::string_view fault = write_answer_head(fields, form, head);
    return fault.empty() ? head : "refused: " + std::string(fault);
}

TEST(AnswerHead, FramesTheBody) {
    const Fields ok = {{":status", "200"}, {"a", "b"}};
    EXPECT_EQ(answer_of(ok, {.has_body = true}),
              "HTTP/1.1 200 \r\na: b\r\ntransfer-encoding: chunked\r\n\r\n");
    EXPECT_EQ(answer_of(ok, {.has_body = false}), "HTTP/1.1 200 \r\na: b\r\ncontent-length: 0\r\n\r\n");
    EXPECT_EQ(answer_of(ok, {.answers_head = true}), "HTTP/1.1 200 \r\na: b\r\n\r\n");
    EXPECT_EQ(answer_of({{":status", "103"}, {"a", "b"}}, {.has_body = true}),
              "HTTP/1.1 103 \r\na: b\r\n\r\n");
    EXPECT_EQ(answer_of({{":status", "304"}}, {}), "HTTP/1.1 304 \r\n\r\n");
}

TEST(AnswerHead, RefusesWhatDividesIt) {
    const Fields bad = {{"a", "b\r\nc: d"},      {"transfer-encoding", "chunked"},
                        {"connection", "close"}, {"A", "b"},
                        {":path", "/"},          {":status", "200"}};
    for (const wire::HttpField& field : bad)
        EXPECT_TRUE(answer_of({{":status", "200"}, field}, {}).starts_with("refused")) << field.name;
    for (const char* status : {"", "20", "2000", "099", "600", "101", "2 0", "200 OK\r\na: b"})
        EXPECT_TRUE(answer_of({{":status", status}}, {}).starts_with("refused")) << status;
}

TEST(Trailers, AreFieldsOfNoConnection) {
    std::string lines;
    EXPECT_EQ(write_trailers({{"grpc-status", "0"}, {"a", "b"}}, lines), "");
    EXPECT_EQ(lines, "grpc-status: 0\r\na: b\r\n");
    EXPECT_EQ(fields_of_trailers(lines).size(), 2u);
    for (const wire::HttpField& field :
         Fields{{":status", "200"}, {"a", "b\r\n"}, {"A", "b"}, {"upgrade", "a"}})
        EXPECT_NE(write_trailers({field}, lines), "") << field.name;
    lines.clear();
    EXPECT_NE(write_trailers({{"a", std::string(5000, 'b')}}, lines), "");
}

TEST(HeaderBlock, IsAsLongAsAHead) {
    HeaderBlock block;
    for (int i = 0; i < 16; ++i) block.add("a", std::string(1000, 'b'));
    EXPECT_FALSE(block.is_too_long());
    block.add("a", std::string(1000, 'b'));
    EXPECT_TRUE(block.is_too_long());
    EXPECT_TRUE(block.fields().empty());
    HeaderBlock many;
    for (int i = 0; i < 140; ++i) many.add("a", "b");
    EXPECT_TRUE(many.is_too_long());
}

}  // namespace
}  // namespace network::http2
