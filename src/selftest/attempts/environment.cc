// SPDX-License-Identifier: MIT
// With env.mode = inherit, every variable passes unless a rule removes it, so that each rule is tested alone.
// In the standard mode only listed variables pass.
#include <dirent.h>
#include <unistd.h>

#include <cstdlib>

#include "base/format.h"
#include "selftest/attempt.h"
#include "selftest/attempts/variables.h"
#include "selftest/catalogue.h"

namespace selftest {
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
