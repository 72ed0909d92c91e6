// SPDX-License-Identifier: MIT
#include "base/secret_value.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include <concepts>
#include <ostream>
#include <type_traits>

#include "base/encoding/json.h"
#include "base/text.h"

namespace base {
namespace {

using namespace std::string_literals;

// What a caller could write by mistake does not compile.
template <typename Type>
concept Streamable = requires(std::ostream& stream, const Type& value) {
    stream << value;
};
static_assert(Streamable<std::string>);
static_assert(!Streamable<SecretValue>);
static_assert(!std::is_convertible_v<SecretValue, std::string_view>);
static_assert(!std::is_convertible_v<SecretValue, std::string>);
static_assert(!std::is_constructible_v<std::string, SecretValue>);
static_assert(!std::is_constructible_v<std::string_view, const SecretValue&>);
static_assert(std::is_constructible_v<FormatArgument, std::string>);
static_assert(!std::is_constructible_v<FormatArgument, const SecretValue&>);
static_assert(!std::is_constructible_v<Json, const SecretValue&>);
static_assert(!std::is_copy_constructible_v<SecretValue>);
static_assert(!std::is_copy_assignable_v<SecretValue>);
static_assert(!std::equality_comparable<SecretValue>);

std::string text_of(const SecretValue& value) {
    return value.reveal([](std::string_view bytes) { return std::string(bytes); });
}

TEST(SecretValue, IsTakenFromItsSourceAndTheSourceIsWiped) {
    std::string bytes = "canary-canary-canary-canary-canary\n";
    const char* place = bytes.data();
    size_t size = bytes.size();
    auto value = SecretValue::make(std::move(bytes));
    ASSERT_TRUE(value.ok());
    EXPECT_EQ(text_of(*value), "canary-canary-canary-canary-canary");
    EXPECT_EQ(std::string_view(place, size), std::string(size, '\0')) << "the buffer still exists";
}

TEST(SecretValue, RefusesWhatWouldEndAFieldOrIsTooShort) {
    for (const std::string& text :
         {""s, "short"s, "two\nlines here"s, "a value\r\n\r\n"s, "with\0nul byte"s, "a tab\tinside"s,
          "delete \x7f it"s, std::string(SecretValue::kMaximum + 1, 'x')}) {
        auto value = SecretValue::make(std::string(text));
        ASSERT_FALSE(value.ok()) << printable(text.substr(0, 40));
        EXPECT_EQ(value.error().line().find("value here"), std::string::npos);
    }
    EXPECT_TRUE(SecretValue::make("12345678\r\n"s).ok());
    EXPECT_TRUE(SecretValue::make(std::string(SecretValue::kMaximum, 'x')).ok());
}

TEST(SecretValue, ComparesWholeTexts) {
    auto value = SecretValue::make("ghp_0123456789"s);
    EXPECT_TRUE(value->equals("ghp_0123456789"));
    EXPECT_FALSE(value->equals("ghp_012345678"));
    EXPECT_FALSE(value->equals("ghp_0123456788"));
    EXPECT_FALSE(value->equals("Ghp_0123456789"));
    EXPECT_TRUE(equals_in_constant_time("", ""));
}

TEST(SecretValue, GrowsAndIsCopiedOnRequestAlone) {
    SecretValue head;
    auto value = SecretValue::make("0123456789"s);
    for (int i = 0; i < 100; ++i) head.append("X: ").append(*value).append("\r\n");
    EXPECT_EQ(head.size(), 1500u);
    EXPECT_TRUE(text_of(head).ends_with("X: 0123456789\r\n"));
    SecretValue copied = value->copy();
    SecretValue moved = std::move(*value);
    EXPECT_TRUE(value->is_empty());
    EXPECT_EQ(text_of(moved), text_of(copied));
    moved.append(moved);
    EXPECT_EQ(text_of(moved), "01234567890123456789");
    moved.clear();
    EXPECT_TRUE(moved.is_empty());
}

TEST(SecretValue, IsWipedWhereItWas) {
    alignas(SecretValue) unsigned char place[sizeof(SecretValue)];
    auto* value = new (place) SecretValue();
    value->append("canary-canary-canary");
    const char* bytes = value->reveal([](std::string_view view) { return view.data(); });
    // The memory belongs to the heap after this call, so read it in the moment before: clear() wipes first.
    SecretValue other = std::move(*value);
    EXPECT_EQ(other.reveal([](std::string_view view) { return view.data(); }), bytes)
        << "a move copies no byte";
    value->~SecretValue();
    std::string text = "canary-canary-canary-canary";
    const char* data = text.data();
    wipe(text);
    EXPECT_EQ(std::string_view(data, 27), std::string(27, '\0'));
    EXPECT_TRUE(text.empty());
}

// In a child process: the memory is of the whole process.
TEST(SecretValue, IsInLockedMemoryThatAChildDoesNotGet) {
    EXPECT_EXIT(
        {
            keep_secrets_in_locked_memory();
            SecretValue value = *SecretValue::make("canary-canary-canary");
            SecretValue other = *SecretValue::make("another-canary-canary");
            const char* bytes = value.reveal([](std::string_view view) { return view.data(); });
            const char* beside = other.reveal([](std::string_view view) { return view.data(); });
            bool is_one_block = beside > bytes && beside - bytes < 4096;
            pid_t child = ::fork();
            if (child == 0) ::_exit(bytes[0] == '\0' ? 0 : 1);
            int status = -1;
            ::waitpid(child, &status, 0);
            bool is_kept = value.equals("canary-canary-canary");
            value.clear();
            bool is_wiped = bytes[0] == '\0';
            // The room is used again, and a value without room there is kept elsewhere.
            SecretValue again = *SecretValue::make("third-canary-canary");
            std::vector<SecretValue> many(8);
            for (SecretValue& one : many) one.append(std::string(16384, 'x'));
            bool is_reused = again.reveal([](std::string_view view) { return view.data(); }) == bytes;
            bool fits = many.back().equals(std::string(16384, 'x'));
            ::_exit(is_one_block && status == 0 && is_kept && is_wiped && is_reused && fits ? 0 : 1);
        },
        testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace base
