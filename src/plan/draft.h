// SPDX-License-Identifier: MIT
// A plan while it is made: the inputs, what was resolved once, and the parts that the steps fill in. The
// steps are free functions, one file for a step or for related ones, called in order by make_plan.cc.
#pragma once

#include <string>
#include <vector>

#include "base/inside/jail_files.h"
#include "base/result.h"
#include "config/data.h"
#include "plan/backend.h"
#include "plan/home/home.h"
#include "plan/make_plan.h"
#include "plan/plan.h"
#include "plan/rules.h"

namespace plan {

// A file of the jail's own in /etc; directories above it keep the host's other entries.
struct EtcFile {
    std::string name;  // "codex/config.toml"
    std::string content;
    Reason reason;
    bool is_link = false;  // the content is the target of a symbolic link
};

// A setting of git for all of its calls.
struct GitOption {
    std::string key, value;
    Reason reason;
};

// A symbolic link that leads to the path of a rule.
struct KeptLink {
    base::Path path;  // path of the link
    Reason reason;
};

struct Draft {
    const Inputs& inputs;
    base::Path home;            // physical
    base::Path project;         // physical
    base::Path own;             // the sandbox's own directory inside the jail
    HomeNames home_names;       // of the physical home
    bool home_is_real = false;  // home.access shows the real directory (read, write)
    bool git_config_is_protected = false;
    bool git_has_no_templates = false;  // git init must not copy hooks
    std::vector<Variable> adjusted;     // variables that would be wrong inside, with the right value
    std::vector<Variable> added;        // of the backend's own
    std::vector<GitOption> git_settings;
    Rules rules;
    std::vector<host::Tree::Link> links;  // symbolic links that were followed and must exist inside too
    std::vector<Mount> assembled;         // mounts of places that are put together entry by entry
    std::vector<Mount> after_rules;       // single files mounted over what the rules show
    std::vector<Mount> caches;            // mounted after the rule at their path, before the rules within it
    std::vector<KeptLink> kept_links;     // the jail must not replace them (pins.h)
    std::vector<base::Path> approved;     // of mounts.approved, with an effect
    std::vector<base::Path> kept_names;   // the jail must not rename a directory above them
    std::vector<EtcFile> etc_files;       // added to /etc
    std::vector<base::Path> kept_readonly;   // read-only even where only Landlock enforces it
    std::vector<base::Path> extra_writable;  // paths that a mount makes writable and that have no rule
    Plan plan;

    const host::Tree& tree() const { return inputs.tree; }
    const policy::Policy& policy() const { return inputs.policy; }
    // Where the sandbox keeps this caller's state. The launch creates files there without following links, so
    // links on the way are resolved here: a home behind a link, ~/.local on another file system. A link that
    // the jail could replace is refused (own_places.cc).
    base::Path state_directory() const {
        base::Result<host::Tree::Resolved> physical = tree().resolve(inputs.request.state_directory);
        return physical ? physical->path : inputs.request.state_directory;
    }
    const BackendTraits& backend() const { return traits_of(plan.backend); }
    base::Path own_program() const { return own / base::kOwnProgram; }

    void add_rule(base::Path path, Access access, Reason reason, Backing backing = Backing::host) {
        rules.add(PathRule{
            .path = std::move(path), .access = access, .backing = backing, .reason = std::move(reason)});
    }
    void note(NoteKind kind, std::string text) { plan.notes.push_back(Note{kind, std::move(text)}); }
};

// Follows links and records them; the error names the setting that asked.
base::Result<host::Tree::Resolved> resolve_entry(Draft& draft, const base::Path& path,
                                                 const config::Origin& origin);

// Threat: a session that can write in the home directory replaces a file that later sessions copy or show by
// a link to a private key (tests/jail/planted_links.bats). True where a link leads to a path that a rule
// hides; a note reports it.
bool leads_to_hidden(Draft& draft, const host::Tree::Resolved& resolved);  // home.cc

// Whether mounts.hidden covers the path; built-in lists do not count.
bool is_hidden_by_setting(const Draft& draft, const base::Path& path);  // home.cc

// ~, ~/x and absolute paths of a path list.
base::Result<base::Path> absolute_entry(const Draft& draft, const config::Item& item);

// The reason that share/ gives for a built-in entry, or the name of the setting for any other.
std::string reason_for(std::string_view list, std::string_view setting, const config::Item& item);

// An error about an entry of a list, with the file and line of the entry.
base::Error entry_error(const config::Item& item, std::string what, std::string advice);

// The row of a list of patterns in share/ that matches this path, or null.
const config::DataRow* matching_row(std::string_view list, const base::Path& path);

// Whether a physical path is below an entry of project.parents.
bool is_below_parents(const Draft& draft, const base::Path& path);

// ---- The steps. The table in make_plan() has their order.
base::Status choose_backend(Draft& draft);  // backend.cc
base::Status check_project(Draft& draft);   // project_check.cc
base::Status choose_layer(Draft& draft);    // layer.cc: copy-on-write
void keep_places_in_layer(Draft& draft);    // layer.cc, when all placeholders are known
void mount_clone(Draft& draft);             // layer.cc, when all mounts are known
void add_system(Draft& draft);              // system.cc: system trees, /tmp, /run, /dev, the program itself
void assemble_etc(Draft& draft);            // etc.cc
base::Status add_home(Draft& draft);        // home.cc: access mode, lists, credentials
void add_agent(Draft& draft);               // agent.cc: an agent's state, its protected parts, its files
void add_caches(Draft& draft);              // home.cc, when the rules are settled
void lay_agent_files(Draft& draft);         // agent_files.cc, when the rules are settled
base::Status add_mounts(Draft& draft);      // pins.cc: mounts.*, sockets
// shown_sockets.cc: part of add_mounts, for each entry of mounts.*
base::Status close_shown_sockets(Draft& draft, const config::Item& item, const base::Path& shown);
base::Status add_devices(Draft& draft);          // devices.cc: devices.*, graphics processors
base::Status add_project(Draft& draft);          // project.cc: the project, git, protected and masked paths
base::Status apply_deny_writable(Draft& draft);  // pins.cc
void hide_named_credentials(Draft& draft);       // credentials.cc, after the rules of the settings
void add_seeded_files(Draft& draft);             // home.cc, when the rules are settled
base::Status protect_start_up(Draft& draft);     // start_up.cc, when every writable path is known
void filter_start_up_files(Draft& draft);        // filtered_files.cc, after protect_start_up
void hide_slurm(Draft& draft);                   // slurm.cc
void open_slurm(Draft& draft);                   // slurm.cc, when the rules are settled
void add_rank_directories(Draft& draft);         // slurm.cc
void add_late_names(Draft& draft);               // plan/project/project.cc, when the rules are settled
base::Status hold_own_places(Draft& draft);      // own_places.cc, the last before the rules are settled
void add_job(Draft& draft);                      // slurm.cc, when the rules are settled
void close_mail(Draft& draft);                   // mail.cc, when the rules are settled
base::Status add_broker(Draft& draft);           // broker.cc, when the rules of the network are set
base::Status open_ssh(Draft& draft);             // ssh.cc, when the rules are settled
void settle_signatures(Draft& draft);            // plan/project/git_signing.cc, after open_ssh
base::Status choose_network(Draft& draft);       // network.cc: the mode
base::Status set_egress(Draft& draft);           // network.cc, when the rules are settled
void raise_walls(Draft& draft);                  // controls.cc, when the mounts are finished
base::Status set_trace(Draft& draft);            // controls.cc, after the walls
void set_limits(Draft& draft);                   // limits.cc
void add_environment(Draft& draft);              // environment.cc
base::Status add_controls(Draft& draft);         // controls.cc
void pin_rules(Draft& draft);                    // pins.cc, when the rules and single files are known
void finish_mounts(Draft& draft);                // make_plan.cc
void plan_private_directory(Draft& draft);       // private_directory.cc, when the mounts are finished
// credential_files.cc: hides files of credentials, and shows copies with placeholders
base::Status part_login_directories(Draft& draft);
base::Status hide_credential_files(Draft& draft);
void lay_credential_files(Draft& draft);

}  // namespace plan
