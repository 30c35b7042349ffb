// Written by scripts/page-table.
#include "console_page.h"
#include <string.h>

// #embed (C23, which clang has as an extension of C17) takes the files as they are, each with a NUL at its end.
#pragma clang diagnostic ignored "-Wc23-extensions"

#if !__has_embed("/usr/share/javascript/chart.js/chart.min.js")
#error "Debian's package libjs-chart.js is missing; make deps installs it."
#endif

static const struct herald_page_file files[] = {
    {"Frame/console.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/console.css" suffix(, 0)
    }},
    {"Frame/index.html", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/index.html" suffix(, 0)
    }},
    {"Frame/lib/api.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/api.js" suffix(, 0)
    }},
    {"Frame/lib/chart/axes.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/chart/axes.js" suffix(, 0)
    }},
    {"Frame/lib/chart/chart.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/chart/chart.js" suffix(, 0)
    }},
    {"Frame/lib/chart/chart.min.js", (const unsigned char[]){
#embed "/usr/share/javascript/chart.js/chart.min.js" suffix(, 0)
    }},
    {"Frame/lib/chart/charts.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/chart/charts.js" suffix(, 0)
    }},
    {"Frame/lib/chart/drawing.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/chart/drawing.js" suffix(, 0)
    }},
    {"Frame/lib/command.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/command.js" suffix(, 0)
    }},
    {"Frame/lib/dialog.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/dialog.js" suffix(, 0)
    }},
    {"Frame/lib/dom.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/dom.js" suffix(, 0)
    }},
    {"Frame/lib/form.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/form.js" suffix(, 0)
    }},
    {"Frame/lib/format.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/format.js" suffix(, 0)
    }},
    {"Frame/lib/links.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/links.js" suffix(, 0)
    }},
    {"Frame/lib/live.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/live.js" suffix(, 0)
    }},
    {"Frame/lib/markdown.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/markdown.js" suffix(, 0)
    }},
    {"Frame/lib/place.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/place.js" suffix(, 0)
    }},
    {"Frame/lib/plan.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/plan.js" suffix(, 0)
    }},
    {"Frame/lib/vocabulary.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/lib/vocabulary.js" suffix(, 0)
    }},
    {"Frame/pages.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/pages.js" suffix(, 0)
    }},
    {"Frame/shell.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Frame/shell.js" suffix(, 0)
    }},
    {"Pages/Account/account.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Account/account.css" suffix(, 0)
    }},
    {"Pages/Account/account.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Account/account.js" suffix(, 0)
    }},
    {"Pages/Audit/audit.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Audit/audit.css" suffix(, 0)
    }},
    {"Pages/Audit/audit.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Audit/audit.js" suffix(, 0)
    }},
    {"Pages/Campaigns/campaign-form.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Campaigns/campaign-form.js" suffix(, 0)
    }},
    {"Pages/Campaigns/campaigns.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Campaigns/campaigns.css" suffix(, 0)
    }},
    {"Pages/Campaigns/campaigns.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Campaigns/campaigns.js" suffix(, 0)
    }},
    {"Pages/Campaigns/phones.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Campaigns/phones.js" suffix(, 0)
    }},
    {"Pages/Campaigns/trouble.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Campaigns/trouble.js" suffix(, 0)
    }},
    {"Pages/Failures/dead-letters.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Failures/dead-letters.js" suffix(, 0)
    }},
    {"Pages/Failures/failures.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Failures/failures.css" suffix(, 0)
    }},
    {"Pages/Failures/failures.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Failures/failures.js" suffix(, 0)
    }},
    {"Pages/Failures/letters.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Failures/letters.js" suffix(, 0)
    }},
    {"Pages/Failures/parts.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Failures/parts.js" suffix(, 0)
    }},
    {"Pages/Failures/replay-job.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Failures/replay-job.js" suffix(, 0)
    }},
    {"Pages/Failures/replay-plan.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Failures/replay-plan.js" suffix(, 0)
    }},
    {"Pages/Find/find.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Find/find.css" suffix(, 0)
    }},
    {"Pages/Find/find.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Find/find.js" suffix(, 0)
    }},
    {"Pages/Now/now.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Now/now.css" suffix(, 0)
    }},
    {"Pages/Now/now.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Now/now.js" suffix(, 0)
    }},
    {"Pages/Preferences/preferences.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Preferences/preferences.css" suffix(, 0)
    }},
    {"Pages/Preferences/preferences.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Preferences/preferences.js" suffix(, 0)
    }},
    {"Pages/Runbook/runbook.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Runbook/runbook.css" suffix(, 0)
    }},
    {"Pages/Runbook/runbook.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Runbook/runbook.js" suffix(, 0)
    }},
    {"Pages/Verdict/verdict.css", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Verdict/verdict.css" suffix(, 0)
    }},
    {"Pages/Verdict/verdict.js", (const unsigned char[]){
#embed "../../faces/HeraldConsole/Pages/Verdict/verdict.js" suffix(, 0)
    }},
    {"runbook.md", (const unsigned char[]){
#embed "../../../docs/RUNBOOK.md" suffix(, 0)
    }},
};

size_t herald_page_count(void) { return sizeof(files) / sizeof(files[0]); }

struct herald_page_file herald_page_file(size_t index) { return files[index]; }

size_t herald_page_size(struct herald_page_file file) { return strlen((const char *)file.bytes); }
