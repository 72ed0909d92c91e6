// SPDX-License-Identifier: MIT
#include "ssh_agent/message.h"

namespace ssh_agent {
namespace {

using network::wire::Cursor;

constexpr std::string_view kBind = "session-bind@openssh.com";
constexpr std::string_view kFileMagic = "SSHSIG";
constexpr uint8_t kUserAuthentication = 50;
constexpr uint32_t kMostIdentities = 2048;

std::string of_kind(Kind kind) {
    return std::string(1, static_cast<char>(kind));
}

}  // namespace

void append_string(std::string& bytes, std::string_view text) {
    network::wire::append_u32(bytes, static_cast<uint32_t>(text.size()));
    bytes += text;
}

std::string framed(std::string_view message) {
    std::string bytes;
    append_string(bytes, message);
    return bytes;
}

std::string failure() {
    return of_kind(Kind::failure);
}

std::string success() {
    return of_kind(Kind::success);
}

std::optional<SignRequest> parse_sign_request(std::string_view message) {
    if (!is_of(message, Kind::sign_request)) return std::nullopt;
    Cursor cursor(message.substr(1));
    SignRequest request{.key = string_of(cursor), .data = string_of(cursor), .flags = cursor.u32()};
    return cursor.is_spent() ? std::optional(request) : std::nullopt;
}

bool is_bind(std::string_view message) {
    if (!is_of(message, Kind::extension)) return false;
    Cursor cursor(message.substr(1));
    return string_of(cursor) == kBind;
}

std::optional<Bind> parse_bind(std::string_view message) {
    if (!is_bind(message)) return std::nullopt;
    Cursor cursor(message.substr(1));
    string_of(cursor);
    Bind bind{.host_key = string_of(cursor),
              .session = string_of(cursor),
              .signature = string_of(cursor),
              .is_forwarding = cursor.u8() != 0};
    return cursor.is_spent() && !bind.session.empty() ? std::optional(bind) : std::nullopt;
}

std::optional<Authentication> parse_authentication(std::string_view data) {
    Cursor cursor(data);
    Authentication wanted{.session = string_of(cursor), .user = {}, .algorithm = {}, .key = {}};
    bool is_login = cursor.u8() == kUserAuthentication;
    wanted.user = string_of(cursor);
    bool is_connection = string_of(cursor) == "ssh-connection";
    std::string_view method = string_of(cursor);
    bool is_signed = cursor.u8() == 1;
    wanted.algorithm = string_of(cursor);
    wanted.key = string_of(cursor);
    if (method == "publickey-hostbound-v00@openssh.com") {
        wanted.host_key = string_of(cursor);
    } else if (method != "publickey") {
        return std::nullopt;
    }
    bool is_complete = cursor.is_spent() && !wanted.session.empty();
    return is_complete && is_login && is_connection && is_signed ? std::optional(wanted) : std::nullopt;
}

bool is_file_signature(std::string_view data) {
    return data.starts_with(kFileMagic);
}

std::optional<std::string_view> parse_file_signature(std::string_view data) {
    if (!is_file_signature(data)) return std::nullopt;
    Cursor cursor(data.substr(kFileMagic.size()));
    std::string_view name = string_of(cursor);
    string_of(cursor);  // reserved
    std::string_view hash = string_of(cursor), digest = string_of(cursor);
    bool is_known = (hash == "sha256" && digest.size() == 32) || (hash == "sha512" && digest.size() == 64);
    return cursor.is_spent() && is_known && !name.empty() ? std::optional(name) : std::nullopt;
}

std::optional<std::vector<std::string_view>> parse_identities(std::string_view message) {
    if (!is_of(message, Kind::identities_answer)) return std::nullopt;
    Cursor cursor(message.substr(1));
    uint32_t count = cursor.u32();
    if (count > kMostIdentities) return std::nullopt;
    std::vector<std::string_view> keys;
    for (uint32_t i = 0; i < count && !cursor.has_failed(); ++i) {
        keys.push_back(string_of(cursor));
        string_of(cursor);  // the comment
    }
    return cursor.is_spent() ? std::optional(std::move(keys)) : std::nullopt;
}

std::string identities(const std::vector<std::string_view>& keys) {
    std::string message = of_kind(Kind::identities_answer);
    network::wire::append_u32(message, static_cast<uint32_t>(keys.size()));
    for (std::string_view key : keys) {
        append_string(message, key);
        append_string(message, "");
    }
    return message;
}

bool is_sign_response(std::string_view message) {
    if (!is_of(message, Kind::sign_response)) return false;
    Cursor cursor(message.substr(1));
    std::string_view signature = string_of(cursor);
    return cursor.is_spent() && !signature.empty();
}

}  // namespace ssh_agent
