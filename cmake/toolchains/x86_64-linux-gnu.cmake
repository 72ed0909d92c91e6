# With Debian's g++-x86-64-linux-gnu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_CXX_COMPILER x86_64-linux-gnu-g++)
# The second one has OpenSSL and nghttp2; scripts/setup packages makes it.
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-linux-gnu ${CMAKE_CURRENT_LIST_DIR}/../../build/cross/sysroot-x86_64)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
