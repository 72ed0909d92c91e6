#!/bin/sh
# SPDX-License-Identifier: MIT
# A body without a length: the web server sends it in chunks.
printf 'Content-Type: text/plain\r\n\r\n'
for number in 1 2 3; do echo "chunk $number"; done
