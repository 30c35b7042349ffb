#pragma once
#include <stddef.h>

// The files of the console's page (`Frame` and `Pages` of Sources/faces/HeraldConsole), as they are in the program.

struct herald_page_file {
    const char *name;
    // Text, which ends with a NUL.
    const unsigned char *bytes;
};

size_t herald_page_count(void);
struct herald_page_file herald_page_file(size_t index);
// Without the NUL.
size_t herald_page_size(struct herald_page_file file);
