// SPDX-License-Identifier: MIT
#include "network/tls/trust_store.h"

#include <gtest/gtest.h>

#include "base/encoding/sha1.h"
#include "pair.h"

namespace network::tls {
namespace {

TEST(TrustStore, ReadsTheCertificatesOfABundle) {
    std::string one = make_authority({"a.example"}).root.pem(),
                two = make_authority({"b.example"}).root.pem();
    auto found = certificates_in_pem("# comment\n" + one + "text\n" + two);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(static_cast<unsigned char>(found[0][0]), 0x30) << "a DER sequence";
    EXPECT_NE(found[0], found[1]);
    for (const char* text : {"", "-----BEGIN CERTIFICATE-----\nAA",
                             "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n"})
        EXPECT_TRUE(certificates_in_pem(text).empty()) << text;
}

TEST(TrustStore, AddsTheRootBehindTheBundle) {
    EXPECT_EQ(with_root("a", "b"), "a\nb\n");
    EXPECT_EQ(with_root("a\n", "b\n"), "a\nb\n");
    EXPECT_EQ(with_root("", "b"), "b\n");
}

TEST(TrustStore, WritesJavasFormat) {
    std::string store = java_trust_store({"first", "second!"}, 1);
    std::string expected("\xfe\xed\xfe\xed\0\0\0\2\0\0\0\2", 12);
    expected += std::string("\0\0\0\2\0\6root-0\0\0\0\0\0\0\x03\xe8\0\5X.509\0\0\0\5first", 36);
    expected += std::string("\0\0\0\2\0\6root-1\0\0\0\0\0\0\x03\xe8\0\5X.509\0\0\0\7second!", 38);
    ASSERT_EQ(store.size(), expected.size() + 20);
    EXPECT_EQ(store.substr(0, expected.size()), expected);
    std::string password;
    for (char letter : std::string("changeit")) password += std::string(1, '\0') + letter;
    EXPECT_EQ(store.substr(expected.size()), base::sha1(password + "Mighty Aphrodite" + expected));
}

}  // namespace
}  // namespace network::tls
