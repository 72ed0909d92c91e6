// SPDX-License-Identifier: MIT
// Without configuration files, a launch costs only a few failed opens here.
#include "config/files/sources.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/encoding/sha256.h"
#include "base/file.h"
#include "base/no_links.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "config/files/checked_files.h"

namespace config {
namespace {

using base::Error;
using base::Fd;
using base::Result;

constexpr size_t kLargestProjectFile = 256u << 10;

std::string_view variable(const std::vector<std::string>& environment, std::string_view name) {
    for (std::string_view entry : environment) {
        if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=') {
            return entry.substr(name.size() + 1);
        }
    }
    return {};
}

std::string base_directory(const std::vector<std::string>& environment, std::string_view name,
                           const base::Path& otherwise) {
    Result<base::Path> given = base::Path::parse(variable(environment, name));
    return ((given ? *given : otherwise) / "agent-sandbox").str();
}

// A launch prints one line; `config check` prints all.
Error first_of(const std::vector<Error>& problems, const std::string& file) {
    Error first = problems.front();
    if (problems.size() > 1) {
        first.what += base::format(" (and {} more: 'agent-sandbox config check {}' shows them)",
                                   problems.size() - 1, base::shell_word(file));
    }
    return first;
}

Result<LayerFile> parse_believed(Layer layer, const std::string& file, std::string_view text) {
    ParsedFile parsed = parse_layer(layer, file, text);
    if (!parsed.problems.empty()) return first_of(parsed.problems, file);
    return std::move(parsed.content);
}

// A session may have left the file, and it stops every start in the project: state how it goes away.
Error in_project_file(Error error, const std::string& path) {
    if (!error.advice.empty()) error.advice += "; ";
    error.advice +=
        base::format("correct the file, or remove it if it is not yours: 'rm {}'", base::shell_word(path));
    return error;
}

Result<std::vector<LayerFile>> parse_all(Layer layer, const std::vector<FileText>& files) {
    std::vector<LayerFile> layers;
    for (const FileText& file : files) {
        Result<LayerFile> parsed = parse_believed(layer, file.file, file.text);
        if (!parsed) return parsed.error();
        layers.push_back(*std::move(parsed));
    }
    return layers;
}

bool covers(const LayerFile& file, const Places& places, const base::Path& project) {
    if (!file.match_project) return true;
    std::string pattern = *file.match_project;
    if (pattern.starts_with('~')) pattern.replace(0, 1, places.home);
    return base::matches_path(pattern, project.str());
}

bool is_preset_name(std::string_view name) {
    return !name.empty() &&
           std::ranges::all_of(name, [](char c) { return base::is_name_character(c) || c == '-'; });
}

void add_names_in(const std::string& directory, std::vector<std::string>& names) {
    Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return;
    Result<std::vector<std::string>> files = list_toml_files(fd.get());
    if (!files) return;
    for (const std::string& name : *files) names.push_back(name.substr(0, name.size() - 5));
}

}  // namespace

Places places_for(const base::Path& home, const std::vector<std::string>& environment) {
    return Places{.admin_directory = SANDBOX_ADMIN_DIRECTORY,
                  .user_directory = base_directory(environment, "XDG_CONFIG_HOME", home / ".config"),
                  .state_directory = base_directory(environment, "XDG_STATE_HOME", home / ".local/state"),
                  .home = home.str()};
}

Result<std::vector<LayerFile>> read_admin_files_owned_by(const Places& places, uid_t owner) {
    Result<std::vector<FileText>> files =
        read_configuration(places.admin_directory, owned_by_administrator(owner));
    if (!files) return files.error();
    Result<std::vector<LayerFile>> layers = parse_all(Layer::admin, *files);
    if (layers || ::geteuid() == owner) return layers;
    // The user who gets this error can't fix the file.
    Error error = layers.error();
    if (!error.advice.empty()) error.advice += "; ";
    error.advice += "tell the administrator: nothing starts until it is mended";
    return error;
}

Result<std::vector<LayerFile>> read_admin_files(const Places& places) {
    return read_admin_files_owned_by(places, 0);
}

Result<std::vector<LayerFile>> read_user_files(const Places& places, const base::Path& project) {
    Result<std::vector<FileText>> files = read_configuration(places.user_directory, not_for_everybody());
    if (!files) return files.error();
    Result<std::vector<LayerFile>> layers = parse_all(Layer::user, *files);
    if (layers) std::erase_if(*layers, [&](const LayerFile& file) { return !covers(file, places, project); });
    return layers;
}

Result<std::vector<ProjectFile>> read_project_file(const Places& places, const base::Path& project) {
    std::string path = (project / kProjectFileName).str();
    Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) {
        if (errno == ENOENT || errno == ENOTDIR) return std::vector<ProjectFile>();
        const int number = errno;
        Error error = base::system_error("read " + path, number);
        error.advice = "make it a readable file, or remove it";
        if (number == EACCES) return base::with_shut_directory(std::move(error), project);
        if (number == ELOOP) {
            error.what = path + " is a symbolic link, and a project file is never followed through one";
            error.advice = "put the file itself there, or remove the link";
        }
        return error;
    }
    struct stat status;
    if (::fstat(fd.get(), &status) != 0) return base::system_error("look at " + path, errno);
    // A jail that runs in this project has an empty directory as a placeholder at this name, so that the
    // command can't create the file.
    if (S_ISDIR(status.st_mode)) return std::vector<ProjectFile>();
    if (!S_ISREG(status.st_mode)) return Error{.what = path + " is not a file", .advice = "remove it"};

    Result<std::string> text = read_settled(fd.get(), path, kLargestProjectFile);
    if (!text) return in_project_file(text.error(), path);
    Result<LayerFile> layer = parse_believed(Layer::project, path, *text);
    if (!layer) return in_project_file(layer.error(), path);
    ProjectFile file{.layer = *std::move(layer), .digest = base::sha256(*text)};
    Result<bool> trusted = is_trusted(places, project, file.digest);
    if (!trusted) return trusted.error();
    file.is_trusted = *trusted;
    return std::vector<ProjectFile>{std::move(file)};
}

Result<LayerFile> read_preset(const Places& places, std::string_view name) {
    if (is_preset_name(name)) {
        std::string file = base::format("{}.toml", name);
        Result<std::optional<FileText>> own =
            read_one(places.user_directory + "/presets", file, not_for_everybody());
        if (!own) return own.error();
        if (*own) return parse_believed(Layer::preset, (*own)->file, (*own)->text);
        // The ceiling does not depend on a preset, so any owner is fine as long as the preset is not writable
        // by everyone.
        Result<std::optional<FileText>> site =
            read_one(places.admin_directory + "/presets", file, not_for_everybody());
        if (!site) return site.error();
        if (*site) return parse_believed(Layer::preset, (*site)->file, (*site)->text);
        if (const DataFile* built_in = find_data_file("presets/" + file)) {
            return parse_believed(Layer::preset, base::format("preset {}", name), built_in->content);
        }
    }
    std::vector<std::string> names = preset_names(places);
    return Error{.what = base::format("there is no preset '{}'", base::printable(name)),
                 .advice = "there are " + base::join(names, ", "),
                 .where = "--preset"};
}

std::vector<std::string> preset_names(const Places& places) {
    std::vector<std::string> names;
    for (const DataFile& file : data_files()) {
        constexpr std::string_view kFolder = "presets/", kEnding = ".toml";
        if (!file.name.starts_with(kFolder) || !file.name.ends_with(kEnding)) continue;
        names.emplace_back(
            file.name.substr(kFolder.size(), file.name.size() - kFolder.size() - kEnding.size()));
    }
    add_names_in(places.admin_directory + "/presets", names);
    add_names_in(places.user_directory + "/presets", names);
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    return names;
}

// One file per project, named by the digest of the project's path. It contains the digest of the accepted
// content and the path, so that a person can read the store. Threat: a user who can write here can widen the
// policy, so a record that others could have written is an error (trust_test: refuses a record that others
// can write).

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
