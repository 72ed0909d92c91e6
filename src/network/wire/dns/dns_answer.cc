// SPDX-License-Identifier: MIT
// Layout of an answer: header, the question, at most one record whose owner is a pointer to the question, and
// OPT with the extended error.
#include "network/wire/dns/dns_answer.h"

#include <algorithm>

#include "base/text.h"
#include "network/wire/bytes.h"

namespace network::wire {
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
