# Writes OUTPUT, the definitions behind config/data.h, from the files below SHARE.

set(tables "")
set(table_rows "")
set(file_rows "")

file(GLOB_RECURSE names RELATIVE ${SHARE} ${SHARE}/*)
list(SORT names)
foreach(name IN LISTS names)
    if(name MATCHES "\\.list$")
        string(REGEX REPLACE "\\.list$" "" list_name ${name})
        string(MAKE_C_IDENTIFIER ${list_name} identifier)
        set(rows "")
        set(number 0)
        # ENCODING keeps reasons in UTF-8 intact.
        file(STRINGS ${SHARE}/${name} lines ENCODING UTF-8)
        foreach(line IN LISTS lines)
            math(EXPR number "${number} + 1")
            if(line MATCHES "^[ \t]*(#.*)?$")
                continue()
            endif()
            # An entry of a request list has words: "GET example.org/**".
            if(list_name MATCHES "^requests/" AND line MATCHES "^([^ \t]+( [^ \t]+)+)  +([^ ].*)$")
                set(entry "${CMAKE_MATCH_1}")
                set(reason "${CMAKE_MATCH_3}")
            elseif(line MATCHES "^([^ \t]+)  +(.+)$")
                set(entry "${CMAKE_MATCH_1}")
                set(reason "${CMAKE_MATCH_2}")
            else()
                message(FATAL_ERROR "share/${name}: '${line}': write an entry, two blanks and its reason")
            endif()
            string(APPEND rows "    {R\"~(${entry})~\", R\"~(${reason})~\"},\n")
        endforeach()
        string(APPEND tables "constexpr DataRow k_${identifier}[] = {\n${rows}};\n")
        string(APPEND table_rows "    {\"${list_name}\", k_${identifier}},\n")
    else()
        file(READ ${SHARE}/${name} content)
        string(APPEND file_rows "    {\"${name}\", R\"~(${content})~\"},\n")
    endif()
endforeach()

file(WRITE ${OUTPUT}.new "// Made from share/ by cmake/EmbedDataScript.cmake.
#include \"config/data.h\"

#include <algorithm>

namespace config {
namespace {

struct Table {
    std::string_view name;
    std::span<const DataRow> rows;
};

${tables}
constexpr Table kTables[] = {
${table_rows}};

constexpr DataFile kFiles[] = {
${file_rows}};

}  // namespace

std::span<const DataRow> data_list(std::string_view name) {
    const Table* table = std::ranges::find(kTables, name, &Table::name);
    return table == std::end(kTables) ? std::span<const DataRow>() : table->rows;
}

std::span<const DataFile> data_files() { return kFiles; }

const DataFile* find_data_file(std::string_view name) {
    const DataFile* file = std::ranges::find(kFiles, name, &DataFile::name);
    return file == std::end(kFiles) ? nullptr : file;
}

}  // namespace config
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
