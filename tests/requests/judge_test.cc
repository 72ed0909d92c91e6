// SPDX-License-Identifier: MIT
#include "network/requests/rules.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace network::requests {
namespace {

config::Item item(std::string text, config::Layer layer = config::Layer::user) {
    return {std::move(text), {.layer = layer, .file = "config.toml", .line = 7}};
}
config::Item admins(std::string text) {
    return item(std::move(text), config::Layer::admin);
}

struct Entries {
    std::vector<config::Item> allow, ask, block, git, opaque;
    bool observe = false;
};

RequestRules rules(const Entries& entries) {
    auto made = RequestRules::make({.allow = entries.allow,
                                    .ask = entries.ask,
                                    .block = entries.block,
                                    .git = entries.git,
                                    .opaque = entries.opaque,
                                    .observe = entries.observe});
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().line());
    return made.ok() ? *made : RequestRules();
}

std::string text_of(const Verdict& verdict) {
    std::string text = verdict.decision == Decision::permitted ? "permitted"
                       : verdict.decision == Decision::ask     ? "ask"
                                                               : "refused";
    if (!verdict.is_judged) text = "not judged";
    if (verdict.need == Need::push_commands) text += ", needs commands";
    if (verdict.need == Need::graphql) text += ", needs graphql";
    if (verdict.is_observed) text += ", observed";
    if (verdict.code == "path_not_canonical") text += ", path";
    return text;
}

// "GET a.example/x"
Request request(std::string_view line) {
    size_t blank = line.find(' '), slash = line.find('/', blank);
    return {.host = line.substr(blank + 1, slash - blank - 1),
            .method = line.substr(0, blank),
            .target = line.substr(slash)};
}

std::string verdict(const RequestRules& made, std::string_view line) {
    return text_of(made.judge(request(line)));
}

TEST(RequestRules, AnAllowEntryClosesTheRestOfItsHost) {
    RequestRules made =
        rules({.allow = {item("GET a.example/repos/**"), item("POST a.example/repos/*/pulls")}});
    EXPECT_EQ(verdict(made, "GET a.example/repos/x?y=z"), "permitted");
    EXPECT_EQ(verdict(made, "POST a.example/repos/x/pulls"), "permitted");
    EXPECT_EQ(verdict(made, "POST a.example/repos/x"), "refused");
    EXPECT_EQ(verdict(made, "HEAD a.example/repos/x"), "refused");
    EXPECT_EQ(verdict(made, "GET a.example/user"), "refused");
    EXPECT_EQ(verdict(made, "GET b.example/user"), "not judged");
    Verdict refusal = made.judge(request("POST a.example/repos/x y"));
    EXPECT_EQ(refusal.rule, nullptr);
    EXPECT_EQ(refusal.code, "request_refused");
    EXPECT_EQ(made.judge(request("DELETE a.example/repos/x")).reason,
              "no entry of requests.allow permits DELETE a.example/repos/x");
    EXPECT_EQ(made.judge(request("DELETE a.example/repos/x")).change,
              "agent-sandbox allow 'DELETE a.example/repos/x'");
}

// The client chooses the method. A user copies the command into a shell.
TEST(RequestRules, NoCommandIsShownForAMethodThatNoRuleCanName) {
    RequestRules made = rules({.allow = {item("GET a.example/x")}, .block = {item("* a.example/keys/**")}});
    EXPECT_EQ(made.judge(request("M-SEARCH a.example/y")).change,
              "agent-sandbox allow 'M-SEARCH a.example/y'");
    for (std::string_view method : {"push", "--project", "-P", "host:", "G3T", "$(id)"}) {
        EXPECT_EQ(made.judge(request(std::string(method) + " a.example/y")).change, "") << method;
        EXPECT_EQ(made.judge(request(std::string(method) + " a.example/keys/1")).change, "") << method;
    }
}

TEST(RequestRules, BlockAndAskEntriesAloneLeaveTheRestOpen) {
    RequestRules made = rules({.ask = {item("POST a.example/**")}, .block = {item("* a.example/keys/**")}});
    EXPECT_EQ(verdict(made, "GET a.example/x"), "permitted");
    EXPECT_EQ(verdict(made, "POST a.example/x"), "ask");
    EXPECT_EQ(verdict(made, "POST a.example/keys"), "refused");
    EXPECT_EQ(verdict(made, "GET a.example/keys/7"), "refused");
}

TEST(RequestRules, TheMostSpecificEntryDecides) {
    struct Row {
        const char *block, *allow, *line, *result;
    };
    for (const Row& row : {
             Row{"* a.example/**", "* a.example/x/**", "GET a.example/x", "permitted"},
             Row{"* a.example/x/*", "* a.example/x/**", "GET a.example/x/1", "refused"},
             Row{"* a.example/x/**", "* a.example/x/*", "GET a.example/x/1", "permitted"},
             Row{"* a.example/*/y", "* a.example/x/*", "GET a.example/x/y", "refused"},
             Row{"GET,POST a.example/x", "GET a.example/x", "GET a.example/x", "permitted"},
             Row{"GET a.example/x", "GET,POST a.example/x", "GET a.example/x", "refused"},
             Row{"* a.example/x", "GET a.example/x", "GET a.example/x", "permitted"},
             Row{"GET a.example/x", "GET a.example/x", "GET a.example/x", "refused"},
             Row{"GET *.example.org/a/b/c", "GET a.example.org/**", "GET a.example.org/a/b/c", "permitted"},
             Row{"GET *.a.example.org/**", "GET *.example.org/**", "GET b.a.example.org/x", "refused"},
             Row{"* a.example/**", "* a.example:443/**", "GET a.example/x", "permitted"},
         }) {
        RequestRules made = rules({.allow = {item(row.allow)}, .block = {item(row.block)}});
        EXPECT_EQ(verdict(made, row.line), row.result) << row.block << " against " << row.allow;
    }
}

TEST(RequestRules, BetweenEqualsABlockThenAnAskDecides) {
    RequestRules made = rules({.allow = {item("GET a.example/x")}, .ask = {item("GET a.example/x")}});
    EXPECT_EQ(verdict(made, "GET a.example/x"), "ask");
    made = rules({.ask = {item("GET a.example/x")}, .block = {item("GET a.example/x")}});
    EXPECT_EQ(verdict(made, "GET a.example/x"), "refused");
}

TEST(RequestRules, ABlockMatchesEverySpellingAndAnAllowOne) {
    RequestRules made = rules({.block = {item("POST a.example/gists/**")}});
    for (const char* line : {"POST a.example/gists", "POST a.example/GISTS", "POST a.example/%67ists",
                             "post a.example/gists", "POST a.example/gists/", "POST a.example/gists;x=y"})
        EXPECT_EQ(verdict(made, line), "refused") << line;
    made = rules({.allow = {item("POST a.example/gists")}});
    for (const char* line : {"POST a.example/GISTS", "post a.example/gists", "POST a.example/gists;x=y"})
        EXPECT_EQ(verdict(made, line), "refused") << line;
}

TEST(RequestRules, ABlockAndAnAskMatchACodedSlashAsASeparator) {
    RequestRules made =
        rules({.ask = {item("POST a.example/pay/**")},
               .block = {item("* a.example/admin/**"), item("graphql mutation a.example/api/graphql")}});
    EXPECT_EQ(verdict(made, "POST a.example/pay%2Fb"), "ask");
    EXPECT_EQ(verdict(made, "GET a.example/admin%2Fx"), "refused");
    EXPECT_EQ(verdict(made, "GET a.example/admin%2fx/y"), "refused");
    EXPECT_EQ(verdict(made, "GET a.example/x%2fadmin"), "permitted");
    EXPECT_EQ(verdict(made, "POST a.example/api%2fgraphql"), "permitted, needs graphql");
    EXPECT_EQ(verdict(made, "POST a.example/api/graphql%2F"), "refused, path");
    EXPECT_EQ(verdict(made, "GET a.example/api%2fgraphql?query=x"), "refused");
    made = rules({.allow = {item("* a.example/**"), item("* a.example/**/*%2f*/**")},
                  .block = {admins("* a.example/admin/**")}});
    EXPECT_EQ(verdict(made, "GET a.example/admin%2Fx"), "refused");
    EXPECT_EQ(verdict(made, "GET a.example/y%2Fx"), "permitted");
}

TEST(RequestRules, AnAllowMatchesACodedSlashOnlyIfItSpellsIt) {
    RequestRules made = rules({.allow = {item("* a.example/repos/*"), item("* a.example/x/**"),
                                         item("GET a.example/projects/*%2F*")}});
    EXPECT_EQ(verdict(made, "GET a.example/repos/x"), "permitted");
    EXPECT_EQ(verdict(made, "GET a.example/repos/x%2Fkeys"), "refused");
    EXPECT_EQ(verdict(made, "GET a.example/x/y%2Fz"), "refused");
    EXPECT_EQ(verdict(made, "GET a.example/projects/group%2Fproject"), "permitted");
    EXPECT_EQ(verdict(made, "GET a.example/projects/group/project"), "refused");
    made = rules({.git = {item("fetch a.example/**"), item("push a.example/* **")}});
    EXPECT_EQ(verdict(made, "POST a.example/one.git/git-receive-pack"), "permitted, needs commands");
    EXPECT_EQ(verdict(made, "POST a.example/git%2Fone.git/git-receive-pack"), "refused");
    EXPECT_EQ(verdict(made, "POST a.example/git%2Fone.git/git-upload-pack"), "refused");
}

TEST(RequestRules, APathOfGitWithACodedSlashIsRefusedWhereGitIsJudged) {
    RequestRules made = rules({.allow = {item("* a.example/**"), item("* a.example/**/*%2f*/**")},
                               .git = {item("fetch a.example/**"), item("push a.example/git/* **")}});
    EXPECT_EQ(verdict(made, "POST a.example/git/one.git/git-receive-pack"), "permitted, needs commands");
    for (const char* line :
         {"POST a.example/git/one.git%2Fgit-receive-pack", "POST a.example/git%2Fone.git%2fgit-receive-pack",
          "POST a.example/git/one.git%2Fgit-upload-pack", "POST a.example/git/one%2fGIT-RECEIVE-PACK;x",
          "GET a.example/git/one.git/info%2Frefs?service=git-receive-pack",
          "GET a.example/git/one.git%2finfo/refs?service=git-receive-pack",
          "POST a.example/git/one/git-upload-pack;%2fgit-receive-pack",
          "POST a.example/git%2Fone.git/git-receive-pack"})
        EXPECT_EQ(verdict(made, line), "refused") << line;
    EXPECT_EQ(verdict(made, "GET a.example/x%2Fy"), "permitted");
}

TEST(RequestRules, APathThatIsNotCanonicalIsRefusedOnJudgedHostsAlone) {
    RequestRules made = rules({.allow = {item("* a.example/**")}});
    EXPECT_EQ(verdict(made, "GET a.example/x/../y"), "refused, path");
    EXPECT_EQ(made.judge(request("GET a.example/x//y")).status, 400);
    EXPECT_EQ(verdict(made, "GET b.example/x/../y"), "not judged");
}

TEST(RequestRules, TraceAndConnectAreAlwaysRefused) {
    for (const char* line : {"TRACE a.example/", "CONNECT a.example/", "trace a.example/", "Trace a.example/",
                             "connect a.example/"}) {
        EXPECT_EQ(verdict(rules({}), line), "refused");
        EXPECT_EQ(verdict(rules({.allow = {item("* a.example/**")}}), line), "refused");
    }
}

// Some servers answer these as /user/keys.
TEST(RequestRules, EntriesThatBlockCountForAPathWithAnEnding) {
    RequestRules made = rules({.block = {item("POST a.example/user/keys/**")}});
    for (const char* path :
         {"keys", "keys.json", "keys.", "keys%20", "keys%20.json", "KEYS.json", "keys/7.json"})
        EXPECT_EQ(verdict(made, std::string("POST a.example/user/") + path), "refused") << path;
    for (const char* path : {"keyset", "keyset.json", "a.keys"})
        EXPECT_EQ(verdict(made, std::string("POST a.example/user/") + path), "permitted") << path;
    // Control: an entry that permits counts for its own path alone.
    made = rules({.allow = {item("POST a.example/user/keys")}});
    EXPECT_EQ(verdict(made, "POST a.example/user/keys.json"), "refused");
}

TEST(RequestRules, AMethodOverrideThatDiffersIsRefused) {
    RequestRules made = rules({.allow = {item("* a.example/**")}});
    Request posted = request("POST a.example/x");
    posted.overrides = {"DELETE"};
    EXPECT_EQ(text_of(made.judge(posted)), "refused");
    posted.overrides = {"post", "POST"};
    EXPECT_EQ(text_of(made.judge(posted)), "permitted");
    posted.overrides = {"POST", ""};
    EXPECT_EQ(text_of(made.judge(posted)), "refused");
    EXPECT_EQ(verdict(made, "POST a.example/x?_method=DELETE"), "refused");
    EXPECT_EQ(verdict(made, "POST a.example/x?a=b&%5Fmethod=delete"), "refused");
    EXPECT_EQ(verdict(made, "POST a.example/x?_method=post"), "permitted");
    EXPECT_EQ(verdict(made, "POST a.example/x?-method=DELETE"), "refused") << "read as _method";
    for (const char* name : {"X-HTTP-Method-Override", "x-http-method", "X-Method-Override",
                             "X_HTTP_Method_Override", "x_http-method", "X_METHOD_OVERRIDE", "_Method"})
        EXPECT_TRUE(is_method_override(name)) << name;
    EXPECT_FALSE(is_method_override("X-Method"));
    EXPECT_FALSE(is_method_override("method"));
}

TEST(RequestRules, NoLayerLiftsTheAdministratorsBlock) {
    RequestRules made = rules({.allow = {item("POST a.example/repos/me/app/keys")},
                               .block = {admins("POST a.example/**/keys/**")}});
    EXPECT_EQ(verdict(made, "POST a.example/repos/me/app/keys"), "refused");
    made = rules({.allow = {admins("POST a.example/repos/me/app/keys"), item("* a.example/**")},
                  .block = {admins("POST a.example/**/keys/**")}});
    EXPECT_EQ(verdict(made, "POST a.example/repos/me/app/keys"), "permitted")
        << "the administrator's own allow does";
}

TEST(RequestRules, TheAdministratorsAllowIsACeiling) {
    RequestRules made = rules(
        {.allow = {admins("GET a.example/**"), item("* a.example/x")}, .block = {item("GET a.example/y")}});
    EXPECT_EQ(verdict(made, "GET a.example/x"), "permitted");
    EXPECT_EQ(verdict(made, "POST a.example/x"), "refused") << "wider than the ceiling";
    EXPECT_EQ(verdict(made, "GET a.example/y"), "refused") << "narrower is possible";
}

TEST(RequestRules, TheAdministratorsAskStays) {
    RequestRules made = rules({.allow = {item("POST a.example/x/y")}, .ask = {admins("POST a.example/**")}});
    EXPECT_EQ(verdict(made, "POST a.example/x/y"), "ask");
}

// Each refusal has the same entry of the user as its control.
TEST(RequestRules, AnAskOfTheProjectTurnsNoRefusalIntoAQuestion) {
    auto projects = [](std::string text) { return item(std::move(text), config::Layer::project); };
    RequestRules made =
        rules({.allow = {item("GET b.example/**")},
               .ask = {projects("POST a.example/user/keys"), projects("POST b.example/x"),
                       projects("POST c.example/x"), projects("GET b.example/secret"),
                       projects("graphql mutation addKey a.example/graphql"),
                       projects("POST a.example/app.git/git-receive-pack")},
               .block = {item("POST a.example/user/**"), item("graphql mutation * a.example/graphql"),
                         item("POST a.example/**")},
               .git = {item("push a.example/app refs/heads/x")}});
    EXPECT_EQ(verdict(made, "POST a.example/user/keys"), "refused");
    EXPECT_EQ(verdict(made, "POST b.example/x"), "refused") << "no entry of allow permits it";
    EXPECT_EQ(verdict(made, "POST a.example/app.git/git-receive-pack"), "refused, needs commands");
    EXPECT_EQ(
        text_of(made.judge_graphql(request("POST a.example/graphql"), {{Operation::mutation, "addKey"}})),
        "refused");
    // It restricts what was permitted.
    EXPECT_EQ(verdict(made, "POST c.example/x"), "ask");
    EXPECT_EQ(verdict(made, "GET b.example/secret"), "ask");
    made = rules({.ask = {item("POST a.example/user/keys")}, .block = {item("POST a.example/user/**")}});
    EXPECT_EQ(verdict(made, "POST a.example/user/keys"), "ask") << "the user's own does";
}

TEST(RequestRules, ObserveLetsThroughExceptWhatTheAdministratorBlocks) {
    RequestRules made = rules(
        {.allow = {item("GET a.example/**")}, .block = {admins("POST a.example/keys")}, .observe = true});
    EXPECT_EQ(verdict(made, "POST a.example/x"), "permitted, observed");
    EXPECT_EQ(verdict(made, "POST a.example/keys"), "refused");
    EXPECT_EQ(verdict(made, "GET a.example/x"), "permitted");
    EXPECT_EQ(verdict(made, "GET a.example/../x"), "refused, path");
}

TEST(RequestRules, AnOpaqueHostIsNotJudgedUnlessTheAdministratorNamesIt) {
    RequestRules made = rules({.block = {item("* a.example/**"), admins("* b.example/**")},
                               .opaque = {item("a.example"), item("b.example")}});
    EXPECT_EQ(verdict(made, "GET a.example/x"), "not judged");
    EXPECT_EQ(verdict(made, "GET b.example/x"), "refused");
    made = rules({.block = {admins("* b.example/**")}, .opaque = {admins("b.example")}});
    EXPECT_EQ(verdict(made, "GET b.example/x"), "not judged");
}

TEST(RequestRules, AWebSocketOnAHostWithRulesAboutBodiesNeedsItsOwnEntry) {
    Request upgrade = request("GET a.example/socket");
    upgrade.is_websocket = true;
    RequestRules made = rules({.block = {item("graphql mutation x a.example/graphql")}});
    EXPECT_EQ(text_of(made.judge(upgrade)), "refused");
    EXPECT_EQ(verdict(made, "GET a.example/socket"), "permitted");
    made = rules({.allow = {item("GET a.example/socket")}, .git = {item("fetch a.example/**")}});
    EXPECT_EQ(text_of(made.judge(upgrade)), "permitted");
    made = rules({.block = {item("POST a.example/x")}});
    EXPECT_EQ(text_of(made.judge(upgrade)), "permitted") << "paths alone are judged in the head";
}

TEST(RequestRules, ARefusalNamesTheEntryItsOriginAndItsReason) {
    RequestRules made = rules({.block = {item("@github-lasting")}});
    Verdict refusal = made.judge(request("POST api.github.com/user/keys"));
    EXPECT_EQ(refusal.reason,
              "the entry '@github-lasting: POST,PUT,PATCH,DELETE api.github.com/user/keys/**' refuses "
              "POST api.github.com/user/keys: ssh keys of the account");
    ASSERT_NE(refusal.rule, nullptr);
    EXPECT_EQ(refusal.rule->origin.describe(), "config.toml:7");
    EXPECT_EQ(refusal.change, "agent-sandbox allow 'POST api.github.com/user/keys'");
}

TEST(RequestRules, NamesTheHostsThatAreJudged) {
    RequestRules made = rules({.allow = {item("GET a.example/**"), item("POST a.example/x")},
                               .git = {item("fetch b.example:8443/**")}});
    EXPECT_TRUE(made.names("a.example", 443));
    EXPECT_TRUE(made.names("b.example", 8443));
    EXPECT_FALSE(made.names("b.example", 443));
    EXPECT_EQ(made.hosts().size(), 2u);
}

TEST(RequestRules, AFaultyEntryIsAnErrorWithItsOrigin) {
    for (const RequestSettings& settings :
         {RequestSettings{.allow = {item("x")}}, RequestSettings{.git = {item("GET a.example/x")}},
          RequestSettings{.opaque = {item("*")}}}) {
        auto made = RequestRules::make(settings);
        ASSERT_FALSE(made.ok());
        EXPECT_TRUE(made.error().line().starts_with("config.toml:7: ")) << made.error().line();
    }
}

TEST(ShippedLists, PermitAndRefuseWhatTheirNamesPromise) {
    RequestRules npm = rules({.allow = {item("@npm-install")}});
    EXPECT_EQ(verdict(npm, "GET registry.npmjs.org/react"), "permitted");
    EXPECT_EQ(verdict(npm, "GET registry.npmjs.org/@scope%2fname"), "permitted");
    EXPECT_EQ(verdict(npm, "POST registry.npmjs.org/-/npm/v1/security/advisories/bulk"), "permitted");
    EXPECT_EQ(verdict(npm, "PUT registry.npmjs.org/react"), "refused");
    EXPECT_EQ(verdict(npm, "DELETE registry.npmjs.org/react/-rev/1"), "refused");
    EXPECT_EQ(verdict(npm, "GET registry.npmjs.org/-/npm/v1/tokens"), "refused");
    EXPECT_EQ(verdict(npm, "PUT registry.npmjs.org/-/user/org.couchdb.user:me"), "refused");
    RequestRules pypi = rules({.allow = {item("@pypi-install")}});
    EXPECT_EQ(verdict(pypi, "GET pypi.org/simple/numpy/"), "permitted");
    EXPECT_EQ(verdict(pypi, "POST upload.pypi.org/legacy/"), "refused");
    EXPECT_EQ(verdict(pypi, "POST pypi.org/_/oidc/mint-token"), "refused");
    RequestRules docker = rules({.allow = {item("@docker-pull")}});
    EXPECT_EQ(verdict(docker, "GET registry-1.docker.io/v2/library/debian/manifests/12"), "permitted");
    EXPECT_EQ(verdict(docker, "GET auth.docker.io/token?service=registry.docker.io"), "permitted");
    EXPECT_EQ(verdict(docker, "POST registry-1.docker.io/v2/me/app/blobs/uploads/"), "refused");
    RequestRules face = rules({.allow = {item("@huggingface-pull")}});
    EXPECT_EQ(verdict(face, "GET huggingface.co/gpt2/resolve/main/config.json"), "permitted");
    EXPECT_EQ(verdict(face, "POST huggingface.co/api/models/me/x/commit/main"), "refused");
    EXPECT_EQ(verdict(face, "GET huggingface.co/api/models/me/x/xet-write-token/main"), "refused");
    RequestRules messages = rules({.allow = {item("@anthropic-messages")}});
    EXPECT_EQ(verdict(messages, "POST api.anthropic.com/v1/messages?beta=true"), "permitted");
    EXPECT_EQ(verdict(messages, "POST api.anthropic.com/v1/files"), "refused");
    EXPECT_EQ(verdict(messages, "POST api.anthropic.com/v1/messages/batches"), "refused");
    EXPECT_EQ(verdict(messages, "GET api.anthropic.com/v1/organizations/me"), "refused");
    RequestRules responses = rules({.allow = {item("@openai-responses")}});
    EXPECT_EQ(verdict(responses, "POST api.openai.com/v1/responses"), "permitted");
    EXPECT_EQ(verdict(responses, "POST api.openai.com/v1/files"), "refused");
    RequestRules github = rules({.allow = {item("@github-read")}, .block = {item("@github-lasting")}});
    EXPECT_EQ(verdict(github, "GET api.github.com/user"), "permitted");
    EXPECT_EQ(verdict(github, "POST github.com/me/app.git/git-upload-pack"), "permitted");
    EXPECT_EQ(verdict(github, "POST github.com/me/app.git/git-receive-pack"), "refused");
    EXPECT_EQ(verdict(github, "POST api.github.com/repos/me/app/issues"), "refused");
    RequestRules gitlab = rules({.allow = {item("@gitlab-read")}});
    EXPECT_EQ(verdict(gitlab, "GET gitlab.com/api/v4/projects/group%2Fproject"), "permitted");
    EXPECT_EQ(verdict(gitlab, "POST gitlab.com/api/v4/projects/1/deploy_keys"), "refused");
}

TEST(ShippedLists, PermitNamesWithACodedSlashWhereClientsSendThem) {
    RequestRules npm = rules({.allow = {item("@npm-install")}, .ask = {item("* registry.npmjs.org/x/**")}});
    EXPECT_EQ(verdict(npm, "GET registry.npmjs.org/-/package/@scope%2fname/dist-tags"), "permitted");
    EXPECT_EQ(verdict(npm, "PUT registry.npmjs.org/@scope%2fname"), "refused");
    EXPECT_EQ(verdict(npm, "GET registry.npmjs.org/-%2Fnpm/v1/tokens"), "refused");
    EXPECT_EQ(verdict(npm, "GET registry.npmjs.org/x%2fname"), "ask");
    RequestRules gitlab = rules({.allow = {item("@gitlab-read")}, .ask = {item("GET gitlab.com/**")}});
    EXPECT_EQ(verdict(gitlab, "GET gitlab.com/api/v4/projects/group%2Fproject"), "ask");
    EXPECT_EQ(verdict(gitlab, "GET gitlab.com/oauth%2Ftoken"), "refused");
    gitlab = rules({.allow = {item("@gitlab-read")}});
    EXPECT_EQ(verdict(gitlab, "GET gitlab.com/api/v4/projects/a%2Fb%2Fc/repository/files/src%2Fx/raw"),
              "permitted");
    EXPECT_EQ(verdict(gitlab, "DELETE gitlab.com/api%2Fv4/projects/1"), "refused");
    RequestRules github = rules({.allow = {item("@github-read")}});
    EXPECT_EQ(verdict(github, "GET api.github.com/repos/me/app/branches/feature%2Fx"), "permitted");
    EXPECT_EQ(verdict(github, "GET github.com/me/app/releases/download/tool%2Fv1/x.tar.gz"), "permitted");
    EXPECT_EQ(verdict(github, "GET github.com/settings%2Ftokens"), "refused");
    RequestRules face = rules({.allow = {item("@huggingface-pull")}});
    EXPECT_EQ(verdict(face, "GET huggingface.co/gpt2/resolve/refs%2Fpr%2F1/config.json"), "permitted");
    EXPECT_EQ(verdict(face, "POST huggingface.co/api/datasets/me/x/paths-info/refs%2Fpr%2F1"), "permitted");
    EXPECT_EQ(verdict(face, "POST huggingface.co/api/datasets/me/x/commit/refs%2Fpr%2F1"), "refused");
    EXPECT_EQ(verdict(face, "GET huggingface.co/api/models/me/x/xet-write-token/a%2Fb"), "refused");
}

TEST(ShippedLists, GithubLastingBlocksBothAddressesOfARepository) {
    RequestRules made = rules({.block = {item("@github-lasting")}});
    for (const char* line : {"POST api.github.com/repos/me/app/hooks",
                             "POST api.github.com/repositories/1/hooks",
                             "PUT api.github.com/repos/me/app/collaborators/you",
                             "POST api.github.com/repositories/1/keys",
                             "POST api.github.com/gists",
                             "PATCH api.github.com/repos/me/app",
                             "POST api.github.com/user/keys",
                             "PUT api.github.com/repos/me/app/actions/secrets/X",
                             "POST api.github.com/repos/me/app/forks",
                             "POST api.github.com/REPOS/me/app/Hooks",
                             "POST github.com/login/device/code",
                             "PUT api.github.com/organizations/1/team/2/memberships/you",
                             "PUT api.github.com/organizations/1/team/2/repos/me/app",
                             "POST api.github.com/organizations/1/hooks",
                             "PUT api.github.com/organizations/1/memberships/you",
                             "PUT api.github.com/orgs/lab/organization-roles/users/you/1",
                             "PUT api.github.com/orgs/lab/security-managers/teams/all",
                             "POST api.github.com/orgs/lab/personal-access-token-requests",
                             "POST api.github.com/orgs/lab/personal-access-tokens/7",
                             "POST api.github.com/scim/v2/organizations/lab/Users",
                             "PUT api.github.com/orgs/lab/dependabot/secrets/X",
                             "PUT api.github.com/orgs/lab/codespaces/access",
                             "PUT api.github.com/user/codespaces/secrets/X",
                             "PUT api.github.com/repos/me/app/actions/oidc/customization/sub",
                             "PUT api.github.com/enterprises/lab/actions/permissions",
                             "POST api.github.com/user/migrations",
                             "POST api.github.com/orgs/lab/migrations",
                             "DELETE api.github.com/repos/me/app/branches/a/b/protection"})
        EXPECT_EQ(verdict(made, line), "refused") << line;
    for (const char* line : {"GET api.github.com/user/keys", "POST api.github.com/repos/me/app/pulls",
                             "POST api.github.com/repos/me/app/issues/7/comments",
                             "GET api.github.com/orgs/lab/migrations", "GET api.github.com/enterprises/lab"})
        EXPECT_EQ(verdict(made, line), "permitted") << line;
}

}  // namespace
}  // namespace network::requests
