// SPDX-License-Identifier: MIT
// One file per project, named by the digest of the project's path. It contains the digest of the accepted
// content and the path, so that a person can read the store. Threat: a user who can write here can widen the
// policy, so a record that others could have written is an error (trust_test: refuses a record that others
// can write).
#include "config/files/trust.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/encoding/sha256.h"
#include "base/file.h"
#include "base/format.h"

namespace config {
namespace {

using base::Error;
using base::Fd;

constexpr size_t kLargestRecord = 16u << 10;

std::string store_directory(const Places& places) {
    return places.state_directory + "/trust";
}

std::string record_path(const Places& places, const base::Path& project) {
    return store_directory(places) + "/" + base::sha256(project.str());
}

std::string record(const base::Path& project, std::string_view digest) {
    return base::format("{} {}\n", digest, project.str());
}

Error unbelievable(const std::string& path, const std::string& problem) {
    return Error{.what = base::format("{} {}, so that it proves nothing", path, problem),
                 .advice = "remove it and run 'agent-sandbox trust' again after reading the project's file"};
}

}  // namespace

base::Result<bool> is_trusted(const Places& places, const base::Path& project, std::string_view digest) {
    std::string path = record_path(places, project);
    Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) {
        if (errno == ENOENT || errno == ENOTDIR) return false;
        if (errno == ELOOP) return unbelievable(path, "is a symbolic link");
        return base::system_error("read " + path, errno);
    }
    struct stat status;
    if (::fstat(fd.get(), &status) != 0) return base::system_error("look at " + path, errno);
    if (!S_ISREG(status.st_mode)) return unbelievable(path, "is not a file");
    if (status.st_uid != ::geteuid()) return unbelievable(path, "is owned by another user");
    if ((status.st_mode & 022) != 0) return unbelievable(path, "can be written by others");
    base::Result<std::string> content = base::read_descriptor(fd.get(), kLargestRecord);
    if (!content) return Error{.what = path + ": " + content.error().what, .advice = "remove it"};
    return *content == record(project, digest);
}

base::Status trust(const Places& places, const base::Path& project, std::string_view digest) {
    std::string directory = store_directory(places);
    if (base::Status made = base::make_directories(directory, 0700); !made) return made;
    // The directory may have existed before, with a more open mode.
    if (::chmod(directory.c_str(), 0700) != 0) return base::system_error("protect " + directory, errno);
    return base::write_file_atomically(record_path(places, project), record(project, digest), 0600);
}

base::Result<bool> untrust(const Places& places, const base::Path& project) {
    std::string path = record_path(places, project);
    if (::unlink(path.c_str()) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return base::system_error("remove " + path, errno);
}

}  // namespace config
