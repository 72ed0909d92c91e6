// SPDX-License-Identifier: MIT
// git-LFS: an upload is judged as a push, a download as a fetch.
#include "network/requests/lfs.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "network/requests/rules.h"

namespace network::requests {
namespace {

std::string operation(std::string_view body) {
    bool is_upload = false;
    std::string_view fault = read_lfs_batch(body, is_upload);
    if (!fault.empty()) return "fault: " + std::string(fault);
    return is_upload ? "upload" : "download";
}

TEST(LfsBatch, HasOneOperation) {
    EXPECT_EQ(operation(R"({"operation": "download", "objects": [{"operation": "upload"}]})"), "download");
    EXPECT_EQ(operation(R"({"transfers": ["basic"], "operation": "upload", "ref": {"name": "x"}})"),
              "upload");
    EXPECT_EQ(operation(R"({"\u006fperation": "upload"})"), "upload");
    for (std::string_view body :
         {R"({})", R"([])", "", "download", R"({"operation": "Upload"})", R"({"operation": ["download"]})",
          R"({"Operation": "download"})", R"({"operation": "verify"})",
          R"({"operation": "download", "operation": "upload"})",
          R"({"operation": "download", "\u006fperation": "upload"})",
          R"({"operation": "download", "OPERATION": "upload"})",
          R"({"operation": "download"} {"operation": "upload"})"})
        EXPECT_TRUE(operation(body).starts_with("fault: ")) << body << " gives " << operation(body);
    EXPECT_TRUE(operation(R"({"operation": "download"})" + std::string(kMaximumLfsBatch, ' '))
                    .starts_with("fault: "));
}

config::Item item(std::string text, config::Layer layer = config::Layer::user) {
    return {std::move(text), {.layer = layer, .file = "config.toml", .line = 7}};
}

// "download upload" with the verdict of each, or the verdict before the body is read.
std::string verdicts(const RequestSettings& settings, std::string_view method, std::string_view target) {
    auto rules = RequestRules::make(settings);
    EXPECT_TRUE(rules.ok());
    Request request{.host = "a.example", .method = method, .target = target};
    auto word = [](const Verdict& verdict) {
        EXPECT_EQ(verdict.git, GitService::none) << "git-LFS reads an ordinary refusal";
        return verdict.decision == Decision::permitted ? "permitted"
               : verdict.decision == Decision::ask     ? "ask"
                                                       : "refused";
    };
    Verdict first = rules->judge(request);
    if (first.need != Need::lfs_batch || first.decision == Decision::refused) return word(first);
    return base::format("{}: {} {}", word(first), word(rules->judge_lfs(request, false)),
                        word(rules->judge_lfs(request, true)));
}

TEST(GitLfs, AnUploadIsAPushAndADownloadAFetch) {
    RequestSettings fetch{.git = {item("fetch a.example/me/app")}};
    RequestSettings push{.git = {item("push a.example/me/app refs/heads/agent/*")}};
    RequestSettings both{.git = {fetch.git[0], push.git[0]}};
    for (const char* batch : {"/me/app.git/info/lfs/objects/batch", "/me/app/Info/LFS/objects/batch;x?a=b"}) {
        EXPECT_EQ(verdicts(fetch, "POST", batch), "permitted: permitted refused") << batch;
        EXPECT_EQ(verdicts(push, "POST", batch), "permitted: refused permitted") << batch;
        EXPECT_EQ(verdicts(both, "POST", batch), "permitted: permitted permitted") << batch;
    }
    EXPECT_EQ(verdicts(both, "POST", "/you/app.git/info/lfs/objects/batch"), "refused");
    EXPECT_EQ(verdicts(both, "POST", "/me/app.git/info%2Flfs/objects/batch"), "refused");
    for (const char* target : {"/me/app.git/info/lfs/objects/0f/7", "/me/app.git/gitlab-lfs/objects/0f/7",
                               "/me/app/info/lfs/locks"}) {
        EXPECT_EQ(verdicts(fetch, "GET", target), "permitted") << target;
        EXPECT_EQ(verdicts(push, "GET", target), "refused") << target;
        for (const char* method : {"PUT", "POST", "DELETE", "post"}) {
            EXPECT_EQ(verdicts(fetch, method, target), "refused") << method << " " << target;
            EXPECT_EQ(verdicts(push, method, target), "permitted") << method << " " << target;
        }
    }
    EXPECT_EQ(verdicts({.allow = {item("POST a.example/**")}}, "POST", "/me/app/info/lfs/objects/batch"),
              "permitted")
        << "without entries about git it is a path";
    EXPECT_EQ(verdicts(fetch, "POST", "/me/app/info/lfss/objects/batch"), "permitted") << "another path";
}

TEST(GitLfs, IsNarrowedByPathsAndByTheAdministrator) {
    constexpr std::string_view kBatch = "/me/app/info/lfs/objects/batch";
    RequestSettings settings{.git = {item("fetch a.example/**"), item("push a.example/** **")}};
    settings.block = {item("POST a.example/me/*/info/lfs/**")};
    EXPECT_EQ(verdicts(settings, "POST", kBatch), "refused");
    settings.block.clear();
    settings.ask = {item("POST a.example/**")};
    EXPECT_EQ(verdicts(settings, "POST", kBatch), "ask: permitted permitted") << "asked about once";
    settings.ask.clear();
    settings.git.push_back(item("fetch a.example/me/app", config::Layer::admin));
    EXPECT_EQ(verdicts(settings, "POST", kBatch), "permitted: permitted refused");
}

}  // namespace
}  // namespace network::requests
