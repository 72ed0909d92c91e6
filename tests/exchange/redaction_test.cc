// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <random>

#include "base/encoding/base64.h"
#include "network/exchange/redactor.h"
#include "playbook.h"

namespace network::exchange {
namespace {

RedactionForms forms_of(const std::string& value,
                        const std::vector<std::string>& users = {"x-access-token"}) {
    RedactionForms forms;
    forms.add(secret(value), users);
    return forms;
}

std::string in_pieces(const RedactionForms& forms, std::string_view text, size_t piece) {
    Redactor redactor(&forms);
    std::string out;
    for (size_t at = 0; at < text.size(); at += piece) redactor.take(text.substr(at, piece), out);
    redactor.finish(out);
    return out;
}

std::string in_two(const RedactionForms& forms, std::string_view text, size_t cut) {
    Redactor redactor(&forms);
    std::string out;
    redactor.take(text.substr(0, cut), out);
    redactor.take(text.substr(cut), out);
    redactor.finish(out);
    return out;
}

struct Form {
    std::string text;
    size_t shown_before = 0, shown_after = 0;  // letters at the ends that mix the value with its neighbours
};

std::vector<Form> forms_in_answers() {
    std::vector<Form> forms = {{kValue}, {percent_encoded(kValue)}};
    std::string lower = percent_encoded(kValue);
    for (size_t i = 0; i + 2 < lower.size(); ++i) {
        if (lower[i] != '%') continue;
        for (size_t at : {i + 1, i + 2}) lower[at] = static_cast<char>(std::tolower(lower[at]));
    }
    forms.push_back({lower});
    std::string json;
    for (char letter : kValue) json += letter == '/' ? "\\/" : std::string(1, letter);
    forms.push_back({json});
    forms.push_back({base::to_base64("x-access-token:" + kValue)});
    return forms;
}

TEST(Redactor, ReplacesEveryFormInEveryCut) {
    RedactionForms forms = forms_of(kValue);
    for (const Form& form : forms_in_answers()) {
        std::string text = "before " + form.text + " after";
        std::string expected = "before " + std::string(form.text.size(), '*') + " after";
        EXPECT_EQ(in_pieces(forms, text, text.size()), expected);
        for (size_t cut = 0; cut <= text.size(); ++cut) ASSERT_EQ(in_two(forms, text, cut), expected) << cut;
        for (size_t piece = 1; piece < 20; ++piece)
            ASSERT_EQ(in_pieces(forms, text, piece), expected) << piece;
    }
}

// Java codes "~", and some programs code every byte.
TEST(Redactor, ReplacesFormsWithMoreCodesThanNeeded) {
    const std::string value = "tok~en_AbCdEfGhIjKlMnOpQrStUvWxYz+/=";
    RedactionForms forms = forms_of(value, {});
    std::string java, percent, json;
    for (char letter : value) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x",
                      static_cast<unsigned>(static_cast<unsigned char>(letter)));
        percent += std::string("%") + digits;
        json += std::string("\\u00") + digits;
        java += letter == '~' ? "%7E" : percent_encoded(std::string(1, letter));
    }
    for (const std::string& form : {java, percent, json}) {
        std::string expected = "before " + std::string(form.size(), '*') + " after";
        for (size_t piece : {1, 5, 1000})
            EXPECT_EQ(in_pieces(forms, "before " + form + " after", piece), expected) << form;
    }
    // Control: the same codes of another text.
    EXPECT_EQ(in_pieces(forms, percent.substr(0, percent.size() - 3), 7),
              percent.substr(0, percent.size() - 3));
}

// The letters of base64 at both ends depend on the bytes around the value; the rest does not.
TEST(Redactor, ReplacesTheValueInsideBase64OfAnyText) {
    RedactionForms forms = forms_of(kValue, {});
    for (const std::string before : {"", "a", "ab", "abc", "user:", "some\xff"}) {
        for (const std::string after : {"", "z", "zz", "zzz"}) {
            for (bool is_url : {false, true}) {
                std::string text = base::to_base64(before + kValue + after);
                if (is_url) {
                    for (char& letter : text) letter = letter == '+' ? '-' : letter == '/' ? '_' : letter;
                }
                std::string out = in_pieces(forms, text, 5);
                ASSERT_EQ(out.size(), text.size());
                size_t stars = static_cast<size_t>(std::count(out.begin(), out.end(), '*'));
                EXPECT_GE(stars + 2, kValue.size() * 8 / 6) << text << " gives " << out;
            }
        }
    }
}

TEST(Redactor, LeavesOtherTextAlone) {
    RedactionForms forms = forms_of(kValue);
    std::mt19937 random(7);
    std::string text;
    for (int i = 0; i < 20000; ++i) text += static_cast<char>(random());
    for (int i = 0; i < 200; ++i) text += kValue.substr(0, random() % kValue.size());
    for (size_t piece : {1, 13, 4096}) EXPECT_EQ(in_pieces(forms, text, static_cast<size_t>(piece)), text);
    EXPECT_EQ(Redactor(nullptr).redacted(kValue), kValue);
    RedactionForms none;
    EXPECT_EQ(Redactor(&none).redacted(kValue), kValue);
}

TEST(Redactor, HoldsOnlyTheBeginningOfAForm) {
    RedactionForms forms = forms_of(kValue, {});
    Redactor redactor(&forms);
    std::string out;
    redactor.take("data: hello\n\n", out);
    EXPECT_EQ(out, "data: hello\n\n") << "an event of a stream passes at once";
    EXPECT_EQ(redactor.held(), 0u);
    redactor.take("data: " + kValue.substr(0, 10), out);
    EXPECT_EQ(redactor.held(), 10u);
    redactor.take("!\n", out);
    EXPECT_EQ(redactor.held(), 0u);
    EXPECT_EQ(out, "data: hello\n\ndata: " + kValue.substr(0, 10) + "!\n");
    for (const char letter : kValue) {
        redactor.take(std::string(1, letter), out);
        EXPECT_LT(redactor.held(), forms.longest());
    }
    redactor.finish(out);
    EXPECT_TRUE(out.ends_with(std::string(kValue.size(), '*')));
    EXPECT_TRUE(redactor.has_found());
}

// A client of a tunnel waits for the last byte of a message, whatever it is.
TEST(Redactor, PassesAFewBytesThatMayBeginAFormAndFindsItAllTheSame) {
    RedactionForms forms = forms_of(kValue, {});
    constexpr size_t kPassed = 4;
    for (size_t cut = 0; cut <= kValue.size(); ++cut) {
        Redactor redactor(&forms);
        redactor.pass_beginnings();
        std::string out;
        redactor.take("frame " + kValue.substr(0, cut), out);
        size_t shown = std::min(cut, kPassed);
        if (cut < kValue.size()) EXPECT_EQ(out, "frame " + kValue.substr(0, shown)) << cut;
        redactor.take(kValue.substr(cut) + kValue + " end", out);
        redactor.finish(out);
        std::string first = cut == kValue.size() ? "" : kValue.substr(0, shown);
        EXPECT_EQ(out, "frame " + first + std::string(2 * kValue.size() - first.size(), '*') + " end") << cut;
    }
    for (const std::string& text :
         {std::string(100, kValue[0]), kValue.substr(0, 3) + kValue.substr(0, 9) + "x"}) {
        Redactor redactor(&forms);
        redactor.pass_beginnings();
        std::string out;
        for (char letter : text) redactor.take(std::string(1, letter), out);
        EXPECT_EQ(out, text);
    }
}

TEST(Redactor, FindsValuesThatOverlapAndThatBeginAlike) {
    std::string value = "abababab";
    RedactionForms forms = forms_of(value, {});
    for (size_t piece = 1; piece < 9; ++piece)
        EXPECT_EQ(in_pieces(forms, "xabababababx", piece), "x**********x") << piece;
    RedactionForms two;
    two.add(secret("commonprefix-one"));
    two.add(secret("commonprefix-three-longer"));
    for (size_t piece = 1; piece < 30; ++piece) {
        EXPECT_EQ(in_pieces(two, "commonprefix-one commonprefix-three-longer commonprefix-two", piece),
                  std::string(16, '*') + " " + std::string(25, '*') + " commonprefix-two");
        EXPECT_EQ(in_pieces(two, "commonprefix-commonprefix-one", piece),
                  "commonprefix-" + std::string(16, '*'));
    }
}

TEST(Redactor, FindsManyValues) {
    RedactionForms forms;
    std::vector<std::string> values;
    for (int i = 0; i < 32; ++i) {
        values.push_back("credential-" + std::to_string(1000 + i) + std::string(static_cast<size_t>(i), 'x'));
        forms.add(secret(values.back()));
    }
    std::string text, expected;
    for (const std::string& value : values) {
        text += "[" + value + "!]";
        expected += "[" + std::string(value.size(), '*') + "!]";
    }
    std::string out = in_pieces(forms, text, 11);
    EXPECT_EQ(out.find("credential"), std::string::npos);
    EXPECT_EQ(out.size(), expected.size());
}

// ---- Answers

wire::HttpRequest request_of(std::string method = "GET", int minor_version = 1) {
    wire::HttpRequest request;
    request.method = std::move(method);
    request.minor_version = minor_version;
    return request;
}

struct Back {
    std::string text;
    Answer::Stage stage;
    bool keeps_alive = false, is_uninspected = false, has_redacted = false;
};

Back back(std::string_view input, size_t piece = SIZE_MAX, const wire::HttpRequest& request = request_of(),
          bool is_closed = false) {
    RedactionForms forms = forms_of(kValue);
    Answer answer(request, &forms);
    Back result;
    for (size_t at = 0; at < input.size();) {
        size_t used = answer.take(input.substr(at, piece), result.text);
        at += used;
        if (used == 0) break;
    }
    if (is_closed) answer.end(result.text);
    result.stage = answer.stage();
    result.keeps_alive = answer.keeps_alive();
    result.is_uninspected = answer.is_uninspected();
    result.has_redacted = answer.has_redacted();
    return result;
}

const std::string kStars(kValue.size(), '*');

TEST(Answer, IsRedactedInHeadBodyAndTrailers) {
    std::string input = "HTTP/1.1 401 Bad " + kValue +
                        "\r\nLocation: https://x/?t=" + percent_encoded(kValue) +
                        "\r\nSet-Cookie: a=" + kValue + "\r\nTransfer-Encoding: chunked\r\n\r\n";
    std::string body = "your token " + kValue + " is wrong";
    for (char letter : body) input += std::string("1\r\n") + letter + "\r\n";
    input += "0\r\nX-Debug: " + kValue + "\r\n\r\n";
    for (size_t piece : {SIZE_MAX, size_t{1}, size_t{2}, size_t{50}}) {
        Back result = back(input, piece);
        EXPECT_EQ(result.stage, Answer::Stage::complete);
        EXPECT_TRUE(result.has_redacted);
        EXPECT_TRUE(result.keeps_alive);
        EXPECT_EQ(result.text.find("RealValue"), std::string::npos) << result.text;
        EXPECT_TRUE(result.text.starts_with("HTTP/1.1 401 Bad " + kStars + "\r\nLocation: https://x/?t="));
        EXPECT_NE(result.text.find("\r\nX-Debug: " + kStars + "\r\n\r\n"), std::string::npos);
    }
}

TEST(Answer, KeepsItsLength) {
    std::string body = "a " + kValue + " b";
    Back result =
        back("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body, 3);
    EXPECT_EQ(result.text, "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                               "\r\n\r\na " + kStars + " b");
    std::string part = "ends within " + kValue.substr(0, 12);
    result = back("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(part.size()) + "\r\n\r\n" + part);
    EXPECT_TRUE(result.text.ends_with(part)) << "the beginning of a value at the end is not lost";
    result = back("HTTP/1.1 200 OK\r\n\r\n" + body, 4, request_of(), true);
    EXPECT_EQ(result.text, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\na " + kStars + " b");
    EXPECT_FALSE(result.keeps_alive);
}

TEST(Answer, PassesAStreamWithoutDelay) {
    RedactionForms forms = forms_of(kValue);
    wire::HttpRequest request = request_of();
    Answer answer(request, &forms);
    std::string out;
    answer.take("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
                out);
    EXPECT_TRUE(out.ends_with("\r\n\r\n"));
    for (int i = 0; i < 10; ++i) {
        out.clear();
        answer.take("e\r\ndata: event 1\n\r\n", out);
        EXPECT_EQ(out, "e\r\ndata: event 1\n\r\n");
    }
}

TEST(Answer, DropsFieldsThatEndHereOrLeadAround) {
    Back result = back(
        "HTTP/1.1 200 OK\r\nAlt-Svc: h3=\":443\"\r\nKeep-Alive: timeout=5\r\nConnection: keep-alive\r\nA: "
        "b\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(result.text, "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 0\r\n\r\n");
}

TEST(Answer, PassesInterimAnswersAndUpgrades) {
    Back result = back(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No "
        "Content\r\n\r\nHTTP",
        7);
    EXPECT_EQ(result.text,
              "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No "
              "Content\r\n\r\n");
    EXPECT_EQ(result.stage, Answer::Stage::complete);
    std::string upgrade =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x05hello";
    EXPECT_EQ(back(upgrade).stage, Answer::Stage::failed) << "the client did not ask for it";
    wire::HttpRequest wants = request_of();
    wants.wants_websocket = true;
    result = back(upgrade + kValue + "!", SIZE_MAX, wants);
    EXPECT_EQ(
        result.text,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x05hello" +
            kStars + "!");
    EXPECT_EQ(result.stage, Answer::Stage::tunnel);
    std::string many;
    for (int i = 0; i < 100; ++i) many += "HTTP/1.1 102 x\r\n\r\n";
    EXPECT_EQ(back(many).stage, Answer::Stage::failed);
}

TEST(Answer, ToHeadAndToAnOldClient) {
    EXPECT_EQ(back("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", 9, request_of("HEAD")).text,
              "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n");
    Back old = back("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", 9,
                    request_of("GET", 0));
    EXPECT_EQ(old.text, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhi");
    EXPECT_FALSE(old.keeps_alive);
}

TEST(Answer, ThatIsCompressedPassesAndIsReported) {
    std::string body = "\x1f\x8b" + base::to_base64(kValue).substr(0, 6) + "\x01\x02\x03";
    Back result =
        back("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " + std::to_string(body.size()) +
             "\r\n\r\n" + body);
    EXPECT_TRUE(result.is_uninspected);
    EXPECT_TRUE(result.text.ends_with(body));
    EXPECT_FALSE(
        back("HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 0\r\n\r\n").is_uninspected);
}

TEST(Answer, ThatCouldBeReadAsTwoIsNotForwarded) {
    for (std::string_view head :
         {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
          "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
          "HTTP/1.1 200 OK\nA: b\n\n", "ICY 200 OK\r\n\r\n"}) {
        Back result = back(head);
        EXPECT_EQ(result.stage, Answer::Stage::failed) << head;
        EXPECT_EQ(result.text, "");
    }
    EXPECT_EQ(back("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal", 5, request_of(), true).stage,
              Answer::Stage::failed);
    EXPECT_EQ(back("HTTP/1.1 200", 5, request_of(), true).stage, Answer::Stage::failed);
    EXPECT_EQ(back("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").stage,
              Answer::Stage::failed);
}

}  // namespace
}  // namespace network::exchange
