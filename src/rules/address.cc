// SPDX-License-Identifier: MIT
#include "rules/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/parse.h"
#include "base/text.h"
#include "rules/names/name.h"

namespace network {
namespace {

using base::Error;
using base::Result;

constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr int kMappedLength = 96;

Address v4_at(const Address::Bytes& bytes, size_t offset, uint8_t mask = 0) {
    std::array<uint8_t, 4> part{};
    for (size_t i = 0; i < 4; ++i) part[i] = bytes[offset + i] ^ mask;
    return Address::from_v4(part);
}

std::optional<int> small_number(std::string_view text) {
    bool has_leading_zero = text.size() > 1 && text.front() == '0';
    return has_leading_zero ? std::nullopt : base::parse_number<uint8_t>(text);
}

// The position of the IPv4 address in a form of IPv6.
struct Form {
    std::string_view prefix;
    size_t offset;
    uint8_t mask;  // Teredo inverts its client's address, so that translators do not rewrite it
    bool is_same_host;
    std::string_view name;
};

constexpr Form kForms[] = {
    {"64:ff9b::/96", 12, 0, true, "NAT64"},      {"64:ff9b:1::/48", 12, 0, true, "NAT64 of this site"},
    {"2002::/16", 2, 0, false, "6to4"},          {"2001::/32", 12, 0xff, false, "Teredo"},
    {"2001::/32", 4, 0, false, "Teredo server"}, {"::/96", 12, 0, false, "v4-compatible"},
};

// The local-use NAT64 prefix may contain the address in four places (RFC 6052). Only the usual one, at the
// end of a /96, can be recognised. The other places stay closed with ::/8.
bool is_readable(const Form& form, const Address::Bytes& bytes) {
    bool is_local_nat64 = form.prefix == "64:ff9b:1::/48";
    return !is_local_nat64 ||
           std::all_of(bytes.begin() + 8, bytes.begin() + 12, [](uint8_t byte) { return byte == 0; });
}

const std::vector<Prefix>& form_prefixes() {
    static const std::vector<Prefix> prefixes = [] {
        std::vector<Prefix> parsed;
        for (const Form& form : kForms) parsed.push_back(*Prefix::parse(form.prefix));
        return parsed;
    }();
    return prefixes;
}

}  // namespace

Address Address::from_v4(const std::array<uint8_t, 4>& bytes) {
    Address address;
    std::ranges::copy(kMapped, address.bytes_.begin());
    std::ranges::copy(bytes, address.bytes_.begin() + kMapped.size());
    return address;
}

Address Address::from_v6(const Bytes& bytes) {
    Address address;
    address.bytes_ = bytes;
    return address;
}

Result<Address> Address::parse(std::string_view text) {
    Error error{.what = in_quotes(text) + " is not an address",
                .advice = "write an IPv4 address as four decimal numbers, an IPv6 address without a zone"};
    // inet_pton stops at a NUL byte and would accept the text before it.
    if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos) return error;
    char terminated[INET6_ADDRSTRLEN] = {};
    std::ranges::copy(text, terminated);
    std::array<uint8_t, 4> v4{};
    if (::inet_pton(AF_INET, terminated, v4.data()) == 1) return from_v4(v4);
    Bytes v6{};
    if (::inet_pton(AF_INET6, terminated, v6.data()) == 1) return from_v6(v6);
    return error;
}

bool Address::is_v4() const {
    return std::equal(kMapped.begin(), kMapped.end(), bytes_.begin());
}

std::string Address::str() const {
    char text[INET6_ADDRSTRLEN] = {};
    if (is_v4()) {
        ::inet_ntop(AF_INET, bytes_.data() + kMapped.size(), text, sizeof text);
    } else {
        ::inet_ntop(AF_INET6, bytes_.data(), text, sizeof text);
    }
    return text;
}

Prefix Prefix::around(const Address& address, int length) {
    Address::Bytes bytes = address.bytes();
    for (int i = 0; i < 16; ++i) {
        int kept = std::clamp(length - 8 * i, 0, 8);
        bytes[static_cast<size_t>(i)] &= static_cast<uint8_t>(0xff00 >> kept);
    }
    return Prefix(Address::from_v6(bytes), length);
}

Result<Prefix> Prefix::parse(std::string_view text) {
    size_t slash = text.find('/');
    Result<Address> address = Address::parse(text.substr(0, slash));
    if (!address) return address.error();
    if (slash == std::string_view::npos) return Prefix(*address);

    // ::ffff:10.0.0.0/104 counts IPv6 bits, 10.0.0.0/8 counts IPv4 bits.
    bool counts_v4 = text.find(':') == std::string_view::npos;
    std::optional<int> bits = small_number(text.substr(slash + 1));
    if (!bits || *bits > (counts_v4 ? 32 : 128)) {
        return Error{
            .what = base::format("{} is not a network: the length of its prefix is not between 0 and {}",
                                 in_quotes(text), counts_v4 ? "32" : "128"),
            .advice = "write a network like 10.20.0.0/16 or 2001:db8::/32"};
    }
    Prefix prefix = around(*address, *bits + (counts_v4 ? kMappedLength : 0));
    if (prefix.address_ != *address) {
        return Error{.what = in_quotes(text) + " names an address within a network, not the network",
                     .advice = base::format("write {}, or {} alone", prefix.str(), address->str())};
    }
    return prefix;
}

bool Prefix::contains(const Address& address) const {
    return address.is_v4() == is_v4() && around(address, length_).address_ == address_;
}

std::string Prefix::str() const {
    if (length_ == 128) return address_.str();
    return base::format("{}/{}", address_.str(), is_v4() ? length_ - kMappedLength : length_);
}

std::vector<Embedded> embedded_addresses(const Address& address) {
    std::vector<Embedded> found;
    for (size_t i = 0; i < std::size(kForms); ++i) {
        const Form& form = kForms[i];
        if (!form_prefixes()[i].contains(address) || !is_readable(form, address.bytes())) continue;
        found.push_back({v4_at(address.bytes(), form.offset, form.mask), form.name, form.is_same_host});
    }
    return found;
}

}  // namespace network

size_t std::hash<network::Prefix>::operator()(const network::Prefix& prefix) const {
    const network::Address::Bytes& bytes = prefix.address().bytes();
    std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return std::hash<std::string_view>()(view) ^ static_cast<size_t>(prefix.length()) * 0x9e3779b97f4a7c15u;
}
