// SPDX-License-Identifier: MIT
// A plug-in of a site: it adds three options to srun, sbatch and salloc, and writes each use of them as one line to the file that
// plugstack.conf names: where it runs, the option, its value.
#include <slurm/spank.h>
#include <stdio.h>

SPANK_PLUGIN(site, 1)

static const char *journal;

static int note(const char *name, const char *value, int is_remote) {
    FILE *file = fopen(journal, "a");
    if (file == NULL) return -1;
    fprintf(file, "%s %s %s\n", is_remote ? "node" : "client", name, value == NULL ? "-" : value);
    return fclose(file);
}

static int on_flag(int number, const char *value, int is_remote) {
    (void)number;
    return note("site-flag", value, is_remote);
}

static int on_color(int number, const char *value, int is_remote) {
    (void)number;
    return note("site-color", value, is_remote);
}

static int on_mode(int number, const char *value, int is_remote) {
    (void)number;
    return note("site-mode", value, is_remote);
}

static struct spank_option options[] = {
    {"site-flag", NULL, "an option without a value", 0, 0, on_flag},
    {"site-color", "color", "an option with a value", 1, 0, on_color},
    {"site-mode", "mode", "an option whose value may be missing", 2, 0, on_mode},
};

int slurm_spank_init(spank_t spank, int count, char **words) {
    if (count < 1) return -1;
    journal = words[0];
    for (unsigned i = 0; i < sizeof options / sizeof *options; ++i) {
        if (spank_option_register(spank, &options[i]) != ESPANK_SUCCESS) return -1;
    }
    return 0;
}
