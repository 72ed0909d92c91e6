// SPDX-License-Identifier: MIT
#include "network/wire/tls.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/places.h"
#include "network/wire/bytes.h"
#include "verdicts.h"

namespace network::wire {
namespace {

std::string vector16(std::string_view content) {
    std::string bytes;
    append_u16(bytes, static_cast<unsigned>(content.size()));
    return bytes.append(content);
}

std::string extension(unsigned type, std::string_view content) {
    std::string bytes;
    append_u16(bytes, type);
    return bytes + vector16(content);
}

std::string name_extension(std::string_view name) {
    return extension(0, vector16(std::string(1, '\0') + vector16(name)));
}

std::string body(std::string_view extensions) {
    std::string bytes = "\x03\x03" + std::string(32, 'r');
    append_u8(bytes, 0);
    bytes += vector16("\x13\x01");
    bytes += std::string("\x01\x00", 2);
    return bytes + vector16(extensions);
}

std::string handshake(std::string_view content) {
    std::string bytes(1, '\x01');
    append_u8(bytes, static_cast<unsigned>(content.size() >> 16));
    append_u16(bytes, static_cast<unsigned>(content.size()));
    return bytes.append(content);
}

std::string record(std::string_view fragment) {
    return "\x16\x03\x01" + vector16(fragment);
}

std::string hello(std::string_view extensions) {
    return record(handshake(body(extensions)));
}

std::string verdict(std::string_view input) {
    return agreed(hello_verdict, input);
}

TEST(ClientHello, GivesTheServersName) {
    EXPECT_EQ(verdict(hello(name_extension("example.com"))), "name=example.com");
    EXPECT_EQ(verdict(hello(extension(10, "ab") + name_extension("Example.COM"))), "name=Example.COM")
        << "as it was sent";
}

TEST(ClientHello, MayHaveNoName) {
    EXPECT_EQ(verdict(hello("")), "name=none");
    std::string without_extensions = body("");
    without_extensions.resize(without_extensions.size() - 2);
    EXPECT_EQ(verdict(record(handshake(without_extensions))), "name=none");
}

TEST(ClientHello, GivesTheProtocols) {
    EXPECT_EQ(verdict(hello(extension(16, vector16("\x02h2\x08http/1.1")))),
              "name=none alpn=h2 alpn=http/1.1");
}

TEST(ClientHello, TellsOfAnEncryptedHelloInside) {
    EXPECT_EQ(verdict(hello(name_extension("outer.example") + extension(0xfe0d, "x"))),
              "name=outer.example ech");
    EXPECT_EQ(verdict(hello(extension(0xffce, "x"))), "name=none ech");
}

TEST(ClientHello, MayBeSpreadOverRecords) {
    std::string whole = handshake(body(name_extension("example.com")));
    std::string spread;
    for (size_t at = 0; at < whole.size(); at += 7) spread += record(std::string_view(whole).substr(at, 7));
    EXPECT_EQ(verdict(spread), "name=example.com");
    std::string first_byte = record(whole.substr(0, 1)) + record(whole.substr(1));
    EXPECT_EQ(verdict(first_byte), "name=example.com");
}

TEST(ClientHello, MayBeFollowedByOtherRecords) {
    EXPECT_EQ(verdict(hello(name_extension("a.b")) + "\x17\x03\x03 early data"), "name=a.b");
}

TEST(ClientHello, OfRealClientsIsRead) {
    std::string folder = test::data("/fuzz/wire/corpus/client_hello/");
    EXPECT_EQ(verdict(base::read_file(folder + "openssl").value()),
              "name=www.example.org alpn=h2 alpn=http/1.1");
    EXPECT_EQ(verdict(base::read_file(folder + "openssl_tls12_no_name").value()), "name=none");
}

TEST(ClientHello, NeedsMoreUntilItsLastByte) {
    std::string whole = hello(name_extension("example.com"));
    for (size_t size = 1; size < whole.size(); ++size) {
        ASSERT_EQ(verdict(whole.substr(0, size)), "need more") << size;
    }
}

TEST(ClientHello, IsToldFromOtherProtocolsAtTheFirstByteThatDiffers) {
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\n"), "not TLS");
    EXPECT_EQ(verdict("SSH-2.0-x"), "not TLS");
    EXPECT_EQ(verdict("\x16\x02"), "not TLS");
    EXPECT_EQ(verdict("\x16\x03\x05"), "not TLS");
    EXPECT_EQ(verdict(bytes("80 2e 01 03 01")), "not TLS") << "the hello of SSL 2";
}

TEST(ClientHello, RefusesNamesThatAreNone) {
    EXPECT_EQ(verdict(hello(name_extension(""))), "refused: the server name is not a host name");
    EXPECT_EQ(verdict(hello(name_extension(std::string("good.com\0.evil.com", 18)))),
              "refused: the server name is not a host name");
    EXPECT_EQ(verdict(hello(name_extension("a b"))), "refused: the server name is not a host name");
    EXPECT_EQ(verdict(hello(name_extension(std::string(300, 'a')))),
              "refused: the server name is not a host name");
}

TEST(ClientHello, RefusesTwoNames) {
    std::string entry = std::string(1, '\0') + vector16("a.b");
    EXPECT_EQ(verdict(hello(extension(0, vector16(entry + entry)))),
              "refused: the list of server names does not hold exactly one");
    EXPECT_EQ(verdict(hello(name_extension("a.b") + name_extension("c.d"))),
              "refused: an extension stands twice");
    EXPECT_EQ(verdict(hello(extension(5, "") + extension(5, ""))), "refused: an extension stands twice");
}

TEST(ClientHello, RefusesLengthsThatDoNotAddUp) {
    EXPECT_EQ(verdict(hello(extension(0, vector16("\x00") + "x"))),
              "refused: the list of server names has a wrong length");
    EXPECT_EQ(verdict(hello(extension(0, ""))), "refused: the list of server names has a wrong length");
    EXPECT_EQ(verdict(hello(bytes("00 10 00 09"))), "refused: an extension is cut short");
    EXPECT_EQ(verdict(record(handshake(body("") + "x"))),
              "refused: the extensions do not end with the hello");
    EXPECT_EQ(verdict(record(handshake("\x03\x03 short"))), "refused: the hello is cut short");
    EXPECT_EQ(verdict(record(handshake(body("")) + "x")),
              "refused: more follows in the record of the ClientHello");
    EXPECT_EQ(verdict(hello(extension(16, vector16(std::string(1, '\0'))))),
              "refused: the list of protocols is malformed");
}

TEST(ClientHello, RefusesOtherRecordsInBetween) {
    std::string whole = handshake(body(name_extension("example.com")));
    std::string begun = record(whole.substr(0, 20));
    EXPECT_EQ(verdict(begun + "\x15\x03\x03"), "refused: this is not a record of a TLS handshake");
    EXPECT_EQ(verdict(begun + record("")), "refused: a record is empty or longer than 16 KiB");
    EXPECT_EQ(verdict(record("\x02")), "refused: the handshake does not start with a ClientHello");
}

TEST(ClientHello, MayBeSixteenKibibytesAndNoMore) {
    size_t rest = kMaximumHandshake - body(extension(21, "")).size();
    std::string largest = handshake(body(extension(21, std::string(rest, 'p'))));
    ASSERT_EQ(largest.size(), 4 + kMaximumHandshake);
    EXPECT_EQ(verdict(record(largest.substr(0, 16384)) + record(largest.substr(16384))), "name=none");
    EXPECT_EQ(verdict(record(bytes("01 00 40 01"))), "refused: the ClientHello is longer than 16 KiB");
    EXPECT_EQ(verdict(bytes("16 03 01 40 01")), "refused: a record is empty or longer than 16 KiB");
    EXPECT_EQ(verdict(record(largest.substr(0, 16384)) + bytes("16 03 01 00 05")),
              "refused: the ClientHello is longer than 16 KiB")
        << "known before the record arrives";
}

TEST(ClientHello, IsNotCutIntoCrumbs) {
    std::string whole = handshake(body(extension(21, std::string(500, 'p'))));
    std::string crumbs;
    for (char byte : whole) crumbs += record(std::string_view(&byte, 1));
    EXPECT_EQ(verdict(crumbs), "refused: the ClientHello is spread over too many records");
}

TEST(TlsAlert, IsARecordOfItsOwn) {
    EXPECT_EQ(hexadecimal(tls_alert(TlsAlert::access_denied)), "15030300020231");
    EXPECT_EQ(hexadecimal(tls_alert(TlsAlert::unrecognized_name)), "15030300020270");
}

}  // namespace
}  // namespace network::wire
