// SPDX-License-Identifier: MIT
// The jail of a Slurm job or step. Outside a jail, Slurm's step manager prepares the command; here a process
// inside the jail does it, and reads these files.
#include "base/inside/paths_inside.h"
#include "plan/draft.h"

namespace plan {

void add_rank_directories(Draft& draft) {
    if (!draft.inputs.request.job) return;
    for (const base::Path& path : draft.inputs.request.job->rank_directories) {
        base::Result<host::Tree::Resolved> place = draft.tree().resolve(path);
        if (place && place->exists)
            draft.add_rule(place->path, Access::writable, {"where the ranks of the step meet", {}});
    }
}

void add_job(Draft& draft) {
    const std::optional<JobRequest>& job = draft.inputs.request.job;
    if (!job) return;
    draft.plan.project_inode = job->project_inode;
    draft.plan.kept_descriptors = job->descriptors;
    draft.plan.skipped_processes = job->rank_on_node;
    draft.assembled.push_back(Mount{.kind = MountKind::file,
                                    .target = draft.own / base::kJob,
                                    .source = job->spec,
                                    .reason = {"what the job is to do", {}}});
    if (job->is_batch) {
        draft.assembled.push_back(Mount{.kind = MountKind::file,
                                        .target = draft.own / base::kJobScript,
                                        .source = job->script,
                                        .is_executable = true,
                                        .reason = {"the job's script", {}}});
    }
    // Ranks of one job on one node exchange files and memory; other jobs can't see them.
    if (!job->temporary.is_root() && draft.policy().isolation.private_tmp) {
        draft.caches.push_back(Mount{.kind = MountKind::bind_writable,
                                     .target = base::Path::known("/tmp"),
                                     .source = job->temporary.str(),
                                     .reason = {"temporary files of the job on this node", {}}});
    }
}

}  // namespace plan
