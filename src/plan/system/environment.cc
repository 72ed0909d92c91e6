// SPDX-License-Identifier: MIT
// The environment of the command, made before anything is executed. A variable is removed by its name, by a
// pattern, by the look of its value, or because no list allows it. Every removal records its reason.
#include <algorithm>
#include <span>

#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "config/secrets.h"
#include "plan/draft.h"
#include "plan/network/network.h"
#include "policy/entry_match.h"
#include "slurm/options/option.h"

namespace plan {
namespace {

using config::Item;

constexpr std::string_view kFunctionPrefix = "BASH_FUNC_";
constexpr std::string_view kOwnPrefix = "AGENT_SANDBOX";

// A list of names and patterns, searched once for every variable. Exact names are compared by length first,
// which excludes nearly all of them; a hash table would cost more to build than it saves.
class NameList {
  public:
    explicit NameList(std::string_view list) : rows_(config::data_list(list)) {
        for (const config::DataRow& row : rows_) {
            if (base::has_wildcard(row.entry)) patterns_.push_back(&row);
        }
    }

    const config::DataRow* find(std::string_view name) const {
        for (const config::DataRow& row : rows_) {
            if (row.entry.size() == name.size() && row.entry == name) return &row;
        }
        for (const config::DataRow* row : patterns_) {
            if (base::matches_name(row->entry, name)) return row;
        }
        return nullptr;
    }

  private:
    std::span<const config::DataRow> rows_;
    std::vector<const config::DataRow*> patterns_;
};

const Item* find_item(const policy::Items& items, std::string_view name) {
    auto found = std::ranges::find(items, name, &Item::text);
    return found == items.end() ? nullptr : &*found;
}

class VariableFilter {
  public:
    explicit VariableFilter(Draft& draft)
        : draft_(draft),
          env_(draft.policy().env),
          passes_("environment/pass"),
          injection_("environment/injection"),
          functions_("environment/functions"),
          has_gateway_(draft.plan.network.reached != policy::NetworkMode::open) {}

    void consider(std::string_view name, std::string_view value) {
        if (name.starts_with(kOwnPrefix)) return;
        if (name.starts_with(kFunctionPrefix)) return consider_function(name, value);
        if (!base::is_variable_name(name)) return remove(name, "not a valid name", {});
        if (std::string_view obstacle = variable_obstacle(name, has_gateway_); !obstacle.empty())
            return remove_for_good(name, obstacle);
        const Item* allowed = find_item(env_.allow, name);
        if (const config::DataRow* row = injection_.find(name); row != nullptr && allowed == nullptr) {
            return remove(name, std::string(row->reason), {});
        }
        if (allowed != nullptr) return pass(name, value, "env.allow", allowed->origin);
        if (const Item* blocked = find_item(env_.block, name)) {
            return remove(name, reason_for("environment/block", "env.block", *blocked), blocked->origin);
        }
        for (const Item& pattern : env_.block_patterns) {
            if (policy::matches_variable_pattern(pattern.text, name)) {
                return remove(
                    name,
                    base::format("matches {}: {}", base::printable(pattern.text),
                                 reason_for("environment/block_patterns", "env.block_patterns", pattern)),
                    pattern.origin);
            }
        }
        if (std::string_view secret = config::secret_in(value); !secret.empty()) {
            return remove(name, "its value looks like " + std::string(secret), {});
        }
        if (env_.mode == policy::EnvMode::inherit)
            return pass(name, value, "env.mode = inherit", env_.mode_origin);
        if (const config::DataRow* row = passes_.find(name))
            return pass(name, value, std::string(row->reason), {});
        const std::vector<std::string>& from_modules = draft_.inputs.request.modules.set;
        if (std::ranges::binary_search(from_modules, name))
            return pass(name, value, "set by a module (modules.load)", {});
        remove(name, "on no list of variables that pass", env_.mode_origin);
    }

  private:
    // An exported function is code that every bash in the jail would run. Lmod needs its own for `module`.
    void consider_function(std::string_view name, std::string_view value) {
        if (const config::DataRow* row = functions_.find(name))
            return pass(name, value, std::string(row->reason), {});
        remove(name, "an exported shell function", {});
    }

    void pass(std::string_view name, std::string_view value, std::string why, config::Origin origin) {
        draft_.plan.environment.passed.push_back(
            Variable{std::string(name), std::string(value), {std::move(why), std::move(origin)}});
    }

    void remove(std::string_view name, std::string why, config::Origin origin) {
        draft_.plan.environment.removed.push_back(
            RemovedVariable{std::string(name), {std::move(why), std::move(origin)}});
    }

    void remove_for_good(std::string_view name, std::string_view why) {
        remove(name, std::string(why), draft_.plan.network.reason.origin);
        draft_.plan.environment.removed.back().can_be_allowed = false;
    }

    Draft& draft_;
    const decltype(policy::Policy::env)& env_;
    NameList passes_, injection_, functions_;
    bool has_gateway_;
};

void set(Environment& environment, std::string_view name, std::string value, Reason reason) {
    std::erase_if(environment.passed, [&](const Variable& known) { return known.name == name; });
    std::erase_if(environment.removed, [&](const RemovedVariable& known) { return known.name == name; });
    environment.passed.push_back(Variable{std::string(name), std::move(value), std::move(reason)});
}

const Variable* find_variable(const Environment& environment, std::string_view name) {
    auto found = std::ranges::find(environment.passed, name, &Variable::name);
    return found == environment.passed.end() ? nullptr : &*found;
}

// Many programs fail if TMPDIR names a directory that the jail does not have.
void reset_temporary(Draft& draft) {
    Environment& environment = draft.plan.environment;
    for (std::string_view name : {"TMPDIR", "TMP", "TEMP"}) {
        const Variable* variable = find_variable(environment, name);
        if (variable == nullptr) continue;
        base::Result<base::Path> literal = base::Path::parse(variable->value);
        base::Result<host::Tree::Resolved> place =
            literal ? draft.tree().resolve(*literal) : base::Result<host::Tree::Resolved>(base::Error{});
        const PathRule* rule = place ? draft.rules.decide(place->path) : nullptr;
        bool is_there = rule != nullptr && rule->access == Access::writable &&
                        (rule->backing == Backing::host || rule->path == place->path);
        if (!is_there)
            set(environment, name, "/tmp", {"the host's place for temporary files is not in the jail", {}});
    }
}

// Without a mount namespace, /tmp is shared with all users.
void use_own_temporary(Draft& draft) {
    for (std::string_view name : {"TMPDIR", "TMP", "TEMP"}) {
        bool is_wanted = name == "TMPDIR" || find_variable(draft.plan.environment, name) != nullptr;
        if (is_wanted && draft.policy().isolation.private_tmp)
            set(draft.plan.environment, name, (draft.own / base::kTemporary).str(),
                {"a directory of the session's, as /tmp is closed", {}});
    }
}

void drop_absent_runtime_directory(Environment& environment) {
    auto found = std::ranges::find(environment.passed, "XDG_RUNTIME_DIR", &Variable::name);
    if (found == environment.passed.end()) return;
    environment.passed.erase(found);
    environment.removed.push_back(
        {"XDG_RUNTIME_DIR", {"the host's run-time directory is not in the jail", {}}});
}

void add_git_setting(Environment& environment, const GitOption& setting) {
    const Variable* count = find_variable(environment, "GIT_CONFIG_COUNT");
    const std::optional<unsigned> number =
        count != nullptr ? base::parse_number<unsigned>(count->value) : std::optional(0U);
    if (!number) return;
    set(environment, "GIT_CONFIG_COUNT", std::to_string(*number + 1), setting.reason);
    set(environment, "GIT_CONFIG_KEY_" + std::to_string(*number), setting.key, setting.reason);
    set(environment, "GIT_CONFIG_VALUE_" + std::to_string(*number), setting.value, setting.reason);
}

// git records in the repository's configuration which remote branch a new branch tracks. Where that file is
// read-only, git fails half-way and still reports success.
void keep_git_from_tracking(Environment& environment) {
    add_git_setting(
        environment,
        {"branch.autoSetupMerge",
         "false",
         {"the repository's configuration is protected: git can't write down what a branch tracks", {}}});
}

void add_git_settings(const Draft& draft, Environment& environment) {
    for (const GitOption& setting : draft.git_settings) add_git_setting(environment, setting);
}

// git init copies its sample hooks into the protected directory, and fails. An empty name means no templates.
void keep_git_from_copying_hooks(Environment& environment) {
    set(environment, "GIT_TEMPLATE_DIR", "", {"git init makes a repository without hooks here", {}});
}

void put_stubs_first(Environment& environment, const base::Path& stubs) {
    const Variable* path = find_variable(environment, "PATH");
    if (path == nullptr) return;
    Reason reason = path->reason;
    reason.why += "; the sandbox's own names come first";
    set(environment, "PATH", base::format("{}:{}", stubs.str(), path->value), std::move(reason));
}

}  // namespace

std::string_view variable_obstacle(std::string_view name, bool has_gateway) {
    if (name.starts_with(kOwnPrefix)) return "the program sets its own variables itself";
    // The name of the proxy does not resolve inside, and its URL may contain a password.
    if (has_gateway && is_proxy_variable(name)) return "the gateway uses the site's proxy itself";
    return {};
}

std::string added_variable_obstacle(const policy::Policy& policy, std::string_view name,
                                    std::string_view value, bool has_gateway) {
    if (std::string_view obstacle = variable_obstacle(name, has_gateway); !obstacle.empty())
        return std::string(obstacle);
    if (find_item(policy.env.allow, name) != nullptr) return {};
    if (const config::DataRow* row = NameList("environment/injection").find(name))
        return std::string(row->reason);
    if (const Item* blocked = find_item(policy.env.block, name))
        return reason_for("environment/block", "env.block", *blocked);
    for (const Item& pattern : policy.env.block_patterns) {
        if (policy::matches_variable_pattern(pattern.text, name))
            return base::format("it matches {} of env.block_patterns", base::printable(pattern.text));
    }
    if (std::string_view secret = config::secret_in(value); !secret.empty())
        return "its value looks like " + std::string(secret);
    return {};
}

void add_environment(Draft& draft) {
    Environment& environment = draft.plan.environment;
    VariableFilter filter(draft);
    for (const std::string& assignment : draft.inputs.request.environment) {
        size_t equals = assignment.find('=');
        if (equals == std::string::npos) continue;
        std::string_view text = assignment;
        filter.consider(text.substr(0, equals), text.substr(equals + 1));
    }
    if (draft.backend().has_view) {
        reset_temporary(draft);
    } else {
        use_own_temporary(draft);
    }
    drop_absent_runtime_directory(environment);

    const host::Identity& caller = draft.inputs.facts.identity;
    const Reason ours{"tells programs that they run in the jail", {}};
    set(environment, "HOME", caller.home.str(), {"the caller's home directory", {}});
    set(environment, "USER", caller.user, {"the caller", {}});
    set(environment, "LOGNAME", caller.user, {"the caller", {}});
    set(environment, "PWD", draft.plan.working_directory.str(), {"where the command starts", {}});
    if (find_variable(environment, "PATH") == nullptr) {
        set(environment, "PATH", "/usr/local/bin:/usr/bin:/bin", {"the caller has none", {}});
    }
    for (const Variable& variable : draft.adjusted) {
        bool is_passed = find_variable(environment, variable.name) != nullptr;
        if (is_passed) set(environment, variable.name, variable.value, variable.reason);
    }
    for (const Variable& variable : draft.added)
        set(environment, variable.name, variable.value, variable.reason);
    for (const Item& item : draft.policy().env.set) {
        size_t equals = item.text.find('=');
        set(environment, item.text.substr(0, equals), item.text.substr(equals + 1), {"env.set", item.origin});
    }
    put_stubs_first(environment, draft.own / base::kStubs);
    add_git_settings(draft, environment);
    if (draft.git_has_no_templates) keep_git_from_copying_hooks(environment);
    if (draft.git_config_is_protected && !draft.plan.judges_git_config) keep_git_from_tracking(environment);
    set(environment, "AGENT_SANDBOX", "1", ours);
    set(environment, "AGENT_SANDBOX_SESSION", draft.inputs.request.session, ours);
    set(environment, "AGENT_SANDBOX_PROJECT", draft.project.str(), ours);
    if (!draft.plan.slurm.spank_options.empty())
        set(environment, slurm::kSpankVariable, base::join(draft.plan.slurm.spank_options, " "), ours);
    set(environment, "AGENT_SANDBOX_BACKEND", std::string(draft.backend().name()), ours);
    set(environment, "AGENT_SANDBOX_NETWORK", std::string(policy::to_text(draft.plan.network.reached)), ours);
    std::ranges::sort(environment.passed, {}, &Variable::name);
    std::ranges::sort(environment.removed, {}, &RemovedVariable::name);
}

}  // namespace plan
