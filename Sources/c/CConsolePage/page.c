#include "console_page.h"

// #embed (C23, which clang has as an extension of C17) takes the files as they are. A test compares the list with the folder.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char console_css[] = {
#embed "../../operations/HeraldConsole/Page/console.css"
};
static const unsigned char index_html[] = {
#embed "../../operations/HeraldConsole/Page/index.html"
};
static const unsigned char lib_api_js[] = {
#embed "../../operations/HeraldConsole/Page/lib/api.js"
};
static const unsigned char lib_chart_js[] = {
#embed "../../operations/HeraldConsole/Page/lib/chart.js"
};
static const unsigned char lib_command_js[] = {
#embed "../../operations/HeraldConsole/Page/lib/command.js"
};
static const unsigned char lib_dead_letters_js[] = {
#embed "../../operations/HeraldConsole/Page/lib/dead-letters.js"
};
static const unsigned char lib_dialog_js[] = {
#embed "../../operations/HeraldConsole/Page/lib/dialog.js"
};
static const unsigned char lib_dom_js[] = {
#embed "../../operations/HeraldConsole/Page/lib/dom.js"
};
static const unsigned char lib_format_js[] = {
#embed "../../operations/HeraldConsole/Page/lib/format.js"
};
static const unsigned char lib_links_js[] = {
#embed "../../operations/HeraldConsole/Page/lib/links.js"
};
static const unsigned char lib_live_js[] = {
#embed "../../operations/HeraldConsole/Page/lib/live.js"
};
static const unsigned char lib_markdown_js[] = {
#embed "../../operations/HeraldConsole/Page/lib/markdown.js"
};
static const unsigned char lib_plan_js[] = {
#embed "../../operations/HeraldConsole/Page/lib/plan.js"
};
static const unsigned char lib_place_js[] = {
#embed "../../operations/HeraldConsole/Page/lib/place.js"
};
static const unsigned char pages_audit_css[] = {
#embed "../../operations/HeraldConsole/Page/pages/audit.css"
};
static const unsigned char pages_audit_js[] = {
#embed "../../operations/HeraldConsole/Page/pages/audit.js"
};
static const unsigned char pages_campaign_form_js[] = {
#embed "../../operations/HeraldConsole/Page/pages/campaign-form.js"
};
static const unsigned char pages_campaigns_css[] = {
#embed "../../operations/HeraldConsole/Page/pages/campaigns.css"
};
static const unsigned char pages_campaigns_js[] = {
#embed "../../operations/HeraldConsole/Page/pages/campaigns.js"
};
static const unsigned char pages_failures_css[] = {
#embed "../../operations/HeraldConsole/Page/pages/failures.css"
};
static const unsigned char pages_failures_js[] = {
#embed "../../operations/HeraldConsole/Page/pages/failures.js"
};
static const unsigned char pages_find_css[] = {
#embed "../../operations/HeraldConsole/Page/pages/find.css"
};
static const unsigned char pages_find_js[] = {
#embed "../../operations/HeraldConsole/Page/pages/find.js"
};
static const unsigned char pages_now_css[] = {
#embed "../../operations/HeraldConsole/Page/pages/now.css"
};
static const unsigned char pages_now_js[] = {
#embed "../../operations/HeraldConsole/Page/pages/now.js"
};
static const unsigned char pages_runbook_css[] = {
#embed "../../operations/HeraldConsole/Page/pages/runbook.css"
};
static const unsigned char pages_runbook_js[] = {
#embed "../../operations/HeraldConsole/Page/pages/runbook.js"
};
static const unsigned char pages_verdict_css[] = {
#embed "../../operations/HeraldConsole/Page/pages/verdict.css"
};
static const unsigned char pages_verdict_js[] = {
#embed "../../operations/HeraldConsole/Page/pages/verdict.js"
};
static const unsigned char runbook_md[] = {
#embed "../../../docs/RUNBOOK.md"
};
static const unsigned char shell_js[] = {
#embed "../../operations/HeraldConsole/Page/shell.js"
};

#define FILE_OF(name, bytes) {name, bytes, sizeof(bytes)}

static const struct herald_page_file files[] = {
    FILE_OF("console.css", console_css),
    FILE_OF("index.html", index_html),
    FILE_OF("lib/api.js", lib_api_js),
    FILE_OF("lib/chart.js", lib_chart_js),
    FILE_OF("lib/command.js", lib_command_js),
    FILE_OF("lib/dead-letters.js", lib_dead_letters_js),
    FILE_OF("lib/dialog.js", lib_dialog_js),
    FILE_OF("lib/dom.js", lib_dom_js),
    FILE_OF("lib/format.js", lib_format_js),
    FILE_OF("lib/links.js", lib_links_js),
    FILE_OF("lib/live.js", lib_live_js),
    FILE_OF("lib/markdown.js", lib_markdown_js),
    FILE_OF("lib/place.js", lib_place_js),
    FILE_OF("lib/plan.js", lib_plan_js),
    FILE_OF("pages/audit.css", pages_audit_css),
    FILE_OF("pages/audit.js", pages_audit_js),
    FILE_OF("pages/campaign-form.js", pages_campaign_form_js),
    FILE_OF("pages/campaigns.css", pages_campaigns_css),
    FILE_OF("pages/campaigns.js", pages_campaigns_js),
    FILE_OF("pages/failures.css", pages_failures_css),
    FILE_OF("pages/failures.js", pages_failures_js),
    FILE_OF("pages/find.css", pages_find_css),
    FILE_OF("pages/find.js", pages_find_js),
    FILE_OF("pages/now.css", pages_now_css),
    FILE_OF("pages/now.js", pages_now_js),
    FILE_OF("pages/runbook.css", pages_runbook_css),
    FILE_OF("pages/runbook.js", pages_runbook_js),
    FILE_OF("pages/verdict.css", pages_verdict_css),
    FILE_OF("pages/verdict.js", pages_verdict_js),
    FILE_OF("runbook.md", runbook_md),
    FILE_OF("shell.js", shell_js),
};

size_t herald_page_count(void) { return sizeof(files) / sizeof(files[0]); }

struct herald_page_file herald_page_file(size_t index) { return files[index]; }
