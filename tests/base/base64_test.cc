// SPDX-License-Identifier: MIT
#include "base/encoding/base64.h"

#include <gtest/gtest.h>

namespace {

TEST(Base64, KnownTexts) {
    for (auto [bytes, text] :
         {std::pair{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}}) {
        EXPECT_EQ(base::to_base64(bytes), text);
        EXPECT_EQ(base::from_base64(text), bytes);
    }
}

TEST(Base64, EveryByteComesBack) {
    std::string bytes;
    for (int i = 0; i < 1000; ++i) {
        bytes += static_cast<char>(i * 7);
        EXPECT_EQ(base::from_base64(base::to_base64(bytes)), bytes);
    }
}

TEST(Base64, OnlyWhatIsMadeIsRead) {
    for (const char* text : {"Zg", "Zg=", "Z===", "Zh==", "Zm9=", "Zg==Zg==", "Z g=", "Zm9v\n", "-_-_"})
        EXPECT_FALSE(base::from_base64(text)) << text;
}

}  // namespace
