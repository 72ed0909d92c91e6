// SPDX-License-Identifier: MIT
#include "network/wire/dns/dns.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "network/wire/bytes.h"

namespace network::wire {
namespace {

constexpr uint16_t kCheckingDisabled = 0x0010;
constexpr uint32_t kDnssecOk = 0x8000;

// The fields after a record's name. Length and data are only skipped.
struct Record {
    DnsType type{};
    uint16_t dns_class = 0;
    uint32_t time_to_live = 0;
};

bool read_record(std::string_view message, size_t& at, Record& record, DnsName& owner) {
    std::optional<DnsName> name = DnsName::read(message, at, DnsName::Pointers::refused);
    if (!name) return false;
    owner = *name;
    Cursor cursor(message.substr(at));
    record.type = static_cast<DnsType>(cursor.u16());
    record.dns_class = cursor.u16();
    record.time_to_live = cursor.u32();
    cursor.take(cursor.u16());
    if (cursor.has_failed()) return false;
    at = message.size() - cursor.left();
    return true;
}

bool read_question(std::string_view message, size_t& at, DnsQuery& query) {
    std::optional<DnsName> name = DnsName::read(message, at, DnsName::Pointers::refused);
    if (!name) return false;
    Cursor cursor(message.substr(at));
    DnsQuestion question{
        .name = *name, .type = static_cast<DnsType>(cursor.u16()), .dns_class = cursor.u16()};
    if (cursor.has_failed()) return false;
    at += 4;
    query.question = std::move(question);
    return true;
}

bool read_additional(std::string_view message, size_t& at, unsigned count, DnsQuery& query) {
    for (; count > 0; --count) {
        Record record;
        DnsName owner;
        if (!read_record(message, at, record, owner)) return false;
        if (record.type != DnsType::opt) continue;
        if (query.edns || owner.wire().size() != 1) return false;
        query.edns = Edns{.payload = record.dns_class,
                          .version = static_cast<uint8_t>(record.time_to_live >> 16),
                          .wants_dnssec = (record.time_to_live & kDnssecOk) != 0};
    }
    return true;
}

// The labels of `name` before `suffix`, the nearest one first. Empty if the name has another suffix.
std::vector<std::string_view> labels_below(std::string_view name, std::string_view suffix) {
    if (name.size() <= suffix.size() || name[name.size() - suffix.size() - 1] != '.') return {};
    if (!base::equals_ignoring_case(name.substr(name.size() - suffix.size()), suffix)) return {};
    auto labels = base::split(name.substr(0, name.size() - suffix.size() - 1), '.');
    std::ranges::reverse(labels);
    return labels;
}

bool parse_part(std::string_view label, int radix, uint8_t& value) {
    if (label.size() > 1 && label[0] == '0') return false;
    const std::optional<uint8_t> number = base::parse_number<uint8_t>(label, radix);
    if (number) value = *number;
    return number.has_value();
}

}  // namespace

std::optional<DnsName> DnsName::from_host_name(std::string_view text) {
    if (!is_host_name(text)) return std::nullopt;
    if (text.ends_with('.')) text.remove_suffix(1);
    DnsName name;
    name.wire_.clear();
    for (std::string_view label : base::split(text, '.')) {
        append_u8(name.wire_, static_cast<unsigned>(label.size()));
        name.wire_ += label;
    }
    name.wire_ += '\0';
    return name;
}

std::optional<DnsName> DnsName::read(std::string_view message, size_t& at, Pointers pointers) {
    DnsName name;
    name.wire_.clear();
    size_t here = at, piece_start = at;
    std::optional<size_t> end;
    for (;;) {
        if (here >= message.size()) return std::nullopt;
        auto length = static_cast<unsigned char>(message[here]);
        if ((length & 0xc0) == 0xc0) {
            if (pointers == Pointers::refused || here + 1 >= message.size()) return std::nullopt;
            if (!end) end = here + 2;
            here = (length & 0x3fu) << 8 | static_cast<unsigned char>(message[here + 1]);
            if (here >= piece_start) return std::nullopt;
            piece_start = here;
            continue;
        }
        if (length > kMaximumLabel || length >= message.size() - here) return std::nullopt;
        name.wire_.append(message, here, length + 1u);
        if (name.wire_.size() > kMaximumDnsName) return std::nullopt;
        here += length + 1u;
        if (length == 0) break;
    }
    at = end.value_or(here);
    return name;
}

std::string DnsName::text() const {
    std::string text;
    for (size_t at = 0; wire_[at] != '\0'; at += 1u + static_cast<unsigned char>(wire_[at])) {
        if (at > 0) text += '.';
        for (char letter : std::string_view(wire_).substr(at + 1, static_cast<unsigned char>(wire_[at]))) {
            auto byte = static_cast<unsigned char>(letter);
            if (byte <= ' ' || byte >= 0x7f) {
                text += {'\\', static_cast<char>('0' + byte / 100), static_cast<char>('0' + byte / 10 % 10),
                         static_cast<char>('0' + byte % 10)};
                continue;
            }
            if (letter == '.' || letter == '\\') text += '\\';
            text += letter;
        }
    }
    return text.empty() ? "." : text;
}

std::optional<std::string> DnsName::host_name() const {
    std::string name = text();
    // An escape contains a backslash, which no host name has.
    if (!is_host_name(name)) return std::nullopt;
    return name;
}

bool DnsName::equals_ignoring_case(const DnsName& other) const {
    // Length bytes are below 64, so they never compare as letters.
    return base::equals_ignoring_case(wire_, other.wire_);
}

ParsedDnsQuery parse_dns_query(std::string_view message) {
    ParsedDnsQuery parsed;
    DnsQuery& query = parsed.query;
    Cursor header(message);
    query.id = header.u16();
    uint16_t flags = header.u16();
    unsigned questions = header.u16(), answers = header.u16(), authorities = header.u16();
    unsigned additional = header.u16();
    if (header.has_failed() || (flags & kIsAnswer) != 0) return parsed;

    query.opcode = flags >> 11 & 0xf;
    query.wants_recursion = (flags & kRecursionDesired) != 0;
    query.disables_checking = (flags & kCheckingDisabled) != 0;
    if (query.opcode != 0) {
        parsed.verdict = DnsVerdict::not_implemented;
        return parsed;
    }
    parsed.verdict = DnsVerdict::form_error;
    size_t at = kDnsHeader;
    if (message.size() > kMaximumDnsQuery || questions != 1 || !read_question(message, at, query))
        return parsed;
    if (answers != 0 || authorities != 0 || additional > kMaximumDnsAdditional) return parsed;
    if (!read_additional(message, at, additional, query) || at != message.size()) return parsed;
    if (query.edns && query.edns->version != 0) {
        parsed.verdict = DnsVerdict::bad_version;
    } else {
        bool is_internet = query.question->dns_class == kClassInternet;
        parsed.verdict = is_internet ? DnsVerdict::query : DnsVerdict::not_implemented;
    }
    return parsed;
}

std::optional<Ipv4> reverse_ipv4(const DnsName& name) {
    std::string text = name.text();
    Ipv4 address;
    auto labels = labels_below(text, "in-addr.arpa");
    if (labels.size() != address.size()) return std::nullopt;
    for (size_t i = 0; i < address.size(); ++i) {
        if (!parse_part(labels[i], 10, address[i])) return std::nullopt;
    }
    return address;
}

std::optional<Ipv6> reverse_ipv6(const DnsName& name) {
    std::string text = name.text();
    Ipv6 address;
    auto labels = labels_below(text, "ip6.arpa");
    if (labels.size() != 2 * address.size()) return std::nullopt;
    for (size_t i = 0; i < address.size(); ++i) {
        uint8_t high = 0, low = 0;
        if (labels[2 * i].size() != 1 || labels[2 * i + 1].size() != 1) return std::nullopt;
        if (!parse_part(labels[2 * i], 16, high) || !parse_part(labels[2 * i + 1], 16, low))
            return std::nullopt;
        address[i] = static_cast<uint8_t>(high << 4 | low);
    }
    return address;
}

DnsFrame take_dns_frame(std::string_view& received) {
    Cursor cursor(received);
    size_t length = cursor.u16();
    if (cursor.has_failed()) return {};
    if (length < kDnsHeader || length > kMaximumDnsQuery) return {.state = DnsFrame::State::refused};
    std::string_view message = cursor.take(length);
    if (cursor.has_failed()) return {};
    received.remove_prefix(2 + length);
    return {.state = DnsFrame::State::message, .message = message};
}

std::string dns_frame(std::string_view message) {
    std::string frame;
    frame.reserve(2 + message.size());
    append_u16(frame, static_cast<unsigned>(message.size()));
    frame += message;
    return frame;
}

// Layout of an answer: header, the question, at most one record whose owner is a pointer to the question, and
// OPT with the extended error.

namespace {

constexpr uint16_t kAnswerFlags = 0x8080;  // an answer, recursion available
constexpr uint16_t kQuestionPointer = 0xc000 | kDnsHeader;
constexpr uint16_t kOwnPayload = 1232;  // no path fragments this size
constexpr uint16_t kExtendedErrorOption = 15;

struct Answer {
    DnsCode code = DnsCode::no_error;
    DnsType type{};
    std::string_view data;  // empty: no record
    uint32_t time_to_live = 0;
    std::optional<ExtendedError> error;
};

// Cuts at the start of a character. Looks at a few bytes more than it keeps, because a character that the
// first cut divides would become escapes.
std::string error_text(std::string_view text) {
    constexpr size_t kLongestCharacter = 4;
    std::string shown = base::printable(text.substr(0, kMaximumErrorText + kLongestCharacter));
    size_t end = std::min(shown.size(), kMaximumErrorText);
    while (end > 0 && end < shown.size() && (static_cast<unsigned char>(shown[end]) & 0xc0) == 0x80) --end;
    shown.resize(end);
    return shown;
}

void append_question(std::string& message, const DnsQuestion& question) {
    message += question.name.wire();
    append_u16(message, static_cast<unsigned>(question.type));
    append_u16(message, question.dns_class);
}

void append_record(std::string& message, const Answer& answer) {
    append_u16(message, kQuestionPointer);
    append_u16(message, static_cast<unsigned>(answer.type));
    append_u16(message, kClassInternet);
    append_u32(message, answer.time_to_live);
    append_u16(message, static_cast<unsigned>(answer.data.size()));
    message += answer.data;
}

void append_opt(std::string& message, const Edns& edns, const Answer& answer) {
    std::string options;
    if (answer.error) {
        std::string text = error_text(answer.error->text);
        append_u16(options, kExtendedErrorOption);
        append_u16(options, static_cast<unsigned>(2 + text.size()));
        append_u16(options, static_cast<unsigned>(answer.error->code));
        options += text;
    }
    append_u8(message, 0);
    append_u16(message, static_cast<unsigned>(DnsType::opt));
    append_u16(message, kOwnPayload);
    append_u8(message, static_cast<unsigned>(answer.code) >> 4);
    append_u8(message, 0);
    append_u16(message, edns.wants_dnssec ? 0x8000 : 0);
    append_u16(message, static_cast<unsigned>(options.size()));
    message += options;
}

std::string write(const DnsQuery& query, const Answer& answer) {
    std::string message;
    message.reserve(kMaximumDnsAnswer);
    append_u16(message, query.id);
    append_u16(message, kAnswerFlags | (query.opcode & 0xfu) << 11 | (query.wants_recursion ? 0x0100 : 0) |
                            (query.disables_checking ? 0x0010 : 0) |
                            (static_cast<unsigned>(answer.code) & 0xf));
    append_u16(message, query.question ? 1 : 0);
    append_u16(message, answer.data.empty() ? 0 : 1);
    append_u16(message, 0);
    append_u16(message, query.edns ? 1 : 0);
    if (query.question) append_question(message, *query.question);
    if (!answer.data.empty()) append_record(message, answer);
    if (query.edns) append_opt(message, *query.edns, answer);
    return message;
}

std::string write_record(const DnsQuery& query, DnsType type, std::string_view data, uint32_t time_to_live) {
    if (!query.question) return answer_failure(query, DnsCode::server_failure);
    std::string message = write(query, {.type = type, .data = data, .time_to_live = time_to_live});
    if (message.size() > kMaximumDnsAnswer) return answer_failure(query, DnsCode::server_failure);
    return message;
}

std::string_view bytes_of(const auto& address) {
    return {reinterpret_cast<const char*>(address.data()), address.size()};
}

}  // namespace

std::string answer_address(const DnsQuery& query, const Ipv4& address, uint32_t time_to_live) {
    return write_record(query, DnsType::a, bytes_of(address), time_to_live);
}

std::string answer_address(const DnsQuery& query, const Ipv6& address, uint32_t time_to_live) {
    return write_record(query, DnsType::aaaa, bytes_of(address), time_to_live);
}

std::string answer_pointer(const DnsQuery& query, const DnsName& target, uint32_t time_to_live) {
    return write_record(query, DnsType::ptr, target.wire(), time_to_live);
}

std::string answer_no_data(const DnsQuery& query) {
    return write(query, {});
}

std::string answer_failure(const DnsQuery& query, DnsCode code, const std::optional<ExtendedError>& error) {
    return write(query, {.code = code, .error = error});
}

std::optional<std::string> answer_fault(const ParsedDnsQuery& parsed) {
    switch (parsed.verdict) {
        case DnsVerdict::form_error:
            return answer_failure(parsed.query, DnsCode::form_error);
        case DnsVerdict::not_implemented:
            return answer_failure(parsed.query, DnsCode::not_implemented);
        case DnsVerdict::bad_version:
            return answer_failure(parsed.query, DnsCode::bad_version);
        case DnsVerdict::query:
        case DnsVerdict::ignore:
            break;
    }
    return std::nullopt;
}

}  // namespace network::wire
