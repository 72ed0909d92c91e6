// SPDX-License-Identifier: MIT
#include "rules/names/record_types.h"

#include <algorithm>
#include <string_view>

#include "base/format.h"
#include "base/parse.h"
#include "base/text.h"
#include "rules/names/name.h"

namespace network {
namespace {

struct RecordType {
    std::string_view name;
    uint16_t number;
};

constexpr RecordType kPassable[] = {
    {"NS", 2},      {"CNAME", 5},  {"SOA", 6},      {"MX", 15},     {"TXT", 16},   {"RP", 17},
    {"AFSDB", 18},  {"LOC", 29},   {"SRV", 33},     {"NAPTR", 35},  {"DNAME", 39}, {"DS", 43},
    {"SSHFP", 44},  {"RRSIG", 46}, {"NSEC", 47},    {"DNSKEY", 48}, {"NSEC3", 50}, {"TLSA", 52},
    {"SMIMEA", 53}, {"CDS", 59},   {"CDNSKEY", 60}, {"URI", 256},   {"CAA", 257},
};
// Users name these although they are always answered, or never.
constexpr std::string_view kAlwaysAnswered[] = {"A", "AAAA", "PTR"};
constexpr std::string_view kNeverAnswered[] = {"HTTPS", "SVCB", "ANY"};

base::Error unknown(const config::Item& item, const std::string& name) {
    std::vector<std::string_view> names;
    for (const RecordType& type : kPassable) names.push_back(type.name);
    std::string meant = base::nearest(name, names);
    bool is_refused = std::ranges::find(kNeverAnswered, name) != std::end(kNeverAnswered);
    return base::Error{
        .what = base::format("network.dns_types: {} {}", in_quotes(item.text),
                             is_refused ? "can't be let through: its answers would lead around the gateway"
                                        : "is not a type of DNS record that is known here"),
        .advice = !is_refused && !meant.empty() ? base::format("'{}' was probably meant", meant)
                                                : "name types such as MX, TXT, SRV, NAPTR or CAA",
        .where = item.origin.describe()};
}

}  // namespace

base::Result<std::vector<uint16_t>> parse_record_types(const std::vector<config::Item>& items) {
    std::vector<uint16_t> numbers;
    for (const config::Item& item : items) {
        std::string name = base::upper(item.text);
        if (std::ranges::find(kAlwaysAnswered, name) != std::end(kAlwaysAnswered)) continue;
        const RecordType* type = std::ranges::find(kPassable, name, &RecordType::name);
        if (type == std::end(kPassable)) return unknown(item, name);
        if (std::ranges::find(numbers, type->number) == numbers.end()) numbers.push_back(type->number);
    }
    std::ranges::sort(numbers);
    return numbers;
}

}  // namespace network
