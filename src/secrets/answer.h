// SPDX-License-Identifier: MIT
// What a source printed: the value alone, or a JSON object with the value and, if it ends, the time.
//
//   token, expires_at         of this program
//   access_token, token_expiry, also inside `credential`: gcloud config config-helper --format=json
//   accessToken, expires_on   az account get-access-token
//   AccessKeyId, SecretAccessKey, SessionToken, Expiration: aws configure export-credentials, and every
//                             credential_process of AWS
//
// A key of AWS may also be the section [default] of ~/.aws/credentials, or its parts with blanks between.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret_value.h"

namespace secrets {

struct Fetched {
    base::SecretValue value;
    int64_t expires_at = 0;  // seconds since 1970; 0: not known
};

enum class AnswerKind { token, aws_key };  // an AWS key becomes "ID SECRET" or "ID SECRET TOKEN"

// Overwrites `text`. No message contains a part of it.
base::Result<Fetched> read_answer(std::string&& text, AnswerKind kind = AnswerKind::token);

// "2026-11-18T06:30:00Z", "2026-11-18T06:30:00.5+01:00", or seconds since 1970.
std::optional<int64_t> parse_time(std::string_view text);

}  // namespace secrets
