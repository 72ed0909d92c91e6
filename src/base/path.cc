// SPDX-License-Identifier: MIT
#include "base/path.h"

#include <algorithm>
#include <cstdlib>

namespace base {
namespace {

// Appends the components of `relative` to the normalised `base`; false when ".." leads above the root.
bool append_components(std::string& base, std::string_view relative) {
    bool stayed_below_root = true;
    while (!relative.empty()) {
        size_t slash = relative.find('/');
        std::string_view component = relative.substr(0, slash);
        relative = slash == std::string_view::npos ? std::string_view{} : relative.substr(slash + 1);
        if (component.empty() || component == ".") continue;
        if (component == "..") {
            if (base.size() <= 1) stayed_below_root = false;
            size_t last = base.rfind('/');
            base.resize(last == 0 ? 1 : last);
            continue;
        }
        if (base.size() > 1) base += '/';
        base += component;
    }
    return stayed_below_root;
}

}  // namespace

Result<Path> Path::parse(std::string_view text) {
    if (text.empty() || text.front() != '/') {
        return Error{.what = "'" + std::string(text) + "' is not an absolute path",
                     .advice = "write it from / or from ~"};
    }
    if (text.find('\0') != std::string_view::npos) {
        return Error{.what = "a path holds a NUL byte", .advice = "remove it"};
    }
    std::string normal = "/";
    if (!append_components(normal, text)) {
        return Error{.what = "'" + std::string(text) + "' climbs above /", .advice = "remove the extra '..'"};
    }
    return Path(std::move(normal));
}

Path Path::known(std::string_view text) {
    Result<Path> path = parse(text);
    if (!path) std::abort();
    return *std::move(path);
}

Path Path::parent() const {
    size_t last = text_.rfind('/');
    return Path(last == 0 ? "/" : text_.substr(0, last));
}

std::string_view Path::name() const {
    return std::string_view(text_).substr(text_.rfind('/') + 1);
}

std::vector<std::string_view> Path::components() const {
    std::vector<std::string_view> parts;
    std::string_view rest = std::string_view(text_).substr(1);
    while (!rest.empty()) {
        size_t slash = rest.find('/');
        parts.push_back(rest.substr(0, slash));
        rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    }
    return parts;
}

size_t Path::depth() const {
    return is_root() ? 0 : static_cast<size_t>(std::count(text_.begin(), text_.end(), '/'));
}

Path Path::operator/(std::string_view relative) const {
    std::string joined = text_;
    append_components(joined, relative);
    return Path(std::move(joined));
}

bool Path::is_within(const Path& ancestor) const {
    if (ancestor.is_root()) return true;
    if (!text_.starts_with(ancestor.text_)) return false;
    return text_.size() == ancestor.text_.size() || text_[ancestor.text_.size()] == '/';
}

std::string_view Path::relative_to(const Path& ancestor) const {
    if (*this == ancestor) return {};
    return std::string_view(text_).substr(ancestor.is_root() ? 1 : ancestor.text_.size() + 1);
}

}  // namespace base
