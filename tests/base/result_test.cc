// SPDX-License-Identifier: MIT
#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace base {
namespace {

TEST(Error, PrintsAsOneLineOfThePartsItHas) {
    EXPECT_EQ((Error{.what = "what"}).line(), "what");
    EXPECT_EQ((Error{.what = "what", .advice = "do this"}).line(), "what; do this");
    EXPECT_EQ((Error{.what = "what", .advice = "do this", .where = "a.toml:3"}).line(),
              "a.toml:3: what; do this");
}

TEST(Error, EndsWithTheCodeOfAJailThatWasNotBuiltUnlessToldOtherwise) {
    EXPECT_EQ(static_cast<int>(Error{}.exit_code), 125);
}

TEST(SystemError, SaysTheAttemptAndTheKernelsReason) {
    EXPECT_EQ(system_error("open /x", EACCES).line(), "cannot open /x: Permission denied");
}

TEST(Result, HoldsAValueOrAnError) {
    Result<std::string> good(std::string("value"));
    ASSERT_TRUE(good);
    EXPECT_EQ(*good, "value");
    EXPECT_EQ(good->size(), 5u);
    Result<std::string> bad(Error{.what = "reason"});
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(bad.error().what, "reason");
}

TEST(Result, GivesItsValueAway) {
    Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
    std::unique_ptr<int> taken = *std::move(result);
    EXPECT_EQ(*taken, 7);
}

TEST(Status, SuccessIsTrue) {
    EXPECT_TRUE(success());
    EXPECT_FALSE(Status(Error{.what = "x"}));
}

}  // namespace
}  // namespace base
