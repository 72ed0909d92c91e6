// SPDX-License-Identifier: MIT
#include "session/runtime_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/format.h"

namespace session {
namespace {

constexpr std::string_view kName = "/agent-sandbox";

bool belongs_to(uid_t user, const std::string& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == user &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string temporary_place(uid_t user) {
    return "/tmp/agent-sandbox-u" + std::to_string(user);
}

std::string parent_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

bool is_there(const std::string& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0;
}

bool is_private(const std::string& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0 && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

// Threat: every user can write in /tmp. A name that another user has made is not used, and nothing is made
// behind a link (tests/session/session_directory_test.cc).
bool make(const std::string& place, uid_t user) {
    if (is_there(place) && !(belongs_to(user, place) && is_private(place))) return false;
    std::string sessions = place + "/sessions";
    if (::mkdir(sessions.c_str(), 0700) != 0 && errno == ENOENT) {
        if (::mkdir(place.c_str(), 0700) != 0 && errno == ENOENT && !base::make_directories(place))
            return false;
        if (::mkdir(sessions.c_str(), 0700) != 0 && errno != EEXIST) return false;
    }
    return belongs_to(user, place) && belongs_to(user, sessions);
}

}  // namespace

std::vector<std::string> runtime_places(std::string_view runtime_directory,
                                        std::string_view state_directory) {
    const uid_t user = ::geteuid();
    std::vector<std::string> places;
    auto add = [&](std::string place) {
        if (std::ranges::find(places, place) == places.end()) places.push_back(std::move(place));
    };
    while (runtime_directory.size() > 1 && runtime_directory.ends_with('/'))
        runtime_directory.remove_suffix(1);
    if (runtime_directory.starts_with('/')) add(std::string(runtime_directory) + std::string(kName));
    add(base::format("/run/user/{}{}", user, kName));
    add(temporary_place(user));
    add(std::string(state_directory) + "/run");
    return places;
}

std::string make_runtime_place(const std::vector<std::string>& places, std::string* taken) {
    const uid_t user = ::geteuid();
    for (const std::string& place : places) {
        // Only the last component may be made, except in the state directory. Its parent must belong to the
        // user, except /tmp.
        bool may_be_had =
            &place == &places.back() || place == temporary_place(user) || belongs_to(user, parent_of(place));
        if (may_be_had && make(place, user)) return place;
        if (may_be_had && taken != nullptr && taken->empty() && is_there(place)) *taken = place;
    }
    return {};
}

std::string session_directory_path(std::string_view place, std::string_view session) {
    return std::string(place) + "/sessions/" + std::string(session);
}

}  // namespace session
