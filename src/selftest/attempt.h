// SPDX-License-Identifier: MIT
// The building blocks of probes: small acts that report their result. A reason is the kernel's error name
// (ENOENT, EROFS), so that the report shows what stopped an attempt.
#pragma once

#include <sys/socket.h>

#include <functional>
#include <string>
#include <string_view>

#include "selftest/probe.h"

namespace selftest {

using Attempt = std::function<Finding(const World&)>;

Finding escaped(std::string detail);
Finding held(std::string detail);
Finding held(int error);
Finding absent(std::string detail);
// After a system call that fails with -1: held with errno, else escaped.
Finding outcome(long result, std::string_view detail);

// "ENOENT"
std::string error_word(int error);

// Opens the file and looks for the secret.
Finding read_secret(const World& world, const std::string& path);
Finding read_secret_from(const World& world, int fd);
// Whether the name exists.
Finding see(const std::string& path);
// Appends to the file, then undoes it.
Finding append_to(const std::string& path);
// Creates a new file, with the directories that it needs, and removes them again.
Finding create(const std::string& path, std::string_view content = "planted\n");
// Opens for writing, but writes nothing.
Finding open_for_writing(const std::string& path);
// Renames and renames back.
Finding rename_away(const std::string& from, const std::string& to);
// Executes and waits; exit status 0 is an escape.
Finding execute(const std::vector<std::string>& words);
// Connects and looks for the greeting of the neighbour's services.
Finding connect_to(const World& world, int type, const struct sockaddr* address, socklen_t length);
Finding connect_to_unix(const World& world, const std::string& path);  // "@name": abstract

// The whole file; empty if it can't be read.
std::string content_of(const std::string& path);

// Runs `act` in a child process, for acts that change the process permanently.
Finding in_child(const std::function<Finding()>& act);

}  // namespace selftest
