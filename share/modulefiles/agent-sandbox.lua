-- SPDX-License-Identifier: MIT
-- A module file for Lmod, one for every version in a tree like
--     /opt/agent-sandbox/0.1.0/bin/agent-sandbox
--     /opt/agent-sandbox/0.2.0/bin/agent-sandbox
-- Copy it, or link it, as agent-sandbox/0.1.0.lua and agent-sandbox/0.2.0.lua into a directory of MODULEPATH: the version is the
-- name of the file. Where the tree is another one, change the next line.
local tree = "/opt/agent-sandbox"

local version = myModuleVersion()
local root = pathJoin(tree, version)
local program = pathJoin(root, "bin", "agent-sandbox")

help([[
agent-sandbox runs a command, such as an AI coding agent, in a jail: it sees the project and the system, no credential and no other
project, and reaches the network through rules.

    agent-sandbox claude          an agent in the current directory
    agent-sandbox doctor          what this machine can enforce
    agent-sandbox help            all of it
]])

whatis("Name: agent-sandbox")
whatis("Version: " .. version)
whatis("Category: tools, security")
whatis("Description: a jail for AI coding agents and other commands, for every user, without privileges")

-- Two versions in one PATH would answer for each other.
conflict("agent-sandbox")

if mode() == "load" and not isFile(program) then
    LmodError("agent-sandbox " .. version .. " is not installed: there is no " .. program)
end

prepend_path("PATH", pathJoin(root, "bin"))

-- man-db finds the manual beside a directory of PATH. Where MANPATH is set it looks nowhere else; where it is not, setting it would hide
-- every other manual.
if os.getenv("MANPATH") then
    prepend_path("MANPATH", pathJoin(root, "share", "man"))
end

-- bash-completion and fish look for completions here; without a value the variable means the two places that it gets then.
-- zsh keeps its FPATH to itself: source <(agent-sandbox completion zsh) in .zshrc.
if not os.getenv("XDG_DATA_DIRS") then
    append_path("XDG_DATA_DIRS", "/usr/local/share")
    append_path("XDG_DATA_DIRS", "/usr/share")
end
prepend_path("XDG_DATA_DIRS", pathJoin(root, "share"))
