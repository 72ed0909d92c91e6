-- SPDX-License-Identifier: MIT
LmodError("\27[31mnot on \27]2;title\7 this machine")
