#include "CBuild.h"

// scripts/finish-binary writes the commit into this section of the linked program. A flag of the compiler would say it
// too, and would build the program's largest module anew for each commit. Volatile, or the compiler takes it for empty.
__attribute__((section(".herald_commit"), used)) static const volatile char commit[64] = {0};

const char *herald_commit(void) {
    return (const char *)commit;
}
