# One static library per folder of src/. Its LINKS are the folders that it includes, and the only source of the
# graph of folders: tests/structure/folders compares them with the includes and with docs/architecture.md.

add_library(sandbox_options INTERFACE)
target_include_directories(sandbox_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(sandbox_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers
    -fno-omit-frame-pointer -ffunction-sections -fdata-sections
    # No path of this checkout in an object: an object cache serves all checkouts on a machine.
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
    $<$<AND:$<CONFIG:Release>,$<NOT:$<BOOL:$<TARGET_PROPERTY:SANDBOX_IS_TEST>>>>:-O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong>
    # The tests themselves are compiled for a short build; the code under test is compiled as it is released.
    $<$<BOOL:$<TARGET_PROPERTY:SANDBOX_IS_TEST>>:-O0>
    $<$<BOOL:${SANDBOX_WERROR}>:-Werror>)
target_compile_definitions(sandbox_options INTERFACE FMT_HEADER_ONLY=1 _GNU_SOURCE)
target_link_options(sandbox_options INTERFACE -Wl,--gc-sections)
if(CMAKE_CROSSCOMPILING)
    # Header-only libraries are the same for every architecture, but are in one directory with the headers of this machine's C
    # library.
    foreach(name fmt nlohmann toml++)
        file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/headers)
        file(CREATE_LINK /usr/include/${name} ${PROJECT_BINARY_DIR}/headers/${name} SYMBOLIC)
    endforeach()
    target_include_directories(sandbox_options SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/headers)
    # Debian's libm.a for x86-64 is a linker script whose paths are right only for a native library.
    set(folder /usr/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu/lib)
    file(READ ${folder}/libm.a text LIMIT 1000)
    if(text MATCHES "GROUP")
        string(REPLACE /usr/lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu/ ${folder}/ text "${text}")
        file(WRITE ${PROJECT_BINARY_DIR}/libraries/libm.a "${text}")
        target_link_options(sandbox_options INTERFACE -L${PROJECT_BINARY_DIR}/libraries)
    endif()
endif()
if(SANDBOX_SANITIZE)
    # A sanitizer's report needs only line numbers, and of the tests only names of functions; more debug information costs time to write
    # and to link.
    target_compile_options(sandbox_options INTERFACE -fsanitize=${SANDBOX_SANITIZE} -fno-sanitize-recover=all
        $<$<NOT:$<BOOL:$<TARGET_PROPERTY:SANDBOX_IS_TEST>>>:-g1>)
    target_link_options(sandbox_options INTERFACE -fsanitize=${SANDBOX_SANITIZE})
    # The build links a hundred programs from the same libraries: lld links one in a fifth of the time.
    find_program(SANDBOX_LLD ld.lld-16)
    if(SANDBOX_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        target_link_options(sandbox_options INTERFACE -fuse-ld=lld-16)
    endif()
    if(SANDBOX_FUZZ)
        # The fuzzer is led by the code under test.
        target_compile_options(sandbox_options INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:SANDBOX_IS_TEST>>>:-fsanitize=fuzzer-no-link>)
    endif()
    if(SANDBOX_COVERAGE)
        # Counters go to the file that LLVM_PROFILE_FILE names, and otherwise to /dev/null.
        target_compile_options(sandbox_options INTERFACE -fprofile-instr-generate=/dev/null -fcoverage-mapping)
        target_link_options(sandbox_options INTERFACE -fprofile-instr-generate)
    endif()
elseif(SANDBOX_STATIC)
    target_link_options(sandbox_options INTERFACE -static)
endif()

# Headers that most files include, parsed once: by the first target that calls this, for all others with the same options. Tests
# always do so, libraries only with SANDBOX_PRECOMPILE.
function(sandbox_precompile target group)
    if(NOT SANDBOX_PRECOMPILE AND NOT group STREQUAL "test")
        return()
    endif()
    get_property(first GLOBAL PROPERTY sandbox_precompiled_${group})
    if(first)
        target_precompile_headers(${target} REUSE_FROM ${first})
    else()
        target_precompile_headers(${target} PRIVATE ${ARGN})
        set_property(GLOBAL PROPERTY sandbox_precompiled_${group} ${target})
    endif()
endfunction()

set(sandbox_common_headers <algorithm> <charconv> <functional> <map> <memory> <optional> <set> <span>
    <string> <string_view> <unordered_map> <variant> <vector>)

# sandbox_library(plan LINKS policy host): all .cc files of the current folder and of its folders, but for those that are libraries
# themselves or that WITHOUT names.
function(sandbox_library name)
    cmake_parse_arguments(LIBRARY "" "" "LINKS;WITHOUT" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc ${CMAKE_CURRENT_SOURCE_DIR}/*/*.cc)
    file(GLOB others CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
    list(TRANSFORM others REPLACE "/CMakeLists.txt$" "")
    foreach(folder IN LISTS others LIBRARY_WITHOUT)
        list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}/")
    endforeach()
    list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
    add_library(sandbox_${name} STATIC ${sources})
    list(TRANSFORM LIBRARY_LINKS PREPEND sandbox_)
    target_link_libraries(sandbox_${name} PUBLIC sandbox_options ${LIBRARY_LINKS})
    if(SANDBOX_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # g++ takes a source for a header if another file includes it.
        target_compile_options(sandbox_${name} PRIVATE -Wno-subobject-linkage)
    endif()
    # tests/structure/after_clone reads their objects.
    set(alone ${sources})
    list(FILTER alone INCLUDE REGEX "_after_clone\\.cc$")
    set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    set_target_properties(sandbox_${name} PROPERTIES UNITY_BUILD ${SANDBOX_UNITY} UNITY_BUILD_BATCH_SIZE 12)
    sandbox_precompile(sandbox_${name} library ${sandbox_common_headers})
endfunction()
