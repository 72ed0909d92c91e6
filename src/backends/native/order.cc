// SPDX-License-Identifier: MIT
#include "backends/native/order.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "base/encoding/codec.h"

template <>
inline constexpr network::netns::Capture base::kLast<network::netns::Capture> =
    network::netns::Capture::listeners;

template <>
inline constexpr auto base::kFields<network::netns::NetworkRequest> =
    std::tuple(&network::netns::NetworkRequest::has_listeners, &network::netns::NetworkRequest::tcp_ports,
               &network::netns::NetworkRequest::udp_ports, &network::netns::NetworkRequest::loopback_ports,
               &network::netns::NetworkRequest::has_connector, &network::netns::NetworkRequest::best);

namespace backends::native {
namespace {

constexpr std::string_view kNetworkTitle = "network of a jail 1";

// The sizes of the parts, which follow in this order.
struct Head {
    size_t network = 0;
    size_t spec = 0;
    size_t steps = 0;  // their number
    size_t texts = 0;
};

static_assert(std::is_trivially_copyable_v<Step> && std::is_trivially_copyable_v<Head>);

// A content may have any byte; every other text ends with NUL.
size_t size_of_source(const Step& step) {
    return step.length != 0 ? step.length : std::strlen(step.source);
}

template <typename Plain>
void append(std::string& bytes, const Plain* values, size_t count) {
    if (count == 0) return;
    const size_t begin = bytes.size(), size = count * sizeof(Plain);
    bytes.resize(begin + size);
    std::memcpy(bytes.data() + begin, values, size);
}

// The texts of the steps, one behind the other, each with NUL.
std::string texts_of(const std::vector<Step>& steps) {
    std::string texts;
    texts.reserve(steps.size() * 80);
    for (const Step& step : steps) {
        texts.append(step.source, size_of_source(step)) += '\0';
        texts.append(step.target) += '\0';
        texts.append(step.options) += '\0';
    }
    return texts;
}

// Points each step to its texts. False: there are too few.
bool point_to_texts(std::vector<Step>& steps, const std::string& texts) {
    const char* next = texts.data();
    const char* const end = next + texts.size();
    auto take = [&](const char*& text, size_t least) {
        auto left = static_cast<size_t>(end - next);
        if (least >= left) return false;
        const void* nul = std::memchr(next + least, '\0', left - least);
        if (nul == nullptr) return false;
        text = std::exchange(next, static_cast<const char*>(nul) + 1);
        return true;
    };
    for (Step& step : steps) {
        bool is_whole = take(step.source, step.length) && take(step.target, 0) && take(step.options, 0);
        if (!is_whole) return false;
    }
    return next == end;
}

base::Error damaged() {
    return base::Error{.what = "the work of the launch is damaged"};
}

}  // namespace

std::string encode(const network::netns::NetworkRequest& network, const inner::LaunchSpec& spec,
                   const Script& script) {
    const std::string request = base::encode_message(kNetworkTitle, network);
    const std::string specification = inner::encode(spec);
    const std::string texts = texts_of(script.steps);
    Head head{request.size(), specification.size(), script.steps.size(), texts.size()};
    std::string bytes;
    bytes.reserve(sizeof head + head.network + head.spec + head.steps * sizeof(Step) + head.texts);
    append(bytes, &head, 1);
    bytes += request;
    bytes += specification;
    append(bytes, script.steps.data(), script.steps.size());
    bytes += texts;
    return bytes;
}

base::Result<Order> decode(std::string_view bytes) {
    Head head;
    if (bytes.size() < sizeof head) return damaged();
    std::memcpy(&head, bytes.data(), sizeof head);
    bytes.remove_prefix(sizeof head);
    auto take = [&](size_t size) {
        std::string_view part = bytes.substr(0, size);
        bytes.remove_prefix(part.size());
        return part;
    };
    Order order;
    bool is_known =
        base::decode_message(kNetworkTitle, take(head.network), order.network) == base::Decoded::well;
    base::Result<inner::LaunchSpec> spec = inner::decode(take(head.spec));
    if (!spec) return spec.error();
    order.spec = *std::move(spec);
    if (!is_known || head.steps > bytes.size() / sizeof(Step)) return damaged();
    std::string_view steps = take(head.steps * sizeof(Step));
    if (bytes.size() != head.texts) return damaged();
    order.script.steps.resize(head.steps);
    if (!steps.empty()) std::memcpy(order.script.steps.data(), steps.data(), steps.size());
    order.script.texts.emplace_back(bytes);
    order.script.descriptors.assign(head.steps, -1);
    if (!point_to_texts(order.script.steps, order.script.texts.front())) return damaged();
    return order;
}

}  // namespace backends::native
