// SPDX-License-Identifier: MIT
#include "network/tls/trust_store.h"

#include <cstdint>
#include <optional>

#include "base/encoding/base64.h"
#include "base/encoding/sha1.h"

namespace network::tls {
namespace {

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";

// JKS, version 2: numbers in network order, texts with a length of two bytes.
constexpr uint32_t kMagic = 0xfeedfeed;
constexpr uint32_t kFormatVersion = 2;
constexpr uint32_t kTrustedCertificate = 2;
constexpr std::string_view kPassword = "changeit";
constexpr std::string_view kWhitener = "Mighty Aphrodite";  // of the format, before the content in the digest

void append_number(std::string& bytes, uint64_t number, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
        bytes += static_cast<char>(number >> shift & 255);
}

void append_short_text(std::string& bytes, std::string_view text) {
    append_number(bytes, text.size(), 2);
    bytes += text;
}

}  // namespace

std::vector<std::string> certificates_in_pem(std::string_view pem) {
    std::vector<std::string> certificates;
    for (;;) {
        size_t begin = pem.find(kBegin);
        if (begin == std::string_view::npos) return certificates;
        pem.remove_prefix(begin + kBegin.size());
        size_t end = pem.find(kEnd);
        if (end == std::string_view::npos) return certificates;
        std::string letters;
        for (char letter : pem.substr(0, end)) {
            if (letter != '\n' && letter != '\r' && letter != ' ' && letter != '\t') letters += letter;
        }
        pem.remove_prefix(end + kEnd.size());
        std::optional<std::string> bytes = base::from_base64(letters);
        if (bytes && !bytes->empty()) certificates.push_back(*std::move(bytes));
    }
}

std::string with_root(std::string_view bundle, std::string_view root_pem) {
    std::string text(bundle);
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    text += root_pem;
    if (!text.ends_with('\n')) text += '\n';
    return text;
}

std::string java_trust_store(const std::vector<std::string>& certificates, std::time_t now) {
    std::string store;
    append_number(store, kMagic, 4);
    append_number(store, kFormatVersion, 4);
    append_number(store, certificates.size(), 4);
    for (size_t i = 0; i < certificates.size(); ++i) {
        append_number(store, kTrustedCertificate, 4);
        append_short_text(store, "root-" + std::to_string(i));
        append_number(store, static_cast<uint64_t>(now) * 1000, 8);
        append_short_text(store, "X.509");
        append_number(store, certificates[i].size(), 4);
        store += certificates[i];
    }
    std::string digested;
    for (char letter : kPassword) digested.append(1, '\0').append(1, letter);
    digested.append(kWhitener).append(store);
    return store + base::sha1(digested);
}

}  // namespace network::tls
