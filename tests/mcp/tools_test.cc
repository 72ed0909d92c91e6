// SPDX-License-Identifier: MIT
#include "mcp/tools.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace mcp {
namespace {

using base::Json;

std::vector<std::string> names_of(const Offer& offer) {
    std::vector<std::string> names;
    const Json list = tool_list(offer, true);
    for (const Json& tool : list.items("tools")) names.push_back(tool.text("name"));
    return names;
}

const Json& tool_in(const Json& list, std::string_view name) {
    for (const Json& tool : list.items("tools")) {
        if (tool.text("name") == name) return tool;
    }
    static const Json kNone;
    return kNone;
}

template <typename Call>
Call read(std::string_view tool, std::string_view arguments) {
    auto call = read_call({}, tool, Json::parse(arguments).value());
    return call ? std::get<Call>(*call) : Call{};
}
std::string problem(std::string_view tool, std::string_view arguments) {
    auto call = read_call({}, tool, Json::parse(arguments).value());
    return call ? "" : call.error().what;
}

// Threat: a tool that changes what the jail permits would give the jail to the model.
TEST(Tools, AreTheseAndNoneSteersTheSession) {
    EXPECT_EQ(names_of({}), (std::vector<std::string>{"run", "read", "write", "why"}));
    EXPECT_EQ(names_of({.has_layer = true}),
              (std::vector<std::string>{"run", "read", "write", "why", "changes"}));
    for (const char* tool : {"allow", "approve", "apply", "discard", "stop", "set", "changes", "exec", ""})
        EXPECT_NE(problem(tool, "{}"), "") << tool;
    EXPECT_TRUE(read_call({.has_layer = true}, "changes", Json::object()));
}

TEST(Tools, TellTheClientWhatTheyMayDo) {
    const Json open = tool_list({}, true), isolated = tool_list({.has_network = false}, false);
    EXPECT_TRUE(tool_in(open, "run").find("annotations")->truth("destructiveHint"));
    EXPECT_TRUE(tool_in(open, "run").find("annotations")->truth("openWorldHint"));
    EXPECT_FALSE(tool_in(isolated, "run").find("annotations")->truth("openWorldHint", true));
    for (const char* name : {"read", "why"})
        EXPECT_TRUE(tool_in(open, name).find("annotations")->truth("readOnlyHint"));
    EXPECT_FALSE(tool_in(open, "write").find("annotations")->truth("readOnlyHint", true));
    EXPECT_NE(tool_in(open, "run").find("outputSchema"), nullptr);
    EXPECT_EQ(tool_in(isolated, "run").find("outputSchema"), nullptr);
    EXPECT_EQ(tool_in(open, "read").find("inputSchema")->items("required")[0].as_text()[0], "path");
}

TEST(Tools, RunTakesWordsOrAText) {
    EXPECT_EQ(read<RunCall>("run", R"({"command":["a","b c"]})").command,
              (std::vector<std::string>{"a", "b c"}));
    const auto call =
        read<RunCall>("run", R"({"command":"a | b","cwd":"d","timeout_s":5,"stdin":"x\u0000"})");
    EXPECT_EQ(call.command, (std::vector<std::string>{"/bin/sh", "-c", "a | b"}));
    EXPECT_EQ(call.directory, "d");
    EXPECT_EQ(call.timeout_s, 5);
    EXPECT_EQ(call.input, std::string("x\0", 2));
    EXPECT_EQ(read<RunCall>("run", R"({"command":["a"],"cwd":null})").timeout_s, kUsualTimeout);
    for (const char* wrong :
         {R"({})", R"({"command":[]})", R"({"command":[""]})", R"({"command":[1]})", R"({"command":7})",
          R"({"command":["a\u0000"]})", R"({"command":"a\u0000"})", R"({"command":["a"],"cwd":1})",
          R"({"command":["a"],"cwd":"a\u0000"})", R"({"command":["a"],"timeout_s":0})",
          R"({"command":["a"],"timeout_s":1.5})", R"({"command":["a"],"timeout_s":99999999})",
          R"({"command":["a"],"stdin":1})", R"({"command":["a"],"environment":{}})"})
        EXPECT_NE(problem("run", wrong), "") << wrong;
}

TEST(Tools, ReadTakesAPathAndARange) {
    const auto call = read<ReadCall>("read", R"({"path":"p","offset":3,"length":4})");
    EXPECT_EQ(call.path, "p");
    EXPECT_EQ(call.offset, 3);
    EXPECT_EQ(call.length, 4);
    EXPECT_EQ(read<ReadCall>("read", R"({"path":"p"})").length, kMostOfOutput);
    for (const char* wrong : {R"({})", R"({"path":""})", R"({"path":1})", R"({"path":"p","offset":-1})",
                              R"({"path":"p","length":0})", R"({"path":"p","length":262145})"})
        EXPECT_NE(problem("read", wrong), "") << wrong;
    EXPECT_FALSE(read_call({}, "read", Json(3)));
}

TEST(Tools, WriteTakesTextOrBytes) {
    EXPECT_EQ(read<WriteCall>("write", R"({"path":"p","content":"text"})").content, "text");
    const auto call = read<WriteCall>("write", R"({"path":"p","content_base64":"AP8=","mode":"append"})");
    EXPECT_EQ(call.content, std::string("\0\xff", 2));
    EXPECT_EQ(call.mode, "append");
    for (const char* wrong :
         {R"({"content":"x"})", R"({"path":"p"})", R"({"path":"p","content":"x","content_base64":"eA=="})",
          R"({"path":"p","content":1})", R"({"path":"p","content_base64":"?"})",
          R"({"path":"p","content":"x","mode":"delete"})", R"({"path":"p\u0000","content":"x"})",
          R"({"path":"p","content":"x","mode":1})"})
        EXPECT_NE(problem("write", wrong), "") << wrong;
}

TEST(Tools, WhyTakesOneSubject) {
    const auto call = read<WhyCall>("why", R"({"path":"/x","write":true})");
    EXPECT_EQ(call.subject, "path");
    EXPECT_EQ(call.name, "/x");
    EXPECT_TRUE(call.is_write);
    EXPECT_EQ(read<WhyCall>("why", R"({"host":"a.example"})").subject, "host");
    for (const char* wrong : {R"({})", R"({"path":"a","host":"b"})", R"({"path":"--write"})", R"({"env":1})",
                              R"({"path":"a","write":"yes"})"})
        EXPECT_NE(problem("why", wrong), "") << wrong;
}

}  // namespace
}  // namespace mcp
