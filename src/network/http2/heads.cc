// SPDX-License-Identifier: MIT
#include "network/http2/heads.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/parse.h"
#include "base/text.h"

namespace network::http2 {
namespace {

constexpr std::string_view kPseudo = "a pseudo field is unknown, repeated or behind other fields";
constexpr std::string_view kMissing = "a pseudo field is missing";
constexpr std::string_view kName = "the name of a field is malformed";
constexpr std::string_view kValue = "the value of a field holds a control or begins or ends with a blank";
constexpr std::string_view kConnection = "a field describes the connection, which HTTP/2 forbids";
constexpr std::string_view kConnect = "CONNECT is always refused";
constexpr std::string_view kMethod = "the method is malformed";
constexpr std::string_view kScheme = "the scheme is not https";
constexpr std::string_view kPath = "the path is malformed";
constexpr std::string_view kAuthority = "the authority is not a host with a port or without one";
constexpr std::string_view kOtherHost = "the Host field differs from the authority";
constexpr std::string_view kStatus = "the status is malformed";
constexpr std::string_view kOtherwise = "the head would be read otherwise in HTTP/1.1";

constexpr std::string_view kOfConnection[] = {
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade",
};

bool is_of_connection(std::string_view name) {
    return std::ranges::any_of(kOfConnection,
                               [&](std::string_view own) { return base::equals_ignoring_case(own, name); });
}

bool is_name(std::string_view name) {
    auto is_lower_token = [](char letter) {
        return base::is_token_character(letter) && base::lower(letter) == letter;
    };
    return !name.empty() && std::ranges::all_of(name, is_lower_token);
}

bool is_blank(char letter) {
    return letter == ' ' || letter == '\t';
}

bool is_value(std::string_view value) {
    auto is_control = [](char letter) {
        auto byte = static_cast<unsigned char>(letter);
        return (byte < ' ' && letter != '\t') || byte == 0x7f;
    };
    if (!value.empty() && (is_blank(value.front()) || is_blank(value.back()))) return false;
    return std::ranges::none_of(value, is_control);
}

// Fields of any block. `te` is not passed on: the gateway writes its own.
std::string_view fault_of(const wire::HttpField& field) {
    if (!is_name(field.name)) return kName;
    if (!is_value(field.value)) return kValue;
    bool is_other_te = field.name == "te" && !base::equals_ignoring_case(field.value, "trailers");
    return is_other_te || is_of_connection(field.name) ? kConnection : std::string_view();
}

void append_field(std::string& text, std::string_view name, std::string_view value) {
    text.append(name).append(": ").append(value).append("\r\n");
}

struct Pseudo {
    std::optional<std::string_view> method, scheme, path, authority, status;

    std::optional<std::string_view>* find(std::string_view name) {
        if (name == ":method") return &method;
        if (name == ":scheme") return &scheme;
        if (name == ":path") return &path;
        if (name == ":authority") return &authority;
        return name == ":status" ? &status : nullptr;
    }
};

// Pseudo fields come first, each once. Sets `rest` to the number of the first other field.
std::string_view read_pseudo(const Fields& fields, Pseudo& pseudo, size_t& rest) {
    rest = 0;
    for (; rest < fields.size() && fields[rest].name.starts_with(':'); ++rest) {
        std::optional<std::string_view>* place = pseudo.find(fields[rest].name);
        if (place == nullptr || *place) return kPseudo;
        if (!is_value(fields[rest].value)) return kValue;
        *place = fields[rest].value;
    }
    for (size_t i = rest; i < fields.size(); ++i) {
        if (fields[i].name.starts_with(':')) return kPseudo;
        if (std::string_view fault = fault_of(fields[i]); !fault.empty()) return fault;
    }
    return {};
}

std::string_view check_request_line(const Pseudo& pseudo) {
    if (pseudo.status) return kPseudo;
    if (!pseudo.method) return kMissing;
    if (base::equals_ignoring_case(*pseudo.method, "CONNECT")) return kConnect;
    if (!pseudo.scheme || !pseudo.path) return kMissing;
    bool is_method = !pseudo.method->empty() && pseudo.method->size() <= wire::kMaximumMethod &&
                     std::ranges::all_of(*pseudo.method, base::is_token_character);
    if (!is_method) return kMethod;
    if (*pseudo.scheme != "https") return kScheme;
    bool is_path = pseudo.path->starts_with('/') || (*pseudo.path == "*" && *pseudo.method == "OPTIONS");
    return is_path && pseudo.path->find(' ') == std::string_view::npos ? std::string_view() : kPath;
}

bool takes_body(std::string_view method) {
    return method == "POST" || method == "PUT" || method == "PATCH";
}

// Threat: one of the texts above is written in a way that the reader of HTTP/1.1 divides otherwise.
bool is_read_as_written(const std::string& head, const Fields& written) {
    wire::HttpRequest request;
    if (wire::parse_http_head(head, request) != nullptr) return true;  // refused with the reader's own reason
    return std::ranges::equal(request.fields, written,
                              [](const wire::HttpField& left, const wire::HttpField& right) {
                                  return left.name == right.name && left.value == right.value;
                              });
}

}  // namespace

void HeaderBlock::add(std::string_view name, std::string_view value) {
    constexpr size_t kAround = 4;        // ": " and the line end
    constexpr size_t kPseudoFields = 5;  // they become the first line and Host
    size_ += name.size() + value.size() + kAround;
    is_too_long_ |= size_ > wire::kMaximumHead || fields_.size() == wire::kMaximumFields + kPseudoFields;
    if (is_too_long_) return Fields().swap(fields_);
    fields_.push_back({std::string(name), std::string(value)});
}

void HeaderBlock::clear() {
    *this = {};
}

std::string_view write_request_head(const Fields& fields, bool has_body, std::string& head) {
    Pseudo pseudo;
    size_t rest = 0;
    if (std::string_view fault = read_pseudo(fields, pseudo, rest); !fault.empty()) return fault;
    if (std::string_view fault = check_request_line(pseudo); !fault.empty()) return fault;
    Fields written;
    std::string cookie;
    bool has_length = false;
    std::optional<std::string_view> host = pseudo.authority;
    for (size_t i = rest; i < fields.size(); ++i) {
        const wire::HttpField& field = fields[i];
        if (field.name == "te") continue;
        if (field.name == "host") {
            if (host && *host != field.value) return kOtherHost;
            host = field.value;
        } else if (field.name == "cookie") {
            // Clients divide it, so that parts are compressed (RFC 9113, 8.2.3).
            cookie += (cookie.empty() ? "" : "; ") + field.value;
        } else {
            has_length |= field.name == "content-length";
            written.push_back(field);
        }
    }
    if (!host || !wire::parse_authority(*host)) return kAuthority;
    if (!cookie.empty()) written.push_back({"cookie", std::move(cookie)});
    if (has_body && !has_length) written.push_back({"transfer-encoding", "chunked"});
    if (!has_body && !has_length && takes_body(*pseudo.method)) written.push_back({"content-length", "0"});
    written.insert(written.begin(), {"host", std::string(*host)});
    std::string text = base::format("{} {} HTTP/1.1\r\n", *pseudo.method, *pseudo.path);
    for (const wire::HttpField& field : written) append_field(text, field.name, field.value);
    text += "\r\n";
    if (!is_read_as_written(text, written)) return kOtherwise;
    head = std::move(text);
    return {};
}

std::string_view write_answer_head(const Fields& fields, const AnswerForm& form, std::string& head) {
    constexpr int kSwitching = 101, kNoContent = 204, kNotModified = 304, kFinal = 200;
    Pseudo pseudo;
    size_t rest = 0;
    if (std::string_view fault = read_pseudo(fields, pseudo, rest); !fault.empty()) return fault;
    if (!pseudo.status || rest != 1) return kMissing;
    std::string line = base::format("HTTP/1.1 {} \r\n", *pseudo.status);
    constexpr size_t kDigits = 3;
    const int status = pseudo.status->size() == kDigits ? wire::parse_http_status(line) : 0;
    if (status == 0 || status == kSwitching) return kStatus;
    head += line;
    bool has_length = false;
    for (size_t i = rest; i < fields.size(); ++i) {
        has_length |= fields[i].name == "content-length";
        if (fields[i].name != "te") append_field(head, fields[i].name, fields[i].value);
    }
    bool is_bare = form.answers_head || status < kFinal || status == kNoContent || status == kNotModified;
    if (!is_bare && !has_length)
        append_field(head, form.has_body ? "transfer-encoding" : "content-length",
                     form.has_body ? "chunked" : "0");
    head += "\r\n";
    return {};
}

std::string_view write_trailers(const Fields& fields, std::string& lines) {
    for (const wire::HttpField& field : fields) {
        if (std::string_view fault = fault_of(field); !fault.empty()) return fault;
        append_field(lines, field.name, field.value);
    }
    return lines.size() > wire::kMaximumTrailers ? "the trailers are longer than 4 KiB" : std::string_view();
}

namespace {

void append_others(const Fields& from, Fields& to) {
    for (const wire::HttpField& field : from) {
        bool is_first_line = base::equals_ignoring_case(field.name, "host");
        bool is_te = base::equals_ignoring_case(field.name, "te");
        if (is_first_line || is_te || is_of_connection(field.name)) continue;
        to.push_back({base::lower(field.name), field.value});
    }
}

}  // namespace

Fields fields_of(const wire::HttpRequest& request) {
    Fields fields = {{":method", request.method}, {":scheme", "https"}, {":path", request.path}};
    if (request.host) fields.push_back({":authority", wire::authority_text(*request.host)});
    append_others(request.fields, fields);
    // The gateway passes trailers on, and servers of gRPC insist on this field.
    fields.push_back({"te", "trailers"});
    return fields;
}

Fields fields_of(const wire::HttpResponse& response) {
    Fields fields = {{":status", std::to_string(response.status)}};
    append_others(response.fields, fields);
    return fields;
}

Fields fields_of_trailers(const std::string& lines) {
    Fields read, fields;
    if (wire::parse_http_fields(lines + "\r\n", read) == nullptr) append_others(read, fields);
    return fields;
}

}  // namespace network::http2
