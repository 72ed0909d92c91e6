// SPDX-License-Identifier: MIT
// `config check`: reports every mistake in one file, or in all files that apply here, and then checks whether
// the files agree with each other.
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/config_parts.h"
#include "cli/output.h"
#include "cli/report/ceiling_report.h"
#include "cli/report/network_entries.h"
#include "cli/scratch_project.h"
#include "config/files/checked_files.h"
#include "config/files/sources.h"
#include "config/layer.h"
#include "credentials/advice.h"
#include "plan/print/explain.h"

namespace cli {
namespace {

// The content of the file, and the number of problems; all of them are already printed.
struct Checked {
    config::LayerFile content;
    size_t problems = 0;
};

Checked check_file(const Output& output, config::Layer layer, const std::string& path) {
    base::Result<std::string> text = base::read_file(path);
    if (!text) {
        output.error(text.error());
        return {.problems = 1};
    }
    config::ParsedFile parsed = config::parse_layer(layer, path, *text);
    std::vector<base::Error> problems = network_problems(parsed.content.values);
    problems.insert(problems.begin(), parsed.problems.begin(), parsed.problems.end());
    for (const base::Error& problem : problems) output.error(problem);
    return {std::move(parsed.content), problems.size()};
}

// The name identifies a project's file, the directory an administrator's. Any other file is checked as a
// user's.
config::Layer layer_of(const base::Path& path, const Workspace& workspace) {
    if (path.name() == config::kProjectFileName) return config::Layer::project;
    base::Result<base::Path> admin = base::Path::parse(workspace.files.admin_directory);
    return admin && path.is_within(*admin) ? config::Layer::admin : config::Layer::user;
}

// A run may also fail because of the current directory; that is not a mistake of the file.
bool names_file(const base::Error& error, const std::string& path) {
    return error.where.starts_with(path) || error.what.find(path) != std::string::npos;
}

// Every table [credential.NAME], also one that no entry uses.
base::Status check_tables(const policy::Layers& layers) {
    for (const std::string& name : credentials::defined_names(layers)) {
        base::Result<credentials::Credential> made = credentials::resolve_one(layers, name, config::Origin());
        if (!made) return made.error();
    }
    return base::success();
}

// Whether a run starts with the file as the only one of its layer, under the ceiling of this machine.
base::Status check_start_with(const Invocation& call, const Workspace& workspace, config::LayerFile file) {
    policy::Layers layers;
    if (file.layer == config::Layer::admin) {
        layers.admin.push_back(std::move(file));
    } else {
        base::Result<std::vector<config::LayerFile>> ceiling = config::read_admin_files(workspace.files);
        if (!ceiling) return ceiling.error();
        layers.admin = *std::move(ceiling);
        layers.user.push_back(std::move(file));
    }
    if (base::Status tables = check_tables(layers); !tables) return tables;
    return check_start(call.caller, workspace, std::move(layers));
}

// What has no effect, or another one than expected.
base::Status check_credentials(const Invocation& call, const Settings& settings) {
    if (base::Status tables = check_tables(settings.layers); !tables) return tables;
    base::Result<std::vector<std::string>> lifted = credentials::weakened_rules(settings.policy);
    if (!lifted) return lifted.error();
    for (const std::string& line : *lifted) tell_warning(call.output, line);
    // A credential opens no host.
    if (settings.credentials.credentials.empty() ||
        settings.policy.network.mode != policy::NetworkMode::proxied)
        return base::success();
    base::Result<Planned> planned = plan_with(call.caller, settings, "check", {"true"});
    if (!planned) return base::success();
    for (const credentials::Credential& credential : settings.credentials.credentials) {
        for (const network::requests::HostPattern& host : credential.hosts) {
            if (host.is_wildcard) continue;
            base::Result<plan::Explanation> explained = plan::explain_host(planned->plan, host.text());
            if (!explained || explained->is_allowed) continue;
            tell_warning(call.output,
                         base::format("{}: the credential {} is for {}, which no network rule opens; add {}",
                                      credential.use_origin.describe(), credential.name, host.text(),
                                      explained->change));
        }
    }
    return base::success();
}

int check_one(const Invocation& call, const Workspace& workspace, const std::string& word) {
    base::Result<base::Path> path = path_from(word, workspace.identity.home, call.caller.working_directory);
    if (!path) return call.output.fail(path.error());
    Checked checked = check_file(call.output, layer_of(*path, workspace), path->str());
    if (checked.problems > 0) return kFailed;
    // A project's file only narrows the policy, and its paths are valid only in its own project.
    if (checked.content.layer != config::Layer::project) {
        base::Status started = check_start_with(call, workspace, std::move(checked.content));
        if (!started) {
            call.output.error(started.error());
            return kFailed;
        }
    }
    return call.output.result(path->str() + ": no mistakes\n");
}

int check_all(const Invocation& call, const Workspace& workspace) {
    for (const std::string& warning : unread_files(workspace)) tell_warning(call.output, warning);
    size_t problems = 0;
    size_t files = 0;
    for (const ListedFile& file : configuration_files(workspace)) {
        if (!file.exists) continue;
        ++files;
        problems += check_file(call.output, file.layer, file.path).problems;
    }
    if (problems > 0) return kFailed;

    base::Result<Settings> settings = load_settings(call.caller, call.arguments);
    if (!settings) {
        call.output.error(settings.error());
        return kFailed;
    }
    for (const std::string& warning : settings->effective.warnings) tell_warning(call.output, warning);
    if (base::Status credentials = check_credentials(call, *settings); !credentials) {
        call.output.error(credentials.error());
        return kFailed;
    }
    base::Status started = check_start(call.caller, workspace, settings->layers);
    bool is_mistake =
        !started && std::ranges::any_of(configuration_files(workspace), [&](const ListedFile& file) {
            return names_file(started.error(), file.path);
        });
    if (is_mistake) {
        call.output.error(started.error());
        return kFailed;
    }
    return call.output.result(base::format("{}{}, no mistakes\n", files, files == 1 ? " file" : " files"));
}

}  // namespace

int config_check(const Invocation& call) {
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return call.output.fail(workspace.error());
    if (call.arguments.has_own("--admin")) return config_check_admin(call, *workspace);
    const std::vector<std::string>& words = call.arguments.words;
    return words.size() > 1 ? check_one(call, *workspace, words[1]) : check_all(call, *workspace);
}

// `config check --admin`: checks a file as an administrator's ceiling, before or after it is installed. A
// rule that would stop every start is a mistake; a rule without effect is a warning.

namespace {

struct Finding {
    std::string path;
    std::string problem;
    std::string advice;
};

// Reasons for which the program would refuse the file as an administrator's file. Every user must be able to
// read it, and only root may write or replace it.
// `is_listed`: `start` is a directory that the program lists.
std::vector<Finding> ownership_findings(const base::Path& start, bool is_listed) {
    std::vector<Finding> findings;
    bool is_file = !is_listed;
    for (base::Path path = start;; path = path.parent(), is_file = false, is_listed = false) {
        struct stat status;
        std::string name = path.str(), word = base::shell_word(name);
        if (::stat(name.c_str(), &status) != 0) break;
        if (status.st_uid != 0)
            findings.push_back({name, base::format("is owned by uid {}", status.st_uid),
                                base::format("run 'chown root {}'", word)});
        bool is_sticky = !is_file && (status.st_mode & S_ISVTX) != 0;
        if ((status.st_mode & 022) != 0 && !is_sticky)
            findings.push_back({name, "can be written by others", base::format("run 'chmod go-w {}'", word)});
        if ((is_file || is_listed) && (status.st_mode & 0444) != 0444)
            findings.push_back(
                {name, "can't be read by everybody", base::format("run 'chmod a+r {}'", word)});
        if (!is_file && (status.st_mode & 0111) != 0111)
            findings.push_back(
                {name, "can't be entered by everybody", base::format("run 'chmod a+x {}'", word)});
        if (path.is_root()) break;
    }
    return findings;
}

class AdminCheck {
  public:
    AdminCheck(const Invocation& call, const Workspace& workspace) : call_(call), workspace_(workspace) {}

    int check(const std::vector<base::Path>& files, bool is_installed) {
        policy::Layers layers;
        if (is_installed) check_directories();
        for (const base::Path& file : files) check_file(file, layers);
        // A start may fail for other reasons than those checked above.
        if (is_installed && problems_ == 0) {
            base::Result<std::vector<config::LayerFile>> read = config::read_admin_files(workspace_.files);
            if (!read) add_problem(read.error());
        }
        if (problems_ > 0) return kFailed;
        if (files.empty())
            return call_.output.result(base::format("no administrator's file in {}: no ceiling applies\n",
                                                    workspace_.files.admin_directory));

        policy::PathMeaning paths = path_meaning(call_.caller.disk, workspace_.identity.home);
        base::Result<policy::Effective> effective = policy::merge(layers, paths);
        if (!effective) {
            call_.output.error(effective.error());
            return kFailed;
        }
        std::vector<std::string> warnings = ceiling_warnings(*effective, paths, call_.caller.disk);
        for (const std::string& warning : warnings) tell_warning(call_.output, warning);
        if (is_installed && !is_closed(*effective)) {
            base::Result<Planned> planned = make_plan(call_.caller, call_.arguments, "", {});
            if (!planned && (names_any(planned.error(), files) || names_bwrap(planned.error(), *effective))) {
                add_problem(planned.error());
                return kFailed;
            }
        }
        if (!is_installed && !is_closed(*effective)) {
            // Only a warning, because the file may be meant for another machine.
            base::Status started = check_start(call_.caller, workspace_, layers);
            if (!started)
                tell_warning(call_.output,
                             "on this machine no run starts with it: " + started.error().line());
        }
        leave_out_without_effect(*effective, warnings);
        std::string names;
        for (const base::Path& file : files) names += (names.empty() ? "" : ", ") + file.str();
        return call_.output.result(base::format("{}: no mistakes\n{}", base::printable(names),
                                                ceiling_summary(*effective, call_.output.colours_results())));
    }

  private:
    // Without project.parents no plan can be made; the summary reports this.
    static bool is_closed(const policy::Effective& effective) {
        return effective.items("project.parents").empty();
    }

    // A plan may also fail because of the caller's own files or the current directory. Those are not mistakes
    // of the ceiling.
    static bool names_any(const base::Error& error, const std::vector<base::Path>& files) {
        return std::ranges::any_of(files, [&](const base::Path& file) {
            return error.where.starts_with(file.str()) || error.what.find(file.str()) != std::string::npos;
        });
    }

    // The backend's error names the program, not the rule that chose it.
    static bool names_bwrap(const base::Error& error, const policy::Effective& effective) {
        const std::string& pinned = effective.text("isolation.bwrap");
        return !pinned.empty() && error.what.find(pinned) != std::string::npos;
    }

    void check_directories() {
        for (const char* name : {"", "/conf.d"}) {
            base::Result<base::Path> path = base::Path::parse(workspace_.files.admin_directory + name);
            struct stat status;
            if (path && ::stat(path->str().c_str(), &status) == 0 && S_ISDIR(status.st_mode))
                check_ownership(*path, true);
        }
    }

    void add_problem(const base::Error& error) {
        call_.output.error(error);
        ++problems_;
    }

    void check_file(const base::Path& file, policy::Layers& layers) {
        check_ownership(file, false);
        base::Result<std::string> text = base::read_file(file.str(), config::kLargestConfiguration);
        if (!text) return add_problem(text.error());
        if (text->empty())
            return add_problem(
                {.what = "an empty file stops every start: it looks like one that is being written",
                 .advice = "write a rule, or remove the file",
                 .where = file.str()});
        config::ParsedFile parsed = config::parse_layer(config::Layer::admin, file.str(), *text);
        for (const base::Error& problem : parsed.problems) add_problem(problem);
        for (const base::Error& problem : network_problems(parsed.content.values)) add_problem(problem);
        layers.admin.push_back(std::move(parsed.content));
    }

    void check_ownership(const base::Path& file, bool is_listed) {
        base::Result<base::Path> admin = base::Path::parse(workspace_.files.admin_directory);
        bool is_in_place = admin && file.is_within(*admin);
        std::vector<Finding> findings = ownership_findings(file, is_listed);
        for (const Finding& finding : findings) {
            if (is_in_place) {
                if (!said_.insert(finding.path + finding.problem).second) continue;
                add_problem({.what = finding.path + " " + finding.problem, .advice = finding.advice});
            } else if (finding.path == file.str()) {
                tell_warning(call_.output,
                             base::format("{} {}, which stops every start once it is in place; 'install -m "
                                          "0644' as root puts it there as it must be",
                                          finding.path, finding.problem));
            }
        }
    }

    const Invocation& call_;
    const Workspace& workspace_;
    size_t problems_ = 0;
    std::set<std::string> said_;  // every file has the same directories above it
};

}  // namespace

int config_check_admin(const Invocation& call, const Workspace& workspace) {
    std::vector<base::Path> files;
    for (const std::string& warning : unread_files(workspace, config::Layer::admin))
        tell_warning(call.output, warning);
    if (call.arguments.words.size() > 1) {
        base::Result<base::Path> path =
            path_from(call.arguments.words[1], workspace.identity.home, call.caller.working_directory);
        if (!path) return call.output.fail(path.error());
        files.push_back(*std::move(path));
    } else {
        for (const ListedFile& file : configuration_files(workspace)) {
            base::Result<base::Path> path = base::Path::parse(file.path);
            if (file.layer == config::Layer::admin && file.exists && path) files.push_back(*std::move(path));
        }
    }
    return AdminCheck(call, workspace).check(files, call.arguments.words.size() < 2);
}

}  // namespace cli
