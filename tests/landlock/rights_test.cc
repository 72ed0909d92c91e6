// SPDX-License-Identifier: MIT
#include "landlock/wall.h"

#include <gtest/gtest.h>

namespace {

using namespace landlock;

struct Version {
    int abi;
    uint64_t guarded;
    size_t size;
};

// From the kernel's documentation of each version; the view controls reading and executing.
constexpr Version kVersions[] = {
    {1, 0x1ff2, 8},  {2, 0x3ff2, 8},  {3, 0x7ff2, 8},  {4, 0x7ff2, 16},
    {5, 0xfff2, 16}, {6, 0xfff2, 24}, {7, 0xfff2, 24}, {42, 0xfff2, 24},
};

TEST(Rights, EachVersionGuardsWhatItKnowsAndNothingElse) {
    for (const Version& version : kVersions) {
        EXPECT_EQ(guarded_rights(version.abi), version.guarded) << version.abi;
        EXPECT_EQ(size_for(version.abi), version.size) << version.abi;
    }
}

TEST(Rights, NothingIsGivenThatIsNotGuarded) {
    for (const Version& version : kVersions) {
        EXPECT_EQ(rights_to_write(version.abi) & ~guarded_rights(version.abi), 0u) << version.abi;
        EXPECT_EQ(rights_to_use(version.abi) & ~guarded_rights(version.abi), 0u) << version.abi;
    }
}

TEST(Rights, NoPlaceMayMakeDeviceNodes) {
    for (const Version& version : kVersions) {
        EXPECT_EQ(rights_to_write(version.abi) & (kMakeCharacterDevice | kMakeBlockDevice), 0u);
    }
}

TEST(Rights, DevicesAreControlledOnlyWhereDevicesAre) {
    EXPECT_EQ(rights_to_write(7) & kControlDevice, 0u);
    EXPECT_EQ(rights_to_use(7), kWriteFile | kTruncate | kControlDevice);
    EXPECT_EQ(rights_to_use(1), kWriteFile);
}

TEST(Rights, ReadingIsAsOldAsLandlockAndFilesHaveNoEntries) {
    EXPECT_EQ(rights_to_read(), 0xdu);
    for (const Version& version : kVersions) {
        EXPECT_EQ(rights_to_read() & guarded_rights(version.abi), 0u);
        uint64_t all = rights_to_read() | guarded_rights(version.abi);
        EXPECT_EQ(rights_of_files(version.abi) & ~all, 0u) << version.abi;
        EXPECT_EQ(rights_of_files(version.abi) & (kReadDirectory | kMakeFile | kRemoveFile), 0u);
    }
}

TEST(Rights, TcpComesWithVersionFour) {
    EXPECT_EQ(guarded_network(3), 0u);
    EXPECT_EQ(guarded_network(4), kListenTcp | kConnectTcp);
}

TEST(Rights, ScopesComeWithVersionSix) {
    EXPECT_EQ(guarded_scopes(5), 0u);
    EXPECT_EQ(guarded_scopes(6), kScopeAbstractSockets | kScopeSignals);
}

}  // namespace
