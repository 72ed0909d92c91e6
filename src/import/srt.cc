// SPDX-License-Identifier: MIT
// Reads all keys before it decides about writing: whether an entry of denyWrite removes something depends on
// allowWrite.
#include "import/srt.h"

#include <algorithm>
#include <array>

#include "base/encoding/json.h"
#include "base/text.h"
#include "import/import.h"
#include "import/srt_notation.h"

namespace config {
namespace {

using base::Json;
using Source = ImportWriter::Source;
using Region = SrtRegion;
using Spot = SrtSpot;

// The parents of all home directories.
constexpr std::array<std::string_view, 3> kHomes = {"/home", "/Users", "/root"};

class SrtImporter {
  public:
    explicit SrtImporter(const ImportOptions& options) : home_(options.home), writer_(options) {}

    Imported import(const Json& root) {
        const Json* claude = root.find("sandbox");
        is_claude_ = claude != nullptr && claude->is_object();
        if (is_claude_) {
            for (const auto& [key, value] : root.members()) {
                if (key != "sandbox") writer_.leave_out({0, key}, "only the sandbox section is imported");
            }
        }
        read_section(is_claude_ ? *claude : root, "");
        decide_writing();
        writer_.remark(
            "What no rule shows does not exist in the jail, in the home directory too: "
            "home.access = \"read\" would show all of that but credentials.");
        return writer_.finish(is_claude_ ? "the sandbox section of Claude Code's settings"
                                         : "settings of sandbox-runtime");
    }

  private:
    struct Entry {
        Spot spot;
        Source source;
    };

    void leave_out(const std::string& text, std::string_view reason) { writer_.leave_out({0, text}, reason); }

    void read_section(const Json& section, const std::string& prefix) {
        for (const auto& [name, value] : section.members()) {
            std::string path = prefix + name;
            const SrtKey* key = find_srt_key(path);
            if (key == nullptr) {
                leave_out(path, "no such key is known");
            } else if (key->part == SrtPart::section) {
                if (value.is_object()) {
                    read_section(value, path + ".");
                } else {
                    leave_out(path, "it is not an object");
                }
            } else {
                read_key(*key, value);
            }
        }
    }

    void read_key(const SrtKey& key, const Json& value) {
        std::string path(key.path);
        switch (key.part) {
            case SrtPart::left_out:
                return leave_out(path, key.reason);
            case SrtPart::switched_off:
                if (value.as_truth() == nullptr || *value.as_truth()) leave_out(path, key.reason);
                return;
            case SrtPart::git_config:
                if (value.as_truth() != nullptr && *value.as_truth())
                    writer_.set("project.unprotect", ".git/config", {0, path});
                return;
            case SrtPart::parent_proxy:
                return read_parent_proxy(value);
            case SrtPart::credential_files:
            case SrtPart::credential_variables:
                return read_credentials(key, value);
            default:
                return read_list(key, value);
        }
    }

    void read_list(const SrtKey& key, const Json& value) {
        std::string path(key.path);
        if (!value.is_array()) return leave_out(path, "it is not a list");
        if (key.part == SrtPart::allowed_domains) open_network(value.items().empty(), path);
        if (key.part == SrtPart::allow_write) names_writable_ = true;
        for (const Json& item : value.items()) {
            const std::string* text = item.as_text();
            if (text == nullptr || text->empty()) {
                leave_out(path, "an entry is not a text");
                continue;
            }
            read_entry(key.part, *text, {0, path + ": " + *text});
        }
    }

    void read_entry(SrtPart part, const std::string& text, const Source& source) {
        switch (part) {
            case SrtPart::allowed_domains:
                return allow_domain(text, source);
            case SrtPart::denied_domains:
                // Here a rule for a port of all hosts has no host.
                writer_.set("network.block", text.starts_with("*:") ? text.substr(2) : text, source);
                return;
            case SrtPart::denied_addresses:
                writer_.set("network.block", text, source);
                return;
            case SrtPart::deny_read:
                return deny_read(classify_srt_path(text, home_), source);
            case SrtPart::allow_read:
                return allow_read(classify_srt_path(text, home_), source);
            case SrtPart::allow_write:
                allowed_.push_back({classify_srt_path(text, home_), source});
                return;
            default:
                denied_.push_back({classify_srt_path(text, home_), source});
                return;
        }
    }

    // ---- The network

    // Claude Code asks its user about a host that is not listed, so an empty list does not mean "no network".
    void open_network(bool is_empty, const std::string& path) {
        if (is_empty && is_claude_) return;
        writer_.set("network.mode", is_empty ? "isolated" : "proxied", {0, path});
    }

    void allow_domain(const std::string& text, const Source& source) {
        static constexpr std::array<std::string_view, 3> kThisHost = {"localhost", "127.0.0.1", "[::1]"};
        for (std::string_view host : kThisHost) {
            if (text == host) {
                return writer_.leave_out(source,
                                         "a service of this host is opened by its port, in "
                                         "network.host_services; inside it is host.agent-sandbox.internal");
            }
            if (!text.starts_with(base::format("{}:", host))) continue;
            if (writer_.set("network.host_services", text.substr(host.size() + 1), source)) {
                writer_.remark(base::format("Inside, {} is host.agent-sandbox.internal{}.", text,
                                            text.substr(host.size())));
            }
            return;
        }
        writer_.set("network.allow", text, source);
    }

    void read_parent_proxy(const Json& value) {
        std::string secure = value.text("https"), plain = value.text("http");
        const std::string& chosen = secure.empty() ? plain : secure;
        if (chosen.empty()) leave_out("network.parentProxy", "it names no proxy");
        if (!chosen.empty()) writer_.set("network.upstream_proxy", chosen, {0, "network.parentProxy"});
        if (!secure.empty() && !plain.empty() && secure != plain)
            leave_out("network.parentProxy.http", "there is one proxy for all, and that for HTTPS was taken");
        if (value.find("noProxy") != nullptr)
            leave_out("network.parentProxy.noProxy", "set the variable no_proxy, which is read at the start");
    }

    // ---- Files

    void deny_read(const Spot& spot, const Source& source) {
        bool is_all_of_home = spot.region == Region::home || spot.region == Region::root ||
                              std::ranges::find(kHomes, spot.path) != kHomes.end();
        if (is_all_of_home) {
            writer_.leave_out(
                source,
                "not needed: of the home directory only what home.readonly and its like list is "
                "seen, and other users' do not exist");
        } else if (spot.region == Region::project) {
            writer_.leave_out(source, "the project itself can't be hidden: start in another directory");
        } else if (spot.region == Region::temporary) {
            writer_.leave_out(source, "not needed: the jail has temporary directories of its own");
        } else if (spot.region == Region::in_project) {
            set_in_project("project.mask", spot, source);
        } else {
            writer_.set("mounts.hidden", spot.path, source);
        }
    }

    void allow_read(const Spot& spot, const Source& source) {
        switch (spot.region) {
            case Region::home:
                writer_.set("home.access", "read", source);
                return;
            case Region::in_home:
                writer_.set("home.readonly", spot.path, source);
                return;
            case Region::elsewhere:
                writer_.set("mounts.readonly", spot.path, source);
                return;
            case Region::root:
                return writer_.leave_out(source,
                                         "/ can't be shown as a whole: name what is needed in "
                                         "mounts.readonly");
            default:
                return writer_.leave_out(source, "not needed: it can be read anyway");
        }
    }

    void decide_writing() {
        bool has_project = is_claude_ || !names_writable_;
        bool has_other = false;
        for (const Entry& entry : allowed_) {
            if (entry.spot.region == Region::project) has_project = true;
            if (entry.spot.region == Region::home || entry.spot.region == Region::in_home ||
                entry.spot.region == Region::elsewhere)
                has_other = true;
        }
        for (const Entry& entry : denied_) {
            if (is_outside(entry.spot)) place(entry.spot, closed_);
        }
        for (const Entry& entry : allowed_) {
            if (is_outside(entry.spot) && closed_.hold(fixed_part_of_path(entry.spot.path))) {
                writer_.leave_out(entry.source, "denyWrite names it or what it lies in, and counts more");
                continue;
            }
            if (is_outside(entry.spot)) place(entry.spot, opened_);
            allow_write(entry, has_project);
        }
        // A project below another writable directory would be writable too.
        if (!has_project && !has_other)
            writer_.set("project.read_only", "true", {0, "filesystem.allowWrite without \".\""});
        if (!has_project && has_other)
            leave_out("filesystem.allowWrite",
                      "the project can be written although \".\" is not named: "
                      "project.read_only = true closes it");
        for (const Entry& entry : denied_) deny_write(entry);
    }

    static bool is_outside(const Spot& spot) {
        return spot.region == Region::home || spot.region == Region::in_home ||
               spot.region == Region::elsewhere || spot.region == Region::root;
    }

    // Region::root also stands for a path whose meaning is unknown; treat both as "/".
    static std::string covered_path(const Spot& spot) {
        return spot.region == Region::root ? "/" : fixed_part_of_path(spot.path);
    }

    // Whether the home directory is in `path`, or may be in it if the home directory is not known.
    bool holds_home(const std::string& path) const {
        if (path == "/" || path == "~") return true;
        if (!home_.empty()) return is_path_within(home_, path);
        return std::ranges::any_of(kHomes,
                                   [&](std::string_view homes) { return is_path_within(path, homes); });
    }

    void place(const Spot& spot, SrtPlaces& places) const {
        std::string path = covered_path(spot);
        if (holds_home(path)) places.add("~");
        places.add(std::move(path));
    }

    void allow_write(const Entry& entry, bool has_project) {
        const Spot& spot = entry.spot;
        switch (spot.region) {
            case Region::project:
                return;
            case Region::home:
                writer_.set("home.access", "write", entry.source);
                return;
            case Region::in_home:
                writer_.set("home.writable", spot.path, entry.source);
                return;
            case Region::elsewhere:
                writer_.set("mounts.writable", spot.path, entry.source);
                return;
            case Region::in_project:
                if (!has_project)
                    writer_.leave_out(entry.source,
                                      "the project is writable as a whole or not at all: 'agent-sandbox "
                                      "--read-only --rw DIRECTORY' opens a part of one");
                return;
            case Region::temporary:
            case Region::device:
                return writer_.leave_out(entry.source, "not needed: the jail has one of its own");
            case Region::system:
            case Region::root:
                return writer_.leave_out(entry.source, "the system is never writable");
        }
    }

    void deny_write(const Entry& entry) {
        const Spot& spot = entry.spot;
        if (spot.region == Region::project) {
            writer_.set("project.read_only", "true", entry.source);
        } else if (spot.region == Region::in_project) {
            set_in_project("project.protect", spot, entry.source);
        } else if (!is_outside(spot)) {
            writer_.leave_out(entry.source, "not needed: it is never writable, or the jail's own");
        } else if (std::string path = covered_path(spot); holds_home(path)) {
            // Nearly every project is in the home directory.
            writer_.set("project.read_only", "true", entry.source);
        } else if (spot.region == Region::in_home && opened_.hold(path)) {
            writer_.set("home.readonly", path, entry.source);
        } else if (opened_.hold(path)) {
            writer_.set("mounts.readonly", path, entry.source);
        } else {
            writer_.leave_out(entry.source,
                              "not needed: nothing opens it for writing but a start in a project that lies "
                              "there, which project.read_only = true closes");
        }
    }

    // project.mask matches a plain name at any depth; every other entry is a path from the project's top.
    void set_in_project(std::string_view key, const Spot& spot, const Source& source) {
        std::string_view path = spot.path;
        if (path.starts_with("**/")) path.remove_prefix(3);
        bool is_name = key == "project.mask" && path.find('/') == std::string_view::npos;
        bool is_set = writer_.set(key, path, source);
        if (is_set && spot.is_anywhere && !is_name) {
            writer_.leave_out(source, base::format("only the one at the project's top is named in {}: name "
                                                   "others there too, each from the project on",
                                                   key));
        }
    }

    // ---- Credentials

    void read_credentials(const SrtKey& key, const Json& value) {
        bool is_file = key.part == SrtPart::credential_files;
        std::string path(key.path);
        if (!value.is_array()) return leave_out(path, "it is not a list");
        for (const Json& item : value.items()) {
            std::string name = item.text(is_file ? "path" : "name");
            Source source{0, path + ": " + name};
            if (name.empty()) {
                leave_out(path, "an entry names nothing");
                continue;
            }
            if (is_file) {
                deny_read(classify_srt_path(name, home_), source);
            } else {
                writer_.set("env.block", name, source);
            }
            if (item.text("mode") == "mask")
                writer_.leave_out(source,
                                  "it is withheld rather than masked: secrets are not put into "
                                  "requests here");
        }
    }

    std::string home_;
    ImportWriter writer_;
    bool is_claude_ = false;
    bool names_writable_ = false;
    std::vector<Entry> allowed_;
    std::vector<Entry> denied_;
    SrtPlaces closed_;  // paths of denyWrite
    SrtPlaces opened_;  // paths of allowWrite that are carried over
};

// The JSON library searches all earlier members for each new one, which is quadratic.
constexpr size_t kMostMembers = 20000;

bool has_too_many_members(std::string_view text) {
    size_t members = 0;
    bool is_quoted = false;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '"') is_quoted = !is_quoted;
        if (is_quoted && text[at] == '\\') ++at;
        if (!is_quoted && text[at] == ':') ++members;
    }
    return members > kMostMembers;
}

}  // namespace

base::Result<Imported> import_srt(std::string_view text, const ImportOptions& options) {
    if (has_too_many_members(text)) {
        return base::Error{.what = base::format("this JSON has more than {} members", kMostMembers),
                           .advice = "import a file with the sandbox's settings alone"};
    }
    base::Result<Json> root = Json::parse(text);
    if (!root) return root.error();
    bool is_known =
        root->is_object() && std::ranges::any_of(root->members(), [](const auto& member) {
            return is_srt_section(member.first) || (member.first == "sandbox" && member.second.is_object());
        });
    if (!is_known) {
        return base::Error{.what =
                               "this JSON holds no settings of sandbox-runtime (network, filesystem) and no "
                               "sandbox section of Claude Code",
                           .advice = "name ~/.srt-settings.json, or a settings.json with such a section"};
    }
    return SrtImporter(options).import(*root);
}

}  // namespace config
