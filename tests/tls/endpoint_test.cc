// SPDX-License-Identifier: MIT
#include "network/tls/endpoint.h"

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "pair.h"

namespace network::tls {
namespace {

TEST(Endpoint, CarriesBytesInBothDirectionsInAnyPieces) {
    Contexts contexts = make_contexts(make_authority({"a.example"}));
    for (size_t piece : {SIZE_MAX, size_t{1}, size_t{7}, size_t{1000}}) {
        auto client = Endpoint::client(*contexts.client, "a.example");
        auto server = Endpoint::server(*contexts.server);
        ASSERT_TRUE(client.ok() && server.ok());
        exchange_bytes(*client, *server, piece);
        ASSERT_EQ(client->state(), Endpoint::State::open) << client->fault();
        ASSERT_EQ(server->state(), Endpoint::State::open) << server->fault();
        EXPECT_EQ(server->name(), "a.example");
        std::string large(100000, 'x'), plain;
        EXPECT_TRUE(client->write("GET / HTTP/1.1\r\n\r\n"));
        EXPECT_TRUE(server->write(large));
        exchange_bytes(*client, *server, piece);
        EXPECT_EQ(server->read(plain), 18u);
        plain.clear();
        EXPECT_EQ(client->read(plain, 10), 10u);
        while (client->read(plain) > 0) {
        }
        EXPECT_EQ(plain, large);
        base::SecretValue head;
        head.append("X: canary-value\r\n");
        EXPECT_TRUE(client->write(head));
        std::string sent;
        client->take_output(sent);
        EXPECT_EQ(sent.find("canary"), std::string::npos);
        client->close();
        exchange_bytes(*client, *server, piece);
    }
}

TEST(Endpoint, EndsWithAndWithoutANotice) {
    Contexts contexts = make_contexts(make_authority({"a.example"}));
    for (bool has_notice : {true, false}) {
        auto client = Endpoint::client(*contexts.client, "a.example");
        auto server = Endpoint::server(*contexts.server);
        exchange_bytes(*client, *server);
        if (has_notice) server->close();
        exchange_bytes(*client, *server);
        client->end();
        std::string plain;
        client->read(plain);
        EXPECT_EQ(client->state(), Endpoint::State::closed);
        EXPECT_EQ(client->is_truncated(), !has_notice);
        // The other direction is still open.
        EXPECT_TRUE(client->write("x"));
        exchange_bytes(*client, *server);
        std::string late;
        server->read(late);
        EXPECT_EQ(late, "x");
        client->close();
        EXPECT_FALSE(client->write("y"));
    }
    auto early = Endpoint::client(*contexts.client, "a.example");
    early->receive("");
    early->end();
    EXPECT_EQ(early->state(), Endpoint::State::failed);
}

TEST(Endpoint, AgreesOnHttp2IfBothOfferIt) {
    using Offer = Endpoint::Offer;
    for (Offer offer : {Offer::http1, Offer::http2_too}) {
        Contexts contexts = make_contexts(make_authority({"a.example"}));
        auto server = Endpoint::server(*contexts.server);
        auto client = Endpoint::client(*contexts.client, "a.example", offer);
        ASSERT_TRUE(server.ok() && client.ok());
        EXPECT_FALSE(client->speaks_http2());
        exchange_bytes(*client, *server);
        ASSERT_EQ(client->state(), Endpoint::State::open);
        EXPECT_EQ(client->speaks_http2(), offer == Offer::http2_too);
        EXPECT_EQ(server->speaks_http2(), offer == Offer::http2_too);
    }
}

TEST(Endpoint, VerifiesTheServersCertificateAndItsName) {
    Contexts contexts = make_contexts(make_authority({"a.example"}));
    Contexts others = make_contexts(make_authority({"a.example"}));
    auto client = Endpoint::client(*others.client, "a.example");  // trusts another root
    auto server = Endpoint::server(*contexts.server);
    exchange_bytes(*client, *server);
    EXPECT_EQ(client->failure(), Endpoint::Failure::not_trusted);
    EXPECT_TRUE(client->fault().starts_with("the certificate of a.example is not trusted by this host: "))
        << client->fault();
    EXPECT_EQ(server->failure(), Endpoint::Failure::client_distrusts) << server->fault();
    // A name outside of the constraints, signed with the intermediate's key.
    client = Endpoint::client(*contexts.client, "evil.example");
    server = Endpoint::server(*contexts.server);
    exchange_bytes(*client, *server);
    EXPECT_EQ(client->failure(), Endpoint::Failure::not_trusted);
    EXPECT_NE(client->fault().find("subtree"), std::string::npos) << client->fault();
}

// Some clients send no alert when they do not trust a certificate.
TEST(Endpoint, TellsAClientThatClosesWhenItSeesTheCertificate) {
    Contexts contexts = make_contexts(make_authority({"a.example"}));
    auto server = Endpoint::server(*contexts.server);
    server->end();
    EXPECT_EQ(server->failure(), Endpoint::Failure::protocol) << "before its hello";
    auto client = Endpoint::client(*contexts.client, "a.example");
    client->receive("");
    server = Endpoint::server(*contexts.server);
    std::string hello, certificate;
    client->take_output(hello);
    server->receive(hello);
    server->take_output(certificate);
    ASSERT_FALSE(certificate.empty());
    server->end();
    EXPECT_EQ(server->failure(), Endpoint::Failure::client_closed) << server->fault();
}

TEST(Endpoint, RefusesNamesThatAreNotIntercepted) {
    Contexts contexts = make_contexts(make_authority({"a.example", "closed.example"}));
    auto client = Endpoint::client(*contexts.client, "closed.example");
    auto server = Endpoint::server(*contexts.server);
    exchange_bytes(*client, *server);
    EXPECT_EQ(server->failure(), Endpoint::Failure::unknown_name) << server->fault();
    EXPECT_EQ(client->state(), Endpoint::State::failed);
}

TEST(Endpoint, SurvivesBytesThatAreNotTls) {
    Contexts contexts = make_contexts(make_authority({"a.example"}));
    auto server = Endpoint::server(*contexts.server);
    server->receive("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
    EXPECT_EQ(server->state(), Endpoint::State::failed);
    EXPECT_EQ(server->failure(), Endpoint::Failure::protocol);
    EXPECT_FALSE(server->fault().empty());
    // The errors of that connection must not end this one.
    auto client = Endpoint::client(*contexts.client, "a.example");
    server = Endpoint::server(*contexts.server);
    exchange_bytes(*client, *server);
    EXPECT_EQ(client->state(), Endpoint::State::open) << client->fault();
}

TEST(Endpoint, ResumesASessionForItsNameAlone) {
    Contexts contexts = make_contexts(make_authority({"a.example", "b.example"}));
    auto resumes = [&](const std::string& name) {
        auto client = Endpoint::client(*contexts.client, name);
        auto server = Endpoint::server(*contexts.server);
        exchange_bytes(*client, *server);
        std::string plain;
        client->read(plain);  // takes the tickets
        EXPECT_EQ(client->state(), Endpoint::State::open) << client->fault();
        return client->is_resumed() && server->is_resumed();
    };
    EXPECT_FALSE(resumes("a.example"));
    EXPECT_TRUE(resumes("a.example"));
    EXPECT_FALSE(resumes("b.example"));
    // A client that offers the session of one name for another one gets a full handshake.
    ssl_session_st* session = contexts.client->session_for("a.example");
    ASSERT_NE(session, nullptr);
    SSL_SESSION_up_ref(session);
    contexts.client->remember("b.example", session);
    EXPECT_FALSE(resumes("b.example"));
}

TEST(ClientContext, NeedsRoots) {
    EXPECT_FALSE(ClientContext::make("").ok());
    EXPECT_FALSE(ClientContext::make("-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n").ok());
    EXPECT_TRUE(
        ClientContext::make("# a comment\n" + make_authority({"a.example"}).root.pem() + "text\n").ok());
}

// ---- A client that does not share our code: openssl s_client over a Unix socket.

struct Finished {
    int status;
    std::string output;
    Endpoint::Failure failure;
    std::string request;
};

Finished serve_real_client(ServerContext& context, const std::string& root, const std::string& arguments) {
    std::string pattern = (std::filesystem::temp_directory_path() / "tls_test.XXXXXX").string();
    std::filesystem::path folder = mkdtemp(pattern.data());
    std::ofstream(folder / "root.pem") << root;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::string path = (folder / "socket").string();
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    pid_t child = fork();
    if (child == 0) {
        std::string command =
            "cd '" + folder.string() +
            "' && printf 'GET /x HTTP/1.1\\r\\n\\r\\n' | exec openssl s_client -unix socket -CAfile root.pem "
            "-verify_return_error -ign_eof " +
            arguments + " >out 2>&1";
        execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
        _exit(127);
    }
    int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    auto endpoint = Endpoint::server(context);
    EXPECT_TRUE(endpoint.ok());
    std::string plain, out;
    bool is_answered = false;
    char buffer[4096];
    for (;;) {
        out.clear();
        endpoint->take_output(out);
        for (size_t at = 0; at < out.size();) {
            ssize_t sent = send(fd, out.data() + at, out.size() - at, MSG_NOSIGNAL);
            if (sent <= 0) break;
            at += static_cast<size_t>(sent);
        }
        if (is_answered || endpoint->state() == Endpoint::State::failed) break;
        ssize_t size = read(fd, buffer, sizeof buffer);
        if (size <= 0) {
            endpoint->end();
            break;
        }
        endpoint->receive({buffer, static_cast<size_t>(size)});
        endpoint->read(plain);
        if (plain.find("\r\n\r\n") == std::string::npos) continue;
        endpoint->write("HTTP/1.1 200 OK\r\n\r\nserved-by-endpoint\n");
        endpoint->close();
        is_answered = true;
    }
    ::close(fd);
    ::close(listener);
    int status = 0;
    waitpid(child, &status, 0);
    Finished finished{WEXITSTATUS(status), base::read_file((folder / "out").string()).value(),
                      endpoint->failure(), plain};
    std::filesystem::remove_all(folder);
    return finished;
}

TEST(RealClient, IsServedWithBothVersions) {
    Authority authority = make_authority({"a.example"});
    std::string root = authority.root.pem();
    Contexts contexts = make_contexts(std::move(authority));
    for (const char* version : {"-tls1_2", "-tls1_3"}) {
        Finished finished = serve_real_client(
            *contexts.server, root,
            std::string(version) + " -servername a.example -verify_hostname a.example -alpn http/1.1,h3");
        EXPECT_NE(finished.output.find("served-by-endpoint"), std::string::npos) << finished.output;
        EXPECT_NE(finished.output.find("ALPN protocol: http/1.1"), std::string::npos);
        EXPECT_NE(finished.output.find("Verify return code: 0 (ok)"), std::string::npos);
        EXPECT_TRUE(finished.request.starts_with("GET /x HTTP/1.1"));
    }
}

TEST(RealClient, GetsHttp2IfItOffersIt) {
    Authority authority = make_authority({"a.example"});
    std::string root = authority.root.pem();
    Contexts contexts = make_contexts(std::move(authority));
    for (const char* offer : {"h2", "h2,http/1.1", "http/1.1,h2"}) {
        Finished finished =
            serve_real_client(*contexts.server, root, std::string("-servername a.example -alpn ") + offer);
        EXPECT_NE(finished.output.find("ALPN protocol: h2"), std::string::npos) << finished.output;
    }
}

TEST(RealClient, IsRefusedForEachReason) {
    Authority authority = make_authority({"a.example"});
    std::string root = authority.root.pem();
    Contexts contexts = make_contexts(std::move(authority));
    Finished old = serve_real_client(*contexts.server, root, "-servername a.example -alpn h3");
    EXPECT_EQ(old.failure, Endpoint::Failure::no_protocol);
    EXPECT_NE(old.output.find("no application protocol"), std::string::npos) << old.output;
    Finished unnamed = serve_real_client(*contexts.server, root, "-noservername");
    EXPECT_EQ(unnamed.failure, Endpoint::Failure::unknown_name);
    Finished distrust = serve_real_client(*contexts.server, make_authority({"x.example"}).root.pem(),
                                          "-servername a.example");
    EXPECT_EQ(distrust.failure, Endpoint::Failure::client_distrusts);
    EXPECT_EQ(distrust.output.find("served-by-endpoint"), std::string::npos);
}

// ---- A server that does not share our code: openssl s_server over a Unix socket.

class RealServer {
  public:
    explicit RealServer(const std::string& arguments) {
        std::string pattern = (std::filesystem::temp_directory_path() / "tls_test.XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
        std::string make =
            "cd '" + folder_.string() +
            "' && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=x "
            "-addext subjectAltName=DNS:real.example -keyout key.pem -out certificate.pem 2>/dev/null";
        EXPECT_EQ(std::system(make.c_str()), 0);
        child_ = fork();
        if (child_ != 0) return;
        std::string serve =
            "cd '" + folder_.string() +
            "' && exec openssl s_server -unix socket -cert certificate.pem -key key.pem -www -quiet " +
            arguments + " >out 2>&1 </dev/null";
        execl("/bin/sh", "sh", "-c", serve.c_str(), nullptr);
        _exit(127);
    }
    ~RealServer() {
        kill(child_, SIGKILL);
        waitpid(child_, nullptr, 0);
        std::filesystem::remove_all(folder_);
    }
    std::string certificate() const {
        return base::read_file((folder_ / "certificate.pem").string()).value();
    }
    // Waits until the server listens; -1 if it has exited.
    int connect_to() const {
        sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
        (folder_ / "socket").string().copy(address.sun_path, sizeof address.sun_path - 1);
        for (;;) {
            int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
            ::close(fd);
            siginfo_t ended{};
            waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOHANG | WNOWAIT);
            if (ended.si_pid != 0) return -1;
            sched_yield();
        }
    }

  private:
    std::filesystem::path folder_;
    pid_t child_ = -1;
};

struct Fetched {
    std::string text;
    Endpoint::Failure failure;
    std::string fault;
};

Fetched fetch(ClientContext& context, const std::string& name, int fd) {
    auto endpoint = Endpoint::client(context, name);
    EXPECT_TRUE(endpoint.ok());
    endpoint->receive("");
    std::string plain, out;
    bool is_asked = false;
    char buffer[4096];
    while (endpoint->state() == Endpoint::State::handshake || endpoint->state() == Endpoint::State::open) {
        if (endpoint->state() == Endpoint::State::open && !is_asked)
            is_asked = endpoint->write("GET / HTTP/1.0\r\n\r\n");
        out.clear();
        endpoint->take_output(out);
        if (!out.empty()) send(fd, out.data(), out.size(), MSG_NOSIGNAL);
        ssize_t size = read(fd, buffer, sizeof buffer);
        if (size <= 0) {
            endpoint->end();
        } else {
            endpoint->receive({buffer, static_cast<size_t>(size)});
        }
        endpoint->read(plain);
    }
    ::close(fd);
    return {plain, endpoint->failure(), endpoint->fault()};
}

TEST(RealServer, IsVerifiedWithBothVersions) {
    for (const char* version : {"-tls1_2", "-tls1_3"}) {
        RealServer server(version);
        int fd = server.connect_to();
        ASSERT_GE(fd, 0);
        auto context = ClientContext::make(server.certificate());
        ASSERT_TRUE(context.ok());
        Fetched fetched = fetch(**context, "real.example", fd);
        EXPECT_EQ(fetched.failure, Endpoint::Failure::none) << fetched.fault;
        EXPECT_TRUE(fetched.text.starts_with("HTTP/1.0 200")) << fetched.text;
        // The same certificate under another name.
        Fetched other = fetch(**context, "other.example", server.connect_to());
        EXPECT_EQ(other.failure, Endpoint::Failure::not_trusted);
        EXPECT_NE(other.fault.find("ostname mismatch"), std::string::npos) << other.fault;
        EXPECT_EQ(other.text, "");
        // Another root.
        auto strangers = ClientContext::make(make_authority({"real.example"}).root.pem());
        EXPECT_EQ(fetch(**strangers, "real.example", server.connect_to()).failure,
                  Endpoint::Failure::not_trusted);
    }
}

}  // namespace
}  // namespace network::tls
