// SPDX-License-Identifier: MIT
// Where the compound commands of bash begin and end. It knows what it does not know: what closes something
// that was not opened means that the reading went wrong, perhaps long before.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace config {

class BashCompounds {
  public:
    // One statement after the other, as split_statements gives them. False: what it closes is not open.
    bool read(std::string_view statement);

    // Whether the statement that follows stands inside a compound command.
    bool is_open() const { return !open_.empty(); }

  private:
    enum class Kind {
        condition,  // if … fi
        loop,       // for, while, until, select … done
        group,      // { … }
        test,       // [[ … ]]
        subject,    // case, then its word
        subject_end,
        pattern,  // of a case
        clause,   // of a case
    };

    bool step();
    bool read_operator();
    bool read_pattern();
    bool read_word();
    bool read_command_word(std::string_view word);
    bool close(Kind kind);
    bool is_inside(Kind kind) const { return is_open() && open_.back() == kind; }
    size_t word_end(size_t at) const;
    size_t group_end(size_t at) const;

    std::string_view text_;
    size_t at_ = 0;
    bool is_command_ = true;  // whether a reserved word would be one here
    bool is_name_ = false;    // of a function: its body follows
    std::vector<Kind> open_;
};

}  // namespace config
