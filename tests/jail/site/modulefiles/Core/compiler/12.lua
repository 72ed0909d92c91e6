-- SPDX-License-Identifier: MIT
-- A hierarchy: what was built with the compiler is seen only when it is loaded.
help("a compiler")
family("compiler")
local site = myFileName():match("^(.*)/modulefiles/")
prepend_path("MODULEPATH", pathJoin(site, "modulefiles/behind-compiler"))
setenv("COMPILER_ROOT", pathJoin(site, "software"))
