// SPDX-License-Identifier: MIT
// The key of the intermediate certificate signs for its names alone, also in the eyes of clients that do not
// share our code (constraints.py). The control is a certificate for a name that the intermediate is for.
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/places.h"
#include "network/tls/trust_store.h"
#include "pair.h"

namespace network::tls {
namespace {

// A server's files for `localhost`, signed by an intermediate that is for `name`.
void write_server(const std::filesystem::path& folder, const std::string& name) {
    std::filesystem::create_directories(folder);
    Authority authority = make_authority({name});
    auto leaf = authority.issuer.leaf("localhost", authority.now);
    ASSERT_TRUE(leaf.ok()) << leaf.error().line();
    std::ofstream(folder / "root.pem") << authority.root.pem();
    std::ofstream(folder / "chain.pem") << pem_of(**leaf) << authority.intermediate.certificate;
    std::ofstream(folder / "cacerts")
        << java_trust_store(certificates_in_pem(authority.root.pem()), authority.now);
    FILE* file = std::fopen((folder / "key.pem").c_str(), "w");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(PEM_write_PrivateKey(file, authority.issuer.leaf_key(), nullptr, nullptr, 0, nullptr, nullptr),
              1);
    std::fclose(file);
}

TEST(Constraints, HoldInRealClients) {
    std::string pattern = (std::filesystem::temp_directory_path() / "constraints.XXXXXX").string();
    std::filesystem::path folder = mkdtemp(pattern.data());
    write_server(folder / "own", "localhost");
    write_server(folder / "other", "api.example.org");
    std::string command = "python3 '" + test::data("/tls/constraints.py' '") + folder.string() + "' >'" +
                          folder.string() + "/out' 2>&1";
    int status = std::system(command.c_str());
    std::string output = base::read_file((folder / "out").string()).value();
    EXPECT_EQ(WEXITSTATUS(status), 0) << output;
    EXPECT_EQ(output.find("can't compile"), std::string::npos) << output;
    for (const char* client : {"curl", "wget", "python", "node", "java", "go"}) {
        if (output.find(std::string(client) + " is not installed") != std::string::npos) continue;
        EXPECT_NE(output.find(std::string(client) + " own: served"), std::string::npos) << output;
        EXPECT_NE(output.find(std::string(client) + " other: refused"), std::string::npos) << output;
    }
    EXPECT_EQ(output.find("python is not installed"), std::string::npos) << output;
    EXPECT_EQ(output.find("other: served"), std::string::npos) << output;
    EXPECT_EQ(output.find("own: refused"), std::string::npos) << output;
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace network::tls
