// SPDX-License-Identifier: MIT
#include "host/tree.h"

#include <algorithm>
#include <array>

#include "base/text.h"

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

namespace {

constexpr uint32_t kCaller = 1000;

constexpr std::string_view kSystemTrees[] = {"app",   "bin",   "boot", "cvmfs", "dev",  "etc",  "lib",
                                             "lib32", "lib64", "nix",  "opt",   "proc", "root", "run",
                                             "sbin",  "srv",   "sys",  "usr",   "var"};

struct KindLetter {
    char letter;
    Kind kind;
    uint32_t usual_mode;
};

constexpr KindLetter kKindLetters[] = {
    {'d', Kind::directory, 0755}, {'f', Kind::file, 0644},   {'l', Kind::symlink, 0777},
    {'s', Kind::socket, 0777},    {'c', Kind::device, 0666}, {'r', Kind::directory, 0755},
};

bool belongs_to_system(const base::Path& path) {
    if (path.depth() <= 1) return true;
    std::string_view top = path.components().front();
    return std::ranges::find(kSystemTrees, top) != std::end(kSystemTrees);
}

Node usual_node(const base::Path& path, Kind kind, uint32_t mode) {
    uint32_t owner = belongs_to_system(path) ? 0 : kCaller;
    return Node{.kind = kind, .mode = mode, .owner = owner, .group = owner};
}

std::string unescaped(std::string_view text) {
    std::string plain;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 == text.size()) {
            plain += text[i];
            continue;
        }
        char escaped = text[++i];
        plain += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped == 's' ? ' ' : escaped;
    }
    return plain;
}

// Removes the first word and the blanks after it from `rest`.
std::string_view take_word(std::string_view& rest) {
    std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    return word;
}

std::optional<uint32_t> parse_mode(std::string_view word) {
    bool is_octal = word.find_first_not_of("01234567") == std::string_view::npos;
    if (word.size() < 4 || word.size() > 5 || word.front() != '0' || !is_octal) return std::nullopt;
    uint32_t mode = 0;
    for (char digit : word) mode = mode * 8 + static_cast<uint32_t>(digit - '0');
    return mode;
}

struct Line {
    base::Path path;
    Node node;
    std::string content;
    bool is_locked = false;  // `r`
};

base::Result<Line> parse_line(std::string_view text) {
    std::string_view rest = text;
    std::string_view letter = take_word(rest);
    const KindLetter* kind =
        std::ranges::find(kKindLetters, letter.size() == 1 ? letter.front() : '?', &KindLetter::letter);
    if (kind == std::end(kKindLetters)) {
        return base::Error{.what =
                               base::format("'{}' does not start with one of d f l s c r and a blank", text)};
    }
    base::Result<base::Path> path = base::Path::parse(unescaped(take_word(rest)));
    if (!path) return path.error();

    Line line{.path = *path, .is_locked = kind->letter == 'r'};
    line.node = usual_node(line.path, kind->kind, kind->usual_mode);
    if (kind->kind == Kind::symlink) {
        if (rest.empty())
            return base::Error{.what = base::format("the link {} leads nowhere", line.path.str())};
        line.node.link = unescaped(rest);
        return line;
    }
    if (std::string_view after = rest; std::optional<uint32_t> mode = parse_mode(take_word(after))) {
        line.node.mode = *mode;
        rest = after;
    }
    if (kind->kind != Kind::file && !rest.empty()) {
        return base::Error{
            .what = base::format("{} is not a file and can't have the content '{}'", line.path.str(), rest)};
    }
    line.content = unescaped(rest);
    return line;
}

}  // namespace

base::Result<MemoryTree> MemoryTree::parse(std::string_view listing) {
    MemoryTree tree;
    std::vector<base::Path> named, locked;
    size_t number = 0;
    for (std::string_view text : base::split(listing, '\n')) {
        ++number;
        text = base::trim(text);
        if (text.empty() || text.front() == '#') continue;
        base::Result<Line> line = parse_line(text);
        if (!line) return base::Error{.what = line.error().what, .where = "line " + std::to_string(number)};
        if (std::ranges::find(named, line->path) != named.end()) {
            return base::Error{.what = line->path.str() + " is listed twice",
                               .where = "line " + std::to_string(number)};
        }
        named.push_back(line->path);
        if (line->is_locked) locked.push_back(line->path);
        tree.add(line->path, std::move(line->node), std::move(line->content));
    }
    for (auto& [path, stored] : tree.nodes_) {
        base::Path parent = path.parent();
        if (tree.nodes_.at(parent).node.kind != Kind::directory) {
            return base::Error{
                .what = base::format("{} lies below {}, which is listed as something else than a directory",
                                     path.str(), parent.str())};
        }
        bool is_below_locked =
            std::ranges::any_of(locked, [&](const base::Path& top) { return path.is_within(top); });
        stored.is_readable = stored.node.owner != 0 || (stored.node.mode & 0004) != 0;
        stored.is_writable = !is_below_locked && (stored.node.owner != 0 || (stored.node.mode & 0002) != 0);
    }
    return tree;
}

void MemoryTree::add(const base::Path& path, Node node, std::string content) {
    for (base::Path above = path.parent();; above = above.parent()) {
        nodes_.try_emplace(above, Stored{.node = usual_node(above, Kind::directory, 0755)});
        if (above.is_root()) break;
    }
    nodes_[path] = Stored{.node = std::move(node), .content = std::move(content)};
    listed_.clear();
}

// As lstat(2): links on the way are followed, the last one is not. resolve() asks only for names in physical
// directories, which the map answers at once.
std::optional<Node> MemoryTree::look(const base::Path& path) const {
    if (auto found = nodes_.find(path); found != nodes_.end()) return found->second.node;
    auto above = nodes_.find(path.parent());
    if (above != nodes_.end() && above->second.node.kind != Kind::symlink) return std::nullopt;
    base::Result<Resolved> parent = resolve(path.parent());
    if (!parent || !parent->exists) return std::nullopt;
    auto found = nodes_.find(parent->path / path.name());
    return found == nodes_.end() ? std::nullopt : std::optional(found->second.node);
}

const MemoryTree::Stored* MemoryTree::find_through(const base::Path& path) const {
    base::Result<Resolved> resolved = resolve(path);
    auto found = resolved ? nodes_.find(resolved->path) : nodes_.end();
    return found == nodes_.end() ? nullptr : &found->second;
}

const std::vector<Entry>& MemoryTree::list(const base::Path& directory) const {
    auto [listing, is_new] = listed_.try_emplace(directory);
    std::vector<Entry>& entries = listing->second;
    if (!is_new) return entries;
    base::Result<Resolved> resolved = resolve(directory);
    if (!resolved) return entries;
    const base::Path& physical = resolved->path;
    // In sort order, /a-b is between /a and /a/b.
    for (auto place = nodes_.upper_bound(physical); place != nodes_.end(); ++place) {
        if (!place->first.str().starts_with(physical.str())) break;
        if (place->first.parent() != physical) continue;
        entries.push_back({std::string(place->first.name()), place->second.node.kind});
    }
    return entries;
}

base::Result<std::string> MemoryTree::read(const base::Path& file, size_t limit) const {
    const Stored* stored = find_through(file);
    if (!stored)
        return base::Error{.what = base::format("cannot read {}: No such file or directory", file.str())};
    if (stored->node.kind != Kind::file)
        return base::Error{.what = base::format("cannot read {}: not a file", file.str())};
    if (!stored->is_readable)
        return base::Error{.what = base::format("cannot read {}: Permission denied", file.str())};
    if (stored->content.size() > limit) {
        return base::Error{.what = base::format("{}: more than {} bytes", file.str(), limit),
                           .advice = "make it smaller"};
    }
    return stored->content;
}

bool MemoryTree::may_write(const base::Path& path) const {
    const Stored* stored = find_through(path);
    return stored && stored->is_writable;
}

}  // namespace host
