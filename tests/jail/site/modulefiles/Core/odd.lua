-- SPDX-License-Identifier: MIT
setenv("ODD", 'a "quoted" $HOME `id` \\ back\nline')
