// SPDX-License-Identifier: MIT
#include "network/tls/authority.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "pair.h"

namespace network::tls {
namespace {

// The output of a program of OpenSSL's own command, as clients that do not share our code see a certificate.
struct Output {
    int status;
    std::string text;
};
Output openssl(const std::string& arguments, const std::filesystem::path& folder) {
    std::string command = "cd '" + folder.string() + "' && openssl " + arguments + " >out 2>&1";
    int status = std::system(command.c_str());
    return {WEXITSTATUS(status), base::read_file((folder / "out").string()).value()};
}

class Authorities : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "tls_test.XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
    }
    // Whether a strict client accepts a leaf for this name.
    Output verify(const Authority& authority, const std::string& name) const {
        auto leaf = authority.issuer.leaf(name, authority.now);
        EXPECT_TRUE(leaf.ok()) << leaf.error().line();
        write("root.pem", authority.root.pem());
        write("intermediate.pem", authority.intermediate.certificate);
        write("leaf.pem", pem_of(**leaf));
        return openssl("verify -x509_strict -purpose sslserver -verify_hostname " + name +
                           " -CAfile root.pem -untrusted intermediate.pem leaf.pem",
                       folder_);
    }
    std::filesystem::path folder_;
};

TEST_F(Authorities, SignForTheirNamesAndBelowAlone) {
    Authority authority = make_authority({"api.example.org", "github.com"});
    for (const char* name : {"api.example.org", "github.com", "below.github.com"}) {
        Output output = verify(authority, name);
        EXPECT_EQ(output.status, 0) << name << ": " << output.text;
    }
    for (const char* name : {"evil.example", "example.org", "xgithub.com", "github.com.evil.example"}) {
        Output output = verify(authority, name);
        EXPECT_NE(output.status, 0) << name;
        EXPECT_NE(output.text.find("permitted subtree violation"), std::string::npos) << output.text;
    }
}

TEST_F(Authorities, HaveTheExtensionsThatStrictClientsNeed) {
    Authority authority = make_authority({"api.example.org"});
    verify(authority, "api.example.org");
    for (const char* file : {"root.pem", "intermediate.pem", "leaf.pem"}) {
        std::string text = openssl("x509 -noout -text -in " + std::string(file), folder_).text;
        for (const char* part :
             {"Version: 3", "prime256v1", "X509v3 Subject Key Identifier", "X509v3 Authority Key Identifier",
              "X509v3 Basic Constraints: critical", "X509v3 Key Usage: critical", "ecdsa-with-SHA256"})
            EXPECT_NE(text.find(part), std::string::npos) << file << ": " << part;
    }
    std::string text = openssl("x509 -noout -text -in intermediate.pem", folder_).text;
    for (const char* part : {"CA:TRUE, pathlen:0", "X509v3 Name Constraints: critical", "DNS:api.example.org",
                             "IP:0.0.0.0/0.0.0.0", "IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0"})
        EXPECT_NE(text.find(part), std::string::npos) << part << text;
    std::string leaf = openssl("x509 -noout -text -in leaf.pem", folder_).text;
    for (const char* part :
         {"CA:FALSE", "Digital Signature", "TLS Web Server Authentication", "DNS:api.example.org"})
        EXPECT_NE(leaf.find(part), std::string::npos) << part;
}

TEST_F(Authorities, EndInTime) {
    std::time_t now = 1'800'000'000;
    Authority authority = make_authority({"a.example"}, now);
    auto leaf = authority.issuer.leaf("a.example", now + 6 * 86400);
    write("root.pem", authority.root.pem());
    write("intermediate.pem", authority.intermediate.certificate);
    write("leaf.pem", pem_of(**leaf));
    auto verify_at = [&](std::time_t when) {
        return openssl("verify -attime " + std::to_string(when) +
                           " -CAfile root.pem -untrusted intermediate.pem leaf.pem",
                       folder_)
            .status;
    };
    EXPECT_EQ(verify_at(now + 6 * 86400), 0);
    EXPECT_NE(verify_at(now + 8 * 86400), 0) << "the leaf ends with its issuer";
    EXPECT_NE(verify_at(now - 7200), 0);
    auto later = authority.root.issue(std::vector<std::string>{"a.example", "b.example"}, now + 80 * 86400);
    ASSERT_TRUE(later.ok()) << "the same root signs a new intermediate";
}

TEST_F(Authorities, RefuseNamesThatCouldChangeAnExtension) {
    Authority authority = make_authority({"a.example"});
    for (const std::string& name :
         {std::string(), std::string("a,DNS:b"), std::string("a b"), std::string("A.example"),
          std::string("a\nb"), std::string("*.a"), std::string(300, 'a')}) {
        EXPECT_FALSE(authority.issuer.leaf(name, authority.now).ok()) << name;
        EXPECT_FALSE(authority.root.issue(std::vector{name}, authority.now).ok()) << name;
    }
    EXPECT_FALSE(authority.root.issue({}, authority.now).ok());
    EXPECT_FALSE(authority.root.issue(std::vector<std::string>(257, "a.example"), authority.now).ok());
    EXPECT_TRUE(authority.root.issue(std::vector<std::string>(256, "a.example"), authority.now).ok());
    EXPECT_TRUE(
        authority.issuer
            .leaf("x." + std::string(60, 'a') + "." + std::string(60, 'b') + ".example", authority.now)
            .ok())
        << "longer than a common name";
}

TEST_F(Authorities, NeedTheKeyOfTheirCertificate) {
    Authority one = make_authority({"a.example"}), other = make_authority({"a.example"});
    Intermediate mixed{.certificate = one.intermediate.certificate, .key = other.intermediate.key.copy()};
    EXPECT_FALSE(LeafIssuer::make(mixed).ok());
    Intermediate empty{.certificate = one.intermediate.certificate, .key = {}};
    EXPECT_FALSE(LeafIssuer::make(empty).ok());
    EXPECT_FALSE(LeafIssuer::make({.certificate = "x", .key = {}}).ok());
}

}  // namespace
}  // namespace network::tls
