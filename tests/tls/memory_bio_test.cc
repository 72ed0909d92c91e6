// SPDX-License-Identifier: MIT
#include "network/tls/memory_bio.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>

#include <memory>
#include <string>

namespace network::tls {
namespace {

TEST(MemoryBio, GivesBackWhatWasWrittenInOrder) {
    MemoryBuffer buffer;
    std::unique_ptr<BIO, decltype(&BIO_free)> bio(make_memory_bio(buffer), BIO_free);
    ASSERT_TRUE(bio);
    char bytes[8] = {};
    EXPECT_LT(BIO_read(bio.get(), bytes, sizeof bytes), 0);
    EXPECT_TRUE(BIO_should_retry(bio.get())) << "empty is not the end";
    EXPECT_EQ(BIO_write(bio.get(), "abcdef", 6), 6);
    EXPECT_EQ(BIO_pending(bio.get()), 6);
    EXPECT_EQ(BIO_read(bio.get(), bytes, 4), 4);
    EXPECT_EQ(std::string(bytes, 4), "abcd");
    buffer.append("gh");
    EXPECT_EQ(buffer.waiting(), "efgh");
    buffer.drop(1);
    EXPECT_EQ(BIO_read(bio.get(), bytes, sizeof bytes), 3);
    EXPECT_EQ(std::string(bytes, 3), "fgh");
    EXPECT_EQ(buffer.waiting(), "");
    EXPECT_EQ(BIO_flush(bio.get()), 1);
}

TEST(MemoryBio, KeepsLittleRoomWhenItIsEmpty) {
    MemoryBuffer buffer;
    buffer.append(std::string(4 * MemoryBuffer::kMostKept, 'x'));
    buffer.drop(4 * MemoryBuffer::kMostKept);
    EXPECT_LE(buffer.capacity(), MemoryBuffer::kMostKept);
    buffer.append("y");
    EXPECT_EQ(buffer.waiting(), "y");
    // One byte always stays.
    for (int i = 0; i < 1000; ++i) {
        buffer.append(std::string(1000, 'z'));
        buffer.drop(1000);
    }
    EXPECT_EQ(buffer.waiting(), "z");
    EXPECT_LE(buffer.capacity(), 8000u);
}

}  // namespace
}  // namespace network::tls
