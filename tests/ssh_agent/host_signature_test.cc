// SPDX-License-Identifier: MIT
#include "ssh_agent/host_signature.h"

#include <gtest/gtest.h>

#include "ssh_agent/messages.h"

namespace ssh_agent {
namespace {

TEST(HostSignature, OfEachKindIsVerified) {
    for (const Vector& vector : kVectors)
        EXPECT_TRUE(is_signed_by(bytes_of(vector.key), session_of_vectors(), bytes_of(vector.signature)))
            << vector.name;
}

TEST(HostSignature, OverOtherBytesIsRefused) {
    std::string other = session_of_vectors();
    other.back() = 'x';
    for (const Vector& vector : kVectors)
        EXPECT_FALSE(is_signed_by(bytes_of(vector.key), other, bytes_of(vector.signature))) << vector.name;
}

TEST(HostSignature, OfAnotherKeyIsRefused) {
    for (const Vector& key : kVectors) {
        for (const Vector& vector : kVectors) {
            if (key.name == vector.name) continue;
            EXPECT_FALSE(is_signed_by(bytes_of(key.key), session_of_vectors(), bytes_of(vector.signature)))
                << key.name << " " << vector.name;
        }
    }
}

TEST(HostSignature, WithAnyChangedByteIsRefused) {
    for (const Vector& vector : kVectors) {
        const std::string key = bytes_of(vector.key), signature = bytes_of(vector.signature);
        for (size_t i = 0; i < signature.size(); ++i) {
            std::string changed = signature;
            changed[i] = static_cast<char>(changed[i] ^ 1);
            // ECDSA: (r, s) is the only thing that is signed; a changed length is damaged.
            EXPECT_FALSE(is_signed_by(key, session_of_vectors(), changed)) << vector.name << " " << i;
        }
        EXPECT_FALSE(is_signed_by(key, session_of_vectors(), signature + "x"));
        EXPECT_FALSE(is_signed_by(key + "x", session_of_vectors(), signature));
        EXPECT_FALSE(is_signed_by(key.substr(0, key.size() - 1), session_of_vectors(), signature));
        EXPECT_FALSE(is_signed_by(key, session_of_vectors(), signature.substr(0, signature.size() - 1)));
    }
    EXPECT_FALSE(is_signed_by("", "", ""));
}

// SHA-1 and kinds without a rule.
TEST(HostSignature, OfAnUnknownKindIsRefused) {
    const Vector& rsa = kVectors[4];
    std::string signature = bytes_of(rsa.signature);
    network::wire::Cursor cursor(signature);
    string_of(cursor);
    std::string old = text("ssh-rsa") + text(string_of(cursor));
    EXPECT_FALSE(is_signed_by(bytes_of(rsa.key), session_of_vectors(), old));
    EXPECT_FALSE(
        is_signed_by(text("ssh-dss") + text("x"), session_of_vectors(), text("ssh-dss") + text("x")));
    std::string large(4000, '\x7f');
    EXPECT_FALSE(is_signed_by(text("ssh-rsa") + text("\x03") + text(large), session_of_vectors(),
                              text("rsa-sha2-512") + text(large)));
}

}  // namespace
}  // namespace ssh_agent
