// SPDX-License-Identifier: MIT
#include "network/wire/protocol_guess.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "network/wire/http/http_head.h"
#include "network/wire/tls.h"

namespace network::wire {
namespace {

constexpr std::string_view kProxyHeader("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::string_view kProxyWord = "PROXY";
constexpr std::string_view kTlsRequest("\0\0\0\x08\x04\xd2\x16\x2f", 8);
constexpr std::string_view kGssRequest("\0\0\0\x08\x04\xd2\x16\x30", 8);
constexpr std::string_view kPreface = "PRI * HTTP/";
constexpr size_t kLongestOpening = kProxyHeader.size();
constexpr size_t kLongestWord = 8;

// The end of a request line begins with one of these. Node's parser accepts all three.
constexpr std::string_view kVersions[] = {"http/", "rtsp/", "ice/"};
constexpr size_t kLongestVersion = 6;  // with the blank before it

struct Opening {
    Protocol protocol = Protocol::undecided;
    bool may_come = false;  // more bytes could complete it
};

unsigned at(std::string_view bytes, size_t index) {
    return static_cast<unsigned char>(bytes[index]);
}

Opening tls_opening(std::string_view bytes) {
    unsigned type = at(bytes, 0);
    if (type < kFirstRecord || type > kLastRecord) return {};
    if (bytes.size() < 2) return {.may_come = true};
    if (at(bytes, 1) == 3) return {Protocol::tls};
    if (type != kAlertRecord && type != kHandshakeRecord) return {};
    // Another version, followed by a warning, a ClientHello, or an empty record and then another record.
    if (bytes.size() < 6) return {.may_come = true};
    bool is_empty = at(bytes, 3) == 0 && at(bytes, 4) == 0;
    unsigned next = at(bytes, 5);
    bool is_record = is_empty ? next >= kFirstRecord && next <= kLastRecord : next == 1;
    return {is_record ? Protocol::tls : Protocol::undecided};
}

// Two length bytes with the highest bit set, the type of the hello, the version.
Opening ssl2_opening(std::string_view bytes) {
    if ((at(bytes, 0) & 0x80) == 0) return {};
    if (bytes.size() >= 3 && at(bytes, 2) != 1) return {};
    if (bytes.size() < 4) return {.may_come = true};
    return {at(bytes, 3) <= 3 ? Protocol::ssl2 : Protocol::undecided};
}

// The length in four hexadecimal digits, then the name of a service.
Opening git_opening(std::string_view bytes) {
    constexpr std::string_view kService = "git-";
    constexpr size_t kDigits = 4;
    bool is_length = std::ranges::all_of(bytes.substr(0, kDigits), base::is_lower_hex_digit);
    if (!is_length) return {};
    std::string_view name = bytes.substr(std::min(bytes.size(), kDigits));
    if (name.starts_with(kService)) return {Protocol::git};
    return {.may_come = kService.starts_with(name)};
}

Opening fixed_opening(std::string_view bytes, std::string_view whole, Protocol protocol) {
    if (bytes.starts_with(whole)) return {protocol};
    return {.may_come = whole.starts_with(bytes)};
}

Opening opening_of(std::string_view bytes) {
    bool may_come = false;
    for (Opening opening : {tls_opening(bytes), ssl2_opening(bytes), git_opening(bytes),
                            fixed_opening(bytes, kProxyHeader, Protocol::proxy_header),
                            fixed_opening(bytes, kTlsRequest, Protocol::postgres),
                            fixed_opening(bytes, kGssRequest, Protocol::postgres)}) {
        if (opening.protocol != Protocol::undecided) return opening;
        may_come |= opening.may_come;
    }
    return {.may_come = may_come};
}

// Bytes that some server accepts as the end of a word: white space of Java and of Python's str.split.
bool is_white(char byte) {
    return (byte >= '\t' && byte <= '\r') || (byte >= 0x1c && byte <= ' ') || byte == '\x85' ||
           byte == '\xa0';
}

bool is_printable(char byte) {
    return byte > ' ' && byte < 0x7f;
}

bool ends_with_version(std::string_view last) {
    return std::ranges::any_of(kVersions, [&](std::string_view version) {
        if (last.size() <= version.size()) return false;
        bool is_word = is_white(last[last.size() - version.size() - 1]);
        return is_word && base::equals_ignoring_case(last.substr(last.size() - version.size()), version);
    });
}

}  // namespace

Protocol ProtocolGuess::take(std::string_view bytes) {
    for (char byte : bytes) {
        if (protocol_ != Protocol::undecided) break;
        protocol_ = step(byte);
    }
    return protocol_;
}

Protocol ProtocolGuess::step(char byte) {
    last_ += byte;
    if (last_.size() > kLongestVersion) last_.erase(0, 1);
    Opening opening;
    if (opening_.size() < kLongestOpening) {
        opening_ += byte;
        opening = opening_of(opening_);
        if (opening.protocol != Protocol::undecided) return opening.protocol;
    }
    bool is_text = is_printable(opening_.front()) || is_white(opening_.front());
    if (is_strict_ && !is_text && !opening.may_come) return Protocol::other;
    Protocol guess = guess_by_line(byte);
    return opening.may_come ? Protocol::undecided : guess;
}

Protocol ProtocolGuess::guess_by_line(char byte) {
    if (words_ == 0 && !is_printable(byte)) return Protocol::undecided;
    bool was_in_word = is_in_word_;
    count_word(byte);
    count_target(byte);
    if (ends_with_version(last_)) {
        return opening_.starts_with(kPreface) ? Protocol::http2 : Protocol::http1;
    }
    if (was_in_word && words_ == 1 && is_white(byte) && first_word_ == kProxyWord)
        return Protocol::proxy_header;
    bool ends_line = byte == '\r' || byte == '\n';
    if (ends_line && is_request_line()) return Protocol::http1;
    if (byte != '\n') return Protocol::undecided;
    return opening_.starts_with("SSH-") ? Protocol::ssh : Protocol::other;
}

void ProtocolGuess::count_word(char byte) {
    bool starts_word = !is_in_word_ && !is_white(byte);
    is_in_word_ = !is_white(byte);
    if (starts_word) ++words_;
    if (!is_in_word_) return;
    if (words_ == 1) {
        bool is_capital = (byte >= 'A' && byte <= 'Z') || byte == '-' || byte == '_';
        is_capital_ = is_capital_ && is_capital;
        if (first_word_.size() < kLongestWord) first_word_ += byte;
    }
    if (words_ == 2) {
        has_target_ |= starts_word && (byte == '/' || byte == '*');
        has_target_ |= last_.ends_with("://");
    }
    if (words_ > 2 && last_.size() >= 4) {
        std::string_view end = std::string_view(last_).substr(last_.size() - 4);
        has_slash_ = !starts_word && (has_slash_ || byte == '/');
        has_numbers_ |= has_slash_ && base::is_digit(end[1]) && end[2] == '.' && base::is_digit(end[3]);
    }
}

// Splits a line as Java's own server does.
void ProtocolGuess::count_target(char byte) {
    if (byte == ' ') {
        ++blanks_;
    } else if (blanks_ == 1 && byte != '\r' && byte != '\n') {
        bool is_first = last_.size() > 1 && last_[last_.size() - 2] == ' ';
        is_target_ |= (is_first && (byte == '/' || byte == '*')) || last_.ends_with("://");
        is_target_text_ = is_target_text_ && (is_printable(byte) || static_cast<unsigned char>(byte) >= 0x80);
    }
}

bool ProtocolGuess::is_request_line() const {
    // HTTP/0.9: a method and a target.
    if (words_ == 2 && (first_word_ == "GET" || (is_capital_ && has_target_))) return true;
    // Netty accepts "ANY/1.0" as a version, Java any text.
    return (words_ > 2 && has_numbers_) || (blanks_ > 1 && is_target_ && is_target_text_);
}

Protocol ProtocolGuess::at_end() const {
    ProtocolGuess ended = *this;
    ended.take("\n");
    return ended.protocol_;
}

Protocol guess_protocol(std::string_view first) {
    Protocol protocol = ProtocolGuess().take(first.substr(0, kMaximumGuessBytes));
    bool is_too_long = protocol == Protocol::undecided && first.size() >= kMaximumGuessBytes;
    return is_too_long ? Protocol::http1 : protocol;
}

namespace {

constexpr std::string_view kServices[] = {"git-upload-pack", "git-receive-pack", "git-upload-archive"};
constexpr std::string_view kHostParameter = "host=";
constexpr size_t kLengthDigits = 4;
constexpr size_t kLongestRequest = 4096;

// Parses the packet after its length.
bool read_parts(std::string_view text, GitRequest& request) {
    std::vector<std::string_view> parts = base::split(text, '\0');
    size_t blank = parts[0].find(' ');
    bool is_known = std::ranges::find(kServices, parts[0].substr(0, blank)) != std::end(kServices);
    if (!is_known || blank == std::string_view::npos) return false;
    for (std::string_view part : parts) {
        if (!part.starts_with(kHostParameter)) continue;
        if (request.host) return false;
        request.host = parse_authority(part.substr(kHostParameter.size()));
        if (!request.host) return false;
    }
    return true;
}

}  // namespace

GitRequestState read_git_request(std::string_view received, GitRequest& request) {
    if (received.size() < kLengthDigits) return GitRequestState::need_more;
    request.size = base::parse_number<size_t>(received.substr(0, kLengthDigits), 16).value_or(0);
    bool is_bounded = request.size > kLengthDigits && request.size <= kLongestRequest;
    if (!is_bounded) return GitRequestState::refused;
    std::string_view packet = received.substr(0, request.size);
    if (packet.find_first_of("\r\n") != std::string_view::npos) return GitRequestState::refused;
    if (packet.size() < request.size) return GitRequestState::need_more;
    return read_parts(packet.substr(kLengthDigits), request) ? GitRequestState::complete
                                                             : GitRequestState::refused;
}

}  // namespace network::wire
