// SPDX-License-Identifier: MIT
#include "session/guard/links_in_project.h"

#include <limits.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/text.h"

namespace session {
namespace {

constexpr int kMostLinks = 40;

std::string text_of_link(const base::Path& path) {
    char text[PATH_MAX];
    ssize_t length = ::readlink(path.c_str(), text, sizeof text);
    return length > 0 ? std::string(text, static_cast<size_t>(length)) : std::string();
}

}  // namespace

std::optional<base::Path> end_of_link(const base::Path& project, const base::Path& link) {
    base::Path place = project;
    std::string rest(link.relative_to(project));
    for (int followed = 0; !rest.empty();) {
        size_t slash = rest.find('/');
        std::string component = rest.substr(0, slash);
        rest = slash == std::string::npos ? std::string() : rest.substr(slash + 1);
        place = place / component;
        if (!place.is_within(project)) return std::nullopt;
        const std::string text = text_of_link(place);
        if (text.empty()) continue;
        if (++followed > kMostLinks) return std::nullopt;
        base::Path target = text.front() == '/' ? base::Path() / text : place.parent() / text;
        if (!target.is_within(project)) return std::nullopt;
        rest = std::string(target.relative_to(project)) + (rest.empty() ? "" : "/" + rest);
        place = project;
    }
    if (place == project || ::access(place.c_str(), F_OK) != 0) return std::nullopt;
    return place;
}

}  // namespace session
