-- SPDX-License-Identifier: MIT
io.stdout:write("import subprocess\n")
