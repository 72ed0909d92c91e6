// SPDX-License-Identifier: MIT
#include "rules/names/name.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/parse.h"
#include "base/text.h"
#include "config/data.h"
#include "rules/address.h"
#include "rules/names/idn.h"

namespace network {
namespace {

using base::Error;
using base::Result;

constexpr size_t kLongestLabel = 63;  // RFC 1035
constexpr size_t kLongestName = 253;
// UTF-8 text is longer than its A-label by less than this factor. Longer text is not parsed.
constexpr size_t kLongestText = 4 * kLongestName;

constexpr std::string_view kDigits = "0123456789";

struct Forbidden {
    char letter;
    std::string_view name;
};

// Attackers have used each of these to make two programs read one name differently.
constexpr Forbidden kForbidden[] = {
    {'\r', "a line break"}, {'\n', "a line break"}, {'\0', "a NUL byte"}, {' ', "a blank"}, {'@', "'@'"},
    {'#', "'#'"},           {'?', "'?'"},           {'/', "'/'"},         {'\\', "'\\'"},   {'*', "'*'"},
    {':', "':'"},           {'%', "'%'"},           {'[', "'['"},         {']', "']'"},
};

bool is_of_a_name(char letter) {
    return (letter >= 'a' && letter <= 'z') || base::is_digit(letter) || letter == '-' || letter == '_';
}

bool is_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char letter) { return static_cast<unsigned char>(letter) < 0x80; });
}

Error name_error(std::string_view text, std::string_view why, std::string advice = {}) {
    if (advice.empty()) advice = "write a host name like api.example.org";
    return Error{.what = base::format("{} is not a host name: {}", in_quotes(text), why),
                 .advice = std::move(advice)};
}

// The problem with the bytes, or an empty text.
std::string problem_with_bytes(std::string_view lower) {
    for (char letter : lower) {
        if (is_of_a_name(letter) || letter == '.' || static_cast<unsigned char>(letter) >= 0x80) continue;
        const Forbidden* known = std::ranges::find(kForbidden, letter, &Forbidden::letter);
        if (known != std::end(kForbidden)) return "it holds " + std::string(known->name);
        bool is_control = static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f;
        return is_control ? "it holds a control character" : base::format("it holds '{}'", letter);
    }
    return {};
}

// The label in the DNS's form.
Result<std::string> canonical_label(std::string_view label) {
    if (label.empty()) return Error{.what = "a label is empty"};
    // Programs that receive a name with a leading hyphen would read it as an option.
    if (label.front() == '-' || label.back() == '-') return Error{.what = "a label begins or ends with '-'"};
    std::string text(label);
    if (!is_ascii(label)) {
        if (label.starts_with("xn--"))
            return Error{.what = "a label that begins with xn-- holds more than ASCII"};
        Result<std::string> encoded = a_label_of(label);
        if (!encoded) return encoded.error();
        text = *encoded;
    } else if (label.starts_with("xn--") && label.size() <= kLongestLabel && !is_genuine_a_label(label)) {
        return Error{.what = base::format("'{}' is no A-label", text)};
    }
    if (text.size() > kLongestLabel) return Error{.what = "a label is longer than 63 bytes"};
    return text;
}

// "7", "017", "0x7f": if the last label is one of these, some resolvers read the whole name as an address.
bool is_number(std::string_view label) {
    if (label.starts_with("0x"))
        return label.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
    return label.find_first_not_of(kDigits) == std::string_view::npos;
}

}  // namespace

std::string in_quotes(std::string_view untrusted) {
    constexpr size_t kShown = 80;
    bool is_long = untrusted.size() > kShown;
    std::string shown = base::printable(untrusted.substr(0, kShown));
    return "'" + shown + (is_long ? "…'" : "'");
}

Result<HostName> HostName::parse(std::string_view text) {
    if (text.empty()) return name_error(text, "it is empty");
    if (text.size() > kLongestText) return name_error(text, "it is longer than 253 bytes");
    std::string lower = base::lower(text);
    if (std::string problem = problem_with_bytes(lower); !problem.empty()) return name_error(text, problem);
    if (lower.ends_with(".."))
        return name_error(text, "it ends in two dots", "write it without dots at the end");
    if (lower.ends_with('.')) lower.pop_back();

    std::string name;
    for (std::string_view label : base::split(lower, '.')) {
        Result<std::string> canonical = canonical_label(label);
        if (!canonical) return name_error(text, canonical.error().what, canonical.error().advice);
        if (!name.empty()) name += '.';
        name += *canonical;
    }
    if (name.size() > kLongestName) return name_error(text, "it is longer than 253 bytes");
    if (is_number(std::string_view(name).substr(name.rfind('.') + 1))) {
        if (Address::parse(name)) return name_error(text, "it is an address");
        return name_error(text, "it ends in a number, which some programs read as an address",
                          "write an IPv4 address as four decimal numbers");
    }
    return HostName(std::move(name));
}

std::vector<std::string_view> HostName::labels() const {
    return base::split(text_, '.');
}

namespace {

const std::unordered_set<std::string_view>& rows() {
    static const std::unordered_set<std::string_view> known = [] {
        std::unordered_set<std::string_view> entries;
        for (const config::DataRow& row : config::data_list("network/public_suffixes"))
            entries.insert(row.entry);
        return entries;
    }();
    return known;
}

}  // namespace

bool is_public_suffix(std::string_view suffix) {
    size_t dot = suffix.find('.');
    if (dot == std::string_view::npos || rows().contains(suffix)) return true;
    // A star in a row stands for one label: s3.*.amazonaws.com.
    for (size_t start = 0; start != std::string_view::npos;) {
        size_t end = suffix.find('.', start);
        std::string starred(suffix.substr(0, start));
        starred += '*';
        if (end != std::string_view::npos) starred += suffix.substr(end);
        if (rows().contains(starred)) return true;
        start = end == std::string_view::npos ? end : end + 1;
    }
    return false;
}

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
