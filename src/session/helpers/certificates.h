// SPDX-License-Identifier: MIT
// The certificates of a session whose TLS is intercepted, made in a process of their own while the plan is
// made.
//
// Threat: a gateway that is taken over signs for every name with the key of the session's root. So the key
// exists only in this process. It confines itself, has one descriptor, and reads only lists of names that the
// supervisor sends: never a byte of the jail or the gateway (tests/session/certificates_test.cc). It stays
// while the session runs, because a live change can add a name, and because an intermediate ends after 7
// days.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "network/tls/authority.h"

namespace session {

struct Certificates {
    std::string root;       // PEM
    std::string root_link;  // SessionRoot::link_name()
    network::tls::Intermediate intermediate;
    std::shared_ptr<class CertificateMaker> maker;  // ends with the last owner
};

class CertificateMaker {
  public:
    // Begins with a root, and an intermediate for these names.
    static base::Result<std::unique_ptr<CertificateMaker>> start(const std::vector<std::string>& names,
                                                                 std::time_t now);
    ~CertificateMaker();
    CertificateMaker(const CertificateMaker&) = delete;
    CertificateMaker& operator=(const CertificateMaker&) = delete;

    // Waits for them. Once.
    base::Result<Certificates> take();

    // Afterwards: an intermediate for these names, in a sealed memory file (tls::encode), so that its key is
    // not in the memory of this process. The answer comes by hear().
    using OnIntermediate = std::function<void(base::Result<base::Fd>)>;
    void issue(const std::vector<std::string>& names, OnIntermediate on_intermediate);
    // Readable when hear() has work; -1: none will come.
    int events() const { return waiting_.empty() ? -1 : orders_.get(); }
    void hear();
    int descriptor() const { return orders_.get(); }
    pid_t process() const { return process_; }

  private:
    CertificateMaker() = default;
    void collect();

    pid_t process_ = -1;
    base::Fd answer_;
    base::Fd orders_;
    std::deque<OnIntermediate> waiting_;
};

}  // namespace session
