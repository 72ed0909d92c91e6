// SPDX-License-Identifier: MIT
// `secret add | list | remove | test`: the values of credentials and where they come from. No verb prints a
// value, its length or its digest, and none takes one from the command line, which other users can read.
#include <fcntl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <set>

#include "audit/reader.h"
#include "base/encoding/json.h"
#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/broker.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/scratch_project.h"
#include "cli/sessions/records.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "config/toml_text.h"
#include "credentials/resolve.h"
#include "secrets/keyring.h"
#include "secrets/source.h"
#include "secrets/store.h"
#include "session/control/known_sessions.h"

namespace cli {
namespace {

using base::Error;
using base::Result;
using base::Status;
using credentials::Credential;

Error usage_error(std::string what) {
    return Error{.what = std::move(what), .advice = usage_of("secret"), .exit_code = base::ExitCode::usage};
}

Error failed(Error error) {
    error.exit_code = base::ExitCode::check_failed;
    return error;
}

// Configuration files, the store and the launching shell.
struct Place {
    Workspace workspace;
    policy::Layers layers;
    secrets::Surroundings surroundings;

    std::string source_file(const std::string& name) const {
        return base::format("{}/conf.d/secret-{}.toml", workspace.files.user_directory, name);
    }
};

Result<Place> find_place(const Invocation& call) {
    if (base::file_exists(base::own_path(base::kOwnProgram)))
        return Error{.what = "secret works outside of a jail only", .advice = "run it in another terminal"};
    Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return workspace.error();
    Result<policy::Layers> layers = read_layers(*workspace, call.caller, call.arguments);
    if (!layers) return layers.error();
    secrets::Surroundings surroundings{.environment = call.caller.environment,
                                       .home = workspace->identity.home,
                                       .store = secrets::store_directory(workspace->files.state_directory),
                                       .writable = {workspace->physical_project}};
    // A start in the home directory: its configuration is not in the jail.
    if (workspace->physical_project == workspace->identity.home) surroundings.writable.clear();
    return Place{*std::move(workspace), *std::move(layers), std::move(surroundings)};
}

// Running sessions must not go on with an old value. Returns how many use the credential.
size_t renew_in_sessions(const Invocation& call, const std::string& name) {
    constexpr std::chrono::milliseconds kAnswerTimeout{2000};
    Result<Sessions> sessions = find_sessions(call);
    if (!sessions) {
        call.output.warning("running sessions could not be found: " + sessions.error().line());
        return 0;
    }
    size_t used = 0;
    for (const session::Known& known : sessions->known) {
        const std::string remedy =
            base::format("'agent-sandbox reload --session {}' makes it get its values anew", short_id(known));
        if (known.state == session::Known::State::elsewhere) {
            call.output.warning(
                base::format("session {} runs on another machine; there, {}", short_id(known), remedy));
            continue;
        }
        Result<base::Json> reply = session::ask_session(
            known, base::Json::object().set("do", "forget").set("credential", name), kAnswerTimeout);
        if (!reply) call.output.warning(base::format("{}; {}", reply.error().line(), remedy));
        used += reply && reply->truth("used") ? 1 : 0;
    }
    return used;
}

// "; 2 running sessions get it anew"
std::string sessions_text(size_t count) {
    if (count == 0) return {};
    return base::format("; {} it anew", base::counted(count, "running session gets", "running sessions get"));
}

// ---- add

class HiddenInput {
  public:
    explicit HiddenInput(int terminal) : terminal_(terminal) {
        if (::tcgetattr(terminal_, &before_) != 0) return;
        struct termios hidden = before_;
        hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        is_hidden_ = ::tcsetattr(terminal_, TCSAFLUSH, &hidden) == 0;
    }
    ~HiddenInput() {
        if (is_hidden_) ::tcsetattr(terminal_, TCSAFLUSH, &before_);
    }
    HiddenInput(const HiddenInput&) = delete;
    HiddenInput& operator=(const HiddenInput&) = delete;
    bool is_hidden() const { return is_hidden_; }

  private:
    int terminal_;
    struct termios before_ = {};
    bool is_hidden_ = false;
};

// Until the end of a line on a terminal, else until the end.
Result<base::SecretValue> read_value(const Credential& credential) {
    std::string bytes;
    bytes.reserve(base::SecretValue::kMaximum + 3);
    bool is_terminal = ::isatty(STDIN_FILENO) == 1;
    HiddenInput hidden(is_terminal ? STDIN_FILENO : -1);
    if (is_terminal) {
        if (!hidden.is_hidden())
            return Error{.what = "the terminal can't hide what is typed",
                         .advice = "give the value on standard input"};
        std::string prompt = base::format("value of {} (it is not shown): ", credential.name);
        (void)base::write_all(STDERR_FILENO, prompt);
    }
    while (bytes.size() < base::SecretValue::kMaximum + 2) {
        char letter = 0;
        ssize_t count = ::read(STDIN_FILENO, &letter, 1);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        bytes.push_back(letter);
        if (is_terminal && letter == '\n') break;
    }
    if (is_terminal) (void)base::write_all(STDERR_FILENO, "\n");
    if (credential.signs()) {
        Result<secrets::Fetched> key = secrets::read_answer(std::move(bytes), secrets::AnswerKind::aws_key);
        return key ? Result<base::SecretValue>(std::move(key->value)) : key.error();
    }
    Result<base::SecretValue> value = base::SecretValue::make(std::move(bytes));
    if (value) return value;
    Error error = value.error();
    error.advice = "give the value alone";
    return error;
}

struct SourceLine {
    std::string key;
    std::vector<std::string> words;
};

// The source that the options name; nothing where the value itself is asked for.
Result<std::optional<SourceLine>> source_line(const Invocation& call) {
    const Arguments& arguments = call.arguments;
    std::vector<std::string> rest(arguments.words.begin() + 2, arguments.words.end());
    std::vector<SourceLine> lines;
    if (arguments.has_own("--command")) {
        if (std::string word = arguments.own_value("--command"); !word.empty())
            rest.insert(rest.begin(), word);
        if (rest.empty()) return usage_error("--command needs a command");
        lines.push_back({"from_command", std::exchange(rest, {})});
    }
    if (std::string file = arguments.own_value("--file"); !file.empty()) {
        bool is_whole = file.starts_with('/') || file.starts_with("~/");
        lines.push_back({"from_file", {is_whole ? file : (call.caller.working_directory / file).str()}});
    }
    if (std::string name = arguments.own_value("--variable"); !name.empty())
        lines.push_back({"from_env", {name}});
    if (arguments.has_own("--keyring")) {
        SourceLine line{"from_keyring", {}};
        for (const auto& [option, value] : arguments.own_values) {
            if (option == "--keyring") line.words.push_back(value);
        }
        std::ranges::move(std::exchange(rest, {}), std::back_inserter(line.words));
        lines.push_back(std::move(line));
    }
    if (!rest.empty())
        return usage_error(
            "a value can't be given as an argument: other users can read it in the list of processes");
    if (lines.size() > 1) return usage_error("secret add takes one source");
    return lines.empty() ? std::optional<SourceLine>() : std::optional(std::move(lines.front()));
}

Status write_source(const Place& place, const std::string& name, const SourceLine& line) {
    std::span<const config::Setting> rows = config::credential_settings();
    auto row = std::ranges::find(rows, line.key, &config::Setting::key);
    std::string value = config::is_list(row->type) ? config::toml_list(*row, line.words)
                                                   : config::toml_string(line.words.front());
    std::string text = base::format(
        "# Written by 'agent-sandbox secret add'. 'agent-sandbox secret remove {}' removes "
        "it.\n[credential.{}]\n{} = {}\n",
        name, name, line.key, value);
    config::ParsedFile parsed = config::parse_layer(config::Layer::user, place.source_file(name), text);
    if (!parsed.problems.empty()) return parsed.problems.front();
    // The same checks as at a launch, before anything is written.
    policy::Layers layers = place.layers;
    layers.user.push_back(parsed.content);
    Result<Credential> credential = credentials::resolve_one(layers, name, config::Origin());
    if (!credential) return credential.error();
    std::string directory = place.workspace.files.user_directory + "/conf.d";
    if (Status made = base::make_directories(directory, 0700); !made) return made;
    return base::write_file_atomically(place.source_file(name), text, 0600);
}

// A source of another `secret add` would come before the store.
Status remove_source(const Place& place, const std::string& name) {
    std::string path = place.source_file(name);
    if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return base::success();
    return base::system_error("remove " + path, errno);
}

int add_value(const Invocation& call, const Place& place, const Credential& credential) {
    const std::string& name = credential.name;
    // Another file's source would be used instead of the value.
    bool has_own_source = !base::file_exists(place.source_file(name)) &&
                          credential.source.kind != credentials::Source::Kind::none;
    if (has_own_source) {
        return call.output.fail(
            failed({.what = base::format("{} comes from {}", name, credential.source.describe()),
                    .advice = "remove that line first",
                    .where = credential.origin.describe()}));
    }
    Result<base::SecretValue> value = read_value(credential);
    if (!value) return call.output.fail(failed(value.error()));
    bool is_judged = credential.shape && !credential.shape->is_jwt() && !credential.signs();
    bool fits = !is_judged || credential.shape->fits(*value);
    if (!fits)
        call.output.warning(base::format("the value does not have the form {} that is usual for {}",
                                         credential.shape->text(), name));
    if (secrets::store_in_keyring(name, *value, place.surroundings)) {
        if (Status written = write_source(place, name, {"from_keyring", secrets::keyring_attributes(name)});
            !written)
            return call.output.fail(failed(written.error()));
        (void)secrets::remove_stored(place.surroundings.store, name);
        return call.output.result(base::format("{}: stored in the desktop's keyring{}\n", name,
                                               sessions_text(renew_in_sessions(call, name))));
    }
    if (Status written = secrets::write_stored(place.surroundings.store, name, *value); !written)
        return call.output.fail(failed(written.error()));
    if (Status removed = remove_source(place, name); !removed)
        return call.output.fail(failed(removed.error()));
    return call.output.result(base::format("{}: stored in clear text in {}/{}, which you alone can read{}\n",
                                           name, place.surroundings.store, name,
                                           sessions_text(renew_in_sessions(call, name))));
}

int secret_add(const Invocation& call, const Place& place, const std::string& name) {
    Result<std::optional<SourceLine>> line = source_line(call);
    if (!line) return call.output.fail(line.error());
    Result<Credential> credential = credentials::resolve_one(place.layers, name, config::Origin());
    if (!credential) return call.output.fail(failed(credential.error()));
    if (!*line) return add_value(call, place, *credential);
    if (Status written = write_source(place, name, **line); !written)
        return call.output.fail(failed(written.error()));
    Result<bool> removed = secrets::remove_stored(place.surroundings.store, name);
    if (!removed) return call.output.fail(failed(removed.error()));
    if ((*line)->key == "from_file") {
        std::string path = secrets::file_of({.text = (*line)->words.front()}, place.workspace.identity.home);
        if (Status outside = secrets::check_outside(place.surroundings, path); !outside)
            call.output.warning(outside.error().line());
    }
    credentials::Source source{.words = (*line)->words, .text = (*line)->words.front()};
    constexpr std::string_view kKeys[] = {"", "from_command", "from_file", "from_env", "from_keyring"};
    source.kind =
        static_cast<credentials::Source::Kind>(std::ranges::find(kKeys, (*line)->key) - std::begin(kKeys));
    return call.output.result(base::format("{}: its value comes from {}; written to {}{}\n", name,
                                           source.describe(), place.source_file(name),
                                           sessions_text(renew_in_sessions(call, name))));
}

// ---- list, remove, test

std::set<std::string> known_names(const Place& place) {
    std::set<std::string> names;
    for (const std::string& name : credentials::defined_names(place.layers)) names.insert(name);
    base::Fd store(::open(place.surroundings.store.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (store) {
        base::visit_entries(store.get(), [&](const struct dirent64& entry) {
            if (config::is_credential_name(entry.d_name)) names.insert(entry.d_name);
            return true;
        });
    }
    return names;
}

int secret_list(const Invocation& call, const Place& place) {
    base::Json array = base::Json::array();
    base::Table table;
    const std::set<std::string> names = known_names(place);
    const std::map<std::string, std::string> uses =
        audit::last_uses(records_directory(place.workspace), names);
    for (const std::string& name : names) {
        Result<Credential> credential = credentials::resolve_one(place.layers, name, config::Origin());
        bool is_stored = secrets::is_stored(place.surroundings.store, name);
        std::vector<std::string> hosts;
        std::string source = "the program's own store", origin = "the program's own store", problem;
        if (credential) {
            for (const auto& host : credential->hosts) hosts.push_back(host.text());
            bool has_source = credential->source.kind != credentials::Source::Kind::none;
            if (has_source || !is_stored) source = credential->source.describe();
            if (!is_stored || has_source) origin = credential->origin.describe();
        } else {
            problem = credential.error().line();
        }
        base::Json row = base::Json::object();
        base::Json listed = base::Json::array();
        for (const std::string& host : hosts) listed.push(host);
        row.set("name", name).set("source", source).set("hosts", std::move(listed)).set("origin", origin);
        auto use = uses.find(name);
        const std::string last = use == uses.end() ? "" : base::printable(use->second);
        if (!last.empty()) row.set("last_use", last);
        if (!problem.empty()) row.set("problem", problem);
        array.push(std::move(row));
        table.add({{name, base::Style::bold},
                   {problem.empty() ? source : "problem: " + base::printable(problem)},
                   {base::join(hosts, ", ")},
                   {base::printable(origin)},
                   {last.empty() ? "not used in a kept record" : "last used " + last}});
    }
    if (call.arguments.wants_json) return call.output.result(array.dump() + "\n");
    if (table.is_empty()) {
        call.output.information("no secret is stored; 'agent-sandbox secret add github' stores one");
        return 0;
    }
    return call.output.result(table.text(0, call.output.colours_results()));
}

int secret_remove(const Invocation& call, const Place& place, const std::string& name) {
    Result<Credential> credential = credentials::resolve_one(place.layers, name, config::Origin());
    bool was_written = base::file_exists(place.source_file(name));
    bool was_in_keyring = was_written && credential &&
                          credential->source.kind == credentials::Source::Kind::keyring &&
                          credential->source.words == secrets::keyring_attributes(name);
    if (was_in_keyring && !secrets::remove_from_keyring(name, place.surroundings)) {
        return call.output.fail(failed({.what = base::format("the keyring did not remove {}", name),
                                        .advice = "unlock it, and try again"}));
    }
    if (Status removed = remove_source(place, name); !removed)
        return call.output.fail(failed(removed.error()));
    Result<bool> was_stored = secrets::remove_stored(place.surroundings.store, name);
    if (!was_stored) return call.output.fail(failed(was_stored.error()));
    bool stays = credential && credential->source.kind != credentials::Source::Kind::none && !was_written;
    if (stays)
        call.output.warning(
            base::format("{}: its lines in {} stay; remove them there", name, credential->origin.describe()));
    if (!was_written && !*was_stored) {
        return call.output.fail(
            failed({.what = base::format("there is no secret '{}'", base::printable(name)),
                    .advice = "'agent-sandbox secret list' shows them"}));
    }
    const size_t sessions = renew_in_sessions(call, name);
    std::string text = base::format("{}: removed", name);
    if (sessions > 0)
        text += base::format("; {} its value",
                             base::counted(sessions, "running session dropped", "running sessions dropped"));
    return call.output.result(text + "\n");
}

// Threat: the test runs the source outside, and a jail may have written it (tests/transcripts/secret.bats).
// So all that a session here can write counts, and the projects of the sessions that run.
secrets::Surroundings surroundings_of_test(const Invocation& call, const Place& place) {
    secrets::Surroundings surroundings = place.surroundings;
    auto add = [&](std::vector<base::Path> paths) {
        surroundings.writable.insert(surroundings.writable.end(), paths.begin(), paths.end());
    };
    // Where no session can start, none has written anything.
    if (Result<Planned> planned = make_plan(call.caller, call.arguments, "", {"true"}))
        add(writable_of(planned->plan));
    if (Result<Sessions> sessions = find_sessions(call)) {
        for (const session::Known& known : sessions->known) {
            Result<base::Path> project = base::Path::parse(known.metadata.text("project"));
            if (project) add({*project});
        }
    }
    return surroundings;
}

int secret_test(const Invocation& call, const Place& place, const std::string& name) {
    Result<Credential> credential = credentials::resolve_one(place.layers, name, config::Origin());
    if (!credential) return call.output.fail(failed(credential.error()));
    const secrets::Surroundings surroundings = surroundings_of_test(call, place);
    auto before = std::chrono::steady_clock::now();
    secrets::Fetching fetching(*credential, surroundings);
    Result<secrets::Fetched> fetched = secrets::await_value(fetching);
    if (!fetched) return call.output.fail(failed(fetched.error()));
    auto taken =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - before);
    std::string line = base::format("{}: {} ms from {}", name, taken.count(), fetching.origin());
    // Temporary keys of AWS have another form than the placeholder.
    if (credential->shape && !credential->shape->is_jwt() && !credential->signs()) {
        bool fits = credential->shape->fits(fetched->value);
        line += base::format("; the value {} the form {}", fits ? "has" : "does not have",
                             credential->shape->text());
    }
    // A value in a query or in a path can't be added to a request without it.
    bool can_add = std::ranges::any_of(credential->puts, [](const network::exchange::Put& put) {
        return network::exchange::addition_of(put, false).has_value();
    });
    if (!credential->probe || !can_add) return call.output.result(line + "\n");
    const credentials::Probe& probe = *credential->probe;
    Result<std::string> answer =
        run_probe(call.caller, place.workspace, place.layers, *credential, surroundings);
    line += base::format("; {} {}{}: {}", probe.method, probe.host, probe.path,
                         answer ? std::string(base::trim(*answer)) : answer.error().line());
    bool is_good = answer && answer->starts_with('2');
    return call.output.result(line + "\n", is_good ? 0 : kFailed);
}

}  // namespace

int secret_verb(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    std::string action = words.empty() ? "" : words.front();
    bool is_list = action == "list" && words.size() == 1;
    bool is_about_one = words.size() >= 2 &&
                        (action == "add" || ((action == "remove" || action == "test") && words.size() == 2));
    if (!is_list && !is_about_one) return call.output.fail(usage_error("secret needs to know what to do"));
    bool is_options_fault =
        action != "add" && std::ranges::any_of(call.arguments.own_options,
                                               [](const std::string& option) { return option != "--json"; });
    if (is_options_fault) return call.output.fail(usage_error("only secret add takes a source"));
    Result<Place> place = find_place(call);
    if (!place) return call.output.fail(failed(place.error()));
    if (is_list) return secret_list(call, *place);
    const std::string& name = words[1];
    if (!config::is_credential_name(name)) {
        return call.output.fail(
            usage_error(base::format("'{}' is not the name of a credential", base::printable(name))));
    }
    if (action == "add") return secret_add(call, *place, name);
    return action == "remove" ? secret_remove(call, *place, name) : secret_test(call, *place, name);
}

}  // namespace cli
