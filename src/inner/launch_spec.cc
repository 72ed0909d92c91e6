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
inline constexpr auto base::kFields<doorman::AnsweredCalls> =
    std::tuple(&doorman::AnsweredCalls::is_wanted, &doorman::AnsweredCalls::is_outside,
               &doorman::AnsweredCalls::is_answered, &doorman::AnsweredCalls::refuses_system_v,
               &doorman::AnsweredCalls::internet, &doorman::AnsweredCalls::owns_loopback,
               &doorman::AnsweredCalls::host_ports, &doorman::AnsweredCalls::gateway,
               &doorman::AnsweredCalls::guards_sockets, &doorman::AnsweredCalls::sockets,
               &doorman::AnsweredCalls::abstract_names, &doorman::AnsweredCalls::guards_terminal_size,
               &doorman::AnsweredCalls::judges_renames, &doorman::AnsweredCalls::judges_removals,
               &doorman::AnsweredCalls::refuses_namespaces, &doorman::AnsweredCalls::guards_attributes,
               &doorman::AnsweredCalls::changeable, &doorman::AnsweredCalls::guards_truncation,
               &doorman::AnsweredCalls::guards_processes, &doorman::AnsweredCalls::guards_signals);

template <>
inline constexpr auto base::kFields<inner::LaunchSpec> = std::tuple(
    &inner::LaunchSpec::command, &inner::LaunchSpec::environment, &inner::LaunchSpec::working_directory,
    &inner::LaunchSpec::world_writable, &inner::LaunchSpec::checks, &inner::LaunchSpec::files,
    &inner::LaunchSpec::private_home, &inner::LaunchSpec::masked, &inner::LaunchSpec::system_calls,
    &inner::LaunchSpec::trace, &inner::LaunchSpec::wall, &inner::LaunchSpec::has_namespaces,
    &inner::LaunchSpec::doorman, &inner::LaunchSpec::signals, &inner::LaunchSpec::open_files,
    &inner::LaunchSpec::limits, &inner::LaunchSpec::standard_error, &inner::LaunchSpec::kept_descriptors,
    &inner::LaunchSpec::skipped_processes, &inner::LaunchSpec::is_job, &inner::LaunchSpec::control,
    &inner::LaunchSpec::terminal, &inner::LaunchSpec::takes_terminal, &inner::LaunchSpec::ends_others);

namespace inner {
namespace {

// Must change with every change of the fields: both ends should be the same program, and must detect it if
// they are not.
constexpr std::string_view kVersion = "agent-sandbox launch spec 19";

}  // namespace

std::string encode(const LaunchSpec& spec) {
    return base::encode_message(kVersion, spec);
}

base::Result<LaunchSpec> decode(std::string_view text) {
    LaunchSpec spec;
    base::Decoded decoded = base::decode_message(kVersion, text, spec);
    if (decoded == base::Decoded::other)
        return base::Error{.what = "the launch specification is of another version"};
    if (decoded == base::Decoded::damaged || spec.command.empty())
        return base::Error{.what = "the launch specification is damaged"};
    return spec;
}

}  // namespace inner
