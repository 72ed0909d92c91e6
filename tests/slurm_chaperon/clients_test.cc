// SPDX-License-Identifier: MIT
#include "slurm/chaperon/conversation.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary_directory.h"

namespace {

using base::Path;
using slurm::chaperon::Clients;

ino_t inode_of(int descriptor) {
    struct stat status = {};
    return ::fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

TEST(Clients, WhatAnotherCouldReplaceIsOpenBeforeIt) {
    testing_support::TemporaryDirectory directory;
    const std::string file = directory.write("sbatch", "the site's");
    struct stat sites;
    ASSERT_EQ(::stat(file.c_str(), &sites), 0);
    Clients clients;
    clients.add("sbatch", Path::known(file));
    ASSERT_EQ(::rename(directory.write("forged", "the jail's").c_str(), file.c_str()), 0);
    EXPECT_EQ(inode_of(clients.descriptor_of("sbatch")), sites.st_ino);
}

TEST(Clients, OfRootsDirectoriesAreOpenedWhenTheyAreNeeded) {
    ::fflush(nullptr);
    pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
        Clients clients;
        clients.add("cat", Path::known("/usr/bin/cat"));
        clients.add("none", Path::known("/usr/bin/no-such-command"));
        bool is_waiting = true;
        int open = 0;
        for (int descriptor : clients.descriptors()) open += descriptor >= 0 ? 1 : 0;
        is_waiting = open == 1;
        struct stat real;
        bool is_same =
            ::stat("/usr/bin/cat", &real) == 0 && inode_of(clients.descriptor_of("cat")) == real.st_ino;
        ::_exit(is_waiting && is_same && clients.descriptor_of("none") < 0 ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(Clients, WhatIsNotThereIsNone) {
    Clients clients;
    clients.add("sbatch", Path::known("/no/such/place/sbatch"));
    clients.add("srun", base::Fd());
    EXPECT_LT(clients.descriptor_of("sbatch"), 0);
    EXPECT_LT(clients.descriptor_of("srun"), 0);
    EXPECT_LT(clients.descriptor_of("squeue"), 0);
}

}  // namespace
