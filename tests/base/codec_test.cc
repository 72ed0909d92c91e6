// SPDX-License-Identifier: MIT
#include "base/encoding/codec.h"

#include <gtest/gtest.h>

namespace {

enum class Colour { red, green };

struct Part {
    std::string name;
    Colour colour = Colour::red;

    bool operator==(const Part&) const = default;
};
struct Whole {
    bool is_set = false;
    int64_t number = 0;
    std::vector<Part> parts;
    std::vector<std::pair<std::string, uint64_t>> counts;
    base::Path path;

    bool operator==(const Whole&) const = default;
};

const Whole kExample{.is_set = true,
                     .number = -7,
                     .parts = {{"a b", Colour::green}, {"", Colour::red}},
                     .counts = {{"x", 1}, {"y", UINT64_MAX}},
                     .path = base::Path::known("/p/q")};

}  // namespace

template <>
inline constexpr Colour base::kLast<Colour> = Colour::green;
template <>
inline constexpr auto base::kFields<Part> = std::tuple(&Part::name, &Part::colour);
template <>
inline constexpr auto base::kFields<Whole> = std::tuple(&Whole::is_set, &Whole::number, &Whole::parts,
                                                        &Whole::counts, &Whole::path);

namespace {

TEST(Codec, AMessageIsReadAsItWasWritten) {
    Whole read;
    EXPECT_EQ(base::decode_message("whole 1", base::encode_message("whole 1", kExample), read),
              base::Decoded::well);
    EXPECT_EQ(read, kExample);
}

TEST(Codec, AMessageWithAnotherNameIsNotRead) {
    Whole read;
    EXPECT_EQ(base::decode_message("whole 2", base::encode_message("whole 1", kExample), read),
              base::Decoded::other);
    EXPECT_EQ(base::decode_message("whole 2", "", read), base::Decoded::other);
}

TEST(Codec, ADamagedMessageIsRefused) {
    const std::string text = base::encode_message("whole", kExample);
    Whole read;
    for (size_t size = 6; size < text.size(); ++size)
        EXPECT_EQ(base::decode_message("whole", text.substr(0, size), read), base::Decoded::damaged) << size;
    EXPECT_EQ(base::decode_message("whole", text + "more", read), base::Decoded::damaged);
    EXPECT_EQ(base::decode_message("whole", text + '\0', read), base::Decoded::damaged);
}

TEST(Codec, AnUnknownEnumeratorARelativePathAndAHugeCountAreDamage) {
    using std::string_literals::operator""s;
    Part part;
    EXPECT_EQ(base::decode_message("part",
                                   "part\0name\0"
                                   "1\0"s,
                                   part),
              base::Decoded::well);
    EXPECT_EQ(base::decode_message("part",
                                   "part\0name\0"
                                   "2\0"s,
                                   part),
              base::Decoded::damaged);
    EXPECT_EQ(base::decode_message("part", "part\0name\0-1\0"s, part), base::Decoded::damaged);
    base::Path path;
    EXPECT_EQ(base::decode_message("path", "path\0p\0"s, path), base::Decoded::damaged);
    std::vector<Part> parts;
    EXPECT_EQ(base::decode_message("parts",
                                   "parts\0"
                                   "999999999999\0"s,
                                   parts),
              base::Decoded::damaged);
}

TEST(Codec, ValuesAreTakenFromAStreamWhenTheyAreComplete) {
    base::FieldWriter writer;
    base::write(writer, Part{"one", Colour::green});
    base::write(writer, Part{"two", Colour::red});
    std::string stream;
    std::vector<Part> taken;
    for (char byte : writer.take()) {
        stream += byte;
        for (Part part; base::take(stream, part);) taken.push_back(part);
    }
    EXPECT_EQ(taken, (std::vector<Part>{{"one", Colour::green}, {"two", Colour::red}}));
    EXPECT_EQ(stream, "");
}

}  // namespace
