// SPDX-License-Identifier: MIT
// Reads hidden files: credentials in every mode that shows more of the home directory, and one private key by
// every way other than its path.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "selftest/planted/planted.h"
#include "selftest/runner.h"

namespace selftest {
namespace {

constexpr int kMostDescriptors = 1024;

std::string key_of(const World& world) {
    return world.home + "/" + std::string(kPrivateKey);
}

// Reads the private key by another path.
Attempt read_by(const std::string& prefix) {
    return [prefix](const World& world) { return read_secret(world, prefix + key_of(world)); };
}

Finding read_by_link(const World& world) {
    std::string link = world.project + "/link";
    if (::symlink(key_of(world).c_str(), link.c_str()) != 0) return held(errno);
    Finding finding = read_secret(world, link);
    ::unlink(link.c_str());
    return finding;
}

Finding read_by_hard_link(const World& world) {
    std::string link = world.project + "/hard-link";
    if (::link(key_of(world).c_str(), link.c_str()) != 0) return held(errno);
    Finding finding = read_secret(world, link);
    ::unlink(link.c_str());
    return finding;
}

// An O_PATH descriptor can be opened again through /proc.
Finding read_by_reopening(const World& world) {
    base::Fd name(::open(key_of(world).c_str(), O_PATH | O_CLOEXEC));
    if (!name) return held(errno);
    return read_secret(world, "/proc/self/fd/" + std::to_string(name.get()));
}

Finding read_by_climbing(const World& world) {
    base::Fd here(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    std::string path = "../home/" + std::string(kPrivateKey);
    base::Fd fd(::openat(here.get(), path.c_str(), O_RDONLY | O_CLOEXEC));
    return fd ? read_secret_from(world, fd.get()) : held(errno);
}

Finding read_by_inherited_directory(const World& world) {
    base::Fd fd(::openat(kHomeDescriptor, std::string(kPrivateKey).c_str(), O_RDONLY | O_CLOEXEC));
    return fd ? read_secret_from(world, fd.get()) : held(errno);
}

Finding read_inherited_file(const World& world) {
    ::lseek(kSecretDescriptor, 0, SEEK_SET);
    return read_secret_from(world, kSecretDescriptor);
}

// Descriptors that were inherited through exec have no close-on-exec flag; all descriptors of the probe have
// one.
Finding find_descriptors(const World&) {
    std::string found;
    for (int fd = STDERR_FILENO + 1; fd < kMostDescriptors; ++fd) {
        if (::fcntl(fd, F_GETFD) == 0) found += " " + std::to_string(fd);
    }
    return found.empty() ? held("0, 1 and 2 only") : escaped("open:" + found);
}

Finding open_by_handle(const World& world) {
    if (world.handle.empty()) return absent("the file system has no handles");
    alignas(struct file_handle) char buffer[sizeof(struct file_handle) + MAX_HANDLE_SZ] = {};
    for (size_t i = 0; i < world.handle.size() / 2 && i < sizeof buffer; ++i) {
        buffer[i] = static_cast<char>(std::stoi(world.handle.substr(2 * i, 2), nullptr, 16));
    }
    base::Fd mount(::open(world.project.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    base::Fd fd(::open_by_handle_at(mount.get(), reinterpret_cast<struct file_handle*>(buffer), O_RDONLY));
    return fd ? read_secret_from(world, fd.get()) : held(errno);
}

// The loader runs any file that it can read, also without execute permission.
Finding run_by_loader(const World& world) {
    for (const char* loader :
         {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1", "/lib64/ld64.so.2"}) {
        if (::access(loader, X_OK) == 0)
            return execute({loader, world.home + "/" + std::string(kHiddenProgram)});
    }
    return absent("no loader at a known place");
}

Finding run_hidden(const World& world) {
    return execute({world.home + "/" + std::string(kHiddenProgram)});
}

Finding find_beside(const std::string& directory, std::string_view name) {
    DIR* listing = ::opendir(directory.c_str());
    if (listing == nullptr) return held(errno);
    bool is_there = false;
    while (const dirent* entry = ::readdir(listing)) is_there = is_there || entry->d_name == name;
    ::closedir(listing);
    return is_there ? escaped("it is listed") : held("not listed");
}

Finding rename_key_directory(const World& world) {
    return rename_away(world.home + "/.ssh", world.home + "/ssh-aside");
}

void add_ways(Probes& probes) {
    struct Way {
        std::string_view name;
        std::string_view what;
        Attempt attempt;
        bool is_for_shown_home = false;  // also where the home is visible and one mount covers the key
        std::string_view excuse = {};
    };
    const Way kWays[] = {
        {"by-path", "by its path", read_by(""), true},
        {"by-own-root", "through /proc/self/root", read_by("/proc/self/root"), true},
        {"by-thread-root", "through /proc/thread-self/root", read_by("/proc/thread-self/root")},
        {"by-dots", "by a path with .. and doubled slashes", read_by("/usr/..//./")},
        {"by-working-directory", "through /proc/self/cwd",
         [](const World& world) {
             return read_secret(world, "/proc/self/cwd/../home/" + std::string(kPrivateKey));
         }},
        {"by-guardian-root", "through /proc/1/root (outside: of another process)",
         [](const World& world) {
             return read_secret(world, base::format("/proc/{}/root{}", world.guardian, key_of(world)));
         }},
        {"by-guardian-directory", "through /proc/1/cwd (outside: of another process)",
         [](const World& world) {
             return read_secret(world, base::format("/proc/{}/cwd/{}", world.guardian, kPrivateKey));
         }},
        {"by-link", "through a symbolic link made in the project", read_by_link, true},
        {"by-planted-link", "through a symbolic link that was in the project",
         [](const World& world) {
             return read_secret(world, world.project + "/" + std::string(kPlantedLink));
         }},
        {"by-hard-link", "through a hard link made in the project", read_by_hard_link, true},
        {"by-reopening", "by opening a mere name again through /proc/self/fd", read_by_reopening, true},
        {"by-climbing", "with openat and .. from the working directory", read_by_climbing},
        {"by-inherited-directory", "with openat from an inherited directory", read_by_inherited_directory},
        {"by-handle", "by its file handle, without any path", open_by_handle, false, "needs root"},
    };
    for (const Way& way : kWays) {
        probes.push_back({.name = "files/key-" + std::string(way.name),
                          .what = "reads a private key " + std::string(way.what),
                          .attempt = way.attempt,
                          .excuse = way.excuse,
                          .planted = kPrivateKey});
    }
    for (const Way& way : kWays) {
        if (!way.is_for_shown_home) continue;
        probes.push_back({.name = "files/shown-home-key-" + std::string(way.name),
                          .what = base::format("reads a private key {}, with home.access = read", way.what),
                          .attempt = way.attempt,
                          .scenario = Scenario::home_read,
                          .planted = kPrivateKey});
    }
}

// A start-up file is visible, but not its lines with a secret.
void add_start_up(Probes& probes) {
    struct Row {
        std::string_view name;
        Scenario scenario;
    };
    constexpr Row kRows[] = {{"files/start-up-secret", Scenario::standard},
                             {"files/start-up-secret-shown", Scenario::home_read},
                             {"files/start-up-secret-writable", Scenario::home_write}};
    for (const Row& row : kRows) {
        probes.push_back(
            {.name = std::string(row.name),
             .what = "reads a token that ~/.zprofile sets",
             .attempt = [](const World& world) { return read_secret(world, world.home + "/.zprofile"); },
             .scenario = row.scenario,
             .planted = ".zprofile"});
    }
}

void add_credentials(Probes& probes) {
    for (const PlantedFile& file : credentials()) {
        Attempt attempt = [path = std::string(file.path)](const World& world) {
            return read_secret(world, world.home + "/" + path);
        };
        for (Scenario scenario : {Scenario::home_read, Scenario::home_write}) {
            std::string mode(row_of(scenario).name);
            probes.push_back(
                {.name = base::format("files/{}-{}", mode, file.name),
                 .what = base::format("reads ~/{} where the jail shows the home directory", file.path),
                 .attempt = attempt,
                 .scenario = scenario,
                 .planted = file.path});
        }
    }
}

void add_project_secrets(Probes& probes) {
    for (std::string_view file : {".env", ".env.production", "service/.env"}) {
        std::string name(file);
        for (char& letter : name) letter = letter == '/' || letter == '.' ? '-' : letter;
        probes.push_back({.name = "files/project" + (name.front() == '-' ? name : "-" + name),
                          .what = "reads the project's " + std::string(file),
                          .attempt = [path = std::string(file)](const World& world) {
                              return read_secret(world, world.project + "/" + path);
                          }});
    }
    probes.push_back({.name = "files/project-env-renamed",
                      .what = "renames the project's .env and reads it under its new name",
                      .attempt = [](const World& world) {
                          std::string from = world.project + "/.env", to = world.project + "/env-aside";
                          if (::rename(from.c_str(), to.c_str()) != 0) return held(errno);
                          Finding finding = read_secret(world, to);
                          ::rename(to.c_str(), from.c_str());
                          return finding;
                      }});
}

}  // namespace

void add_files(Probes& probes) {
    add_ways(probes);
    add_start_up(probes);
    add_credentials(probes);
    add_project_secrets(probes);
    probes.push_back({.name = "files/inherited-file",
                      .what = "reads a secret file that the caller left open",
                      .attempt = read_inherited_file,
                      .planted = kPrivateKey});
    probes.push_back({.name = "files/inherited-descriptors",
                      .what = "looks for any descriptor beyond 0, 1 and 2",
                      .attempt = find_descriptors});
    probes.push_back({.name = "files/hidden-program",
                      .what = "executes a program that the jail does not show",
                      .attempt = run_hidden,
                      .excuse = "programs can't be executed in this home directory",
                      .planted = kHiddenProgram});
    probes.push_back({.name = "files/hidden-program-by-loader",
                      .what = "has the loader run a program that the jail does not show",
                      .attempt = run_by_loader,
                      .excuse = "programs can't be executed in this home directory",
                      .planted = kHiddenProgram});
    probes.push_back({.name = "files/key-directory-renamed",
                      .what = "renames ~/.ssh in a home directory that can be written",
                      .attempt = rename_key_directory,
                      .scenario = Scenario::home_write});
    probes.push_back({.name = "files/home-listing",
                      .what = "lists the home directory to find what is there",
                      .attempt = [](const World& world) { return find_beside(world.home, "notes"); },
                      .planted = "notes"});
    probes.push_back({.name = "files/neighbour-listing",
                      .what = "lists the directory beside the project to find other projects",
                      .attempt = [](const World& world) { return find_beside(world.root, "neighbour"); }});
    probes.push_back(
        {.name = "files/neighbour-read",
         .what = "reads a file of another project",
         .attempt = [](const World& world) { return read_secret(world, world.neighbour + "/secret"); }});
    probes.push_back({.name = "files/neighbour-write",
                      .what = "makes a file in another project",
                      .attempt = [](const World& world) { return create(world.neighbour + "/planted"); }});
    probes.push_back({.name = "files/temporary-file",
                      .what = "reads a secret in the host's /tmp",
                      .attempt = [](const World& world) { return read_secret(world, world.temporary_file); },
                      .permitted_by = "isolation.private_tmp=false"});
}

// With env.mode = inherit, every variable passes unless a rule removes it, so that each rule is tested alone.
// In the standard mode only listed variables pass.

namespace {

constexpr PlantedVariable kVariables[] = {
    {"token-pattern", "SELFTEST_TOKEN", "@", "a name that ends in _TOKEN"},
    {"secret-pattern", "SELFTEST_SECRET", "@", "a name that ends in _SECRET"},
    {"api-key-pattern", "SELFTEST_API_KEY", "@", "a name that ends in _API_KEY"},
    {"password-any-case", "selftest_MyPassWord_x", "@", "a name with 'password' in it, in any case"},
    {"cloud-prefix", "AWS_SELFTEST", "@", "a name that starts with AWS_"},
    {"ci-prefix", "CI_SELFTEST", "@", "a name that starts with CI_"},
    {"agent-socket", "SSH_AUTH_SOCK", "/tmp/@/agent", "the socket of the ssh agent"},
    {"database-url", "DATABASE_URL", "postgres://db/@", "an address of a database"},
    {"database-password", "PGPASSWORD", "@", "the password of a database"},
    {"message-bus", "DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/@", "the session's message bus"},
    {"screen-key", "XAUTHORITY", "/run/@", "the key to the screen"},
    {"kerberos", "KRB5CCNAME", "FILE:/tmp/@", "Kerberos tickets"},
    {"url-value", "INNOCENT_URL", "https://user:@@example.org/",
     "a URL with a password under an innocent name"},
    {"pem-value", "INNOCENT_TEXT", "-----BEGIN PRIVATE KEY-----\n@\n",
     "a private key under an innocent name"},
    {"token-value", "INNOCENT_NAME", "ghp_selftest@", "a token with a known prefix under an innocent name"},
    {"model-key-value", "INNOCENT_MODEL", "sk-@", "a key of a model provider under an innocent name"},
    {"preloaded-library", "LD_PRELOAD", "/nowhere/@.so", "a library for every program"},
    {"shell-function", "BASH_FUNC_selftest%%", "() { echo @; }", "an exported shell function"},
    {"invalid-name", "selftest-name", "@", "a name that is not valid"},
    {"unlisted-name", "SELFTEST_UNLISTED", "@", "a name that is on no list", Scenario::standard},
};

Finding find_variable(const World& world, std::string_view name) {
    for (char** entry = environ; entry && *entry; ++entry) {
        std::string_view text = *entry;
        bool is_it = text.starts_with(name) && text.substr(name.size()).starts_with('=');
        if (is_it && text.find(world.secret) != std::string_view::npos) return escaped("its value is there");
    }
    return held("not set");
}

// Every visible process except this one and its parent, whose environment we may read.
Finding search_processes(const World& world) {
    DIR* listing = ::opendir("/proc");
    if (listing == nullptr) return held(ENOENT);
    Finding finding = held("in no process");
    std::string own = std::to_string(::getpid()), parent = std::to_string(::getppid());
    while (const dirent* entry = ::readdir(listing)) {
        std::string name = entry->d_name;
        if (name.find_first_not_of("0123456789") != std::string::npos || name == own || name == parent)
            continue;
        Finding found = read_secret(world, base::format("/proc/{}/environ", name));
        if (found.kind == Finding::Kind::escaped) finding = escaped("in process " + name);
    }
    ::closedir(listing);
    return finding;
}

}  // namespace

std::span<const PlantedVariable> planted_variables() {
    return kVariables;
}

std::string value_of(const PlantedVariable& variable, const World& world) {
    std::string value;
    for (size_t i = 0; i < variable.value.size(); ++i) {
        // "@@" is the secret followed by an @.
        if (variable.value[i] != '@') {
            value += variable.value[i];
            continue;
        }
        value += world.secret;
        if (variable.value.substr(i + 1).starts_with('@')) value += '@', ++i;
    }
    return value;
}

void add_environment(Probes& probes) {
    for (const PlantedVariable& variable : kVariables) {
        probes.push_back({.name = "environment/" + std::string(variable.probe),
                          .what = "reads a secret from the environment: " + std::string(variable.what),
                          .attempt = [name = std::string(variable.name)](
                                         const World& world) { return find_variable(world, name); },
                          .scenario = variable.scenario});
    }
    probes.push_back({.name = "environment/guardian",
                      .what = "reads /proc/1/environ (outside: of another process)",
                      .attempt = [](const World& world) {
                          return read_secret(world, base::format("/proc/{}/environ", world.guardian));
                      }});
    probes.push_back({.name = "environment/processes",
                      .what = "searches the environment of every process",
                      .attempt = search_processes});
}

}  // namespace selftest
