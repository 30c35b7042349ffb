#pragma once

// The commit that the program was built from; empty where nobody has put it in.
const char *herald_commit(void);
