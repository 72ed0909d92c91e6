-- SPDX-License-Identifier: MIT
local site = myFileName():match("^(.*)/modulefiles/")
prepend_path("PATH", pathJoin(site, "software/solver/bin"))
setenv("SOLVER_ROOT", pathJoin(site, "software/solver"))
