// SPDX-License-Identifier: MIT
// The listener of a filter that notifies: calls that wait, and their answers.
#pragma once

#include <linux/seccomp.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/file.h"

namespace tracer {

// A struct of the kernel, which may be longer there than in our headers.
template <typename T>
class Message {
  public:
    explicit Message(size_t size);
    T& cleared();

  private:
    std::vector<uint64_t> words_;
};

class Notices {
  public:
    explicit Notices(base::Fd listener);

    int descriptor() const { return listener_.get(); }
    // The next waiting call, if any.
    std::optional<struct seccomp_notif> next();
    // All return zero, or errno.
    int let_go_on(uint64_t id);
    int refuse(uint64_t id, int error) { return answer(id, 0, error); }
    int answer(uint64_t id, int value, int error);

  private:
    Notices(base::Fd listener, const struct seccomp_notif_sizes& sizes);

    base::Fd listener_;
    Message<struct seccomp_notif> notice_;
    Message<struct seccomp_notif_resp> response_;
};

}  // namespace tracer
