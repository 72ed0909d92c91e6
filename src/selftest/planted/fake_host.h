// SPDX-License-Identifier: MIT
// A host for the probes of credentials: a process on the host's loopback with a port that gets the
// credential, and another port. A client may speak TLS or not. It reads requests carelessly, so that it takes
// what a strict server would refuse, and its answers tell what arrived. It is this program in another role.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "network/tls/endpoint.h"
#include "selftest/planted/world.h"

namespace selftest {

// Another name that the host has a certificate for.
inline constexpr std::string_view kSecondHostName = "second.agent-sandbox.internal";
// In every answer of the host, and in none of the gateway.
inline constexpr std::string_view kReached = "X-Selftest: reached";

// The value of the credential. Processes in the jail have only the secret, and a probe computes this for its
// search.
std::string credential_value(const World& world);

// A TLS connection, or one without TLS, with a limit for each wait. Call serve(), call() or speak_plainly()
// first.
class Stream {
  public:
    explicit Stream(base::Fd fd) : fd_(std::move(fd)) {}

    // Both make the handshake.
    bool serve(network::tls::ServerContext& context);
    bool call(network::tls::ClientContext& context, std::string name);

    // Without TLS.
    void speak_plainly();

    bool send(std::string_view bytes);
    // Some bytes; empty at the end, or if none come in time.
    std::string receive();

  private:
    bool shake();
    bool flush();
    void limit_waits() const;

    base::Fd fd_;
    std::optional<network::tls::Endpoint> endpoint_;
    bool is_plain_ = false;
};

class FakeHost {
  public:
    FakeHost() = default;
    FakeHost(FakeHost&& other) noexcept;
    FakeHost& operator=(FakeHost&&) = delete;
    ~FakeHost() { end(); }

    // Writes its ports into `world`, and its root certificate to world.authority.
    base::Status start(World& world);
    void end();

  private:
    pid_t process_ = -1;
};

// The role of that process: `selftest-part host SECRET AUTHORITY READY BOUND OTHER PLAIN`, with descriptors
// as numbers.
int run_fake_host(const std::vector<std::string>& words);

}  // namespace selftest
