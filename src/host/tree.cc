// SPDX-License-Identifier: MIT
#include "host/tree.h"

#include "base/format.h"

namespace host {
namespace {

// The kernel's own limit (MAXSYMLINKS).
constexpr size_t kMostLinks = 40;

// Removes the first component from `rest`; empty when no component is left.
std::string_view next_component(std::string_view& rest) {
    while (rest.starts_with('/')) rest.remove_prefix(1);
    std::string_view component = rest.substr(0, rest.find('/'));
    rest.remove_prefix(component.size());
    return component;
}

}  // namespace

bool Tree::visit(const base::Path& directory, const std::function<bool(const Entry&)>& visitor) const {
    for (const Entry& entry : list(directory)) {
        if (!visitor(entry)) break;
    }
    return true;
}

std::optional<Glance> Tree::glance(const base::Path& path) const {
    std::optional<Node> node = look(path);
    return node ? std::optional(Glance{node->kind, std::move(node->link)}) : std::nullopt;
}

std::optional<Node> Tree::look_through(const base::Path& path) const {
    base::Result<Resolved> resolved = resolve(path);
    if (!resolved || !resolved->exists) return std::nullopt;
    return look(resolved->path);
}

base::Result<Tree::Resolved> Tree::resolve(const base::Path& path) const {
    Resolved resolved;
    std::string text = path.str();
    std::string_view rest = text;
    for (std::string_view component = next_component(rest); !component.empty();
         component = next_component(rest)) {
        if (component == ".") continue;
        // Only the text of a link can contain "..", and it refers to the physical parent of the link's
        // directory.
        if (component == "..") {
            resolved.path = resolved.path.parent();
            continue;
        }
        base::Path candidate = resolved.path / component;
        std::optional<Glance> node = glance(candidate);
        if (!node) {
            resolved.path = candidate / rest;
            return resolved;
        }
        if (node->kind != Kind::symlink) {
            resolved.path = std::move(candidate);
            continue;
        }
        if (resolved.links.size() == kMostLinks) {
            return base::Error{.what = base::format("cannot resolve {}: its symbolic links form a loop at {}",
                                                    path.str(), candidate.str()),
                               .advice = "remove or correct that link"};
        }
        if (node->link.starts_with('/')) resolved.path = base::Path();
        std::string followed = node->link + "/" + std::string(rest);
        resolved.links.push_back({std::move(candidate), std::move(node->link)});
        text = std::move(followed);
        rest = text;
    }
    resolved.exists = true;
    return resolved;
}

}  // namespace host
