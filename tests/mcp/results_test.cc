// SPDX-License-Identifier: MIT
#include "mcp/results.h"

#include <gtest/gtest.h>

#include <string>

namespace mcp {
namespace {

TEST(Results, OfARunHaveBothStreamsAndTheirFiles) {
    base::BoundedText out(8), err(8);
    out.add("12345678901234567890");
    err.add("short");
    const base::Json result = run_result({.out = {out, "/tmp/whole", ""},
                                          .err = {err, "", "no space left"},
                                          .exit_status = 3,
                                          .has_timed_out = true,
                                          .refused = base::Json::array()});
    EXPECT_EQ(result.number("exit_status"), 3);
    EXPECT_TRUE(result.truth("timed_out"));
    EXPECT_TRUE(result.truth("truncated"));
    EXPECT_EQ(result.number("stdout_bytes"), 20);
    EXPECT_EQ(result.text("stdout_file"), "/tmp/whole");
    EXPECT_TRUE(result.find("stderr_file")->is_null());
    EXPECT_EQ(result.text("file_problem"), "no space left");
    EXPECT_EQ(result.text("stderr"), "short");
}

TEST(Results, OfAReadAreTextBytesOrEntries) {
    const ReadCall call{.path = "p", .offset = 2, .length = 10};
    auto read = [&](std::string_view output) { return read_result(call, {output, "", 0}).content; };
    const base::Json text = read("{\"total\":9}\na\xc3\xbc");
    EXPECT_EQ(text.text("text"), "a\xc3\xbc");
    EXPECT_EQ(text.number("total"), 9);
    EXPECT_EQ(text.number("offset"), 2);
    EXPECT_EQ(text.number("length"), 3);
    // Half a character at the end belongs to the next read.
    EXPECT_EQ(read("{\"total\":9}\na\xc3").text("text"), "a");
    EXPECT_EQ(read("{\"total\":9}\na\xc3").number("length"), 1);
    // At the end of the file no byte is left out.
    EXPECT_EQ(read("{\"total\":4}\na\xc3").text("base64"), "YcM=");
    EXPECT_EQ(read("{\"total\":9}\n\xff\xfe\x00z").text("base64"), "//4=");
    EXPECT_EQ(read("{\"total\":9}\n\xff").text("base64"), "/w==");
    EXPECT_EQ(read("{\"total\":0}\n").text("text", "missing"), "");
    const base::Json list = read(R"({"total":1,"entries":[{"name":"a","kind":"file"}]})"
                                 "\n");
    EXPECT_EQ(list.number("length"), 1);
    EXPECT_EQ(list.items("entries")[0].text("name"), "a");
}

TEST(Results, OfAForgedAnswerAreAProblem) {
    for (const char* output : {"", "{}", "x\nrest", "[]\nrest", "{\"total\":1}"})
        EXPECT_NE(read_result({}, {output, "", 0}).problem, "") << output;
    const std::string deep = std::string(100, '[') + "\n";
    EXPECT_NE(read_result({}, {deep, "", 0}).problem, "");
    EXPECT_NE(why_result({"[]", "", 0}).problem, "");
    EXPECT_NE(why_result({"{}", "refused", 125}).problem, "");
}

TEST(Results, ShowTheReasonInOnePrintableLine) {
    EXPECT_EQ(write_result({}, {"", "can't write \x1b[31m\nsecond\n", 1}).problem, "can't write \\x1b[31m");
    EXPECT_EQ(read_result({}, {"", "", 9}).problem,
              "the part of agent-sandbox inside the jail ended with status 9");
    EXPECT_EQ(write_result({.path = "p", .content = "abc"}, {"", "", 0}).content.number("written"), 3);
}

TEST(Results, OfWhyHaveTheVerdictAlsoWhenItIsNo) {
    const CallResult no = why_result({R"({"allowed":false,"verdict":"closed"})", "", 1});
    EXPECT_EQ(no.problem, "");
    EXPECT_EQ(no.content.text("verdict"), "closed");
    EXPECT_EQ(no.content.text("change", "missing"), "");
    EXPECT_TRUE(why_result({R"({"allowed":true})", "", 0}).content.truth("allowed"));
}

TEST(Results, TakeThePathOfAWholeOutput) {
    EXPECT_EQ(kept_path({R"({"path":"/tmp/x"})", "", 0}), "/tmp/x");
    EXPECT_EQ(kept_path({R"({"path":"/tmp/x"})", "", 1}), "");
    EXPECT_EQ(kept_path({"junk", "", 0}), "");
    EXPECT_EQ(kept_path({R"({"path":")" + std::string(5000, 'x') + "\"}", "", 0}), "");
}

}  // namespace
}  // namespace mcp
