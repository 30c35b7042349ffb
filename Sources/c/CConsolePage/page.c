#include "console_page.h"
#include <string.h>

// #embed (C23, which clang has as an extension of C17) takes the files as they are, each with a NUL at its end. A test
// compares the list with the folder.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const struct herald_page_file files[] = {
    {"console.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/console.css" suffix(, 0)
    }},
    {"index.html", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/index.html" suffix(, 0)
    }},
    {"lib/api.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/api.js" suffix(, 0)
    }},
    {"lib/campaign-form.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/campaign-form.js" suffix(, 0)
    }},
    {"lib/chart.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/chart.js" suffix(, 0)
    }},
    {"lib/command.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/command.js" suffix(, 0)
    }},
    {"lib/dead-letters.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/dead-letters.js" suffix(, 0)
    }},
    {"lib/dialog.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/dialog.js" suffix(, 0)
    }},
    {"lib/dom.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/dom.js" suffix(, 0)
    }},
    {"lib/format.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/format.js" suffix(, 0)
    }},
    {"lib/links.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/links.js" suffix(, 0)
    }},
    {"lib/live.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/live.js" suffix(, 0)
    }},
    {"lib/markdown.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/markdown.js" suffix(, 0)
    }},
    {"lib/place.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/place.js" suffix(, 0)
    }},
    {"lib/plan.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/plan.js" suffix(, 0)
    }},
    {"lib/vocabulary.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/lib/vocabulary.js" suffix(, 0)
    }},
    {"pages.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages.js" suffix(, 0)
    }},
    {"pages/audit.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/audit.css" suffix(, 0)
    }},
    {"pages/audit.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/audit.js" suffix(, 0)
    }},
    {"pages/campaigns.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/campaigns.css" suffix(, 0)
    }},
    {"pages/campaigns.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/campaigns.js" suffix(, 0)
    }},
    {"pages/failures.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/failures.css" suffix(, 0)
    }},
    {"pages/failures.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/failures.js" suffix(, 0)
    }},
    {"pages/find.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/find.css" suffix(, 0)
    }},
    {"pages/find.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/find.js" suffix(, 0)
    }},
    {"pages/now.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/now.css" suffix(, 0)
    }},
    {"pages/now.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/now.js" suffix(, 0)
    }},
    {"pages/runbook.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/runbook.css" suffix(, 0)
    }},
    {"pages/runbook.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/runbook.js" suffix(, 0)
    }},
    {"pages/verdict.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/verdict.css" suffix(, 0)
    }},
    {"pages/verdict.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/pages/verdict.js" suffix(, 0)
    }},
    {"shell.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Page/shell.js" suffix(, 0)
    }},
    {"runbook.md", (const unsigned char[]){
#embed "../../../docs/RUNBOOK.md" suffix(, 0)
    }},
};

size_t herald_page_count(void) { return sizeof(files) / sizeof(files[0]); }

struct herald_page_file herald_page_file(size_t index) { return files[index]; }

size_t herald_page_size(struct herald_page_file file) { return strlen((const char *)file.bytes); }
