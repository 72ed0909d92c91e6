// SPDX-License-Identifier: MIT
#include "session/helpers/certificates.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "base/process/descriptors.h"

namespace session {
namespace {

const std::vector<std::string> kNames = {"api.example.org", "git.example.org"};

TEST(CertificateMaker, GivesARootAndTheKeyOfItsIntermediateAlone) {
    auto maker = CertificateMaker::start(kNames, std::time(nullptr));
    ASSERT_TRUE(maker) << maker.error().line();
    auto made = (*maker)->take();
    ASSERT_TRUE(made) << made.error().line();
    EXPECT_TRUE(made->root.starts_with("-----BEGIN CERTIFICATE-----"));
    EXPECT_EQ(made->root.find("KEY"), std::string::npos);
    EXPECT_EQ(made->root_link.size(), 10u) << made->root_link;
    auto issuer = network::tls::LeafIssuer::make(made->intermediate);
    ASSERT_TRUE(issuer) << issuer.error().line();
    EXPECT_TRUE(issuer->leaf("api.example.org", std::time(nullptr)));
}

// Answers come in the order of the orders.
base::Result<base::Fd> issued(CertificateMaker& maker, const std::vector<std::string>& names) {
    base::Result<base::Fd> answer = base::Error{.what = "no answer"};
    maker.issue(names, [&](base::Result<base::Fd> file) { answer = std::move(file); });
    if (maker.events() < 0) return answer;
    EXPECT_NE(base::await_events(maker.events(), POLLIN, std::chrono::seconds(60)), 0);
    maker.hear();
    return answer;
}

TEST(CertificateMaker, SignsFurtherNamesWithTheSameRoot) {
    auto maker = CertificateMaker::start(kNames, std::time(nullptr));
    ASSERT_TRUE(maker);
    auto made = (*maker)->take();
    ASSERT_TRUE(made);
    auto file = issued(**maker, {"added.example.org", "api.example.org"});
    ASSERT_TRUE(file) << file.error().line();
    // Sealed: the gateway reads what the process wrote.
    EXPECT_EQ(::write(file->get(), "x", 1), -1);
    auto bytes = base::read_descriptor(file->get());
    ASSERT_TRUE(bytes);
    auto intermediate = network::tls::decode_intermediate(*bytes);
    ASSERT_TRUE(intermediate) << intermediate.error().line();
    auto issuer = network::tls::LeafIssuer::make(*intermediate);
    ASSERT_TRUE(issuer) << issuer.error().line();
    EXPECT_TRUE(issuer->leaf("added.example.org", std::time(nullptr)));
    EXPECT_GE(issuer->end(), std::time(nullptr) + 6 * 86400);
    auto refused = issued(**maker, {"not a name"});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().what.find("not a host name"), std::string::npos) << refused.error().what;
    EXPECT_TRUE(issued(**maker, kNames)) << "a refusal ends nothing";
}

// Threat: the process with the root's key is taken over or read by another one.
TEST(CertificateMaker, IsConfinedAndCantBeRead) {
    auto maker = CertificateMaker::start(kNames, std::time(nullptr));
    ASSERT_TRUE(maker);
    ASSERT_TRUE((*maker)->take());
    ASSERT_TRUE(issued(**maker, kNames)) << "it takes orders, so it has confined itself";
    const std::string place = "/proc/" + std::to_string((*maker)->process());
    auto status = base::read_file(place + "/status");
    ASSERT_TRUE(status);
    EXPECT_NE(status->find("Seccomp:\t2"), std::string::npos) << *status;
    EXPECT_NE(status->find("NoNewPrivs:\t1"), std::string::npos) << *status;
    struct stat owner = {};
    ASSERT_EQ(::stat(place.c_str(), &owner), 0);
    EXPECT_EQ(owner.st_uid, 0u) << "of a process that is not dumpable";
}

TEST(CertificateMaker, ReportsThatItsProcessWasEnded) {
    auto maker = CertificateMaker::start(kNames, std::time(nullptr));
    ASSERT_TRUE(maker);
    ASSERT_TRUE((*maker)->take());
    ::kill((*maker)->process(), SIGKILL);
    auto file = issued(**maker, kNames);
    ASSERT_FALSE(file);
    EXPECT_NE(file.error().what.find("has ended"), std::string::npos) << file.error().what;
}

TEST(CertificateMaker, ReportsWhyThereAreNone) {
    auto maker = CertificateMaker::start({"not a name"}, std::time(nullptr));
    ASSERT_TRUE(maker);
    auto made = (*maker)->take();
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().what.find("not a host name"), std::string::npos) << made.error().what;
}

TEST(CertificateMaker, EndsWithItsOwner) {
    auto maker = CertificateMaker::start(kNames, std::time(nullptr));
    ASSERT_TRUE(maker);
    maker->reset();
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace session
