# Compiles share/ into the program, so that it stays one file that a user can copy to a compute node. Lists become tables (entry,
# reason); every other file is stored unchanged. EmbedDataScript.cmake does the work at build time, without an interpreter.

function(sandbox_embed_data output)
    file(GLOB_RECURSE data CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/share/*)
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -DSHARE=${PROJECT_SOURCE_DIR}/share -DOUTPUT=${output}
                -P ${PROJECT_SOURCE_DIR}/cmake/EmbedDataScript.cmake
        DEPENDS ${data} ${PROJECT_SOURCE_DIR}/cmake/EmbedDataScript.cmake
        VERBATIM)
endfunction()
