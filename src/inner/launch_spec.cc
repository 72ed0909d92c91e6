// SPDX-License-Identifier: MIT
#include "inner/launch_spec.h"

#include "base/encoding/codec.h"

template <>
inline constexpr auto base::kFields<inner::Check> = std::tuple(&inner::Check::target,
                                                               &inner::Check::is_readonly,
                                                               &inner::Check::has_identity,
                                                               &inner::Check::is_other, &inner::Check::device,
                                                               &inner::Check::inode, &inner::Check::type);

template <>
inline constexpr auto base::kFields<inner::WrittenFile> = std::tuple(&inner::WrittenFile::path,
                                                                     &inner::WrittenFile::content,
                                                                     &inner::WrittenFile::is_link);

template <>
inline constexpr auto base::kFields<inner::SignalState> = std::tuple(&inner::SignalState::ignored,
                                                                     &inner::SignalState::blocked);

template <>
inline constexpr auto base::kFields<inner::ResourceLimit> = std::tuple(&inner::ResourceLimit::resource,
                                                                       &inner::ResourceLimit::value);

template <>
inline constexpr auto base::kFields<seccomp::Trace> = std::tuple(&seccomp::Trace::files,
                                                                 &seccomp::Trace::commands,
                                                                 &seccomp::Trace::system_calls);

// The stage itself decides keeps_abstract_sockets.
template <>
inline constexpr auto base::kFields<landlock::Wall> =
    std::tuple(&landlock::Wall::is_wanted, &landlock::Wall::guards_files, &landlock::Wall::writable,
               &landlock::Wall::used, &landlock::Wall::guards_reading, &landlock::Wall::readable,
               &landlock::Wall::refuses_tcp, &landlock::Wall::is_logged);

template <>
inline constexpr doorman::Internet base::kLast<doorman::Internet> = doorman::Internet::handed;
template <>
inline constexpr doorman::AbstractNames base::kLast<doorman::AbstractNames> = doorman::AbstractNames::refused;

// Without socket_factory, which only the process that answers has.
template <>
inline constexpr auto base::kFields<doorman::Orders> = std::tuple(
    &doorman::Orders::is_wanted, &doorman::Orders::is_outside, &doorman::Orders::is_answered,
    &doorman::Orders::refuses_system_v, &doorman::Orders::internet, &doorman::Orders::owns_loopback,
    &doorman::Orders::gateway, &doorman::Orders::guards_sockets, &doorman::Orders::sockets,
    &doorman::Orders::abstract_names, &doorman::Orders::guards_terminal_size,
    &doorman::Orders::guards_attributes, &doorman::Orders::changeable, &doorman::Orders::guards_truncation,
    &doorman::Orders::guards_processes, &doorman::Orders::guards_signals);

template <>
inline constexpr auto base::kFields<inner::Orders> =
    std::tuple(&inner::Orders::command, &inner::Orders::environment, &inner::Orders::working_directory,
               &inner::Orders::world_writable, &inner::Orders::checks, &inner::Orders::files,
               &inner::Orders::system_calls, &inner::Orders::trace, &inner::Orders::wall,
               &inner::Orders::has_namespaces, &inner::Orders::doorman, &inner::Orders::signals,
               &inner::Orders::open_files, &inner::Orders::limits, &inner::Orders::standard_error,
               &inner::Orders::kept_descriptors, &inner::Orders::skipped_processes, &inner::Orders::control,
               &inner::Orders::terminal, &inner::Orders::takes_terminal, &inner::Orders::ends_others);

namespace inner {
namespace {

// Must change with every change of the fields: both ends should be the same program, and must detect it if
// they are not.
constexpr std::string_view kVersion = "agent-sandbox orders 13";

}  // namespace

std::string encode(const Orders& orders) {
    return base::encode_message(kVersion, orders);
}

base::Result<Orders> decode(std::string_view text) {
    Orders orders;
    base::Decoded decoded = base::decode_message(kVersion, text, orders);
    if (decoded == base::Decoded::other) return base::Error{.what = "the orders are of another version"};
    if (decoded == base::Decoded::damaged || orders.command.empty())
        return base::Error{.what = "the orders are damaged"};
    return orders;
}

}  // namespace inner
