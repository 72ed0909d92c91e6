// SPDX-License-Identifier: MIT
#include "network/gateway/names/names.h"

#include <algorithm>

namespace network::gateway {
namespace {

constexpr size_t kPrefixBytesV6 = 12;  // before the number of a name
constexpr size_t kRangeBytesV6 = 8;    // a /64
constexpr uint32_t kPrefixV4 = uint32_t{base::kRangeV4[0]} << 24 | uint32_t{base::kRangeV4[1]} << 16;
constexpr uint32_t kMaskV4 = 0xfffe0000;  // a /15
constexpr uint32_t kFirstName = 256;      // smaller numbers are fixed ones, or reserved

uint32_t last_four(const Address& address) {
    const Address::Bytes& bytes = address.bytes();
    return uint32_t{bytes[12]} << 24 | uint32_t{bytes[13]} << 16 | uint32_t{bytes[14]} << 8 | bytes[15];
}

std::array<uint8_t, 4> four(uint32_t number) {
    return {static_cast<uint8_t>(number >> 24), static_cast<uint8_t>(number >> 16),
            static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)};
}

Address v4_of(uint32_t number) {
    return Address::from_v4(four(kPrefixV4 | number));
}

Address v6_of(uint32_t number) {
    Address::Bytes bytes = base::kRangeV6;
    std::ranges::copy(four(number), bytes.begin() + kPrefixBytesV6);
    return Address::from_v6(bytes);
}

// The number of an address in one of our ranges.
std::optional<uint32_t> number_of(const Address& address) {
    if (address.is_v4()) {
        uint32_t value = last_four(address);
        return (value & kMaskV4) == kPrefixV4 ? std::optional(value & ~kMaskV4) : std::nullopt;
    }
    const auto* prefix = base::kRangeV6.begin();
    bool is_ours = std::equal(prefix, prefix + kPrefixBytesV6, address.bytes().begin());
    return is_ours ? std::optional(last_four(address)) : std::nullopt;
}

}  // namespace

Address fixed_v4(Fixed which) {
    return Address::from_v4(base::v4_bytes(which));
}

Address fixed_v6(Fixed which) {
    return Address::from_v6(base::v6_bytes(which));
}

bool is_fixed(const Address& address, Fixed which) {
    return number_of(address) == static_cast<uint32_t>(which);
}

std::optional<Names::Pair> Names::addresses_of(const HostName& name) {
    auto found = numbers_.find(name);
    if (found == numbers_.end()) {
        if (names_.size() >= kMost) return std::nullopt;
        uint32_t number = kFirstName + static_cast<uint32_t>(names_.size());
        names_.push_back(name);
        found = numbers_.emplace(name, number).first;
    }
    return Pair{.v4 = v4_of(found->second), .v6 = v6_of(found->second)};
}

const HostName* Names::name_of(const Address& address) const {
    std::optional<uint32_t> number = number_of(address);
    if (!number || *number < kFirstName || *number - kFirstName >= names_.size()) return nullptr;
    return &names_[*number - kFirstName];
}

bool Names::is_ours(const Address& address) {
    if (address.is_v4()) return number_of(address).has_value();
    const auto* range = base::kRangeV6.begin();
    return std::equal(range, range + kRangeBytesV6, address.bytes().begin());
}

}  // namespace network::gateway
