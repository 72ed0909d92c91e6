// SPDX-License-Identifier: MIT
#include "selftest/planted/planted.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/inside/addresses.h"
#include "base/no_links.h"
#include "base/text.h"
#include "selftest/planted/world.h"

namespace selftest {
namespace {

constexpr PlantedFile kCredentials[] = {
    {"ssh-key", kPrivateKey},
    {"aws", ".aws/credentials"},
    {"netrc", ".netrc"},
    {"shell-history", ".bash_history"},
    {"python-history", ".python_history"},
    {"gnupg", ".gnupg/secring.gpg"},
    {"kubernetes", ".kube/config"},
    {"docker", ".docker/config.json"},
    {"git-credentials", ".git-credentials"},
    {"github", ".config/gh/hosts.yml"},
    {"npm", ".npmrc"},
    {"pypi", ".pypirc"},
    {"cargo", ".cargo/credentials.toml"},
    {"vault", ".vault-token"},
    {"postgres", ".pgpass"},
    {"password-store", ".password-store/bank.gpg"},
    {"hugging-face", ".cache/huggingface/token"},
};

// A minimal git repository, and files of a project that an agent must not read.
constexpr PlantedFile kProjectFiles[] = {
    {"", ".env"},        {"", ".env.production"},      {"", "service/.env"}, {"", ".git/hooks/pre-commit"},
    {"", ".git/config"}, {"", ".git/info/exclude"},    {"", ".git/HEAD"},    {"", ".git/objects/info/packs"},
    {"", "src/main.c"},  {"", ".git/refs/heads/main"},
};

std::string hexadecimal(const unsigned char* bytes, size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) {
        constexpr char kDigits[] = "0123456789abcdef";
        text += kDigits[bytes[i] >> 4];
        text += kDigits[bytes[i] & 15];
    }
    return text;
}

std::string random_text() {
    unsigned char bytes[16] = {};
    // If the kernel has no random bytes yet, a weak secret is enough: it only must not appear elsewhere by
    // chance.
    (void)!::getrandom(bytes, sizeof bytes, GRND_NONBLOCK);
    return hexadecimal(bytes, sizeof bytes);
}

std::string handle_of(const std::string& path) {
    alignas(struct file_handle) unsigned char buffer[sizeof(struct file_handle) + MAX_HANDLE_SZ] = {};
    auto* handle = reinterpret_cast<struct file_handle*>(buffer);
    handle->handle_bytes = MAX_HANDLE_SZ;
    int mount = 0;
    if (::name_to_handle_at(AT_FDCWD, path.c_str(), handle, &mount, 0) != 0) return {};
    return hexadecimal(buffer, sizeof(struct file_handle) + handle->handle_bytes);
}

base::Status open_terminal(base::Fd& master, base::Fd& terminal, std::string* name) {
    master = base::Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    char path[64];
    bool is_good = master && ::grantpt(master.get()) == 0 && ::unlockpt(master.get()) == 0 &&
                   ::ptsname_r(master.get(), path, sizeof path) == 0;
    if (is_good) terminal = base::Fd(::open(path, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!terminal) return base::system_error("open a terminal for the probes", errno);
    if (name != nullptr) *name = path;
    return base::success();
}

// The keeper of the last jail ends a moment after it, and writes to the state directory until then.
void remove_root(const std::string& root) {
    constexpr int kMostTries = 500;
    constexpr std::chrono::milliseconds kPause{10};
    base::remove_tree(root);
    for (int tries = 0; tries < kMostTries && base::file_exists(root); ++tries) {
        std::this_thread::sleep_for(kPause);
        base::remove_tree(root);
    }
}

}  // namespace

std::span<const PlantedFile> credentials() {
    return kCredentials;
}

std::vector<std::string> project_entries() {
    std::vector<std::string> entries = {std::string(kPlantedLink)};
    for (const PlantedFile& file : kProjectFiles) {
        for (std::filesystem::path path = file.path; !path.empty(); path = path.parent_path()) {
            entries.push_back(path.string());
        }
    }
    return entries;
}

base::Result<Planted> Planted::make(const std::string& parent, const std::string& home, Existing existing) {
    Planted planted;
    planted.world_.home = home;
    planted.existing_ = existing;
    std::string root = parent + "/agent-sandbox-selftest.XXXXXX";
    if (::mkdtemp(root.data()) == nullptr) return base::system_error("make a directory in " + parent, errno);
    // The jail shows canonical paths.
    std::error_code error;
    std::filesystem::path physical = std::filesystem::canonical(root, error);
    planted.world_.root = error ? root : physical.string();
    if (base::Status done = planted.plant(); !done) return done.error();
    return planted;
}

Planted::Planted(Planted&& other) noexcept
    : world_(std::move(other.world_)),
      existing_(other.existing_),
      in_home_(std::move(other.in_home_)),
      master_(std::move(other.master_)),
      terminal_(std::move(other.terminal_)),
      other_master_(std::move(other.other_master_)),
      other_terminal_(std::move(other.other_terminal_)),
      neighbour_(std::move(other.neighbour_)),
      host_(std::move(other.host_)),
      host_services_(std::move(other.host_services_)),
      other_rule_(std::move(other.other_rule_)) {
    other.world_.root.clear();
}

Planted::~Planted() {
    if (world_.root.empty()) return;
    neighbour_.end();
    host_.end();
    remove_ipc(world_);
    for (const std::string& path : {world_.temporary_socket, world_.temporary_file, world_.shared_memory}) {
        if (!path.empty()) ::unlink(path.c_str());
    }
    remove_root(world_.root);
    unplant();
}

// Removes the planted files, and the directories that are empty then.
void Planted::unplant() const {
    for (const std::string& path : in_home_) {
        ::unlink(path.c_str());
        for (std::string parent = path.substr(0, path.rfind('/'));
             parent.size() > world_.home.size() && ::rmdir(parent.c_str()) == 0;) {
            parent.resize(parent.rfind('/'));
        }
    }
}

base::Status Planted::write(const std::string& path, std::string_view content, unsigned mode) {
    bool is_foreign = !path.starts_with(world_.root);
    const bool is_there = is_foreign && base::file_exists(path);
    if (is_there && existing_ == Existing::is_left_out) {
        world_.left_out += path.substr(world_.home.size() + 1) + "|";
        return base::success();
    }
    if (is_there) {
        return base::Error{.what = path + " is there already",
                           .advice = "--in-home is for an account that was made for the test"};
    }
    base::Status made = base::make_directories(path.substr(0, path.rfind('/')), 0700);
    if (!made) return made;
    if (is_foreign) in_home_.push_back(path);
    return base::write_file_atomically(path, content, mode);
}

base::Status Planted::plant() {
    world_.secret = random_text();
    if (world_.home.empty()) world_.home = world_.root + "/home";
    world_.project = world_.root + "/project";
    world_.neighbour = world_.root + "/neighbour";
    std::string tag = std::filesystem::path(world_.root).filename();
    world_.home_socket = base::format("{}/{}.sock", world_.home, tag);
    if (!world_.home.starts_with(world_.root)) in_home_.push_back(world_.home_socket);
    world_.temporary_socket = base::format("/tmp/{}.sock", tag);
    world_.abstract_socket = "@" + tag;
    if (base::Status done = plant_files(); !done) return done;
    if (base::Status done = open_terminals(); !done) return done;
    describe_host(world_);
    plant_ipc(world_, tag);
    return neighbour_.start(world_);
}

base::Status Planted::plant_files() {
    const std::string content = base::format("secret {}\n", world_.secret);
    // environment() moves them.
    if (existing_ == Existing::is_left_out)
        world_.left_out = base::format("|{}|{}|", kSandboxConfig, kSandboxTrust);
    for (const PlantedFile& file : kCredentials) {
        if (base::Status done = write(world_.home + "/" + std::string(file.path), content); !done)
            return done;
    }
    for (const PlantedFile& file : kProjectFiles) {
        bool is_secret = file.path.find(".env") != std::string_view::npos;
        base::Status done =
            write(world_.project + "/" + std::string(file.path), is_secret ? content : "# planted\n");
        if (!done) return done;
    }
    for (const std::string& path : {world_.home + "/notes", world_.neighbour + "/secret"}) {
        if (base::Status done = write(path, content); !done) return done;
    }
    base::Status start_up =
        write(world_.home + "/.zprofile", base::format("export PLANTED_TOKEN={}\n", world_.secret));
    if (!start_up) return start_up;
    for (const char* name : {"/.bashrc", "/.profile"}) {
        if (base::file_exists(world_.home + name)) continue;
        if (base::Status done = write(world_.home + name, "# planted\n"); !done) return done;
    }
    base::Result<std::string> program = base::read_file("/bin/true");
    if (!program) return program.error();
    base::Status done = write(world_.home + "/" + std::string(kHiddenProgram), *program, 0700);
    if (!done) return done;
    std::string key = world_.home + "/" + std::string(kPrivateKey);
    if (!is_left_out(world_, kPrivateKey)) world_.handle = handle_of(key);
    std::string link = world_.project + "/" + std::string(kPlantedLink);
    if (::symlink(key.c_str(), link.c_str()) != 0) return base::system_error("make " + link, errno);
    return base::success();
}

// The settings define a credential and do not use it. The scenario of the probes does.
base::Status Planted::plant_credential() {
    world_.source = world_.home + "/keys/selftest";
    world_.authority = world_.root + "/authority.pem";
    if (base::Status done = host_.start(world_); !done) return done;
    const std::string value = credential_value(world_);
    const std::string host = base::format("{}:{}", base::kHostServiceName, world_.bound_port);
    const std::string settings =
        base::format("[credential.selftest]\nhosts = [\"{}\"]\nvariable = \"{}\"\nfrom_file = \"{}\"\n", host,
                     kCredentialVariable, world_.source) +
        "put = \"bearer\"\npaths = [\"/private/**\"]\nmethods = [\"GET\", \"POST\"]\nshape = \"tok_{40}\"\n" +
        base::format("[credential.elsewhere]\nhosts = [\"{}:{}\"]\nvariable = \"SELFTEST_ELSEWHERE\"\n",
                     base::kHostServiceName, world_.other_port) +
        base::format("put = \"bearer\"\nshape = \"{{40}}\"\nfrom_file = \"{}.other\"\n", world_.source);
    const std::pair<std::string, std::string> files[] = {
        {world_.source, value},
        {world_.source + ".other", "tok_of_the_other_host_0123456789"},
        {world_.home + std::string(kCredentialSettings), settings},
        {world_.home + std::string(kCredentialStore) + "/secrets/selftest", value},
        {world_.root + "/authority.key", std::string("-----BEGIN PRIVATE KEY-----") + "\nMplanted\n"}};
    for (const auto& [path, content] : files) {
        if (base::Status done = write(path, content); !done) return done;
    }
    for (int64_t port : {world_.bound_port, world_.other_port})
        host_services_.push_back(std::to_string(port));
    other_rule_ = base::format("DELETE {}:{}/**", base::kHostServiceName, world_.other_port);
    return base::success();
}

std::vector<Change> Planted::credential_changes(bool has_rules) const {
    std::vector<Change> changes = {{"credentials.use", "selftest"}};
    // The other port is read because of a rule, or as the host of another credential.
    changes.push_back(has_rules ? Change{"requests.block", other_rule_}
                                : Change{"credentials.use", "elsewhere"});
    for (const std::string& port : host_services_) changes.push_back({"network.host_services", port});
    return changes;
}

base::Status Planted::open_terminals() {
    if (base::Status done = open_terminal(master_, terminal_, nullptr); !done) return done;
    return open_terminal(other_master_, other_terminal_, &world_.terminal);
}

void Planted::leave_descriptors_open() const {
    std::string secret = world_.home + "/" + std::string(kPrivateKey);
    base::Fd file;
    if (!is_left_out(world_, kPrivateKey)) file = base::Fd(::open(secret.c_str(), O_RDONLY | O_CLOEXEC));
    base::Fd home(::open(world_.home.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ::dup2(file.get(), kSecretDescriptor);
    ::dup2(home.get(), kHomeDescriptor);
}

// The environment of a caller with secrets in variables.

std::vector<std::string> Planted::environment() const {
    std::vector<std::string> environment = {
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "TERM=xterm",
        "LANG=C.UTF-8",
        "HOME=" + world_.home,
    };
    // If the account is in a directory service, these variables are the only source.
    for (const char* name : {"USER", "LOGNAME", "SHELL"}) {
        if (const char* value = std::getenv(name)) environment.push_back(base::format("{}={}", name, value));
    }
    if (!world_.source.empty()) {
        environment.push_back(base::format("{}={}", kCredentialVariable, credential_value(world_)));
        // The caller trusts the host of the probes.
        environment.push_back("SSL_CERT_FILE=" + world_.authority);
    }
    // The user's settings would change what is tested, and the user's state would keep what the probes wrote.
    if (existing_ == Existing::is_left_out) {
        environment.push_back(base::format("XDG_CONFIG_HOME={}/config", world_.root));
        environment.push_back(base::format("XDG_STATE_HOME={}/state", world_.root));
    }
    for (const PlantedVariable& variable : planted_variables()) {
        environment.push_back(base::format("{}={}", variable.name, value_of(variable, world_)));
    }
    return environment;
}

}  // namespace selftest
