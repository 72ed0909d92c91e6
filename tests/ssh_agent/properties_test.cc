// SPDX-License-Identifier: MIT
#include "ssh_agent/properties.h"

#include <gtest/gtest.h>

#include "fuzz/over_corpus.h"

namespace ssh_agent {
namespace {

TEST(SshAgentProperties, HoldForTheSeeds) {
    fuzz::expect_unbroken("ssh_agent/corpus/filter", broken_for_filter);
    fuzz::expect_unbroken("ssh_agent/corpus/known_hosts", broken_for_known_hosts);
}

}  // namespace
}  // namespace ssh_agent
