// SPDX-License-Identifier: MIT
#include "network/netns/netlink.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter_ipv4.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>

#include "network/netns/recipe.h"

namespace network::netns {
namespace {

constexpr size_t kAlignment = 4;

void pad(std::string& bytes) {
    bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
}

}  // namespace

void Messages::start(uint16_t type, uint16_t flags) {
    message_ = bytes_.size();
    append(nlmsghdr{.nlmsg_len = 0,
                    .nlmsg_type = type,
                    .nlmsg_flags = static_cast<uint16_t>(flags | NLM_F_REQUEST),
                    .nlmsg_seq = ++sequence_,
                    .nlmsg_pid = 0});
}

void Messages::finish() {
    auto length = static_cast<uint32_t>(bytes_.size() - message_);
    std::memcpy(bytes_.data() + message_, &length, sizeof length);
    pad(bytes_);
}

void Messages::ask_for_answer() {
    if (bytes_.empty()) return;
    nlmsghdr header;
    std::memcpy(&header, bytes_.data() + message_, sizeof header);
    header.nlmsg_flags |= NLM_F_ACK;
    std::memcpy(bytes_.data() + message_, &header, sizeof header);
}

void Messages::append(const void* bytes, size_t count) {
    bytes_.append(static_cast<const char*>(bytes), count);
    pad(bytes_);
}

void Messages::attribute(uint16_t type, std::string_view bytes) {
    append(nlattr{.nla_len = static_cast<uint16_t>(sizeof(nlattr) + bytes.size()), .nla_type = type});
    append(bytes.data(), bytes.size());
}

void Messages::text(uint16_t type, std::string_view value) {
    attribute(type, std::string(value) + '\0');
}

void Messages::number(uint16_t type, uint32_t value) {
    attribute(type, {reinterpret_cast<const char*>(&value), sizeof value});
}

void Messages::network_number(uint16_t type, uint32_t value) {
    number(type, htonl(value));
}

size_t Messages::open_nest(uint16_t type) {
    size_t nest = bytes_.size();
    append(nlattr{.nla_len = 0, .nla_type = static_cast<uint16_t>(type | NLA_F_NESTED)});
    return nest;
}

void Messages::close_nest(size_t nest) {
    auto length = static_cast<uint16_t>(bytes_.size() - nest);
    std::memcpy(bytes_.data() + nest, &length, sizeof length);
}

base::Fd open_netlink(int protocol, uint32_t groups) {
    base::Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
    struct sockaddr_nl address = {};
    address.nl_family = AF_NETLINK;
    address.nl_groups = groups;
    if (socket && ::bind(socket.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address) != 0) {
        socket.reset();
    }
    // The kernel answers while it processes the request. The time limit only prevents a hang.
    struct timeval bound = {.tv_sec = 5, .tv_usec = 0};
    if (socket) ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
    return socket;
}

// Theory of operation. Every packet of the jail leaves through lo and comes back in through lo. There, TPROXY
// gives the first packet of a connection (SYN without ACK) to the gateway's listener, whatever its
// destination is. Later packets match the connection's socket, whose own address is the one that the client
// connected to. No connection is tracked, so no table can fill up. A kernel without TPROXY gets a redirection
// on the way out, by connection tracking, which stores the destination.
//
// Each rule is a row of expressions over registers, as nft would compile it.

namespace {

constexpr std::string_view kTable = "agent-sandbox";
constexpr std::string_view kChain = "capture";
constexpr char kSyn = 0x02, kSynAck = 0x12;
constexpr uint32_t kFlagsOffset = 13;  // in a TCP header

uint16_t message_type(uint16_t message) {
    return static_cast<uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | message);
}

template <size_t N>
std::string_view bytes_of(const std::array<uint8_t, N>& address) {
    return {reinterpret_cast<const char*>(address.data()), address.size()};
}

struct Family {
    uint8_t protocol;             // NFPROTO_…
    uint32_t destination_offset;  // in the header
    std::string_view own;         // the jail's own address, which is not captured
    std::string_view loopback;    // a prefix of bytes
    std::string_view gateway;
};

constexpr char kLoopbackPrefixV4[] = {127};
constexpr char kLoopbackPrefixV6[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

Family family_v4() {
    return {NFPROTO_IPV4,
            16,
            bytes_of(kJailV4),
            {kLoopbackPrefixV4, sizeof kLoopbackPrefixV4},
            bytes_of(kGatewayV4)};
}
Family family_v6() {
    return {NFPROTO_IPV6,
            24,
            bytes_of(kJailV6),
            {kLoopbackPrefixV6, sizeof kLoopbackPrefixV6},
            bytes_of(kGatewayV6)};
}

class Batch {
  public:
    Batch() { frame(NFNL_MSG_BATCH_BEGIN); }

    // Starts a message about an object in our table.
    void start(uint16_t message, uint16_t flags) {
        messages_.start(message_type(message), flags);
        messages_.append(nfgenmsg{.nfgen_family = NFPROTO_INET, .version = NFNETLINK_V0, .res_id = 0});
    }
    void finish() { messages_.finish(); }
    Messages& messages() { return messages_; }

    NetlinkRequest request() {
        messages_.ask_for_answer();
        uint32_t last = messages_.last_sequence();
        frame(NFNL_MSG_BATCH_END);
        return {.protocol = NETLINK_NETFILTER, .bytes = messages_.bytes(), .essential = last, .last = last};
    }

  private:
    void frame(uint16_t type) {
        messages_.start(type, 0);
        messages_.append(nfgenmsg{
            .nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)});
        messages_.finish();
    }

    Messages messages_;
};

// The expressions of one rule.
class Expressions {
  public:
    explicit Expressions(Messages& messages) : messages_(messages) {}

    void load_meta(uint32_t key) {
        add("meta", [&] {
            messages_.network_number(NFTA_META_KEY, key);
            messages_.network_number(NFTA_META_DREG, NFT_REG_1);
        });
    }
    void load_payload(uint32_t base, uint32_t offset, size_t length) {
        add("payload", [&] {
            messages_.network_number(NFTA_PAYLOAD_DREG, NFT_REG_1);
            messages_.network_number(NFTA_PAYLOAD_BASE, base);
            messages_.network_number(NFTA_PAYLOAD_OFFSET, offset);
            messages_.network_number(NFTA_PAYLOAD_LEN, static_cast<uint32_t>(length));
        });
    }
    void mask(char bits) {
        add("bitwise", [&] {
            messages_.network_number(NFTA_BITWISE_SREG, NFT_REG_1);
            messages_.network_number(NFTA_BITWISE_DREG, NFT_REG_1);
            messages_.network_number(NFTA_BITWISE_LEN, 1);
            data(NFTA_BITWISE_MASK, {&bits, 1});
            data(NFTA_BITWISE_XOR, {"\0", 1});
        });
    }
    void compare(uint32_t operation, std::string_view value) {
        add("cmp", [&] {
            messages_.network_number(NFTA_CMP_SREG, NFT_REG_1);
            messages_.network_number(NFTA_CMP_OP, operation);
            data(NFTA_CMP_DATA, value);
        });
    }
    void put(uint32_t reg, std::string_view value) {
        add("immediate", [&] {
            messages_.network_number(NFTA_IMMEDIATE_DREG, reg);
            data(NFTA_IMMEDIATE_DATA, value);
        });
    }
    void add(std::string_view name, const std::function<void()>& arguments) {
        size_t element = messages_.open_nest(NFTA_LIST_ELEM);
        messages_.text(NFTA_EXPR_NAME, name);
        size_t inner = messages_.open_nest(NFTA_EXPR_DATA);
        arguments();
        messages_.close_nest(inner);
        messages_.close_nest(element);
    }

  private:
    void data(uint16_t type, std::string_view value) {
        size_t nest = messages_.open_nest(type);
        messages_.attribute(NFTA_DATA_VALUE, value);
        messages_.close_nest(nest);
    }
    Messages& messages_;
};

struct Hook {
    uint32_t number;
    int32_t priority;
    std::string_view type;
};

constexpr Hook hook_of(Capture capture) {
    if (capture == Capture::tproxy) return {NF_INET_PRE_ROUTING, NF_IP_PRI_MANGLE, "filter"};
    return {NF_INET_LOCAL_OUT, NF_IP_PRI_NAT_DST, "nat"};
}

void add_chain(Batch& batch, const Hook& hook) {
    Messages& messages = batch.messages();
    batch.start(NFT_MSG_NEWTABLE, NLM_F_CREATE | NLM_F_EXCL);
    messages.text(NFTA_TABLE_NAME, kTable);
    batch.finish();
    batch.start(NFT_MSG_NEWCHAIN, NLM_F_CREATE | NLM_F_EXCL);
    messages.text(NFTA_CHAIN_TABLE, kTable);
    messages.text(NFTA_CHAIN_NAME, kChain);
    size_t nest = messages.open_nest(NFTA_CHAIN_HOOK);
    messages.network_number(NFTA_HOOK_HOOKNUM, hook.number);
    messages.network_number(NFTA_HOOK_PRIORITY, static_cast<uint32_t>(hook.priority));
    messages.close_nest(nest);
    messages.text(NFTA_CHAIN_TYPE, hook.type);
    batch.finish();
}

// TCP to a destination outside of the jail.
void match(Expressions& rule, const Family& family) {
    char protocol = static_cast<char>(family.protocol);
    char tcp = IPPROTO_TCP;
    rule.load_meta(NFT_META_NFPROTO);
    rule.compare(NFT_CMP_EQ, {&protocol, 1});
    rule.load_meta(NFT_META_L4PROTO);
    rule.compare(NFT_CMP_EQ, {&tcp, 1});
    for (std::string_view excepted : {family.loopback, family.own}) {
        rule.load_payload(NFT_PAYLOAD_NETWORK_HEADER, family.destination_offset, excepted.size());
        rule.compare(NFT_CMP_NEQ, excepted);
    }
}

void assign(Expressions& rule, const Family& family, Messages& messages) {
    uint16_t port = htons(kCapturePort);
    std::string_view port_bytes{reinterpret_cast<const char*>(&port), sizeof port};
    rule.load_payload(NFT_PAYLOAD_TRANSPORT_HEADER, kFlagsOffset, 1);
    rule.mask(kSynAck);
    rule.compare(NFT_CMP_EQ, {&kSyn, 1});
    rule.put(NFT_REG_1, family.gateway);
    rule.put(NFT_REG_2, port_bytes);
    rule.add("tproxy", [&] {
        messages.network_number(NFTA_TPROXY_FAMILY, family.protocol);
        messages.network_number(NFTA_TPROXY_REG_ADDR, NFT_REG_1);
        messages.network_number(NFTA_TPROXY_REG_PORT, NFT_REG_2);
    });
}

void redirect(Expressions& rule, Messages& messages) {
    uint16_t port = htons(kCapturePort);
    rule.put(NFT_REG_1, {reinterpret_cast<const char*>(&port), sizeof port});
    rule.add("redir", [&] { messages.network_number(NFTA_REDIR_REG_PROTO_MIN, NFT_REG_1); });
}

void add_rule(Batch& batch, Capture capture, const Family& family) {
    Messages& messages = batch.messages();
    batch.start(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
    messages.text(NFTA_RULE_TABLE, kTable);
    messages.text(NFTA_RULE_CHAIN, kChain);
    size_t nest = messages.open_nest(NFTA_RULE_EXPRESSIONS);
    Expressions rule(messages);
    match(rule, family);
    if (capture == Capture::tproxy) {
        assign(rule, family, messages);
    } else {
        redirect(rule, messages);
    }
    messages.close_nest(nest);
    batch.finish();
}

}  // namespace

NetlinkRequest capture_rules(Capture capture, bool has_v6) {
    if (capture == Capture::listeners) return {};
    Batch batch;
    add_chain(batch, hook_of(capture));
    add_rule(batch, capture, family_v4());
    if (has_v6) add_rule(batch, capture, family_v6());
    return batch.request();
}

}  // namespace network::netns
