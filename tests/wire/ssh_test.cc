// SPDX-License-Identifier: MIT
#include "network/wire/refusals.h"

#include <gtest/gtest.h>

#include "verdicts.h"

namespace network::wire {
namespace {

TEST(Ssh, IdentifiesItselfAndDisconnectsWithTheText) {
    std::string sent = ssh_refusal("no");
    std::string identification = "SSH-2.0-agent_sandbox\r\n";
    ASSERT_TRUE(sent.starts_with(identification));
    // Length 20, padding 4, DISCONNECT, reason 1, "no", no language.
    EXPECT_EQ(hexadecimal(sent.substr(identification.size())),
              "00000014"
              "04"
              "01"
              "00000001"
              "00000002"
              "6e6f"
              "00000000"
              "00000000");
}

TEST(Ssh, EscapesAndCutsTheText) {
    EXPECT_NE(ssh_refusal("\x1b[31m").find("\\x1b[31m"), std::string::npos);
    EXPECT_LT(ssh_refusal(std::string(9999, '\x1b')).size(), 450u);
}

}  // namespace
}  // namespace network::wire
