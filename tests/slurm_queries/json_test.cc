// SPDX-License-Identifier: MIT
#include "slurm/queries/json_answers.h"

#include <gtest/gtest.h>

#include "base/encoding/json.h"
#include "slurm/scope/identity.h"
#include "slurm_queries/conversation.h"

namespace slurm::queries {
namespace {

using base::Json;
using Lines = std::vector<std::string>;

std::string job(uint32_t number, const std::string& more = "") {
    return R"({"account": "lab", "job_id": )" + std::to_string(number) + R"(, "name": "n)" +
           std::to_string(number) + "\"" + more + "}";
}

// What squeue prints: everybody's jobs.
std::string document() {
    std::string tag = text_of(kOurs);
    return R"({"meta": {"plugin": {"type": "openapi\/v0.0.38"}, "client": {"source": "\/dev\/pts\/1"}, "Slurm": {"release": "22.05.8"}},
  "errors": [], "secrets": ["of others"], "last_update": 17, "jobs": [)" +
           job(17, R"(, "comment": "my \"run\" )" + tag +
                       R"(", "billable_tres": 1.50, "array_job_id": 0, "command": "/opt/asb")") +
           "," + job(23, R"(, "array_job_id": {"set": true, "number": 20})") + "," + job(30) + "," + job(31) +
           R"(,{"name": "unnumbered"}, {"job_id": "17", "name": "a text"}, {"job_id": 17, "job_id": 30, "name": "two numbers"}, 17, [{"job_id": 17}], {"job_id": 17.5}, )" +
           job(40) + "]}\n";
}

Json shown(const QueryResult& asked) {
    base::Result<Json> json = Json::parse(asked.conversation.output);
    EXPECT_TRUE(json) << asked.conversation.output;
    return json ? *json : Json();
}

std::string names(const Json& json) {
    std::string text;
    for (const Json& item : json.items("jobs")) text += item.text("name") + " ";
    return text;
}

TEST(JsonAnswers, SqueueShowsJobsInScopeAlone) {
    Ask ask{.answers = {{"squeue", {says(document())}}}};
    QueryResult asked = ask("squeue", {"--json"});
    EXPECT_EQ(asked.last(), (Ran{"squeue", {"--json"}}));
    Json json = shown(asked);
    EXPECT_EQ(names(json), "n17 n23 ");
    EXPECT_EQ(json.items("jobs")[0].text("comment"), "my \"run\"");
    EXPECT_EQ(json.number("last_update"), 17);
    EXPECT_EQ(json.find("secrets"), nullptr);
    EXPECT_EQ(json.find("meta")->find("client"), nullptr);
    EXPECT_EQ(json.find("meta")->find("Slurm")->text("release"), "22.05.8");
    // Numbers stay as they were written.
    EXPECT_NE(asked.conversation.output.find("\"billable_tres\": 1.50"), std::string::npos);
    EXPECT_EQ(names(shown(ask("squeue", {"--json", "--jobs=17,30"}))), "n17 ");
    EXPECT_EQ(names(shown(ask("squeue", {"--json", "-j", "20"}))), "n23 ");
    ask.scope = chaperon::Scope::user;
    EXPECT_EQ(names(shown(ask("squeue", {"--json"}))), "n17 n23 n30 n31 ");
    ask.scope = chaperon::Scope::none;
    EXPECT_EQ(names(shown(ask("squeue", {"--json"}))), "n17 n23 n30 n31 n40 ");
}

TEST(JsonAnswers, WhatIsNotJsonIsNotShown) {
    const std::string nested = std::string(100, '[') + std::string(100, ']');
    for (const std::string& text : Lines{"", "[]", "{\"jobs\": [}", "{\"jobs\": [" + job(17) + "]} trailing",
                                         "{\"jobs\": [" + job(17) + ",]}", "{\"jobs\": [" + job(17) + "]",
                                         "{'jobs': []}", "{\"jobs\": [\"\x01\"]}", "{\"jobs\": [\"\\x\"]}",
                                         "{\"jobs\": nul}", "{\"jobs\": " + nested + "}"}) {
        QueryResult asked = Ask{.answers = {{"squeue", {says(text)}}}}("squeue", {"--json"});
        EXPECT_EQ(asked.code(), "slurm-unavailable") << text;
        EXPECT_EQ(asked.conversation.output, "") << text;
    }
    // A name with escapes is not compared with ours.
    QueryResult odd =
        Ask{.answers = {{"squeue", {says("{\"jobs\": [{\"job\\u005fid\": 17}]}")}}}}("squeue", {"--json"});
    EXPECT_TRUE(shown(odd).items("jobs").empty());
    QueryResult failed =
        Ask{.answers = {{"squeue", {says(document(), "squeue: error: x\n", 1)}}}}("squeue", {"--json"});
    EXPECT_EQ(failed.conversation.output, "");
    EXPECT_EQ(failed.ending.status, 1);
}

TEST(JsonAnswers, ScontrolShowsWhatSqueueShows) {
    Ask ask{.answers = {{"scontrol", {says(document())}}}};
    QueryResult asked = ask("scontrol", {"show", "jobs", "--json"});
    EXPECT_EQ(asked.last(), (Ran{"scontrol", {"--json", "--", "show", "job"}}));
    EXPECT_EQ(names(shown(asked)), "n17 n23 ");
    EXPECT_EQ(ask("scontrol", {"--json", "show", "job", "30"}).last().arguments.back(),
              std::to_string(stand_in(0)));
    for (Lines words : {Lines{"show", "config"}, Lines{"show", "steps"}, Lines{"show", "assoc_mgr"},
                        Lines{"hold", "17"}, Lines{"show"}, Lines{}}) {
        words.push_back("--json");
        EXPECT_EQ(ask("scontrol", words).code(), "slurm-other-users");
    }
}

TEST(JsonAnswers, NamesOfOtherUsersAreMasked) {
    std::string text =
        R"({"nodes": [{"name": "n1", "owner": "bob", "reason": "disk", "reason_set_by_user": "root",
        "tres_weighted": 4.0, "more": [{"user": "ann"}, {"user_id": 1001}, {"users": "ann,bob,eve"}, {"user": null}]}],
        "unknown": {"user": "bob"}})";
    for (const auto& [command, words] :
         std::map<std::string, Lines>{{"sinfo", {"--json"}}, {"scontrol", {"show", "nodes", "--json"}}}) {
        QueryResult asked = Ask{.answers = {{command, {says(text)}}}}(command, words);
        const Json node = shown(asked).items("nodes").at(0);
        EXPECT_EQ(node.text("owner"), "-");
        EXPECT_EQ(node.text("reason"), "disk");
        EXPECT_EQ(node.text("reason_set_by_user"), "-");
        EXPECT_EQ(node.items("more")[0].text("user"), "ann");
        EXPECT_TRUE(node.items("more")[1].find("user_id")->is_null());
        EXPECT_EQ(node.items("more")[2].text("users"), "ann,-");
        EXPECT_EQ(shown(asked).find("unknown"), nullptr);
        EXPECT_NE(asked.conversation.output.find("4.0"), std::string::npos);
    }
    Ask ask{.answers = {{"sinfo", {says(text)}}}};
    EXPECT_EQ(ask("sinfo", {"--json", "5"}).last().arguments, (Lines{"--json", "--", "5"}));
}

}  // namespace
}  // namespace slurm::queries
