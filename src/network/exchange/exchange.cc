// SPDX-License-Identifier: MIT
#include "network/exchange/exchange.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "network/requests/lfs.h"

namespace network::exchange {
namespace {

// Stands in a head for a value: this byte, then the number of the swap. The reader refuses controls, so no
// byte of the client can be taken for it.
constexpr char kMarker = 1;
constexpr char kFirstNumber = 2;
constexpr size_t kMaximumSwaps = 100;

constexpr std::string_view kLfsType = "application/vnd.git-lfs+json";

std::string marker(size_t number) {
    return {kMarker, static_cast<char>(kFirstNumber + static_cast<char>(number))};
}

bool is_field(const wire::HttpField& field, std::string_view name) {
    return is_same_name(field.name, name);
}

const std::string* value_of(const wire::HttpRequest& request, std::string_view name) {
    auto found = std::ranges::find_if(request.fields,
                                      [&](const wire::HttpField& field) { return is_field(field, name); });
    return found == request.fields.end() ? nullptr : &found->value;
}

// Threat: a server that decodes the body in another charset than the rules do.
bool is_utf8_json(std::string_view content_type, std::string_view own_type) {
    size_t end = std::min(content_type.find(';'), content_type.size());
    std::string_view type = base::trim(content_type.substr(0, end));
    if (!base::equals_ignoring_case(type, "application/json") && !base::equals_ignoring_case(type, own_type))
        return false;
    std::string_view parameter = base::trim(content_type.substr(std::min(end + 1, content_type.size())));
    if (parameter.empty()) return true;
    constexpr std::string_view kUtf8[] = {"charset=utf-8", "charset=\"utf-8\"", "charset=utf8"};
    return std::ranges::any_of(
        kUtf8, [&](std::string_view text) { return base::equals_ignoring_case(parameter, text); });
}

// The same text for the same fields in another order.
std::string described(const std::vector<requests::RootField>& fields) {
    std::vector<std::string> texts;
    for (const requests::RootField& field : fields)
        texts.push_back(base::format("{} {}", to_text(field.operation), field.name));
    std::ranges::sort(texts);
    return base::join(texts, ", ");
}

}  // namespace

size_t Exchange::take(std::string_view bytes, std::string& onward) {
    switch (stage_) {
        case Stage::head:
            return take_head(bytes);
        case Stage::body:
            return take_pending(bytes);
        case Stage::forwarding:
            return forward(bytes, onward);
        case Stage::tunnel:
            onward += bytes;
            return bytes.size();
        case Stage::ask:
        case Stage::ready:
        case Stage::upgrading:
        case Stage::complete:
        case Stage::refused:
            return 0;
    }
    return 0;
}

size_t Exchange::take_head(std::string_view bytes) {
    size_t before = head_.size();
    // No more than a head may have, so that a large body is not copied.
    head_ += bytes.substr(0, wire::kMaximumHead + 1 - std::min(before, wire::kMaximumHead));
    switch (reader_.look(head_)) {
        case wire::HttpHeadReader::State::need_more:
            return head_.size() - before;
        case wire::HttpHeadReader::State::refused:
            refuse_with({.code = Code::malformed,
                         .status = reader_.fault().status,
                         .reason = std::string(reader_.fault().reason)});
            return head_.size() - before;
        case wire::HttpHeadReader::State::complete:
            break;
    }
    size_t used = request().head_size - before;
    head_.clear();
    body_ = wire::HttpBody(request());
    judge();
    return used;
}

void Exchange::judge() {
    // Some servers read a method in any case.
    if (base::equals_ignoring_case(request().method, "TRACE") ||
        base::equals_ignoring_case(request().method, "CONNECT")) {
        return refuse_with(
            {.code = Code::request_refused, .reason = request().method + " is always refused"});
    }
    if (!check_names() || !check_fields()) return;
    path_fault_ = requests::read_target(request().path, path_);
    is_git_path_ = path_fault_.empty() && is_git_path(path_);
    if (!check_placeholders()) return;
    add_always();
    if (path_fault_.empty()) issued_ = issued_by(context_.bindings, context_.place, request().method, path_);
    // Threat: a server that reads parameters of the query before those of the body.
    if (!issued_.empty() && request().path.find('?') != std::string::npos)
        return refuse_with({.code = Code::request_refused, .reason = "a request for a token has no query"});
    proceed(context_.rules->judge(question()));
}

requests::Request Exchange::question() const {
    requests::Request question{
        .host = context_.place.host,
        .port = context_.place.port,
        .method = request().method,
        .target = request().path,
        .is_websocket = request().wants_websocket,
        .has_body = request().body == wire::HttpRequest::Body::chunked || request().length > 0};
    for (const wire::HttpField& field : request().fields) {
        if (overrides_method(field)) question.overrides.emplace_back(field.value);
    }
    return question;
}

void Exchange::proceed(const requests::Verdict& verdict) {
    verdict_ = verdict;
    if (verdict.decision == requests::Decision::refused) return refuse_with(refusal_of(verdict));
    if (!has_judged_body_) need_ = verdict.need;
    if (is_read_whole() && !has_judged_body_ && !is_readable_body()) return;
    if (verdict.decision == requests::Decision::ask) {
        stage_ = Stage::ask;
        return;
    }
    leave_questions();
}

void Exchange::leave_questions() {
    bool needs_body = is_read_whole() && !has_judged_body_;
    bool is_whole = body_.state() == wire::HttpBody::State::complete;
    bool must_read_on = needs_body || (reads_signed_body() && !is_whole);
    stage_ = must_read_on ? Stage::body : Stage::ready;
    if (needs_body && is_whole) return judge_body();
    if (stage_ == Stage::ready) check_signed_body();
}

// A rule can't judge a body that is encoded.
bool Exchange::is_readable_body() {
    const std::string* encoding = value_of(request(), "Content-Encoding");
    const std::string* type = value_of(request(), "Content-Type");
    std::string reason;
    if (encoding != nullptr && !base::equals_ignoring_case(*encoding, "identity"))
        reason = "a compressed body can't be judged by the rules";
    if (need_ == requests::Need::graphql && (type == nullptr || !is_utf8_json(*type, {})))
        reason = "GraphQL is judged as application/json in UTF-8 alone";
    if (need_ == requests::Need::lfs_batch && (type == nullptr || !is_utf8_json(*type, kLfsType)))
        reason = base::format("git-LFS is judged as {} in UTF-8 alone", kLfsType);
    if (need_ != requests::Need::nothing && !issued_.empty())
        reason = "a rule about the body can't judge a request for a token";
    if (reason.empty()) return true;
    refuse_with({.code = Code::request_refused, .reason = std::move(reason), .git = verdict_.git});
    return false;
}

Exchange::Question Exchange::asked() const {
    std::string_view path = std::string_view(request().path).substr(0, request().path.find('?'));
    return {.key = base::format("{} {} {}", request().method, path, fields_),
            .method = request().method,
            .path = shown_path(),
            .detail = fields_};
}

void Exchange::approve() {
    if (stage_ == Stage::ask) leave_questions();
}

void Exchange::deny(std::string reason, std::string change) {
    if (stage_ != Stage::ask) return;
    refuse_with({.code = Code::request_denied,
                 .reason = std::move(reason),
                 .change = std::move(change),
                 .git = verdict_.git});
}

void Exchange::refuse(Code code, std::string reason) {
    refuse_with({.code = code, .reason = std::move(reason)});
}

void Exchange::judge_again() {
    if (stage_ != Stage::ask && stage_ != Stage::body && stage_ != Stage::ready) return;
    requests::Verdict verdict = context_.rules->judge(question());
    bool is_refused = verdict.decision == requests::Decision::refused;
    if (!is_refused && has_judged_body_ && verdict.need == need_) return judge_body();
    // A body that was read for a rule is not forwarded unread: another rule may need it.
    has_judged_body_ &= verdict.need == requests::Need::nothing;
    proceed(verdict);
}

bool Exchange::is_permitted_by(const requests::RequestRules& rules) const {
    requests::Verdict verdict = rules.judge(question());
    bool was_asked = verdict_.decision == requests::Decision::ask;
    return verdict.decision == requests::Decision::permitted ||
           (verdict.decision == requests::Decision::ask && was_asked);
}

void Exchange::refuse_with(Refusal refusal) {
    refusal_ = std::move(refusal);
    refusal_.aws = aws_form();
    stage_ = Stage::refused;
    std::string().swap(pending_);
}

std::string Exchange::refusal_answer() const {
    return exchange::refusal_answer(refusal_, request().method == "HEAD");
}

bool Exchange::wants_continue() const {
    const std::string* expect = value_of(request(), "Expect");
    return stage_ == Stage::body && expect != nullptr && base::equals_ignoring_case(*expect, "100-continue");
}

size_t Exchange::take_pending(std::string_view bytes) {
    size_t used = body_.take(bytes, pending_);
    if (body_.state() == wire::HttpBody::State::malformed) {
        refuse_with({.code = Code::malformed, .reason = "the body is malformed"});
        return used;
    }
    bool is_whole = body_.state() == wire::HttpBody::State::complete;
    bool is_for_rule = is_read_whole() && !has_judged_body_;
    if (reads_signed_body() && pending_.size() > kMaximumSignedBody) {
        refuse_with({.code = Code::body_too_large, .reason = std::string(kSignedBodyTooLarge)});
    } else if (is_for_rule && need_ == requests::Need::push_commands) {
        if (is_whole || push_.look(pending_) != requests::PushReader::State::need_more) judge_body();
    } else if (is_for_rule && !issued_.empty() && pending_.size() > kMaximumTokenRequest) {
        refuse_with({.code = Code::body_too_large, .reason = "a request for a token is longer than 64 KiB"});
    } else if (is_for_rule &&
               pending_.size() > std::min(requests::kMaximumGraphql, requests::kMaximumLfsBatch)) {
        std::string_view what = need_ == requests::Need::graphql ? "GraphQL" : "git-LFS";
        refuse_with({.code = Code::body_too_large,
                     .reason = base::format("a {} request is longer than 256 KiB", what)});
    } else if (is_whole) {
        is_for_rule ? judge_body() : leave_questions();
    }
    return used;
}

void Exchange::judge_tokens() {
    const std::string* type = value_of(request(), "Content-Type");
    BodyForm form = type == nullptr ? BodyForm::unknown : form_of(*type);
    tokens_ = read_token_request(pending_, form, context_.place, context_.bindings, context_.finder);
    // Two programs may have a log-in at one endpoint.
    const size_t first = tokens_.parts.empty() ? issued_.front() : tokens_.parts.front().binding;
    std::erase_if(issued_, [&](size_t binding) {
        return context_.bindings[binding].group != context_.bindings[first].group;
    });
    if (tokens_.fault.empty() && !issued_.empty()) return leave_questions();
    if (tokens_.fault.empty()) tokens_.fault = "the placeholder belongs to another endpoint";
    refuse_with({.code = tokens_.code, .reason = std::move(tokens_.fault)});
}

void Exchange::judge_body() {
    has_judged_body_ = true;
    if (!issued_.empty()) return judge_tokens();
    if (need_ == requests::Need::graphql) {
        std::vector<requests::RootField> fields;
        std::string_view fault = requests::read_graphql(pending_, fields);
        if (fault.empty()) {
            fields_ = described(fields);
            return proceed(context_.rules->judge_graphql(question(), fields));
        }
        return refuse_with({.code = Code::request_refused, .reason = std::string(fault)});
    }
    if (need_ == requests::Need::lfs_batch) {
        bool is_upload = false;
        std::string_view fault = requests::read_lfs_batch(pending_, is_upload);
        if (fault.empty()) return proceed(context_.rules->judge_lfs(question(), is_upload));
        return refuse_with({.code = Code::request_refused, .reason = std::string(fault)});
    }
    if (push_.look(pending_) != requests::PushReader::State::complete) {
        std::string_view fault = push_.fault().empty() ? "the push ends within its commands" : push_.fault();
        return refuse_with(
            {.code = Code::request_refused, .reason = std::string(fault), .git = requests::GitService::push});
    }
    requests::PushVerdict push = context_.rules->judge_push(question(), push_.commands());
    if (push.verdict.decision == requests::Decision::refused) {
        verdict_ = push.verdict;
        return refuse_with(push_refusal_of(push, push_));
    }
    proceed(push.verdict);
}

std::vector<size_t> Exchange::credentials() const {
    std::vector<size_t> needed;
    for (const Swap& swap : swaps_) {
        if (std::ranges::find(needed, swap.binding) == needed.end()) needed.push_back(swap.binding);
    }
    for (const TokenRequest::Part& part : tokens_.parts) {
        if (std::ranges::find(needed, part.binding) == needed.end()) needed.push_back(part.binding);
    }
    return needed;
}

base::SecretValue Exchange::write_head(std::span<const base::SecretValue* const> values,
                                       std::string& onward) {
    wire::HttpRequest onward_request = request();
    const Place& place = context_.place;
    bool is_usual_port = place.port == (place.is_encrypted ? 443 : 80);
    onward_request.form = wire::HttpRequest::Form::origin;
    onward_request.target.reset();
    onward_request.host = wire::Authority{.host = place.host};
    if (!is_usual_port) onward_request.host->port = place.port;
    std::vector<wire::HttpField>& fields = onward_request.fields;
    const base::SecretValue* signing_value = nullptr;
    if (signed_) {
        std::vector<size_t> order = credentials();
        auto at = static_cast<size_t>(std::ranges::find(order, signed_->binding) - order.begin());
        if (at < values.size()) signing_value = values[at];
        if (signing_value != nullptr) prepare_signature(*signing_value);
    }
    for (size_t number = 0; number < swaps_.size() && number < kMaximumSwaps; ++number) {
        const Swap& swap = swaps_[number];
        std::string text = swap.replacement.before + marker(number) + swap.replacement.after;
        if (swap.field == kTarget) {
            onward_request.path = std::move(text);
        } else if (swap.field != kAdded) {
            fields[swap.field].value = std::move(text);
        }
    }
    // A server may show the value of an earlier request, or a part of a value in each of several ranges.
    bool is_searched = std::ranges::any_of(
        context_.bindings, [&](const Binding& binding) { return binding.is_for(place.host, place.port); });
    std::erase_if(fields, [&](const wire::HttpField& field) {
        // Connection removes fields of the client alone, not those that the gateway adds below.
        bool is_for_gateway =
            is_field(field, "Connection") || wire::is_named_by_connection(request(), field.name);
        bool was_read = is_field(field, "Expect") && (is_read_whole() || reads_signed_body());
        bool is_frame =
            !issued_.empty() && (is_field(field, "Content-Length") || is_field(field, "Transfer-Encoding"));
        bool is_encoding =
            is_searched && (is_field(field, "Accept-Encoding") || is_field(field, "Grpc-Accept-Encoding"));
        // A signed request carries no secret but a token that is worth nothing without the key.
        bool is_part =
            !swaps_.empty() && !signed_ && (is_field(field, "Range") || is_field(field, "If-Range"));
        bool is_extension = !swaps_.empty() && is_field(field, "Sec-WebSocket-Extensions");
        bool is_replaced = std::ranges::any_of(swaps_, [&](const Swap& swap) {
            return swap.field == kAdded && is_field(field, swap.added_field);
        });
        return is_for_gateway || was_read || is_frame || is_encoding || is_part || is_extension ||
               is_replaced;
    });
    for (size_t number = 0; number < swaps_.size() && number < kMaximumSwaps; ++number) {
        const Swap& swap = swaps_[number];
        if (swap.field != kAdded) continue;
        fields.push_back(
            {swap.added_field, swap.replacement.before + marker(number) + swap.replacement.after});
    }
    // An answer that is not compressed can be searched for the value.
    if (is_searched) fields.push_back({"Accept-Encoding", "identity"});

    std::vector<size_t> order = credentials();
    base::SecretValue token_body;
    if (!issued_.empty()) {
        token_body = with_values(pending_, tokens_, order, values);
        fields.push_back({"Content-Length", std::to_string(token_body.size())});
    }
    base::SecretValue head;
    std::string text = wire::forwarded_head(onward_request, !may_lose_its_body(request()));
    if (signing_value != nullptr) sign(text, *signing_value);
    for (size_t at = 0; at < text.size();) {
        size_t mark = std::min(text.find(kMarker, at), text.size());
        head.append(std::string_view(text).substr(at, mark - at));
        if (mark == text.size()) break;
        const Swap& swap = swaps_[static_cast<size_t>(text[mark + 1] - kFirstNumber)];
        auto value = static_cast<size_t>(std::ranges::find(order, swap.binding) - order.begin());
        if (value < values.size()) swap.replacement.encoding.append(head, *values[value]);
        at = mark + 2;
    }
    if (!issued_.empty()) {
        pending_.clear();
        stage_ = Stage::complete;
        head.append(token_body);
        return head;
    }
    stage_ = Stage::forwarding;
    if (request().body == wire::HttpRequest::Body::chunked) {
        wire::append_chunk(onward, pending_);
    } else {
        onward += pending_;
    }
    pending_.clear();
    finish_body(onward);
    return head;
}

size_t Exchange::forward(std::string_view bytes, std::string& onward) {
    if (request().body != wire::HttpRequest::Body::chunked) {
        size_t used = body_.take(bytes, onward);
        finish_body(onward);
        return used;
    }
    std::string data;
    size_t used = body_.take(bytes, data);
    wire::append_chunk(onward, data);
    finish_body(onward);
    return used;
}

void Exchange::finish_body(std::string& onward) {
    if (body_.state() == wire::HttpBody::State::open) return;
    if (body_.state() == wire::HttpBody::State::malformed || !are_trailers_harmless()) {
        refuse_with({.code = Code::malformed, .reason = "the body or its trailers are malformed"});
        return;
    }
    if (request().body == wire::HttpRequest::Body::chunked) wire::append_last_chunk(onward, body_.trailers());
    stage_ = request().wants_websocket ? Stage::upgrading : Stage::complete;
}

}  // namespace network::exchange
