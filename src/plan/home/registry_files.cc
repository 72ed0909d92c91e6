// SPDX-License-Identifier: MIT
#include "plan/home/registry_files.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/parse.h"
#include "base/text.h"
#include "config/secrets.h"

namespace plan {
namespace {

bool is_made_of(std::string_view text, std::string_view others) {
    return std::ranges::all_of(text, [&](char letter) {
        return base::is_letter(letter) || base::is_digit(letter) ||
               others.find(letter) != std::string_view::npos;
    });
}

// A number, a switch, a version range, or the path of a certificate.
bool is_plain_value(std::string_view text) {
    constexpr size_t kLongest = 80;
    return !text.empty() && text.size() <= kLongest && is_made_of(text, " ._~^/*,:|!-") &&
           config::secret_in(text).empty();
}

// Tokens are long and mix letters with digits; names of repositories are words.
bool looks_like_token(std::string_view part) {
    constexpr size_t kLongestName = 24;
    bool has_digit = std::ranges::any_of(part, base::is_digit);
    return (part.size() > kLongestName && has_digit) || !config::secret_in(part).empty();
}

// ---- npm

constexpr std::string_view kNpmSwitches[] = {"audit",
                                             "auto-install-peers",
                                             "cafile",
                                             "engine-strict",
                                             "fetch-retries",
                                             "fetch-timeout",
                                             "fund",
                                             "hoist",
                                             "ignore-scripts",
                                             "legacy-peer-deps",
                                             "loglevel",
                                             "maxsockets",
                                             "node-linker",
                                             "omit",
                                             "package-lock",
                                             "prefer-dedupe",
                                             "prefer-offline",
                                             "progress",
                                             "resolution-mode",
                                             "save-exact",
                                             "save-prefix",
                                             "shamefully-hoist",
                                             "strict-ssl",
                                             "strict-peer-dependencies"};

bool is_registry_key(std::string_view key) {
    constexpr std::string_view kEnd = ":registry";
    if (key == "registry") return true;
    if (!key.starts_with('@') || !key.ends_with(kEnd)) return false;
    std::string_view scope = key.substr(1, key.size() - 1 - kEnd.size());
    return !scope.empty() && is_made_of(scope, "._~-");
}

// ---- pip

constexpr std::string_view kPipSections[] = {"[global]", "[install]", "[download]", "[wheel]",
                                             "[index]",  "[list]",    "[search]",   "[freeze]"};
constexpr std::string_view kPipAddresses[] = {"index-url", "extra-index-url", "find-links", "index",
                                              "index_url", "extra_index_url", "find_links"};
constexpr std::string_view kPipValues[] = {"trusted-host",
                                           "trusted_host",
                                           "no-index",
                                           "timeout",
                                           "retries",
                                           "cert",
                                           "prefer-binary",
                                           "only-binary",
                                           "no-binary",
                                           "no-cache-dir",
                                           "require-virtualenv",
                                           "disable-pip-version-check",
                                           "no-build-isolation",
                                           "break-system-packages",
                                           "use-feature",
                                           "progress-bar"};

// The address without the log-in in front of the host. Without any address pip would use the public index,
// where another person can register the name of a private package.
std::string without_login(std::string_view url) {
    const size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return std::string(url);
    std::string_view rest = url.substr(scheme + 3);
    const size_t at = rest.substr(0, rest.find('/')).rfind('@');
    if (at != std::string_view::npos) rest.remove_prefix(at + 1);
    return std::string(url.substr(0, scheme + 3)) + std::string(rest);
}

// A value of pip may have several lines, each with several words.
struct PipSetting {
    std::string_view key;
    std::vector<std::string_view> words;
};

std::string pip_line(const PipSetting& setting) {
    bool is_address = std::ranges::find(kPipAddresses, setting.key) != std::end(kPipAddresses);
    bool is_value = std::ranges::find(kPipValues, setting.key) != std::end(kPipValues);
    std::string text;
    for (std::string_view word : setting.words) {
        const std::string shown = is_address ? without_login(word) : std::string(word);
        bool is_shown = is_address ? is_plain_url(shown) : is_value && is_plain_value(shown);
        if (is_shown) text += base::format(" {}", shown);
    }
    return text.empty() ? text : base::format("{} ={}\n", setting.key, text);
}

// ---- Maven

// Elements that are copied, each with the elements around it. One that ends in a slash contains others.
constexpr std::string_view kElements[] = {
    "settings/",
    "settings/offline",
    "settings/interactiveMode",
    "settings/pluginGroups/",
    "settings/pluginGroups/pluginGroup",
    "settings/mirrors/",
    "settings/mirrors/mirror/",
    "settings/mirrors/mirror/id",
    "settings/mirrors/mirror/name",
    "settings/mirrors/mirror/url",
    "settings/mirrors/mirror/mirrorOf",
    "settings/mirrors/mirror/layout",
    "settings/mirrors/mirror/mirrorOfLayouts",
    "settings/mirrors/mirror/blocked",
    "settings/proxies/",
    "settings/proxies/proxy/",
    "settings/proxies/proxy/id",
    "settings/proxies/proxy/active",
    "settings/proxies/proxy/protocol",
    "settings/proxies/proxy/host",
    "settings/proxies/proxy/port",
    "settings/proxies/proxy/nonProxyHosts",
    "settings/profiles/",
    "settings/profiles/profile/",
    "settings/profiles/profile/id",
    "settings/profiles/profile/activation/",
    "settings/profiles/profile/activation/activeByDefault",
    "settings/profiles/profile/repositories/",
    "settings/profiles/profile/pluginRepositories/",
    "settings/activeProfiles/",
    "settings/activeProfiles/activeProfile",
};
// Below these, the same elements.
constexpr std::string_view kRepositories[] = {
    "settings/profiles/profile/repositories/repository/",
    "settings/profiles/profile/pluginRepositories/pluginRepository/"};
constexpr std::string_view kInRepository[] = {
    "id",
    "name",
    "url",
    "layout",
    "releases/",
    "releases/enabled",
    "releases/updatePolicy",
    "releases/checksumPolicy",
    "snapshots/",
    "snapshots/enabled",
    "snapshots/updatePolicy",
    "snapshots/checksumPolicy",
};
// Left out as a whole if one of their parts is: a mirror without its address is an error for Maven.
constexpr std::string_view kWholes[] = {"mirror", "proxy", "repository", "pluginRepository"};

enum class Element { unknown, container, leaf };

Element element_at(const std::string& path) {
    auto find = [&](std::string_view below, std::span<const std::string_view> rows) {
        if (!path.starts_with(below)) return Element::unknown;
        std::string_view rest = std::string_view(path).substr(below.size());
        for (std::string_view row : rows) {
            if (row == rest) return Element::leaf;
            if (row.ends_with('/') && row.substr(0, row.size() - 1) == rest) return Element::container;
        }
        return Element::unknown;
    };
    for (std::string_view place : kRepositories) {
        if (place.substr(0, place.size() - 1) == path) return Element::container;
        if (Element found = find(place, kInRepository); found != Element::unknown) return found;
    }
    return find("", kElements);
}

// Reads the elements and writes those that are listed. Attributes are dropped.
class MavenCopy {
  public:
    explicit MavenCopy(std::string_view text) : rest_(text) {}

    std::optional<std::string> make() {
        while (!rest_.empty()) {
            size_t tag = rest_.find('<');
            text_.append(rest_.substr(0, tag));
            if (tag == std::string_view::npos) break;
            rest_.remove_prefix(tag);
            if (!take_tag()) return std::nullopt;
        }
        bool is_whole = open_.empty() && has_root_;
        return is_whole ? std::optional(std::move(out_)) : std::nullopt;
    }

  private:
    struct Open {
        std::string name, path;
        Element element;
        size_t begin;  // of its copy in out_
        bool is_left_out = false;
    };

    bool take_tag() {
        if (rest_.starts_with("<!--")) return skip_behind("-->");
        if (rest_.starts_with("<?")) return skip_behind("?>");
        // A declaration of entities, or a section of raw characters.
        if (rest_.starts_with("<!")) return false;
        size_t end = rest_.find('>');
        if (end == std::string_view::npos) return false;
        std::string_view tag = rest_.substr(1, end - 1);
        rest_.remove_prefix(end + 1);
        if (tag.starts_with('/')) return close(base::trim(tag.substr(1)));
        bool is_empty = tag.ends_with('/');
        std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n/"));
        // A ">" in an attribute would end the tag too early.
        bool is_plain = !name.empty() && is_made_of(name, "-._:") && std::ranges::count(tag, '"') % 2 == 0 &&
                        std::ranges::count(tag, '\'') % 2 == 0;
        if (!is_plain || (open_.empty() && has_root_)) return false;
        open(name);
        return !is_empty || close(name);
    }

    bool skip_behind(std::string_view mark) {
        size_t end = rest_.find(mark);
        if (end == std::string_view::npos) return false;
        rest_.remove_prefix(end + mark.size());
        return true;
    }

    void open(std::string_view name) {
        has_root_ = true;
        bool is_below_copied = open_.empty() || open_.back().element == Element::container;
        std::string path = open_.empty() ? std::string(name) : base::format("{}/{}", open_.back().path, name);
        Element element = is_below_copied ? element_at(path) : Element::unknown;
        open_.push_back({std::string(name), std::move(path), element, out_.size()});
        if (element == Element::container) out_ += base::format("<{}>", name);
        text_.clear();
    }

    bool close(std::string_view name) {
        if (open_.empty() || open_.back().name != name) return false;
        Open ended = std::move(open_.back());
        open_.pop_back();
        std::string_view text = base::trim(text_);
        if (ended.element == Element::container) {
            out_ += base::format("</{}>\n", name);
            bool is_whole = std::ranges::find(kWholes, name) != std::end(kWholes);
            if (ended.is_left_out && is_whole) out_.resize(ended.begin);
            if (ended.is_left_out && !is_whole && !open_.empty()) open_.back().is_left_out = true;
        } else if (ended.element == Element::leaf) {
            bool is_safe = name == "url" ? is_plain_url(text) : is_plain_value(text);
            if (is_safe) {
                out_ += base::format("<{}>{}</{}>\n", name, text, name);
            } else {
                open_.back().is_left_out = true;
            }
        }
        text_.clear();
        return true;
    }

    std::string_view rest_;
    std::string text_;  // since the last tag
    std::string out_;
    std::vector<Open> open_;
    bool has_root_ = false;
};

}  // namespace

bool is_plain_url(std::string_view text) {
    constexpr size_t kLongest = 200;
    size_t scheme = text.find("://");
    bool is_web = scheme != std::string_view::npos &&
                  (text.substr(0, scheme) == "https" || text.substr(0, scheme) == "http");
    if (!is_web || text.size() > kLongest) return false;
    std::string_view rest = text.substr(scheme + 3);
    std::string_view host = rest.substr(0, rest.find('/'));
    std::string_view path = rest.substr(host.size());
    if (host.empty() || !is_made_of(host, ".:-") || !is_made_of(path, "._~+/-")) return false;
    if (!config::secret_in(text).empty()) return false;
    // conda and others write /t/TOKEN/ in front of the channel.
    if (path.starts_with("/t/") || path.find("/t/") != std::string_view::npos) return false;
    std::vector<std::string_view> parts = base::split(path, '/');
    return std::ranges::none_of(parts, looks_like_token);
}

std::string npm_settings(std::string_view npmrc) {
    std::string copy;
    for (std::string_view line : base::split(npmrc, '\n')) {
        line = base::trim(line);
        // Keys of a section are not settings of npm.
        if (line.starts_with('[')) break;
        size_t equals = line.find('=');
        if (equals == std::string_view::npos) continue;
        std::string_view key = base::trim(line.substr(0, equals));
        std::string_view value = base::trim(line.substr(equals + 1));
        bool is_quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
        if (is_quoted) value = value.substr(1, value.size() - 2);
        bool is_switch = std::ranges::find(kNpmSwitches, key) != std::end(kNpmSwitches);
        bool is_shown = is_switch ? is_plain_value(value) : is_registry_key(key) && is_plain_url(value);
        // Two lines that were joined by mistake: the second one holds a log-in.
        if (value.find("_auth") != std::string_view::npos) is_shown = false;
        if (is_shown) copy += base::format("{}={}\n", key, value);
    }
    return copy;
}

std::string pip_settings(std::string_view pip_conf) {
    std::string copy;
    bool is_in_section = false;
    PipSetting setting;
    auto finish = [&] {
        if (is_in_section) copy += pip_line(setting);
        setting = {};
    };
    for (std::string_view line : base::split(pip_conf, '\n')) {
        std::string_view text = base::trim(line);
        if (text.empty() || text.starts_with('#') || text.starts_with(';')) continue;
        bool continues = line.front() == ' ' || line.front() == '\t';
        std::string_view values = text;
        if (!continues) {
            finish();
            if (text.starts_with('[')) {
                is_in_section = std::ranges::find(kPipSections, text) != std::end(kPipSections);
                if (is_in_section) copy += base::format("{}\n", text);
                continue;
            }
            size_t separator = text.find_first_of("=:");
            if (separator == std::string_view::npos) continue;
            setting.key = base::trim(text.substr(0, separator));
            values = text.substr(separator + 1);
        }
        for (std::string_view word : base::split(values, ' ')) {
            word = base::trim(word);
            if (!word.empty()) setting.words.push_back(word);
        }
    }
    finish();
    return copy;
}

std::optional<std::string> maven_settings(std::string_view settings_xml) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (settings_xml.starts_with(kByteOrderMark)) settings_xml.remove_prefix(kByteOrderMark.size());
    return MavenCopy(settings_xml).make();
}

std::optional<std::string> registry_settings(std::string_view relative, std::string_view content) {
    if (relative.ends_with("/settings.xml")) return maven_settings(content);
    std::string copy;
    if (relative.ends_with("/pip.conf")) copy = pip_settings(content);
    if (relative == ".npmrc") copy = npm_settings(content);
    return copy.empty() ? std::nullopt : std::optional(std::move(copy));
}

}  // namespace plan
