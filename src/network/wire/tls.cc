// SPDX-License-Identifier: MIT
// Records carry fragments. The joined fragments are one handshake message, whose body is the hello. The first
// three bytes distinguish TLS from everything else. After them every fault is a refusal.
#include "network/wire/tls.h"

#include <algorithm>
#include <bitset>

#include "network/wire/bytes.h"
#include "network/wire/http/http_head.h"

namespace network::wire {
namespace {

constexpr uint8_t kMajorVersion = 3;
constexpr uint8_t kHighestMinorVersion = 4;
constexpr uint8_t kClientHelloMessage = 1;
constexpr uint8_t kHostNameType = 0;
constexpr uint8_t kFatal = 2;
constexpr size_t kRecordHeader = 5;
constexpr size_t kHandshakeHeader = 4;
constexpr size_t kRandom = 32;
constexpr size_t kMaximumSession = 32;

constexpr uint16_t kServerNameExtension = 0;
constexpr uint16_t kProtocolsExtension = 16;
constexpr uint16_t kEncryptedHelloExtension = 0xfe0d;
constexpr uint16_t kEncryptedNameExtension = 0xffce;  // an earlier draft, still sent by old browsers

using Fault = std::string_view;  // empty: no fault

Fault read_server_name(std::string_view data, ClientHello& hello) {
    Cursor list(data);
    size_t list_size = list.u16();
    if (list.has_failed() || list_size != list.left()) return "the list of server names has a wrong length";
    uint8_t type = list.u8();
    std::string_view name = list.take(list.u16());
    if (!list.is_spent()) return "the list of server names does not hold exactly one";
    if (type != kHostNameType) return "the server name is of an unknown type";
    if (!is_host_name(name)) return "the server name is not a host name";
    hello.server_name = name;
    return {};
}

Fault read_protocols(std::string_view data, ClientHello& hello) {
    Cursor list(data);
    size_t list_size = list.u16();
    if (list.has_failed() || list_size != list.left()) return "the list of protocols has a wrong length";
    while (list.left() > 0) {
        std::string_view protocol = list.take(list.u8());
        if (list.has_failed() || protocol.empty()) return "the list of protocols is malformed";
        if (hello.protocols.size() == kMaximumProtocols) return "the list of protocols is too long";
        hello.protocols.emplace_back(protocol);
    }
    return {};
}

Fault read_extensions(std::string_view data, ClientHello& hello) {
    std::bitset<65536> seen;
    Cursor extensions(data);
    while (extensions.left() > 0) {
        uint16_t type = extensions.u16();
        std::string_view content = extensions.take(extensions.u16());
        if (extensions.has_failed()) return "an extension is cut short";
        if (seen.test(type)) return "an extension stands twice";
        seen.set(type);
        Fault fault;
        if (type == kServerNameExtension) fault = read_server_name(content, hello);
        if (type == kProtocolsExtension) fault = read_protocols(content, hello);
        if (!fault.empty()) return fault;
        hello.has_encrypted_hello |= type == kEncryptedHelloExtension || type == kEncryptedNameExtension;
    }
    return {};
}

Fault read_hello(std::string_view body, ClientHello& hello) {
    Cursor cursor(body);
    uint8_t major = cursor.u8();
    cursor.u8();
    cursor.take(kRandom);
    std::string_view session = cursor.take(cursor.u8());
    std::string_view ciphers = cursor.take(cursor.u16());
    std::string_view compressions = cursor.take(cursor.u8());
    if (cursor.has_failed()) return "the hello is cut short";
    if (major != kMajorVersion) return "the hello is of an unknown version";
    if (session.size() > kMaximumSession) return "the session is too long";
    if (ciphers.empty() || ciphers.size() % 2 != 0) return "the list of ciphers is malformed";
    if (compressions.empty()) return "the list of compressions is empty";
    if (cursor.left() == 0) return {};  // TLS 1.2 without any extension
    std::string_view extensions = cursor.take(cursor.u16());
    if (!cursor.is_spent()) return "the extensions do not end with the hello";
    return read_extensions(extensions, hello);
}

}  // namespace

ClientHelloReader::State ClientHelloReader::finish(State state, std::string_view fault) {
    state_ = state;
    fault_ = fault;
    handshake_ = {};
    return state;
}

// Checks each byte at once, so that garbage is refused before more of it is awaited.
ClientHelloReader::State ClientHelloReader::read_record_header(std::string_view header) {
    State unlike = records_ == 0 ? State::not_tls : State::refused;
    for (; checked_ < header.size(); ++checked_) {
        auto byte = static_cast<unsigned char>(header[checked_]);
        bool is_good = (checked_ != 0 || byte == kHandshakeRecord) &&
                       (checked_ != 1 || byte == kMajorVersion) &&
                       (checked_ != 2 || byte <= kHighestMinorVersion);
        if (!is_good) return finish(unlike, "this is not a record of a TLS handshake");
    }
    return State::need_more;
}

ClientHelloReader::State ClientHelloReader::take_fragment(std::string_view fragment) {
    handshake_ += fragment;
    Cursor cursor(handshake_);
    if (cursor.u8() != kClientHelloMessage)
        return finish(State::refused, "the handshake does not start with a ClientHello");
    size_t length = cursor.u24();
    if (cursor.has_failed()) return State::need_more;
    if (length > kMaximumHandshake) return finish(State::refused, "the ClientHello is longer than 16 KiB");
    if (cursor.left() < length) return State::need_more;
    if (cursor.left() > length)
        return finish(State::refused, "more follows in the record of the ClientHello");
    Fault fault = read_hello(cursor.take(length), hello_);
    return finish(fault.empty() ? State::complete : State::refused, fault);
}

ClientHelloReader::State ClientHelloReader::look(std::string_view received) {
    while (state_ == State::need_more && next_record_ <= received.size()) {
        std::string_view record = received.substr(next_record_);
        if (read_record_header(record.substr(0, kRecordHeader)) != State::need_more) break;
        Cursor cursor(record);
        cursor.take(3);
        size_t length = cursor.u16();
        if (cursor.has_failed()) break;
        if (length == 0 || length > kMaximumTlsRecord) {
            return finish(State::refused, "a record is empty or longer than 16 KiB");
        }
        if (handshake_.size() + length > kHandshakeHeader + kMaximumHandshake) {
            return finish(State::refused, "the ClientHello is longer than 16 KiB");
        }
        std::string_view fragment = cursor.take(length);
        if (cursor.has_failed()) break;
        if (++records_ > kMaximumHelloRecords) {
            return finish(State::refused, "the ClientHello is spread over too many records");
        }
        next_record_ += kRecordHeader + length;
        checked_ = 0;
        take_fragment(fragment);
    }
    return state_;
}

std::string tls_alert(TlsAlert alert) {
    std::string record;
    append_u8(record, kAlertRecord);
    append_u16(record, 0x0303);
    append_u16(record, 2);
    append_u8(record, kFatal);
    append_u8(record, static_cast<unsigned>(alert));
    return record;
}

namespace {

constexpr uint8_t kServerHelloMessage = 2;
constexpr size_t kBeforeRandom = 6;  // bytes of the message: type, length, version
constexpr size_t kMostReceived = 1024;

// SHA-256 of "HelloRetryRequest", in place of a ServerHello's random bytes.
constexpr std::string_view kRetryRandom(
    "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91"
    "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c",
    32);

}  // namespace

ServerHelloReader::State ServerHelloReader::take(std::string_view bytes) {
    received_ += bytes.substr(0, kMostReceived - received_.size());
    State state = read(received_);
    bool is_full = state == State::need_more && received_.size() == kMostReceived;
    return is_full ? State::refused : state;
}

// A server may split its message into any records.
ServerHelloReader::State ServerHelloReader::read(std::string_view records) {
    std::string message;
    Cursor cursor(records);
    while (cursor.left() > 0) {
        if (cursor.u8() != kHandshakeRecord) return State::other;
        cursor.u16();
        size_t length = cursor.u16();
        if (cursor.has_failed()) return State::need_more;
        message += cursor.take(std::min(length, cursor.left()));
        if (!message.empty() && static_cast<uint8_t>(message[0]) != kServerHelloMessage) return State::other;
        if (message.size() < kBeforeRandom + kRetryRandom.size()) continue;
        bool is_retry = std::string_view(message).substr(kBeforeRandom, kRetryRandom.size()) == kRetryRandom;
        return is_retry ? State::retry : State::other;
    }
    return State::need_more;
}

}  // namespace network::wire
