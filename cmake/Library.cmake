# One static library per folder of src/, with explicit links: an arrow that points the wrong way does not link.

add_library(sandbox_options INTERFACE)
target_include_directories(sandbox_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(sandbox_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers
    -fno-omit-frame-pointer -ffunction-sections -fdata-sections
    $<$<CONFIG:Release>:-O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong>
    $<$<BOOL:${SANDBOX_WERROR}>:-Werror>)
target_compile_definitions(sandbox_options INTERFACE FMT_HEADER_ONLY=1 _GNU_SOURCE)
target_link_options(sandbox_options INTERFACE -Wl,--gc-sections)
if(SANDBOX_SANITIZE)
    target_compile_options(sandbox_options INTERFACE -fsanitize=${SANDBOX_SANITIZE} -fno-sanitize-recover=all -g)
    target_link_options(sandbox_options INTERFACE -fsanitize=${SANDBOX_SANITIZE})
elseif(SANDBOX_STATIC)
    target_link_options(sandbox_options INTERFACE -static)
endif()

# Headers that most files read, parsed once: by the first target that asks, for all others with the same options.
function(sandbox_precompile target group)
    if(NOT SANDBOX_PRECOMPILE)
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

# sandbox_library(plan LINKS policy host): all .cc files of the current folder.
function(sandbox_library name)
    cmake_parse_arguments(LIBRARY "" "" "LINKS" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
    list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
    add_library(sandbox_${name} STATIC ${sources})
    list(TRANSFORM LIBRARY_LINKS PREPEND sandbox_)
    target_link_libraries(sandbox_${name} PUBLIC sandbox_options ${LIBRARY_LINKS})
    sandbox_precompile(sandbox_${name} library ${sandbox_common_headers})
endfunction()
