// SPDX-License-Identifier: MIT
// The result of every operation that can fail. No exception leaves a file of ours: the code that calls a
// library catches what it throws and returns an Error.
//
// An Error is for a person: `what` names the failed operation, the object and the cause, `where` names the
// setting behind it (file:line, a flag, a variable), `advice` says what to do next. It prints as one line.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace base {

// Exit codes of the program itself; everything else is the command's own status.
enum class ExitCode : int {
    check_failed = 1,        // a verb that checks reports a problem (config check, why, selftest)
    usage = 2,               // the command line of a verb could not be understood
    refused_by_policy = 77,  // stubs inside the jail
    jail_failed = 125,       // the jail could not be built; nothing ran
    not_executable = 126,
    not_found = 127,
};

struct Error {
    std::string what;
    std::string advice;
    std::string where;
    ExitCode exit_code = ExitCode::jail_failed;
    bool may_pass = false;  // something changed at that moment: a second attempt may succeed

    // One line: "where: what; advice".
    std::string line() const;
};

// An Error for the failed system call whose errno is `number`: "cannot open /x: Permission denied".
Error system_error(std::string attempt, int number);

template <typename T>
class [[nodiscard]] Result {
  public:
    Result(T value) : content_(std::move(value)) {}
    Result(Error error) : content_(std::move(error)) {}

    bool ok() const { return std::holds_alternative<T>(content_); }
    explicit operator bool() const { return ok(); }

    T& value() & { return std::get<T>(content_); }
    const T& value() const& { return std::get<T>(content_); }
    T&& value() && { return std::get<T>(std::move(content_)); }
    T* operator->() { return &std::get<T>(content_); }
    const T* operator->() const { return &std::get<T>(content_); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }

    const Error& error() const { return std::get<Error>(content_); }

  private:
    std::variant<T, Error> content_;
};

struct Nothing {};
using Status = Result<Nothing>;
inline Status success() {
    return Nothing{};
}

}  // namespace base
