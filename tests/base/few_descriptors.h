// SPDX-License-Identifier: MIT
// While this object exists, the process can open only this many more descriptors.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace testing_support {

class FewDescriptors {
  public:
    explicit FewDescriptors(unsigned more) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        int lowest = ::dup(STDIN_FILENO);
        struct rlimit few = {static_cast<rlim_t>(lowest) + more, before_.rlim_max};
        ::close(lowest);
        ::setrlimit(RLIMIT_NOFILE, &few);
    }
    ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;

  private:
    struct rlimit before_ = {};
};

}  // namespace testing_support
