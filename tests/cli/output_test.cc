// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"

namespace {

class Pipe {
  public:
    Pipe() {
        int ends[2];
        if (::pipe(ends) != 0) std::abort();
        read_ = base::Fd(ends[0]);
        write_ = base::Fd(ends[1]);
    }
    int input() const { return write_.get(); }
    std::string drain() {
        write_.reset();
        return *base::read_descriptor(read_.get());
    }

  private:
    base::Fd read_, write_;
};

struct OutputTest : testing::Test {
    Pipe results, messages;
    cli::Output output(bool is_terminal, bool is_coloured = false) {
        return cli::Output({results.input(), is_terminal, is_coloured},
                           {messages.input(), is_terminal, is_coloured});
    }
};

TEST_F(OutputTest, EveryMessageCarriesTheProgramsName) {
    cli::Output out = output(true);
    out.information("a");
    out.warning("b");
    out.protection("c");
    EXPECT_EQ(out.fail({.what = "d", .advice = "e", .exit_code = base::ExitCode::usage}), 2);
    EXPECT_EQ(messages.drain(),
              "agent-sandbox: a\nagent-sandbox: b\nagent-sandbox: c\nagent-sandbox: d; e\n");
    EXPECT_EQ(results.drain(), "");
}

TEST_F(OutputTest, QuietSilencesInformationButNeitherErrorsNorProtection) {
    cli::Output out = output(true);
    out.set_quiet(true);
    out.information("information");
    out.warning("warning");
    out.protection("protection");
    out.error({.what = "error"});
    EXPECT_EQ(messages.drain(), "agent-sandbox: protection\nagent-sandbox: error\n");
}

TEST_F(OutputTest, InformationNeedsSomebodyWhoWatches) {
    cli::Output out = output(false);
    out.information("unseen");
    out.detail("unseen");
    out.set_verbose(true);
    out.information("seen");
    out.detail("seen too");
    EXPECT_EQ(messages.drain(), "agent-sandbox: seen\nagent-sandbox: seen too\n");
}

TEST_F(OutputTest, ForeignBytesCantDriveTheTerminal) {
    cli::Output out = output(true, true);
    out.error({.what = "cannot open \x1b]0;owned\x07\n"});
    EXPECT_EQ(messages.drain(),
              "\x1b[2magent-sandbox:\x1b[0m \x1b[31mcannot open \\x1b]0;owned\\x07\\x0a\x1b[0m\n");
}

TEST_F(OutputTest, AResultIsWrittenAsItIs) {
    EXPECT_EQ(output(false).result("text\n", 1), 1);
    EXPECT_EQ(results.drain(), "text\n");
    EXPECT_EQ(messages.drain(), "");
}

TEST_F(OutputTest, AResultThatCantBeWrittenIsAFailure) {
    cli::Output out({-1}, {messages.input()});
    EXPECT_EQ(out.result("text\n"), 1);
}

}  // namespace
