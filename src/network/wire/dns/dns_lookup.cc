// SPDX-License-Identifier: MIT
#include "network/wire/dns/dns_lookup.h"

#include <algorithm>
#include <optional>

#include "network/wire/bytes.h"

namespace network::wire {
namespace {

constexpr uint16_t kIsTruncated = 0x0200;
constexpr uint16_t kPayload = 1232;

struct AnswerRecord {
    DnsName owner;
    DnsType type{};
    uint32_t time_to_live = 0;
    std::string_view data;
    std::optional<DnsName> alias;  // of a CNAME, which may point to any earlier place in the message
};

bool read_record(std::string_view message, size_t& at, AnswerRecord& record) {
    std::optional<DnsName> owner = DnsName::read(message, at, DnsName::Pointers::followed);
    if (!owner) return false;
    record.owner = *std::move(owner);
    Cursor cursor(message.substr(at));
    record.type = static_cast<DnsType>(cursor.u16());
    uint16_t dns_class = cursor.u16();
    record.time_to_live = cursor.u32();
    record.data = cursor.take(cursor.u16());
    if (cursor.has_failed()) return false;
    at = message.size() - cursor.left();
    if (record.type != DnsType::cname || dns_class != kClassInternet) return true;
    size_t alias_at = at - record.data.size();
    record.alias = DnsName::read(message, alias_at, DnsName::Pointers::followed);
    return record.alias && alias_at == at;
}

// The name at the end of all aliases. RFC 1034 requires them in order, but not all resolvers comply.
const DnsName* final_name(const std::vector<AnswerRecord>& records, const DnsName& asked,
                          uint32_t& time_to_live) {
    const DnsName* name = &asked;
    for (unsigned hops = 0; hops <= kMaximumAliases; ++hops) {
        auto alias = std::ranges::find_if(records, [&](const AnswerRecord& record) {
            return record.alias && record.owner.equals_ignoring_case(*name);
        });
        if (alias == records.end()) return name;
        time_to_live = std::min(time_to_live, alias->time_to_live);
        name = &*alias->alias;
    }
    return nullptr;
}

void collect(const std::vector<AnswerRecord>& records, const DnsName& name, uint32_t time_to_live,
             DnsReply& reply) {
    for (const AnswerRecord& record : records) {
        if (!record.owner.equals_ignoring_case(name)) continue;
        size_t before = reply.ipv4.size() + reply.ipv6.size();
        if (record.type == DnsType::a && record.data.size() == sizeof(Ipv4)) {
            std::ranges::copy(record.data, reply.ipv4.emplace_back().begin());
        }
        if (record.type == DnsType::aaaa && record.data.size() == sizeof(Ipv6)) {
            std::ranges::copy(record.data, reply.ipv6.emplace_back().begin());
        }
        if (reply.ipv4.size() + reply.ipv6.size() > before)
            time_to_live = std::min(time_to_live, record.time_to_live);
    }
    bool has_any = !reply.ipv4.empty() || !reply.ipv6.empty();
    // RFC 2181: a time to live with the highest bit set counts as 0.
    reply.time_to_live = has_any && time_to_live <= INT32_MAX ? time_to_live : 0;
}

bool repeats_question(std::string_view message, size_t& at, const DnsQuestion& question) {
    std::optional<DnsName> name = DnsName::read(message, at, DnsName::Pointers::refused);
    if (!name || !name->equals_ignoring_case(question.name)) return false;
    Cursor cursor(message.substr(at));
    bool is_same = static_cast<DnsType>(cursor.u16()) == question.type;
    is_same &= cursor.u16() == question.dns_class;
    at += 4;
    return is_same && !cursor.has_failed();
}

}  // namespace

std::string write_dns_query(uint16_t id, const DnsQuestion& question, bool has_edns) {
    std::string message;
    append_u16(message, id);
    append_u16(message, kRecursionDesired);
    append_u16(message, 1);
    append_u32(message, 0);
    append_u16(message, has_edns ? 1 : 0);
    message += question.name.wire();
    append_u16(message, static_cast<unsigned>(question.type));
    append_u16(message, question.dns_class);
    if (!has_edns) return message;
    append_u8(message, 0);
    append_u16(message, static_cast<unsigned>(DnsType::opt));
    append_u16(message, kPayload);
    append_u32(message, 0);
    append_u16(message, 0);
    return message;
}

DnsReply parse_dns_reply(std::string_view message, uint16_t id, const DnsQuestion& question) {
    DnsReply reply;
    Cursor header(message);
    bool is_ours = header.u16() == id;
    uint16_t flags = header.u16();
    unsigned questions = header.u16(), answers = header.u16();
    header.u32();
    size_t at = kDnsHeader;
    is_ours = is_ours && !header.has_failed() && (flags & kIsAnswer) != 0 && questions == 1;
    if (!is_ours || !repeats_question(message, at, question)) return reply;

    reply.code = static_cast<DnsCode>(flags & 0xf);
    reply.kind = DnsReply::Kind::truncated;
    if ((flags & kIsTruncated) != 0) return reply;
    reply.kind = DnsReply::Kind::malformed;
    if (answers > kMaximumDnsRecords) return reply;
    std::vector<AnswerRecord> records(answers);
    for (AnswerRecord& record : records) {
        if (!read_record(message, at, record)) return reply;
    }
    uint32_t time_to_live = UINT32_MAX;
    const DnsName* name = final_name(records, question.name, time_to_live);
    if (!name) return reply;
    reply.kind = DnsReply::Kind::answer;
    collect(records, *name, time_to_live, reply);
    return reply;
}

}  // namespace network::wire
