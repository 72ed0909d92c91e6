// SPDX-License-Identifier: MIT
#include "network/requests/git.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "network/requests/rules.h"

namespace network::requests {
namespace {

using namespace std::string_literals;
using State = PushReader::State;

const std::string kZero(40, '0'), kOne(40, '1'), kTwo(40, '2');
const std::string kCapabilities = "\0 report-status-v2 side-band-64k object-format=sha1 agent=git/2.39.5"s;

std::string command(const std::string& before, const std::string& after, const std::string& ref,
                    const std::string& rest = "") {
    return packet_line(before + " " + after + " " + ref + rest);
}

std::string service(std::string_view target) {
    CanonicalPath path;
    EXPECT_EQ(read_target(target, path), "");
    GitTarget found = git_target(path);
    constexpr std::string_view kNames[] = {"none", "fetch refs", "fetch",     "push refs",
                                           "push", "unknown",    "lfs batch", "lfs"};
    std::string text(kNames[static_cast<int>(found.service)]);
    return found.service == GitService::none ? text : text + " " + base::join(found.repository, "/");
}

TEST(GitTarget, IsRecognisedByItsPathAndService) {
    EXPECT_EQ(service("/me/app.git/info/refs?service=git-upload-pack"), "fetch refs me/app");
    EXPECT_EQ(service("/me/app/info/refs?service=git-receive-pack"), "push refs me/app");
    EXPECT_EQ(service("/me/app.git/git-upload-pack"), "fetch me/app");
    EXPECT_EQ(service("/me/app.git/git-receive-pack"), "push me/app");
    EXPECT_EQ(service("/me/app/info/refs"), "fetch refs me/app") << "the protocol without a service";
    EXPECT_EQ(service("/me/app/info/refs?service=git-upload-archive"), "unknown me/app");
    EXPECT_EQ(service("/me/app/issues"), "none");
    EXPECT_EQ(service("/me/refs"), "none");
}

TEST(GitTarget, OfAPushIsFoundInEverySpelling) {
    for (const char* target :
         {"/a/info/refs?service=git%2Dreceive-pack", "/a/info/refs?%73ervice=git-receive-pack",
          "/a/info/refs?service=git-upload-pack&service=git-receive-pack",
          "/a/info/refs?service=git-receive-pack&service=git-upload-pack",
          "/a/Info/Refs?SERVICE=git-receive-pack", "/a/info/refs;x?service=git-receive-pack"})
        EXPECT_EQ(service(target), "push refs a") << target;
    for (const char* target : {"/a/git%2dreceive-pack", "/a/Git-Receive-Pack", "/a/git-receive-pack;x",
                               "/a/git-receive-pack/", "/a/git-receive-pack?x"})
        EXPECT_EQ(service(target), "push a") << target;
}

// One line for each command, or the state.
std::string read(const std::string& body) {
    std::string whole;
    for (size_t step : {body.size(), size_t{1}, size_t{7}}) {
        PushReader push;
        State state = State::need_more;
        for (size_t at = 0; at < body.size() && state == State::need_more; at += std::max<size_t>(step, 1))
            state = push.look(std::string_view(body).substr(0, at + std::max<size_t>(step, 1)));
        std::string text;
        constexpr std::string_view kChanges[] = {"create", "update", "delete"};
        for (const PushCommand& one : push.commands())
            text += std::string(kChanges[static_cast<int>(one.change)]) + " " + one.ref + ";";
        if (state == State::need_more) text = "need more";
        if (state == State::refused) text = "refused: " + std::string(push.fault());
        EXPECT_TRUE(whole.empty() || text == whole) << "pieces of " << step;
        whole = text;
    }
    return whole;
}

TEST(PushReader, ReadsCommandsUpToTheFlush) {
    EXPECT_EQ(read(command(kZero, kOne, "refs/heads/agent/x", kCapabilities) + "0000PACK"),
              "create refs/heads/agent/x;");
    EXPECT_EQ(read(command(kOne, kTwo, "refs/heads/main", kCapabilities + "\n") +
                   command(kOne, kZero, "refs/heads/old\n") + "0000"),
              "update refs/heads/main;delete refs/heads/old;");
    EXPECT_EQ(read(packet_line("shallow " + kOne + "\n") +
                   command(kOne, kTwo, "refs/tags/v1", kCapabilities) + "0000"),
              "update refs/tags/v1;");
    EXPECT_EQ(
        read(command(std::string(64, '0'), std::string(64, 'a'), "refs/heads/x", kCapabilities) + "0000"),
        "create refs/heads/x;")
        << "SHA-256";
    EXPECT_EQ(read("0000"), "") << "the probe before a large push";
    EXPECT_EQ(read(command(kZero, kOne, "refs/heads/x", kCapabilities)), "need more");
    EXPECT_EQ(read("00"), "need more");
}

// git names this capability only if the push has options.
TEST(PushReader, RefusesOptionsThatItDoesNotRead) {
    const std::string text = read(command(kZero, kOne, "refs/heads/x", kCapabilities + " push-options") +
                                  "0000" + packet_line("merge_request.create") + "0000");
    EXPECT_TRUE(text.starts_with("refused: the options of a push are not read")) << text;
    EXPECT_EQ(read(command(kZero, kOne, "refs/heads/x", kCapabilities + " push-option") + "0000"),
              "create refs/heads/x;")
        << "the control";
}

TEST(PushReader, RefusesWhatGitDoesNotSend) {
    for (const std::string& body :
         {"zzzz"s,
          "-001"s,
          "0x10"s,
          "0001"s,
          "0002"s,
          "0004"s,
          "fff1"s + std::string(70000, 'x'),
          packet_line("push-cert\0 report-status"s),
          packet_line("certificate version 0.1\n"),
          command(kOne, kTwo, "main"),
          command(kOne, kTwo, "refs/heads/a b"),
          command(kOne, kTwo, "refs/heads/../x"),
          command(kOne, kTwo, "refs/heads/x.lock"),
          command(kOne, kTwo, "refs//x"),
          command(kOne, kTwo, "refs/heads/*"),
          command(kOne, kTwo, "refs/heads/x\x01"),
          command(kOne, std::string(64, '1'), "refs/heads/x"),
          command(std::string(39, '1'), kTwo, "refs/heads/x"),
          command(std::string(40, 'A'), kTwo, "refs/heads/x"),
          packet_line(kOne + "  " + kTwo + " refs/heads/x"),
          packet_line(kOne + " " + kTwo),
          packet_line("x"),
          command(kOne, kTwo, "refs/heads/x") + command(kOne, kTwo, "refs/heads/y", kCapabilities),
          command(kOne, kTwo, "refs/heads/x") + command(kZero, kTwo, "refs/heads/x"),
          command(kOne, kTwo, "refs/heads/x") + packet_line("shallow " + kOne)}) {
        EXPECT_TRUE(read(body).starts_with("refused: "))
            << base::printable(body.substr(0, 200)) << read(body);
    }
}

TEST(PushReader, IsBounded) {
    std::string body;
    for (size_t i = 0; i < kMaximumCommands + 1; ++i)
        body += command(kOne, kTwo, "refs/h/" + std::to_string(i));
    EXPECT_TRUE(read(body + "0000").starts_with("refused: ")) << "by bytes";
    PushReader push;
    std::string few;
    for (size_t i = 0; i < 400; ++i) few += command(kOne, kTwo, "refs/h/" + std::to_string(i));
    EXPECT_EQ(push.look(few + "0000"), State::complete);
    EXPECT_EQ(push.commands().size(), 400u);
}

TEST(GitRefusal, IsAnErrorPacket) {
    GitAnswer answer = git_refusal(GitService::fetch_refs, "no entry permits it");
    EXPECT_EQ(answer.content_type, "application/x-git-upload-pack-advertisement");
    EXPECT_EQ(answer.body,
              "001e# service=git-upload-pack\n00000036ERR refused by agent-sandbox: no entry permits it\n");
    EXPECT_EQ(git_refusal(GitService::fetch, "x").content_type, "application/x-git-upload-pack-result");
    EXPECT_EQ(git_refusal(GitService::push_refs, "x").content_type,
              "application/x-git-receive-pack-advertisement");
    EXPECT_EQ(git_refusal(GitService::fetch, "a\nb\x1b").body.find('\x1b'), std::string::npos);
}

TEST(PushRefusal, ReportsEachRefInTheFormThatTheClientAskedFor) {
    PushReader push;
    push.look(command(kZero, kOne, "refs/heads/a", kCapabilities) + command(kZero, kOne, "refs/heads/b") +
              "0000");
    GitAnswer answer = push_refusal(push, {"only x may be pushed", ""});
    EXPECT_EQ(answer.content_type, "application/x-git-receive-pack-result");
    std::string report =
        packet_line("unpack ok\n") +
        packet_line("ng refs/heads/a refused by agent-sandbox: only x may be pushed\n") +
        packet_line("ng refs/heads/b refused by agent-sandbox: another ref of this push is refused\n") +
        "0000";
    EXPECT_EQ(answer.body, packet_line("\x01" + report) + "0000");

    PushReader plain;
    plain.look(command(kZero, kOne, "refs/heads/a", "\0report-status"s) + "0000");
    EXPECT_EQ(
        push_refusal(plain, {"x"}).body,
        packet_line("unpack ok\n") + packet_line("ng refs/heads/a refused by agent-sandbox: x\n") + "0000");

    PushReader silent;
    silent.look(command(kZero, kOne, "refs/heads/a") + "0000");
    EXPECT_EQ(push_refusal(silent, {"x"}).body, packet_line("ERR refused by agent-sandbox: x\n"));
}

TEST(PushRefusal, OfManyRefsIsCutIntoPackets) {
    std::string body = command(kZero, kOne, "refs/h/first", kCapabilities);
    for (int i = 0; i < 500; ++i) body += command(kZero, kOne, "refs/h/" + std::to_string(i));
    PushReader push;
    ASSERT_EQ(push.look(body + "0000"), State::complete);
    std::string answer = push_refusal(push, std::vector<std::string>(501, std::string(300, 'x'))).body;
    size_t packets = 0;
    for (size_t at = 0; at < answer.size(); ++packets) {
        size_t length = std::stoul(answer.substr(at, 4), nullptr, 16);
        ASSERT_LE(length, 65520u);
        at += length == 0 ? 4 : length;
        ASSERT_LE(at, answer.size());
    }
    EXPECT_GT(packets, 3u);
}

// ---- The rules of requests.git

config::Item item(std::string text, config::Layer layer = config::Layer::user) {
    return {std::move(text), {.layer = layer, .file = "config.toml", .line = 7}};
}

Request request(std::string_view method, std::string_view target) {
    return {.host = "github.com", .method = method, .target = target};
}

TEST(GitRules, PermitByRepositoryAndOperation) {
    auto rules = RequestRules::make(
        {.git = {item("fetch github.com/**"), item("push github.com/me/app refs/heads/agent/*")}});
    ASSERT_TRUE(rules.ok());
    EXPECT_TRUE(rules->judge(request("GET", "/you/x.git/info/refs?service=git-upload-pack")).is_permitted());
    EXPECT_TRUE(rules->judge(request("POST", "/you/x/git-upload-pack")).is_permitted());
    EXPECT_TRUE(rules->judge(request("GET", "/me/app/info/refs?service=git-receive-pack")).is_permitted());
    Verdict refusal = rules->judge(request("GET", "/you/x.git/info/refs?service=git-receive-pack"));
    EXPECT_EQ(refusal.decision, Decision::refused);
    EXPECT_EQ(refusal.git, GitService::push_refs);
    EXPECT_EQ(refusal.reason, "no entry of requests.git permits to push to github.com/you/x");
    EXPECT_EQ(refusal.change, "add \"push github.com/you/x refs/heads/NAME\" to requests.git");
    EXPECT_EQ(rules->judge(request("POST", "/me/app.git/git-receive-pack")).need, Need::push_commands);
    EXPECT_EQ(rules->judge(request("GET", "/me/app/info/refs?service=git-x")).decision, Decision::refused);
    EXPECT_TRUE(rules->judge(request("GET", "/me/app/issues")).is_permitted()) << "not a request of git";
}

TEST(GitRules, JudgeEachRefOfAPush) {
    auto rules = RequestRules::make({.git = {item("push github.com/me/app refs/heads/agent/*"),
                                             item("push github.com/me/app refs/tags/** create")}});
    ASSERT_TRUE(rules.ok());
    Request push = request("POST", "/me/app.git/git-receive-pack");
    using enum PushCommand::Change;
    auto reason = [&](std::vector<PushCommand> commands) {
        PushVerdict verdict = rules->judge_push(push, commands);
        EXPECT_EQ(verdict.reasons.size(), commands.size());
        bool is_refused = verdict.verdict.decision == Decision::refused;
        std::string all = base::join(verdict.reasons, "|");
        EXPECT_EQ(is_refused, all.find_first_not_of('|') != std::string::npos);
        return all;
    };
    EXPECT_EQ(
        reason({{"refs/heads/agent/x", create}, {"refs/heads/agent/y", remove}, {"refs/tags/a/b", create}}),
        "||");
    EXPECT_EQ(reason({{"refs/heads/main", update}}), "only refs/heads/agent/*, refs/tags/** may be pushed");
    EXPECT_EQ(reason({{"refs/heads/agent/x/y", update}}),
              "only refs/heads/agent/*, refs/tags/** may be pushed");
    EXPECT_EQ(reason({{"refs/tags/a", update}}), "no entry permits to update this ref");
    EXPECT_EQ(reason({{"refs/heads/agent/x", update}, {"refs/tags/a", remove}}),
              "|no entry permits to delete this ref");
    EXPECT_EQ(reason({}), "") << "the probe";
    EXPECT_EQ(
        rules->judge_push(push, {{"refs/heads/main", update}}).verdict.reason,
        "the push of refs/heads/main to github.com/me/app is refused: only refs/heads/agent/*, refs/tags/** "
        "may be pushed");
}

TEST(GitRules, AreNarrowedByBlocksOfPathsAndByTheAdministrator) {
    using enum PushCommand::Change;
    auto rules = RequestRules::make(
        {.block = {item("* github.com/me/secret/**")}, .git = {item("fetch github.com/**")}});
    EXPECT_EQ(rules->judge(request("GET", "/me/secret/info/refs?service=git-upload-pack")).decision,
              Decision::refused);
    rules = RequestRules::make({.allow = {item("* github.com/**")}, .git = {item("fetch github.com/me/**")}});
    EXPECT_EQ(rules->judge(request("POST", "/you/x/git-upload-pack")).decision, Decision::refused)
        << "an entry about paths does not permit git's requests";
    rules =
        RequestRules::make({.git = {item("push github.com/me/** refs/heads/agent/*", config::Layer::admin),
                                    item("push github.com/** **")}});
    EXPECT_EQ(rules->judge(request("POST", "/you/x/git-receive-pack")).decision, Decision::refused);
    Request push = request("POST", "/me/app/git-receive-pack");
    EXPECT_EQ(rules->judge_push(push, {{"refs/heads/main", update}}).verdict.decision, Decision::refused);
    EXPECT_EQ(rules->judge_push(push, {{"refs/heads/agent/x", update}}).verdict.decision,
              Decision::permitted);
    rules = RequestRules::make(
        {.ask = {item("POST github.com/**")}, .git = {item("push github.com/me/app refs/heads/x")}});
    Verdict asked = rules->judge(push);
    EXPECT_EQ(asked.decision, Decision::ask);
    EXPECT_EQ(asked.need, Need::push_commands) << "an approval does not skip the commands";
}

}  // namespace
}  // namespace network::requests
