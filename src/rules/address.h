// SPDX-License-Identifier: MIT
// Addresses and prefixes of both families in one type. An IPv4 address is stored as its v4-mapped IPv6 form:
// 10.0.0.1 and ::ffff:10.0.0.1 are one value, and the other spelling cannot bypass a rule.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace network {

class Address {
  public:
    using Bytes = std::array<uint8_t, 16>;

    // The unspecified address ::
    Address() = default;
    // The kernel's form: 4 or 16 bytes, in network order.
    static Address from_v4(const std::array<uint8_t, 4>& bytes);
    static Address from_v6(const Bytes& bytes);

    // Four decimal numbers without leading zeros, or RFC 4291 without a zone. Other text is an error.
    static base::Result<Address> parse(std::string_view text);

    bool is_v4() const;
    const Bytes& bytes() const { return bytes_; }
    std::string str() const;

    auto operator<=>(const Address&) const = default;

  private:
    Bytes bytes_{};
};

class Prefix {
  public:
    // ::/0
    Prefix() = default;
    // The single address.
    explicit Prefix(const Address& address) : address_(address), length_(128) {}
    // The network of `length` bits around an address. The length counts in the 128 bits of the stored form.
    static Prefix around(const Address& address, int length);

    // "10.0.0.0/8", "2001:db8::/32", or an address alone. Bits beyond the length are an error, which contains
    // the corrected network.
    static base::Result<Prefix> parse(std::string_view text);

    // The families are separate: ::/0 contains no IPv4 address.
    bool contains(const Address& address) const;
    bool contains(const Prefix& other) const { return other.length_ >= length_ && contains(other.address_); }

    bool is_v4() const { return length_ >= 96 && address_.is_v4(); }
    int length() const { return length_; }
    const Address& address() const { return address_; }
    std::string str() const;

    auto operator<=>(const Prefix&) const = default;

  private:
    Prefix(const Address& address, int length) : address_(address), length_(length) {}
    Address address_;
    int length_ = 0;
};

// An IPv4 address inside an IPv6 address.
struct Embedded {
    Address address;
    std::string_view form;  // "NAT64", "6to4" …
    bool is_same_host;      // a translator delivers to the IPv4 host itself; a tunnel does not
};

// For NAT64, 6to4, Teredo and v4-compatible addresses; empty for others. A v4-mapped address counts as an
// IPv4 address.
std::vector<Embedded> embedded_addresses(const Address& address);

}  // namespace network

template <>
struct std::hash<network::Prefix> {
    size_t operator()(const network::Prefix& prefix) const;
};
