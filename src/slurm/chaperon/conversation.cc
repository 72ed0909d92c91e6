// SPDX-License-Identifier: MIT
#include "slurm/chaperon/conversation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace slurm::chaperon {
namespace {

base::Fd open_in(int directory, const std::string& name) {
    return base::Fd(::openat(directory, name.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
}

}  // namespace

const Clients::Directory& Clients::directory_at(const base::Path& path) {
    auto [place, is_new] = directories_.try_emplace(path);
    Directory& directory = place->second;
    if (!is_new) return directory;
    directory.fd = base::Fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    struct stat status;
    bool is_seen = directory.fd && ::fstat(directory.fd.get(), &status) == 0;
    // Not for root: root's jail may be able to write to it.
    directory.is_only_roots =
        is_seen && status.st_uid == 0 && (status.st_mode & 0022) == 0 && ::geteuid() != 0;
    return directory;
}

void Clients::add(const std::string& name, const base::Path& file) {
    const Directory& directory = directory_at(file.parent());
    if (!directory.fd) return;
    Client client{.file = {}, .directory = directory.fd.get(), .file_name = std::string(file.name())};
    if (!directory.is_only_roots) {
        client.file = open_in(client.directory, client.file_name);
        if (!client.file) return;
    }
    clients_.insert_or_assign(name, std::move(client));
}

void Clients::add(const std::string& name, base::Fd file) {
    if (file)
        clients_.insert_or_assign(name, Client{.file = std::move(file), .directory = -1, .file_name = {}});
}

int Clients::descriptor_of(std::string_view name) const {
    auto found = clients_.find(name);
    if (found == clients_.end()) return -1;
    Client& client = found->second;
    if (!client.file) client.file = open_in(client.directory, client.file_name);
    return client.file.get();
}

std::vector<int> Clients::descriptors() const {
    std::vector<int> open;
    for (const auto& [name, client] : clients_) open.push_back(client.file.get());
    for (const auto& [path, directory] : directories_) open.push_back(directory.fd.get());
    return open;
}

}  // namespace slurm::chaperon
