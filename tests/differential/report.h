// SPDX-License-Identifier: MIT
// The walker's report about the jail that it runs in: lines of facts, sorted, so that two jails can be
// compared as texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace differential {

class Report {
  public:
    // "SUBJECT OBJECT: FACT". Unprintable characters are escaped, and a value that identifies this run (the
    // session's number) is replaced by one that is equal in all runs.
    void say(std::string_view subject, std::string_view object, std::string_view fact);

    // An errno, or "ok" for zero.
    void verdict(std::string_view subject, std::string_view object, int number);

    std::string text();

  private:
    std::vector<std::string> lines_;
};

// "EPERM"; "ok" for zero.
std::string name_of_errno(int number);

// Runs of 32 hexadecimal digits become one word.
std::string without_session(std::string_view text);

// The content as far as it can be read without waiting, up to `limit`; the errno goes to `number`.
std::string content_of(const std::string& path, int& number, size_t limit = 64u << 10);

// The arguments of the walker: facts about the host, and how deep to walk.
struct WalkerArguments {
    std::vector<std::string> host_namespaces;  // "net=4026531840"
    std::vector<std::string> deep;             // directories that are walked completely
    std::vector<std::string> shallow;          // not entered: other processes use these directories too
};

void tell_files(Report& report, const WalkerArguments& arguments);
void tell_mounts(Report& report);
void tell_writing(Report& report, const WalkerArguments& arguments);
void tell_process(Report& report, const WalkerArguments& arguments);
void tell_first_process(Report& report);
void tell_processes(Report& report);
void tell_network(Report& report, const WalkerArguments& arguments);
void tell_calls(Report& report);
void tell_sockets(Report& report);

}  // namespace differential
