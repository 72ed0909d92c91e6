// SPDX-License-Identifier: MIT
// Checks the lists in share/ against the rules that their readers rely on.
#include "config/data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/path.h"
#include "base/text.h"
#include "config/value.h"

namespace {

using config::data_list;
using config::DataRow;

bool lists(std::string_view list, std::string_view entry) {
    auto rows = data_list(list);
    return std::ranges::find(rows, entry, &DataRow::entry) != rows.end();
}

const DataRow* blocked_by(std::string_view name) {
    for (const DataRow& row : data_list("environment/block"))
        if (row.entry == name) return &row;
    for (const DataRow& row : data_list("environment/block_patterns")) {
        bool ignores_case = row.entry.ends_with("/i");
        std::string_view pattern = row.entry.substr(0, row.entry.size() - (ignores_case ? 2 : 0));
        if (base::matches_name(pattern, name, ignores_case)) return &row;
    }
    return nullptr;
}

bool passes(std::string_view name) {
    auto rows = data_list("environment/pass");
    return blocked_by(name) == nullptr && !lists("environment/injection", name) &&
           std::ranges::any_of(rows, [&](const DataRow& row) { return base::matches_name(row.entry, name); });
}

std::string secret_kind(std::string_view value) {
    for (const DataRow& row : data_list("environment/secret_values")) {
        if (base::matches_name(row.entry, value)) return std::string(row.reason);
    }
    return {};
}

bool matches_row(std::string_view list, std::string_view path) {
    auto rows = data_list(list);
    return std::ranges::any_of(rows, [&](const DataRow& row) { return base::matches_path(row.entry, path); });
}

constexpr std::string_view kLists[] = {"environment/pass",
                                       "environment/block",
                                       "environment/block_patterns",
                                       "environment/injection",
                                       "environment/functions",
                                       "environment/secret_values",
                                       "home/readonly",
                                       "home/seeded",
                                       "home/registries",
                                       "home/credentials",
                                       "home/credentials_from_environment",
                                       "project/protect",
                                       "project/mask",
                                       "project/unmask",
                                       "system/trees",
                                       "system/trees_from_environment",
                                       "sockets/dangerous",
                                       "devices/never",
                                       "home/start_up",
                                       "home/start_up_programs",
                                       "home/filtered"};

TEST(Data, EveryListIsThereWithoutDuplicatesAndWithReasons) {
    for (std::string_view name : kLists) {
        std::set<std::string_view> seen;
        EXPECT_FALSE(data_list(name).empty()) << name;
        for (const DataRow& row : data_list(name)) {
            EXPECT_TRUE(seen.insert(row.entry).second) << name << ": " << row.entry;
            EXPECT_FALSE(base::trim(row.reason).empty()) << name << ": " << row.entry;
            EXPECT_FALSE(row.reason.ends_with('.')) << name << ": " << row.entry;
        }
    }
    EXPECT_TRUE(data_list("no/such").empty());
}

TEST(Data, BuiltInEntriesOfSettingsAreCanonical) {
    for (const config::Setting& setting : config::settings()) {
        if (!setting.fallback.starts_with('@')) continue;
        ASSERT_FALSE(data_list(setting.fallback.substr(1)).empty()) << setting.key;
        for (const DataRow& row : data_list(setting.fallback.substr(1))) {
            auto text = config::canonical_text(setting, row.entry);
            ASSERT_TRUE(text.ok()) << text.error().line();
            EXPECT_EQ(*text, row.entry) << setting.key;
        }
    }
}

TEST(Data, NothingThatPassesIsBlockedAgain) {
    for (const DataRow& row : data_list("environment/pass")) {
        std::string name(row.entry);
        std::ranges::replace(name, '*', 'X');
        EXPECT_EQ(blocked_by(name), nullptr) << row.entry << " by " << blocked_by(name)->entry;
        EXPECT_FALSE(lists("environment/injection", row.entry)) << row.entry;
    }
}

TEST(Data, WhatPeopleNeedPasses) {
    for (const char* name : {"PATH",
                             "HOME",
                             "LANG",
                             "LC_ALL",
                             "TERM",
                             "PWD",
                             "EDITOR",
                             "LD_LIBRARY_PATH",
                             "PYTHONPATH",
                             "VIRTUAL_ENV",
                             "CONDA_PREFIX",
                             "CONDA_PREFIX_1",
                             "CARGO_HOME",
                             "GOPATH",
                             "JAVA_HOME",
                             "NVM_DIR",
                             "MODULEPATH",
                             "LOADEDMODULES",
                             "_ModuleTable001_",
                             "_ModuleTable_Sz_",
                             "__LMOD_REF_COUNT_PATH",
                             "LMOD_CMD",
                             "BASH_ENV",
                             "SPACK_ROOT",
                             "EBROOTGCC",
                             "CUDA_VISIBLE_DEVICES",
                             "ROCR_VISIBLE_DEVICES",
                             "NCCL_DEBUG",
                             "OMP_NUM_THREADS",
                             "OMPI_MCA_btl",
                             "PMI_RANK",
                             "PMIX_RANK",
                             "PMIX_NAMESPACE",
                             "UCX_TLS",
                             "FI_PROVIDER",
                             "SLURM_JOB_ID",
                             "SLURM_NTASKS",
                             "SLURM_CPUS_PER_TASK",
                             "TOKENIZERS_PARALLELISM",
                             "HTTPS_PROXY",
                             "no_proxy",
                             "TMPDIR",
                             "CC",
                             "CMAKE_PREFIX_PATH",
                             "ASAN_OPTIONS"}) {
        EXPECT_TRUE(passes(name)) << name;
    }
}

TEST(Data, SecretsAndWaysOutAreBlocked) {
    for (const char* name : {"SSH_AUTH_SOCK",
                             "GH_TOKEN",
                             "GITHUB_TOKEN",
                             "GITHUB_PAT",
                             "CARGO_REGISTRY_TOKEN",
                             "MY_SECRET",
                             "DB_PASSWORD",
                             "X_PASSWD",
                             "MYSQL_PWD",
                             "AWS_PROFILE",
                             "AWS_ACCESS_KEY_ID",
                             "AZURE_TENANT_ID",
                             "GOOGLE_CLOUD_PROJECT",
                             "VAULT_ADDR",
                             "KUBECONFIG",
                             "DOCKER_HOST",
                             "CI_JOB_JWT",
                             "OPENAI_API_KEY",
                             "ANTHROPIC_AUTH_TOKEN",
                             "SLURM_JWT",
                             "SLURM_CONF",
                             "myPassWord",
                             "DATABASE_URL",
                             "PGPASSWORD",
                             "KRB5CCNAME",
                             "DISPLAY",
                             "DBUS_SESSION_BUS_ADDRESS",
                             "XAUTHORITY",
                             "TMUX",
                             "OLDPWD",
                             "npm_config__authToken",
                             "client_secret",
                             "BORG_PASSPHRASE",
                             "VSCODE_GIT_IPC_HANDLE"}) {
        EXPECT_NE(blocked_by(name), nullptr) << name;
    }
    EXPECT_EQ(blocked_by("PWD"), nullptr);
}

TEST(Data, LoaderVariablesAreInjectionAndSearchPathsAreNot) {
    for (const char* name :
         {"LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "SHELLOPTS", "NODE_OPTIONS", "PERL5OPT"}) {
        EXPECT_TRUE(lists("environment/injection", name)) << name;
    }
    for (const char* name : {"LD_LIBRARY_PATH", "PYTHONPATH", "BASH_ENV", "NODE_PATH"}) {
        EXPECT_FALSE(lists("environment/injection", name)) << name;
    }
}

TEST(Data, TokensAreRecognisedAndOrdinaryValuesAreNot) {
    const std::string forty(40, 'a');
    for (const std::string& token :
         {"ghp_" + forty, "https://ghp_" + forty + "@github.com/", "github_pat_" + forty, "sk-" + forty,
          "sk-ant-" + forty, std::string("xoxb-1-2"), std::string("AKIA0123456789ABCDEF"), "glpat-" + forty,
          "hf_" + forty, "npm_" + forty, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + forty,
          "Bearer " + forty}) {
        EXPECT_FALSE(secret_kind(token).empty()) << token;
    }
    for (const char* plain :
         {"sk-SK", "sk_SK.UTF-8", "Asia/Tokyo", "/usr/bin:/bin", "hf_cache", "npm_config", "key-value",
          "xterm-256color", "https://pypi.org/simple", "/home/ann/eyJ/x.y", "s.local", "truecolor", ""}) {
        EXPECT_EQ(secret_kind(plain), "") << plain;
    }
}

// A bind mount must not include a credential.
TEST(Data, NothingReadableOrWritableInTheHomeDirectoryIsACredential) {
    for (const DataRow& row : data_list("home/seeded")) {
        for (const DataRow& credential : data_list("home/credentials")) {
            EXPECT_FALSE(base::matches_path(credential.entry, row.entry)) << row.entry;
            EXPECT_FALSE(credential.entry.starts_with(std::string(row.entry) + "/"))
                << row.entry << " holds " << credential.entry;
        }
    }
    for (const char* whole : {".cargo", ".m2", ".gradle", ".config", ".local", ".local/share", ".cache",
                              ".cache/huggingface", ".docker"}) {
        EXPECT_FALSE(lists("home/readonly", whole)) << whole;
    }
}

TEST(Data, WildcardsStandInTheLastPartOnly) {
    for (std::string_view list : {"home/credentials", "home/start_up", "home/start_up_programs",
                                  "project/protect", "project/mask", "project/unmask"}) {
        for (const DataRow& row : data_list(list)) {
            std::string_view parent = row.entry.substr(0, row.entry.rfind('/', row.entry.size() - 2));
            bool has_parent = parent != row.entry;
            EXPECT_FALSE(has_parent && base::has_wildcard(parent)) << row.entry;
            EXPECT_FALSE(row.entry.starts_with('/')) << row.entry;
        }
    }
}

TEST(Data, SystemTreesAreAbsoluteAndLeaveOutWhatIsPersonal) {
    for (const DataRow& row : data_list("system/trees")) EXPECT_TRUE(row.entry.starts_with('/')) << row.entry;
    for (const char* absent :
         {"/", "/etc", "/var", "/srv", "/root", "/home", "/mnt", "/media", "/run", "/tmp"}) {
        EXPECT_FALSE(lists("system/trees", absent)) << absent;
    }
}

TEST(Data, DangerousSocketsAreRecognisedWhereverTheyLie) {
    for (const char* socket :
         {"/run/docker.sock", "/home/ann/.docker/run/docker.sock", "/run/user/1000/bus",
          "/run/user/1000/podman/podman.sock", "/run/dbus/system_bus_socket", "/tmp/ssh-abc/agent.17",
          "/run/user/1000/gnupg/S.gpg-agent", "/run/munge/munge.socket.2", "/tmp/.X11-unix/X0",
          "/run/user/1000/wayland-0", "/run/systemd/private", "/tmp/tmux-1000/default"}) {
        EXPECT_TRUE(matches_row("sockets/dangerous", socket)) << socket;
    }
    EXPECT_FALSE(matches_row("sockets/dangerous", "/run/nscd/socket"));
    EXPECT_FALSE(matches_row("sockets/dangerous", "/lab/app/server.sock"));
}

TEST(Data, DisksAndTerminalsAreNeverLetInAndAcceleratorsMayBe) {
    for (const char* device :
         {"/dev/mem", "/dev/sda1", "/dev/nvme0n1", "/dev/vda", "/dev/loop0", "/dev/fuse", "/dev/pts/3",
          "/dev/tty", "/dev/tty1", "/dev/tty63", "/dev/ttyS0", "/dev/input/event0", "/dev/dm-0"}) {
        EXPECT_TRUE(matches_row("devices/never", device)) << device;
    }
    for (const char* device :
         {"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/kfd", "/dev/dri/renderD128",
          "/dev/infiniband/uverbs0", "/dev/ttyUSB0", "/dev/video0", "/dev/kvm"}) {
        EXPECT_FALSE(matches_row("devices/never", device)) << device;
    }
}

}  // namespace
