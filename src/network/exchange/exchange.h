// SPDX-License-Identifier: MIT
// One request and its way to the server. Pure: bytes in, bytes out, no socket, no clock.
//
//   head ─► (ask) ─► (body) ─► (ask) ─► ready ─► forwarding ─► complete
//     └──────┴────────┴─────────┴─────────────────► refused
//
// 1. take() reads the head. Names, placeholders, foreign credentials, the binding and the rules are checked.
// 2. Where a rule needs the body (a push, GraphQL), take() reads on before anything is forwarded.
// 3. ready: the caller opens the connection to the server, verifies it, and gets the values that
// credentials()
//    names. write_head() writes the head anew with the values in it.
// 4. forwarding: take() passes the body on and counts it. answer.h handles the way back.
//
// Threats: a placeholder that is sent elsewhere, another account's credential on a bound host, names that
// differ, and requests that the server reads differently. Tests: tests/exchange.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret_value.h"
#include "network/exchange/binding.h"
#include "network/exchange/placeholders.h"
#include "network/exchange/refusal.h"
#include "network/exchange/tokens.h"
#include "network/requests/rules.h"
#include "network/wire/http/http_exchange.h"
#include "network/wire/http/http_head.h"

namespace network::exchange {

// What all exchanges of a connection share. It must outlive them.
struct Context {
    Place place;
    const requests::RequestRules* rules;  // may change between two calls: judge_again()
    std::span<const Binding> bindings;
    const PlaceholderFinder& finder;  // of the placeholders of `bindings`, in their order
};

class Exchange {
  public:
    enum class Stage { head, ask, body, ready, forwarding, upgrading, tunnel, complete, refused };

    explicit Exchange(const Context& context) : context_(context) {}
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    // Takes bytes of the client and appends what the server gets. Returns how many were used; the rest
    // belongs to the next request, or must wait for ask() or write_head().
    size_t take(std::string_view bytes, std::string& onward);

    Stage stage() const { return stage_; }
    const wire::HttpRequest& request() const { return reader_.request(); }
    const requests::Verdict& verdict() const { return verdict_; }
    const Refusal& refusal() const { return refusal_; }
    std::string refusal_answer() const;
    // A placeholder was sent to another host: report it.
    bool is_finding() const { return refusal_.code == Code::placeholder_elsewhere; }
    // In the stage body: the client waits for "100 Continue".
    bool wants_continue() const;

    // In the stage ask: what the user is asked about.
    struct Question {
        std::string key;           // method, path and detail as they came
        std::string method, path;  // the path as recorded_path(), but whole
        std::string detail;        // the fields of a GraphQL request
    };
    Question asked() const;
    // The answer to it.
    void approve();
    void deny(std::string reason, std::string change = {});
    // The stage ready ends with a refusal: the source failed, or the server is not trusted.
    void refuse(Code code, std::string reason);
    // The rules have changed. In the stages ask, body and ready nothing was forwarded: the request is judged
    // by the new ones, and its stage may be any of these or refused. Later stages stay.
    void judge_again();
    // Whether other rules would permit a connection that was upgraded.
    bool is_permitted_by(const requests::RequestRules& rules) const;
    // Bytes of the body that are kept for a rule.
    size_t held() const { return pending_.size(); }

    // Numbers of the bindings that get a value from the answer: the request is one to a token endpoint. Its
    // body is read whole, and write_head() writes it with the head.
    const std::vector<size_t>& issued() const { return issued_; }
    // Of such a request: it holds no token, so it begins a log-in.
    bool is_login() const { return !issued_.empty() && tokens_.parts.empty(); }

    // Numbers of the bindings whose values write_head needs.
    std::vector<size_t> credentials() const;
    // `values` are in the order of credentials(). Appends the body that was read so far to `onward`.
    base::SecretValue write_head(std::span<const base::SecretValue* const> values, std::string& onward);

    // After the server's answer to an upgrade.
    void start_tunnel() { stage_ = Stage::tunnel; }

    // For the record: the path without its query, cut; a secret in the path is "{NAME}".
    std::string recorded_path() const;

  private:
    static constexpr size_t kTarget = SIZE_MAX;  // places of a swap that are not a field of the client
    static constexpr size_t kAdded = SIZE_MAX - 1;

    struct Swap {
        size_t binding;
        size_t field;  // of request().fields; kTarget or kAdded
        Replacement replacement;
        std::string added_field;
    };

    // A signature of AWS that is made anew (exchange_signed.cc).
    struct Signed {
        size_t binding, field;
        size_t swap;  // of swaps_
        Authorization authorization;
        std::string date, content_hash;
        Payload payload = Payload::hashed;
        bool is_hash_sent = false;     // content_hash is a field, not taken from the body
        bool is_body_checked = false;  // it has the hash that was signed
    };

    size_t take_head(std::string_view bytes);
    size_t take_pending(std::string_view bytes);
    size_t forward(std::string_view bytes, std::string& onward);
    void judge();
    bool check_names();
    bool check_fields();
    bool judges_paths() const;
    bool names_other_host(const wire::HttpField& field) const;
    bool check_placeholders();
    bool check_field(size_t field, const std::vector<size_t>& found);
    bool check_target(const std::vector<size_t>& found);
    bool check_swaps();
    void add_always();
    bool check_signature();
    bool is_signature_valid() const;
    bool reads_signed_body() const;
    void check_signed_body();
    void prepare_signature(const base::SecretValue& value);
    void sign(std::string_view head, const base::SecretValue& value);
    std::optional<AwsForm> aws_form() const;
    bool is_readable_body();
    void proceed(const requests::Verdict& verdict);
    void leave_questions();
    void judge_body();
    void judge_tokens();
    bool is_read_whole() const { return need_ != requests::Need::nothing || !issued_.empty(); }
    void finish_body(std::string& onward);
    bool are_trailers_harmless() const;
    void refuse_with(Refusal refusal);
    void refuse_placeholder(Code code, size_t binding, std::string_view where);
    bool is_bound(size_t binding) const;
    bool is_within(const Binding& binding) const;
    requests::Request question() const;
    std::string shown_path() const;

    const Context& context_;
    Stage stage_ = Stage::head;
    std::string head_;
    wire::HttpHeadReader reader_;
    requests::CanonicalPath path_;
    std::string_view path_fault_;
    bool is_git_path_ = false;
    std::vector<Swap> swaps_;
    std::optional<Signed> signed_;
    requests::Verdict verdict_;
    requests::Need need_ = requests::Need::nothing;
    bool has_judged_body_ = false;
    std::string fields_;  // of a GraphQL request that was judged
    requests::PushReader push_;
    wire::HttpBody body_{wire::HttpBody::Framing::none, 0};
    std::string pending_;  // data of the body that was read for a rule
    std::vector<size_t> issued_;
    TokenRequest tokens_;
    Refusal refusal_;
};

// Names of fields. Threat: servers that follow CGI read '_' in a name as '-'.
std::string hyphenated(std::string_view name);
bool is_same_name(std::string_view left, std::string_view right);
bool overrides_method(const wire::HttpField& field);
// Threat: a server that ignores the body of a GET takes it for a second request, which was not judged. The
// head says "Connection: close", and neither side uses the connection again.
bool may_lose_its_body(const wire::HttpRequest& request);

}  // namespace network::exchange
