// SPDX-License-Identifier: MIT
#include "credentials/credential.h"

#include <algorithm>

#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "config/layer.h"

namespace credentials {
namespace {

using base::Error;
using base::Result;
using base::Status;
using config::Setting;
using config::Value;
using config::Values;

constexpr std::string_view kSources[] = {"from_command", "from_file", "from_env", "from_keyring"};

constexpr std::string_view kFolder = "credentials/", kEnding = ".toml";

// Reads keys one after the other and keeps the first problem, with its place.
class KeyReader {
  public:
    KeyReader(std::string name, const Values& preset, const Values& own)
        : name_(std::move(name)), preset_(preset), own_(own) {}

    const Value* find(std::string_view key) const {
        for (const Values* values : {&own_, &preset_}) {
            if (auto value = values->find(key); value != values->end()) return &value->second;
        }
        return nullptr;
    }
    bool is_own(std::string_view key) const { return own_.contains(key); }
    std::string text(std::string_view key) const {
        const Value* value = find(key);
        return value == nullptr ? std::string() : value->text;
    }
    std::vector<std::string> list(std::string_view key) const {
        std::vector<std::string> texts;
        if (const Value* value = find(key)) {
            for (const config::Item& item : value->items) texts.push_back(item.text);
        }
        return texts;
    }
    // Every entry of a list through a parser of its own.
    template <typename Entry, typename Parse>
    void read_list(std::string_view key, std::vector<Entry>& entries, Parse parse) {
        const Value* value = find(key);
        if (value == nullptr) return;
        for (const config::Item& item : value->items) {
            Result<Entry> entry = parse(item.text);
            if (!entry) return add_problem(key, entry.error(), item.origin);
            entries.push_back(*std::move(entry));
        }
    }
    void add_problem(std::string_view key, Error error, const config::Origin& origin) {
        if (problem_) return;
        error.what = base::format("credential.{}.{}: {}", name_, key, error.what);
        error.where = origin.describe();
        problem_ = std::move(error);
    }
    void add_problem(std::string_view key, std::string what, std::string advice) {
        const Value* value = find(key);
        add_problem(key, Error{.what = std::move(what), .advice = std::move(advice)},
                    value == nullptr ? config::Origin() : value->origin);
    }
    const std::optional<Error>& problem() const { return problem_; }

  private:
    std::string name_;
    const Values& preset_;
    const Values& own_;
    std::optional<Error> problem_;
};

Result<std::string> parse_method(std::string_view text) {
    bool is_method = !text.empty() && std::ranges::all_of(text, [](char letter) {
        return base::is_token_character(letter) && base::upper(letter) == letter && letter != '*';
    });
    if (is_method) return std::string(text);
    return Error{.what = base::format("'{}' is not a method in upper case", base::printable(text)),
                 .advice = "write GET, POST …"};
}

// Other files are not hidden in every jail, so a copy would be pointless.
Result<std::string> parse_home_file(std::string_view text) {
    base::Result<base::Path> path =
        base::Path::parse(text.starts_with("~/") ? text.substr(1) : std::string_view());
    if (path && !path->is_root()) return "~" + path->str();
    return Error{.what = base::format("'{}' is not a file of the home directory", base::printable(text)),
                 .advice = "write ~/ and its path"};
}

void read_variables(KeyReader& reader, Credential& credential) {
    const std::string text = reader.text("variable");
    for (std::string_view word : base::split(text, ' ')) {
        if (word.empty()) continue;
        size_t equals = word.find('=');
        std::string_view fixed = equals == std::string_view::npos ? "" : word.substr(equals + 1);
        word = word.substr(0, equals);
        if (!base::is_variable_name(word) || word.starts_with(config::kVariablePrefix)) {
            return reader.add_problem(
                "variable", base::format("'{}' is not the name of a variable", base::printable(word)),
                "write names with blanks between them");
        }
        if (equals != std::string_view::npos) {
            credential.fixed_variables.emplace_back(word, fixed);
        } else {
            credential.variables.emplace_back(word);
        }
    }
}

// The user's source replaces the preset's, whatever its kind.
void read_source(KeyReader& reader, const Values& preset, const Values& own, Source& source) {
    auto count = [](const Values& values) {
        return std::ranges::count_if(kSources, [&](std::string_view key) { return values.contains(key); });
    };
    const Values& chosen = count(own) > 0 ? own : preset;
    if (count(chosen) > 1) {
        return reader.add_problem("from_command", "there is more than one source",
                                  "write one of from_command, from_file, from_env and from_keyring");
    }
    for (size_t i = 0; i < std::size(kSources); ++i) {
        auto value = chosen.find(kSources[i]);
        if (value == chosen.end()) continue;
        source.kind = static_cast<Source::Kind>(i + 1);
        source.text = value->second.text;
        for (const config::Item& item : value->second.items) source.words.push_back(item.text);
        bool is_list = source.kind == Source::Kind::command || source.kind == Source::Kind::keyring;
        bool is_empty = is_list ? source.words.empty() : source.text.empty();
        if (is_empty) return reader.add_problem(kSources[i], "it is empty", "name the source");
        if (source.kind == Source::Kind::variable && !base::is_variable_name(source.text))
            return reader.add_problem(kSources[i], "it is not the name of a variable",
                                      "write its name alone");
        if (source.kind != Source::Kind::keyring) continue;
        for (const std::string& word : source.words) {
            size_t equals = word.find('=');
            if (equals == std::string::npos || equals == 0)
                return reader.add_problem(kSources[i], "an attribute has no value", "write ATTRIBUTE=VALUE");
        }
    }
}

void read_base_url(KeyReader& reader, Credential& credential) {
    std::string text = reader.text("base_url");
    if (text.empty()) return;
    size_t equals = std::min(text.find('='), text.size());
    credential.base_url_variable = text.substr(0, equals);
    credential.base_url_path = text.substr(std::min(equals + 1, text.size()));
    network::requests::CanonicalPath path;
    bool is_path = credential.base_url_path.empty() ||
                   network::requests::read_target(credential.base_url_path, path).empty();
    if (!base::is_variable_name(credential.base_url_variable) || !is_path)
        reader.add_problem("base_url", "it is not a variable, or a variable, '=' and a path",
                           "write it like OPENAI_BASE_URL=/v1");
}

void read_probe(KeyReader& reader, Credential& credential) {
    std::string text = reader.text("probe");
    if (text.empty()) return;
    Result<network::requests::RequestRule> rule =
        network::requests::parse_request_rule(text, network::requests::Side::allow);
    size_t slash = text.find('/');
    bool is_plain = rule && rule->methods.size() == 1 && !rule->host.is_wildcard && rule->path.stars() == 0 &&
                    rule->path.depths() == 0 && slash != std::string::npos;
    if (!is_plain) return reader.add_problem("probe", "it is not one request", "write METHOD HOST/PATH");
    credential.probe = Probe{rule->methods.front(), rule->host.name, text.substr(slash)};
    network::exchange::Binding binding = credential.binding("");
    network::requests::CanonicalPath path;
    (void)network::requests::read_target(credential.probe->path, path);
    uint16_t port = rule->host.port.value_or(443);
    bool is_within = binding.is_for(rule->host.name, port) &&
                     binding.permits(rule->host.name, port, credential.probe->method, path);
    // The user's paths or methods may leave out the preset's request.
    if (!is_within && !reader.is_own("probe")) return credential.probe.reset();
    if (!is_within)
        reader.add_problem("probe", "the request is outside of hosts, paths or methods",
                           "name another request");
}

// An ID without its secret key can't sign, and a file would get both as one text.
void check_signing(KeyReader& reader, const Credential& credential) {
    constexpr size_t kVariables = 2;
    bool is_pair = credential.shape && credential.shape->is_pair();
    if (!credential.signs()) {
        if (is_pair) reader.add_problem("shape", "two parts are for put = \"sigv4\" alone", "write one part");
        if (!credential.scope.empty())
            reader.add_problem("scope", "it is for put = \"sigv4\" alone", "use paths and methods");
        return;
    }
    if (!is_pair)
        reader.add_problem("shape", "a key of AWS has two parts, its ID and its secret",
                           "write shape = \"AKIA{16:A-Z0-9} {40}\"");
    if (credential.variables.size() != kVariables)
        reader.add_problem("variable", "a key of AWS needs two variables, for its ID and its secret",
                           "write variable = \"AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY\"");
    if (!credential.files.empty())
        reader.add_problem("files", "a key of AWS is given in variables alone", "remove files and fields");
}

// What only makes sense, or is only safe, together.
void check_together(KeyReader& reader, const Credential& credential) {
    using network::exchange::Put;
    if (credential.hosts.empty())
        reader.add_problem("hosts", "no host gets the value", "add hosts = [\"api.example.org\"]");
    if (credential.puts.empty())
        reader.add_problem("put", "no field gets the value", "add put = \"bearer\" or another place");
    bool can_add = std::ranges::any_of(credential.puts, [](const Put& put) {
        return network::exchange::addition_of(put, true).has_value();
    });
    if (credential.adds_always && !can_add)
        reader.add_problem("when", "a value in a query, in a path or for any user can't be added",
                           "write when = \"swap\"");
    bool has_place = !credential.variables.empty() || !credential.files.empty();
    if (!has_place && !credential.adds_always)
        reader.add_problem("variable", "a program in the jail can't get the placeholder",
                           "add variable or files, or write when = \"always\"");
    if (has_place && !credential.shape)
        reader.add_problem("shape", "the placeholder has no form",
                           "add shape = \"{40}\" or the token's own form");
    const bool has_new_values = !credential.issues.empty() || !credential.stores.empty();
    if (has_new_values && !credential.is_login())
        reader.add_problem("issues", "new values have no file", "add from_file with the path of files");
    if (credential.files.empty() != credential.fields.empty())
        reader.add_problem("fields", "files and fields need each other",
                           "name the fields that hold the value");
    check_signing(reader, credential);
    for (const network::exchange::BoundPath& bound : credential.paths) {
        bool is_known = !bound.host || std::ranges::any_of(credential.hosts, [&](const auto& host) {
            return host.matches(bound.host->name, bound.host->port.value_or(host.port.value_or(443)));
        });
        if (!is_known)
            reader.add_problem("paths", base::format("{} is not one of hosts", bound.host->text()),
                               "add it to hosts, or remove the path");
    }
}

}  // namespace

std::string Source::describe() const {
    switch (kind) {
        case Kind::none:
            return "the program's own store, or the variable of the launching shell";
        case Kind::command: {
            std::vector<std::string> quoted;
            for (const std::string& word : words) quoted.push_back(base::shell_word(word));
            return "the command " + base::printable(base::join(quoted, " "));
        }
        case Kind::file:
            return "the file " + base::printable(text);
        case Kind::variable:
            return "the variable " + text;
        case Kind::keyring:
            return "the keyring, " + base::printable(base::join(words, " "));
    }
    return "";
}

bool Credential::is_login() const {
    return source.kind == Source::Kind::file && files.size() == 1 && fields.size() == 1 &&
           files.front() == source.text;
}

network::exchange::Binding Credential::binding(std::string placeholder) const {
    return {.name = name,
            .hosts = hosts,
            .puts = puts,
            .adds_always = adds_always,
            .paths = paths,
            .methods = methods,
            .placeholder = std::move(placeholder),
            .scope = scope,
            .has_claims = shape && shape->is_jwt() && is_login(),
            .issues = issues,
            .group = is_login() ? files.front() : std::string()};
}

bool Credential::signs() const {
    return !puts.empty() && puts.front().kind == network::exchange::Put::Kind::sigv4;
}

Result<Values> parse_credential_file(config::Layer layer, std::string file, std::string_view text) {
    config::ParsedFile parsed =
        config::parse_table(config::credential_settings(), layer, std::move(file), text);
    if (!parsed.problems.empty()) return parsed.problems.front();
    return std::move(parsed.content.values);
}

Result<Credential> make_credential(const std::string& name, const Values& preset, const Values& own) {
    if (!config::is_credential_name(name))
        return Error{.what = base::format("'{}' is not the name of a credential", base::printable(name)),
                     .advice = "use lower-case letters, digits, '-' and '_'"};
    KeyReader reader(name, preset, own);
    Credential credential{.name = name};
    for (const Values* values : {&own, &preset}) {
        if (!values->empty() && credential.origin.describe() == config::Origin().describe())
            credential.origin = values->begin()->second.origin;
    }
    credential.title = reader.text("title").empty() ? name : reader.text("title");
    reader.read_list("hosts", credential.hosts, network::requests::parse_host_pattern);
    reader.read_list("paths", credential.paths, network::exchange::parse_bound_path);
    reader.read_list("methods", credential.methods, parse_method);
    reader.read_list("scope", credential.scope, network::exchange::parse_signature_scope);
    if (const Value* put = reader.find("put")) {
        Result<std::vector<network::exchange::Put>> puts = network::exchange::parse_puts(put->text);
        if (!puts) reader.add_problem("put", puts.error(), put->origin);
        if (puts) credential.puts = *std::move(puts);
    }
    if (const Value* shape = reader.find("shape")) {
        Result<Shape> parsed = Shape::parse(shape->text);
        if (!parsed) reader.add_problem("shape", parsed.error(), shape->origin);
        if (parsed) credential.shape = *std::move(parsed);
    }
    credential.locks_directory = reader.text("lock") == "directory";
    credential.adds_always = reader.text("when") == "always";
    credential.git_rewrite = reader.text("git_rewrite") == "true";
    reader.read_list("files", credential.files, parse_home_file);
    reader.read_list("fields", credential.fields, parse_file_field);
    reader.read_list("shown", credential.shown, parse_file_field);
    reader.read_list("issues", credential.issues, network::exchange::parse_issuer);
    reader.read_list("stores", credential.stores, parse_stored_field);
    credential.lifetime = base::parse_number<int64_t>(reader.text("lifetime")).value_or(0);
    read_variables(reader, credential);
    read_source(reader, preset, own, credential.source);
    read_base_url(reader, credential);
    check_together(reader, credential);
    if (!reader.problem()) read_probe(reader, credential);
    if (reader.problem()) return *reader.problem();
    return credential;
}

std::vector<DefinedSource> sources_in(const std::string& name, const Values& table) {
    std::vector<DefinedSource> defined;
    for (size_t i = 0; i < std::size(kSources); ++i) {
        auto value = table.find(kSources[i]);
        if (value == table.end()) continue;
        Source source{.kind = static_cast<Source::Kind>(i + 1), .words = {}, .text = value->second.text};
        for (const config::Item& item : value->second.items) source.words.push_back(item.text);
        defined.push_back({name, std::move(source), {}, value->second.origin});
    }
    auto files = table.find("files");
    if (files == table.end()) return defined;
    defined.push_back({name, {}, {}, files->second.origin});
    for (const config::Item& item : files->second.items) {
        if (Result<std::string> file = parse_home_file(item.text)) defined.back().files.push_back(*file);
    }
    return defined;
}

bool has_preset(std::string_view name) {
    return config::find_data_file(base::format("{}{}{}", kFolder, name, kEnding)) != nullptr;
}

std::vector<std::string> preset_names() {
    std::vector<std::string> names;
    for (const config::DataFile& file : config::data_files()) {
        if (!file.name.starts_with(kFolder) || !file.name.ends_with(kEnding)) continue;
        names.emplace_back(
            file.name.substr(kFolder.size(), file.name.size() - kFolder.size() - kEnding.size()));
    }
    return names;
}

Result<Values> preset_values(std::string_view name) {
    const config::DataFile* file = config::find_data_file(base::format("{}{}{}", kFolder, name, kEnding));
    if (file != nullptr)
        return parse_credential_file(config::Layer::builtin, base::format("preset {}", name), file->content);
    std::vector<std::string> names = preset_names();
    std::vector<std::string_view> known(names.begin(), names.end());
    std::string meant = base::nearest(name, known);
    return Error{.what = base::format("there is no preset of a credential '{}'", base::printable(name)),
                 .advice = meant.empty() ? "write hosts, put, variable and shape in [credential.NAME]"
                                         : base::format("'{}' was probably meant", meant)};
}

}  // namespace credentials
